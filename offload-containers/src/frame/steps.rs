//! Incremental decompression of a zstd frame into the caller's memory.

use std::fmt;

use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use super::{code, failed, has_recorded_size};
use offload_format::Error;

/// The largest window that zstd supports.
const MAX_WINDOW_LOG: u32 = if usize::BITS == 64 { 31 } else { 30 };
/// The first input size that the decoder wants.
const FIRST_INPUT: usize = 5;

/// [`inflate`](super::inflate) in steps.
pub(crate) struct Steps<'a> {
    context: DCtx<'static>,
    rest: &'a [u8],
    size: u64,
    done: usize,
    /// The input size that the decoder wants next: a block; 0 at the end of the frame, where its checksum is verified.
    wanted: usize,
}

impl<'a> Steps<'a> {
    /// `None` for a frame without a recorded content size.
    pub(crate) fn for_frame(frame: &'a [u8], declared: u64) -> Result<Option<Steps<'a>>, Error> {
        if !has_recorded_size(frame, declared)? {
            return Ok(None);
        }
        let mut context = DCtx::try_create().ok_or_else(|| failed("out of memory"))?;
        // The decoder refers back into the caller's memory, and allocates no window.
        context.set_parameter(DParameter::StableOutBuffer(true)).map_err(code)?;
        context.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG)).map_err(code)?;
        Ok(Some(Steps { context, rest: frame, size: declared, done: 0, wanted: FIRST_INPUT }))
    }

    /// Inflates at most one block, and returns the number of inflated bytes so far; `None` at the end. A few bytes of a frame
    /// may inflate to mebibytes.
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
            // The decoder rejects output at another address.
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
