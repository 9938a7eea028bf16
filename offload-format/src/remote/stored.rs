//! A result as other machines keep it: it names its key, so that one that got into another's place is found out.

use super::fields::{Fields, Put};
use crate::{Error, ErrorKind, Hash128};

/// A result of an action.
///
/// ```
/// use offload_format::Hash128;
/// use offload_format::remote::Stored;
///
/// let key = Hash128::of(b"an action");
/// let stored = Stored { milliseconds: 120, said: String::new(), content: b"code".to_vec() };
/// assert_eq!(Stored::from_bytes(&stored.to_bytes(key), key)?, stored);
/// assert!(Stored::from_bytes(&stored.to_bytes(key), Hash128::of(b"another")).is_err());
/// # Ok::<(), offload_format::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// How long it took to make.
    pub milliseconds: u64,
    /// What the tool printed.
    pub said: String,
    /// What the tool wrote.
    pub content: Vec<u8>,
}

const MAGIC: [u8; 8] = *b"OFLDSTO1";

impl Stored {
    /// The result of `key` as bytes: magic, hash of all that follows, key, milliseconds, what the tool printed and wrote.
    pub fn to_bytes(&self, key: Hash128) -> Vec<u8> {
        let mut rest = key.0.to_vec();
        rest.extend_from_slice(&self.milliseconds.to_le_bytes());
        rest.text(&self.said);
        rest.bytes(&self.content);
        [&MAGIC[..], &Hash128::of(&rest).0, &rest].concat()
    }

    /// The result in `bytes`.
    ///
    /// # Errors
    /// If they are damaged, or are the result of another key.
    pub fn from_bytes(bytes: &[u8], key: Hash128) -> Result<Stored, Error> {
        const WHAT: &str = "result from another machine";
        let mut fields = Fields::new(bytes);
        if fields.array()? != MAGIC {
            return Err(ErrorKind::Magic { what: WHAT }.into());
        }
        let hash = Hash128(fields.array()?);
        if Hash128::of(fields.rest()) != hash || Hash128(fields.array()?) != key {
            return Err(ErrorKind::Damaged { what: WHAT }.into());
        }
        let stored =
            Stored { milliseconds: fields.number()?, said: fields.text()?, content: fields.bytes()? };
        fields.end()?;
        Ok(stored)
    }
}
