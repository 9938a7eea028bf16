//! A zstd frame inflated step by step, into memory that the caller has.

use std::fmt;

use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use super::{code, failed, recorded};
use offload_format::Error;

/// The largest window that zstd knows.
const ANY_WINDOW_LOG: u32 = if usize::BITS == 64 { 31 } else { 30 };
/// What the decoder asks for first.
const START: usize = 5;

/// As [`inflate`](super::inflate), of which the caller sees more after each step.
pub(crate) struct Steps<'a> {
    context: DCtx<'static>,
    rest: &'a [u8],
    size: u64,
    done: usize,
    /// How much the decoder asks for: a block. 0 at the end of the frame, where its checksum, if it has one, was compared.
    wanted: usize,
}

impl<'a> Steps<'a> {
    /// `None` for a frame that does not record the size of its content.
    pub(crate) fn of(frame: &'a [u8], declared: u64) -> Result<Option<Steps<'a>>, Error> {
        if !recorded(frame, declared)? {
            return Ok(None);
        }
        let mut context = DCtx::try_create().ok_or_else(|| failed("out of memory"))?;
        // The decoder looks back into the caller's memory, and takes no window.
        context.set_parameter(DParameter::StableOutBuffer(true)).map_err(code)?;
        context.set_parameter(DParameter::WindowLogMax(ANY_WINDOW_LOG)).map_err(code)?;
        Ok(Some(Steps { context, rest: frame, size: declared, done: 0, wanted: START }))
    }

    /// How much of the content is in `out` after one more step, which is a block at most: a few bytes of the frame may be
    /// mebibytes of the content. `None` at the end.
    pub(crate) fn step(&mut self, out: &mut [u8]) -> Result<Option<usize>, Error> {
        if out.len() as u64 != self.size {
            return Err(Error::invalid("the memory for the content of the zstd frame", out.len() as u64));
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (step, rest) = self.rest.split_at(self.rest.len().min(self.wanted.max(1)));
        self.rest = rest;
        let mut input = InBuffer::around(step);
        while input.pos() < step.len() {
            let mut output = OutBuffer::around_pos(out, self.done);
            // The decoder refuses memory that is not where it was.
            self.wanted = self.context.decompress_stream(&mut output, &mut input).map_err(code)?;
            self.done = output.pos();
        }
        Ok(Some(self.done))
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        if self.wanted > 0 || !self.rest.is_empty() { Err(failed("the frame is cut short")) } else { Ok(()) }
    }
}

impl fmt::Debug for Steps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Steps { rest, size, done, wanted, .. } = self;
        write!(f, "Steps {{ {done} of {size} bytes, {} left, {wanted} wanted }}", rest.len())
    }
}
