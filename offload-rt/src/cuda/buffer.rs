//! Device memory for the time of one call.

use std::marker::PhantomData;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::CUdeviceptr;

use super::context::Entered;
use super::stream::Stream;

/// Device memory with the contents of a host buffer.
pub(super) struct Buffer<'c> {
    address: CUdeviceptr,
    _entered: PhantomData<&'c Entered<'c>>,
}

impl<'c> Buffer<'c> {
    /// Puts a copy of `bytes` into `stream`.
    ///
    /// # Safety
    /// `bytes` lives until the stream has been waited for: if it is page-locked, the driver reads it only then.
    pub(super) unsafe fn copied(bytes: &[u8], stream: &Stream<'c>) -> Result<Buffer<'c>, DriverError> {
        // CUDA has no empty allocations.
        // SAFETY: the context is current, as the stream's lifetime says.
        let address = unsafe { result::malloc_sync(bytes.len().max(1))? };
        let buffer = Buffer { address, _entered: PhantomData };
        if !bytes.is_empty() {
            // SAFETY: the memory has the size of `bytes`, which lives as promised.
            unsafe { result::memcpy_htod_async(address, bytes, stream.raw())? };
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
    pub(super) unsafe fn read(&self, bytes: &mut [u8], stream: &Stream<'c>) -> Result<(), DriverError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: as promised.
        unsafe { result::memcpy_dtoh_async(bytes, self.address, stream.raw()) }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: it was allocated once, in the context that is current; the driver waits for kernels that use it.
        let _ = unsafe { result::free_sync(self.address) };
    }
}
