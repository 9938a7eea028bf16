//! zlib streams of foreign containers (RFC 1950): exactly the declared bytes, or an error.

use flate2::bufread::ZlibDecoder;

use crate::frame;
use offload_format::{Error, ErrorKind};

/// The content of `stream`, which has to be one stream, with nothing behind it, of `declared` bytes.
pub(crate) fn inflate(stream: &[u8], declared: u64) -> Result<Vec<u8>, Error> {
    let (content, size) = prefix(stream, declared)?;
    match size == stream.len() as u64 {
        true => Ok(content),
        false => Err(Error::invalid("the size of the zlib stream", stream.len() as u64)),
    }
}

/// The content of the stream at the start of `input`, which has to be of `declared` bytes, and the stream's size.
pub(crate) fn prefix(input: &[u8], declared: u64) -> Result<(Vec<u8>, u64), Error> {
    let mut decoder = ZlibDecoder::new(input);
    let failed = |error: std::io::Error| Error::from(ErrorKind::Zlib { message: error.to_string() });
    let content = frame::read_exactly(&mut decoder, declared).map_err(failed)??;
    Ok((content, decoder.total_in()))
}
