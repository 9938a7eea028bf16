//! Results in a shared cache. A result contains its key, so that one under a wrong key is detected.

use super::fields::{Fields, Put};
use offload_format::{Error, ErrorKind, Hash128};

/// A result of an action.
///
/// ```
/// use offload_format::Hash128;
/// use offload_protocol::remote::Stored;
///
/// let key = Hash128::digest(b"an action");
/// let stored = Stored { milliseconds: 120, diagnostics: String::new(), content: b"code".to_vec() };
/// assert_eq!(Stored::from_bytes(&stored.to_bytes(key), key)?, stored);
/// assert!(Stored::from_bytes(&stored.to_bytes(key), Hash128::digest(b"another")).is_err());
/// # Ok::<(), offload_format::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The time of the compilation.
    pub milliseconds: u64,
    /// The diagnostics that the tool printed.
    pub diagnostics: String,
    /// The output of the tool.
    pub content: Vec<u8>,
}

const MAGIC: [u8; 8] = *b"OFLDSTO1";

impl Stored {
    /// Encodes the result of `key`: magic, hash of the rest, key, milliseconds, diagnostics, content.
    pub fn to_bytes(&self, key: Hash128) -> Vec<u8> {
        let mut rest = key.0.to_vec();
        rest.extend_from_slice(&self.milliseconds.to_le_bytes());
        rest.text(&self.diagnostics);
        rest.bytes(&self.content);
        [&MAGIC[..], &Hash128::digest(&rest).0, &rest].concat()
    }

    /// Decodes the result of `key`.
    ///
    /// # Errors
    /// The bytes are damaged, or the result of another key.
    pub fn from_bytes(bytes: &[u8], key: Hash128) -> Result<Stored, Error> {
        const WHAT: &str = "result from another machine";
        let mut fields = Fields::new(bytes);
        if fields.array()? != MAGIC {
            return Err(ErrorKind::Magic { what: WHAT }.into());
        }
        let hash = Hash128(fields.array()?);
        if Hash128::digest(fields.rest()) != hash || Hash128(fields.array()?) != key {
            return Err(ErrorKind::Damaged { what: WHAT }.into());
        }
        let stored =
            Stored { milliseconds: fields.number()?, diagnostics: fields.text()?, content: fields.bytes()? };
        fields.end()?;
        Ok(stored)
    }
}
