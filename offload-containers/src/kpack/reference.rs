//! What a program says about the kpacks that hold its code objects.

use serde::Deserialize;

use offload_format::{Error, ErrorKind, Limits};

/// AMD's loader reads no more.
const MAX_SIZE: usize = 64 << 10;
const MAX_DEPTH: usize = 8;
const WHAT: &str = "the kpack reference";

/// The content of the section `.rocm_kpack_ref`, to which each wrapper of a program leads.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Reference<'a> {
    /// The program's key in the kpacks: the wrapper's number follows behind `#`.
    #[serde(borrow)]
    pub kernel_name: &'a str,
    /// Where the kpacks are, from the program's directory; `@GFXARCH@` stands for a target ID. Never opened here.
    #[serde(rename = "kpack_search_paths", borrow)]
    pub search_paths: Vec<&'a str>,
}

/// Reads the reference at the start of `input`; what lies behind it is not looked at.
///
/// # Errors
/// [`ErrorKind::Text`] if it is malformed, or longer than 64 KiB; [`ErrorKind::TooMany`] for more paths than
/// [`Limits::entries`].
pub fn reference<'a>(input: &'a [u8], limits: &Limits) -> Result<Reference<'a>, Error> {
    let mut reader = rmp_serde::Deserializer::from_read_ref(input.get(..MAX_SIZE).unwrap_or(input));
    reader.set_max_depth(MAX_DEPTH);
    let malformed = |_| Error::from(ErrorKind::Text { what: WHAT, offset: 0 });
    let reference = Reference::deserialize(&mut reader).map_err(malformed)?;
    limits.records(WHAT, reference.search_paths.len() as u64)?;
    Ok(reference)
}
