//! Streams of DEFLATE.

use std::io::{self, Read};

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus, StreamResult};

/// Inflates a stream of DEFLATE (<https://www.rfc-editor.org/rfc/rfc1951>).
pub(crate) struct Inflater<'a> {
    state: Box<InflateState>,
    /// What was not taken in yet.
    rest: &'a [u8],
}

impl<'a> Inflater<'a> {
    pub(crate) fn new(stream: &'a [u8]) -> Inflater<'a> {
        Inflater { state: InflateState::new_boxed(DataFormat::Raw), rest: stream }
    }

    /// What stands behind the part that was read.
    #[cfg(feature = "devices")]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl Read for Inflater<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let StreamResult { bytes_consumed, bytes_written, status } =
                inflate(&mut self.state, self.rest, out, MZFlush::None);
            self.rest = self.rest.get(bytes_consumed..).unwrap_or_default();
            match status {
                // What was taken in need not have given anything yet.
                Ok(MZStatus::Ok) if bytes_written == 0 && !out.is_empty() => {}
                Ok(_) => return Ok(bytes_written),
                Err(MZError::Buf) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, "it is damaged")),
            }
        }
    }
}
