//! Decompression of zlib streams (RFC 1950) to exactly the declared size.

use std::io;

use flate2::bufread::ZlibDecoder;

use crate::frame;
use offload_format::{Error, ErrorKind};

/// Inflates `stream`, exactly one stream, to `declared` bytes.
pub(crate) fn inflate(stream: &[u8], declared: u64) -> Result<Vec<u8>, Error> {
    let (content, size) = prefix(stream, declared)?;
    if size != stream.len() as u64 {
        return Err(Error::invalid("the size of the zlib stream", stream.len() as u64));
    }
    Ok(content)
}

/// Inflates the stream at the start of `input` to `declared` bytes; returns the content and the size of the stream.
pub(crate) fn prefix(input: &[u8], declared: u64) -> Result<(Vec<u8>, u64), Error> {
    let mut decoder = ZlibDecoder::new(input);
    let content = frame::read_exactly(&mut decoder, declared).map_err(failed)??;
    Ok((content, decoder.total_in()))
}

/// Inflates the first `size` bytes of the stream at the start of `input`, or all if it is smaller.
#[cfg(feature = "ccob")]
pub(crate) fn start(input: &[u8], size: u64) -> Result<Vec<u8>, Error> {
    use std::io::Read as _;

    let mut out = Vec::new();
    ZlibDecoder::new(input).take(size).read_to_end(&mut out).map_err(failed)?;
    Ok(out)
}

fn failed(error: io::Error) -> Error {
    let state = if error.kind() == io::ErrorKind::UnexpectedEof { "cut" } else { "damaged" };
    ErrorKind::Compression { format: "zlib", message: format!("the stream is {state}") }.into()
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;

    use super::*;

    #[test]
    fn one_stream_of_the_declared_size_and_nothing_else() {
        let content: Vec<u8> = (0..100_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        let size = content.len() as u64;
        let stream = compress_to_vec_zlib(&content, 6);
        assert_eq!(inflate(&stream, size).unwrap(), content);
        assert!(inflate(&stream, size - 1).is_err() && inflate(&stream, size + 1).is_err());
        let followed = [&stream[..], b"x"].concat();
        assert!(inflate(&followed, size).is_err());
        assert_eq!(prefix(&followed, size).unwrap(), (content, stream.len() as u64));
    }

    #[test]
    fn streams_that_are_cut_or_damaged_are_refused() {
        let content = [7; 1000];
        let stream = compress_to_vec_zlib(&content, 6);
        for cut in 0..stream.len() {
            let error = inflate(stream.get(..cut).unwrap(), 1000).unwrap_err();
            assert_eq!(error.to_string(), "zlib failed: the stream is cut", "{cut}");
        }
        for at in 0..stream.len() {
            let mut damaged = stream.clone();
            *damaged.get_mut(at).unwrap() ^= 0x10;
            assert!(inflate(&damaged, 1000).is_err(), "{at}");
        }
    }

    #[test]
    #[cfg(feature = "ccob")]
    fn the_start_is_read_alone() {
        let stream = compress_to_vec_zlib(&[7; 1000], 6);
        assert_eq!(start(&stream, 10).unwrap(), [7; 10]);
        assert_eq!(start(&stream, 2000).unwrap(), [7; 1000]);
        let followed = [&stream[..], b"x"].concat();
        assert_eq!(start(&followed, 2000).unwrap(), [7; 1000]);
    }
}
