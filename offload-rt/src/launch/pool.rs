//! Memory pools of devices, whose limits and sizes a program may ask for.

use std::fmt;

use crate::backend::{BackendPool, PoolStatistics};
use crate::device::Device;
use crate::error::{Error, Problem};

/// The memory pool that the buffers of a device's streams come from; made by [`Device::memory_pool`].
///
/// Making and dropping a [`Buffer`](crate::Buffer) waits for nothing: its memory is taken and given back in the order of
/// the stream that made it, and comes from the pool as long as that has some. When a stream is waited for, the pool gives
/// unused memory back to the device, but for 256 MiB, or what [`keep`](MemoryPool::keep) says.
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
    /// The device has none: drivers before CUDA 11.2 and ROCm 6, OpenCL, whose drivers release a dropped buffer when its
    /// work is done, and the host CPU, where that is at once.
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

    /// Keeps up to `bytes` of unused memory when a stream is waited for.
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
    fn a_device_without_a_pool_says_so() {
        let error = Device::host().memory_pool().unwrap_err();
        assert!(error.problem().contains("no memory pools") && error.hint().is_some(), "{error}");
    }
}
