//! Streaming decompression of files.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

use bzip2::bufread::MultiBzDecoder;
use lz4_flex::frame::FrameDecoder;
use lzma_rust2::{LzipReader, LzmaReader, XzReader};
use offload_format::limits::Budget;

use super::form::Codec;
use super::gzip::Gzip;
use crate::read::limit_hint::with_limit_hint;

/// Maximum dictionary size of an LZMA decoder in KiB: twice that of `xz -9`. The recorded size is untrusted.
pub(super) const LZMA_MEMORY: u32 = 128 << 10;

/// The bytes of `file` without the compression around them.
pub(super) fn inflated<'f>(file: &'f [u8], codec: Codec) -> io::Result<Box<dyn Read + 'f>> {
    Ok(match codec {
        Codec::Bzip2 => Box::new(MultiBzDecoder::new(file)),
        Codec::Gzip => Box::new(Gzip::new(file)),
        Codec::Lz4 => Box::new(Lz4 { decoder: FrameDecoder::new(file) }),
        Codec::Lzip => Box::new(LzipReader::new(file)),
        Codec::Lzma => Box::new(LzmaReader::new_mem_limit(file, LZMA_MEMORY, None)?),
        Codec::Xz => Box::new(XzReader::new_mem_limit(file, true, LZMA_MEMORY)),
        Codec::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(file)?),
    })
}

/// Frames one after another. The decoder returns 0 at the end of each, and where the file is cut off in a header.
struct Lz4<'f> {
    decoder: FrameDecoder<&'f [u8]>,
}

impl Read for Lz4<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let before = self.decoder.get_ref().len();
            let count = self.decoder.read(out)?;
            let left = self.decoder.get_ref().len();
            if count > 0 || out.is_empty() || left == 0 {
                return Ok(count);
            }
            if left == before {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "what follows a frame is none"));
            }
        }
    }
}

/// A reader that fails once more than its budget came from it.
pub(super) struct BudgetReader<R> {
    pub(super) reader: R,
    pub(super) budget: Rc<RefCell<Budget>>,
}

impl<R: Read> Read for BudgetReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(out)?;
        let spent = self.budget.borrow_mut().spend(count as u64);
        spent.map_err(|error| io::Error::other(with_limit_hint(&error)))?;
        Ok(count)
    }
}
