//! The first bytes of a frame's content, without the rest.

use std::io::Read as _;

use super::{decoder, failed};
use offload_format::Error;

/// The first `size` bytes of the content of the frame at the start of `input`, or all if it is smaller.
pub(crate) fn start(input: &[u8], size: u64) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    decoder(input)?.take(size).read_to_end(&mut out).map_err(|error| failed(&error.to_string()))?;
    Ok(out)
}
