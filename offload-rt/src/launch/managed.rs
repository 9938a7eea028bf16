//! Managed memory: buffers that the program uses in place.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::slice;

use super::args::Plain;
use super::buffer::{Buffer, Slice, SliceMut};
use super::stream::Stream;
use crate::backend::{BackendMemory, MemoryPlace};
use crate::device::Device;
use crate::error::{Error, Problem};

/// A [`Buffer`] in memory that the program uses too, without a copy: kernels, copies and fills take it as any buffer, and
/// [`access`](Managed::access) gives the values to the program.
///
/// It is CUDA's and HIP's managed memory, whose pages go where they are used, shared virtual memory of OpenCL, and for the
/// host CPU ordinary memory. All devices of CUDA, or of HIP, use it in their streams and kernels. As for two streams of one
/// device, an [`Event`](crate::Event) orders work on the same values. Memory of an OpenCL device is for that device alone.
///
/// [`Pinned`](crate::Pinned) memory stays where it is, and suits values that are used once.
///
/// ```
/// let device = offload_rt::Device::host();
/// let stream = device.stream()?;
/// let mut values = device.managed::<f32>(4)?;
/// values.access(|values| values.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]))?;
/// stream.fill(values.slice_mut(2..)?, 7.0)?;
/// assert_eq!(values.access(|values| values.to_vec())?, [1.0, 2.0, 7.0, 7.0]);
/// # Ok::<(), offload_rt::Error>(())
/// ```
pub struct Managed<T: Plain> {
    buffer: Buffer<T>,
    device: Device,
}

/// Memory that the program has; it goes back to the device when this is dropped, also by a panic.
struct ProgramAccess<'m> {
    memory: &'m dyn BackendMemory,
}

impl Device {
    /// A buffer of `len` zeros in memory that the program uses too.
    ///
    /// # Errors
    /// The device has no such memory, or not so much. GPUs of CUDA and HIP have it where the program and kernels may use it
    /// at the same time, which those on Windows may not. Devices of OpenCL have it with shared virtual memory.
    pub fn managed<T: Plain>(&self, len: usize) -> Result<Managed<T>, Error> {
        let failed = |problem: Problem| Error::from_device(&self.to_string(), problem);
        let Some(size) = len.checked_mul(size_of::<T>()) else {
            return Err(failed(format!("{len} values are more than 2^64 bytes").into()));
        };
        let allocated = self.backend().allocate_managed(size.max(1));
        let allocated = allocated.map_err(|problem| {
            failed(problem.during(&format!("cannot allocate {size} bytes of managed memory")))
        })?;
        let Some(memory) = allocated else {
            return Err(Error::device(&self.to_string(), "it has no managed memory")
                .with_hint("`Device::pinned` has memory that copies go straight to and from"));
        };
        let mut managed = Managed { buffer: Buffer::new(memory, len), device: self.clone() };
        managed.write_zeros(size)?;
        Ok(managed)
    }
}

impl<T: Plain> Managed<T> {
    /// The device that has allocated it.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits for the work of all devices that uses the buffer, and gives its values to `use_values`. No device has them meanwhile.
    ///
    /// # Errors
    /// A graph or an image keeps the buffer, so that work with it may begin at any time: read and write it with a stream
    /// then. Or the driver reports a failure.
    pub fn access<R>(&mut self, use_values: impl FnOnce(&mut [T]) -> R) -> Result<R, Error> {
        let len = self.buffer.len();
        let device = self.device.clone();
        let access = ProgramAccess::new(&mut self.buffer, &device)?;
        let start = access.begin(&device)?;
        // SAFETY: the memory is aligned and has room for the values, which were written: zeros and whatever a device writes
        // are values of `Plain` types. Nothing else has the memory, which the buffer's borrow keeps so.
        let result = use_values(unsafe { slice::from_raw_parts_mut(start.cast(), len) });
        access.end(&device)?;
        Ok(result)
    }

    /// Writes zeros to new memory.
    fn write_zeros(&mut self, size: usize) -> Result<(), Error> {
        let device = self.device.clone();
        let access = ProgramAccess::new(&mut self.buffer, &device)?;
        let start = access.begin(&device)?;
        if !start.cast::<T>().is_aligned() {
            return Err(Error::device(&device.to_string(), "managed memory is not aligned for its values"));
        }
        // SAFETY: the memory has this size, and nothing else has it.
        unsafe { start.write_bytes(0, size) };
        access.end(&device)
    }
}

impl Stream {
    /// Queues moving the pages of `values` to the stream's device, before a kernel needs them. It changes no value; where memory does
    /// not move, it does nothing.
    ///
    /// ```
    /// let device = offload_rt::Device::host();
    /// let stream = device.stream()?;
    /// let values = device.managed::<f32>(1 << 20)?;
    /// stream.prefetch(&values)?;
    /// stream.prefetch_to_program(&values)?;
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// The stream's device cannot use the buffer, the stream is of a capture, or the driver refuses.
    pub fn prefetch<T: Plain>(&self, values: &Managed<T>) -> Result<(), Error> {
        self.prefetch_to(values, MemoryPlace::Device)
    }

    /// As [`Stream::prefetch`], to the program's memory, before [`Managed::access`] needs them.
    ///
    /// # Errors
    /// As there.
    pub fn prefetch_to_program<T: Plain>(&self, values: &Managed<T>) -> Result<(), Error> {
        self.prefetch_to(values, MemoryPlace::Program)
    }

    fn prefetch_to<T: Plain>(&self, values: &Managed<T>, place: MemoryPlace) -> Result<(), Error> {
        let range = Slice::from(&values.buffer).range();
        self.check(range, range.size)?;
        match range.size {
            0 => Ok(()),
            _ => self.done(self.backend().prefetch(range, place)),
        }
    }
}

impl<'m> ProgramAccess<'m> {
    fn new<T: Plain>(buffer: &'m mut Buffer<T>, device: &Device) -> Result<ProgramAccess<'m>, Error> {
        match buffer.exclusive_memory() {
            Some(memory) => Ok(ProgramAccess { memory }),
            None => Err(Error::device(&device.to_string(), "a graph or an image keeps the managed memory")
                .with_hint("drop it first, or use `Stream::read` and `Stream::write`")),
        }
    }

    fn begin(&self, device: &Device) -> Result<*mut u8, Error> {
        let begun = self.memory.begin_program_access();
        begun.map_err(|problem| Error::from_device(&device.to_string(), problem))
    }

    fn end(self, device: &Device) -> Result<(), Error> {
        let ended = self.memory.end_program_access();
        ended.map_err(|problem| Error::from_device(&device.to_string(), problem))
    }
}

impl Drop for ProgramAccess<'_> {
    fn drop(&mut self) {
        // After `end` there is nothing to be done.
        let _ = self.memory.end_program_access();
    }
}

impl<'a, T: Plain> From<&'a Managed<T>> for Slice<'a, T> {
    fn from(managed: &'a Managed<T>) -> Slice<'a, T> {
        Slice::from(&managed.buffer)
    }
}

impl<'a, T: Plain> From<&'a mut Managed<T>> for SliceMut<'a, T> {
    fn from(managed: &'a mut Managed<T>) -> SliceMut<'a, T> {
        SliceMut::from(&mut managed.buffer)
    }
}

impl<T: Plain> Deref for Managed<T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T: Plain> DerefMut for Managed<T> {
    fn deref_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }
}

impl<T: Plain> fmt::Debug for Managed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Managed").field("buffer", &self.buffer).finish_non_exhaustive()
    }
}
