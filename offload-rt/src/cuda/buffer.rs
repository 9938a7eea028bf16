//! Device memory for the time of one call.

use std::marker::PhantomData;

use super::api::{CUdeviceptr, CuResult, Functions, call};
use super::context::Entered;
use super::stream::Stream;

/// Device memory with the contents of a host buffer.
pub(super) struct Buffer<'c> {
    address: CUdeviceptr,
    functions: &'static Functions,
    _entered: PhantomData<&'c Entered<'c>>,
}

impl<'c> Buffer<'c> {
    /// Puts a copy of `bytes` into `stream`.
    ///
    /// # Safety
    /// `bytes` lives until the stream has been waited for: if it is page-locked, the driver reads it only then.
    pub(super) unsafe fn copied(bytes: &[u8], stream: &Stream<'c>) -> CuResult<Buffer<'c>> {
        let (functions, mut address) = (stream.functions(), 0);
        // CUDA has no empty allocations.
        let size = bytes.len().max(1);
        // SAFETY: the context is current, as the stream's lifetime says; the function writes one address.
        unsafe { call!(functions, cuMemAlloc_v2(&raw mut address, size)) }?;
        let buffer = Buffer { address, functions, _entered: PhantomData };
        if !bytes.is_empty() {
            let (from, size) = (bytes.as_ptr().cast(), bytes.len());
            // SAFETY: the memory has the size of `bytes`, which lives as promised.
            unsafe { call!(functions, cuMemcpyHtoDAsync_v2(address, from, size, stream.raw())) }?;
        }
        Ok(buffer)
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// Puts a copy to `bytes` into `stream`.
    ///
    /// # Safety
    /// `bytes` is as long as the buffer was made, and lives until the stream has been waited for.
    pub(super) unsafe fn read(&self, bytes: &mut [u8], stream: &Stream<'c>) -> CuResult<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (into, size) = (bytes.as_mut_ptr().cast(), bytes.len());
        // SAFETY: as promised.
        unsafe { call!(self.functions, cuMemcpyDtoHAsync_v2(into, self.address, size, stream.raw())) }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: it was allocated once, in the context that is current; the driver waits for kernels that use it.
        let _ = unsafe { call!(self.functions, cuMemFree_v2(self.address)) };
    }
}
