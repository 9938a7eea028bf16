//! Memory pools of devices, whose limits and sizes a program may ask for.

use std::fmt;

use crate::backend::{BackendPool, PoolStatistics};
use crate::device::Device;
use crate::error::{Error, Problem};

/// The memory pool that the buffers of a device's streams come from; made by [`Device::memory_pool`].
///
/// Making and dropping a [`Buffer`](crate::Buffer) waits for nothing: its memory is taken and given back in the order of
/// the stream that made it, and comes from the pool as long as that has some. The pool gives unused memory back to the
/// device, but for 256 MiB, or the limit that [`keep`](MemoryPool::keep) sets: on CUDA and HIP when a stream is waited for,
/// on OpenCL and the host CPU when a buffer is dropped.
///
/// The drivers of CUDA and HIP have pools. On OpenCL and the host CPU this crate has its own, which rounds sizes up by an
/// eighth at most.
///
/// ```no_run
/// let device = offload_rt::Device::best()?;
/// let pool = device.memory_pool()?;
/// pool.keep(4 << 30)?;
/// println!("{} of {} MiB are used", pool.statistics()?.used >> 20, pool.statistics()?.reserved >> 20);
/// // Before another program needs the device.
/// pool.trim(0)?;
/// # Ok::<(), offload_rt::Error>(())
/// ```
pub struct MemoryPool {
    device: Device,
    backend: Box<dyn BackendPool>,
}

impl Device {
    /// The memory pool of the device's streams.
    ///
    /// # Errors
    /// The device has none: drivers before CUDA 11.2 and ROCm 6.
    pub fn memory_pool(&self) -> Result<MemoryPool, Error> {
        let pool = self.backend().pool();
        let pool = pool.map_err(|problem| Error::from_device(&self.to_string(), problem))?;
        match pool {
            Some(backend) => Ok(MemoryPool { device: self.clone(), backend }),
            None => Err(Error::device(&self.to_string(), "the driver has no memory pools")
                .with_hint("the memory of a dropped buffer goes back when its work is done")),
        }
    }
}

impl MemoryPool {
    /// How much memory there is and was.
    ///
    /// # Errors
    /// The driver refuses, as for all of a pool.
    pub fn statistics(&self) -> Result<PoolStatistics, Error> {
        self.done(self.backend.statistics())
    }

    /// Keeps up to `bytes` of unused memory.
    ///
    /// # Errors
    /// As [`MemoryPool::statistics`].
    pub fn keep(&self, bytes: u64) -> Result<(), Error> {
        self.done(self.backend.keep(bytes))
    }

    /// Gives unused memory back to the device now, but for `bytes`. Memory of buffers that were dropped counts as unused
    /// after their work.
    ///
    /// # Errors
    /// As [`MemoryPool::statistics`].
    pub fn trim(&self, bytes: u64) -> Result<(), Error> {
        self.done(self.backend.trim(bytes))
    }

    fn done<R>(&self, result: Result<R, Problem>) -> Result<R, Error> {
        result.map_err(|problem| Error::from_device(&self.device.to_string(), problem))
    }
}

impl fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryPool").field("device", &self.device).finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "host", any(unix, windows)))]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_that_of_its_device() {
        let _buffer = Device::host().stream().unwrap().zeroed::<u8>(3 << 20).unwrap();
        // Other tests use the same pool.
        let statistics = Device::host().memory_pool().unwrap().statistics().unwrap();
        assert!(statistics.used >= 3 << 20 && statistics.max_reserved >= statistics.used, "{statistics:?}");
    }
}
