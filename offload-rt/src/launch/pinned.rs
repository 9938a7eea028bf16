//! Memory of the program that its device copies to and from by itself.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::slice;

use super::args::Plain;
use crate::backend::BackendHostMemory;
use crate::device::Device;
use crate::error::Error;

/// Values in the program's memory, locked for a device: copies to and from it need no copy in between.
///
/// It is used as a slice, with [`Stream::write`](crate::Stream::write) and [`Stream::read`](crate::Stream::read), or
/// given to a copy that runs beside the program, with [`Stream::write_async`](crate::Stream::write_async) and
/// [`Stream::read_async`](crate::Stream::read_async). Locked memory is scarce and slow to make: keep it for many copies.
/// CUDA's and HIP's drivers lock it, and those of OpenCL allocate it as suits them; for the host CPU it is ordinary
/// memory.
///
/// ```
/// let device = offload_rt::Device::host();
/// let mut values = device.pinned::<f32>(1024)?;
/// values.fill(2.0);
/// let buffer = device.stream()?.upload(&values)?;
/// assert_eq!(buffer.len(), 1024);
/// # Ok::<(), offload_rt::Error>(())
/// ```
pub struct Pinned<T> {
    memory: Memory<T>,
    len: usize,
}

enum Memory<T> {
    /// It has room for the values, which were written.
    Locked(Box<dyn BackendHostMemory>),
    Ordinary(Vec<T>),
}

impl Device {
    /// Memory of the program for `len` zeros, the driver's own if it has such memory.
    ///
    /// # Errors
    /// There is not so much memory.
    #[allow(unsafe_code, reason = "writes to new memory")]
    pub fn pinned<T: Plain>(&self, len: usize) -> Result<Pinned<T>, Error> {
        let Some(size) = len.checked_mul(size_of::<T>()) else {
            let problem = format!("{len} values are more than 2^64 bytes");
            return Err(Error::device(&self.to_string(), problem));
        };
        let locked = match size {
            0 => None,
            size => self.backend().lock_memory(size).map_err(|problem| {
                let problem = problem.during(&format!("cannot lock {size} bytes of memory"));
                Error::from_device(&self.to_string(), problem)
            })?,
        };
        let memory = match locked {
            Some(locked) if locked.address().cast::<T>().is_aligned() => {
                // SAFETY: the memory has this size, and nothing else refers to it.
                unsafe { locked.address().write_bytes(0, size) };
                Memory::Locked(locked)
            }
            _ => Memory::Ordinary(vec![T::zeroed(); len]),
        };
        Ok(Pinned { memory, len })
    }
}

impl<T> Pinned<T> {
    /// Whether the memory is the driver's own, not ordinary memory.
    pub fn is_locked(&self) -> bool {
        matches!(self.memory, Memory::Locked(_))
    }
}

impl<T> Deref for Pinned<T> {
    type Target = [T];

    #[allow(unsafe_code, reason = "reads memory of the driver")]
    fn deref(&self) -> &[T] {
        match &self.memory {
            // SAFETY: the memory is aligned, has room for the values, and was written: zeros are values of `Plain` types.
            Memory::Locked(memory) => unsafe { slice::from_raw_parts(memory.address().cast(), self.len) },
            Memory::Ordinary(values) => values,
        }
    }
}

impl<T> DerefMut for Pinned<T> {
    #[allow(unsafe_code, reason = "writes memory of the driver")]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.memory {
            // SAFETY: as above, and it is borrowed to write.
            Memory::Locked(memory) => unsafe { slice::from_raw_parts_mut(memory.address().cast(), self.len) },
            Memory::Ordinary(values) => values,
        }
    }
}

impl<T> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned").field("len", &self.len).field("locked", &self.is_locked()).finish()
    }
}

#[cfg(all(test, feature = "host", any(unix, windows)))]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zero_and_may_be_empty() {
        let device = Device::host();
        let mut values = device.pinned::<[f32; 3]>(5).unwrap();
        assert_eq!(*values, [[0.0; 3]; 5]);
        values[4] = [1.0, 2.0, 3.0];
        let stream = device.stream().unwrap();
        assert_eq!(stream.download(&stream.upload(&values).unwrap()).unwrap()[4], [1.0, 2.0, 3.0]);
        assert!(device.pinned::<u64>(0).unwrap().is_empty() && !values.is_locked());
        let error = device.pinned::<u64>(usize::MAX).unwrap_err().to_string();
        assert!(error.contains("more than 2^64 bytes"), "{error}");
    }
}
