//! Streams: memory, copies and kernels of a device, in order.

use std::time::Duration;

use super::args::Plain;
use super::buffer::{Buffer, Slice, SliceMut};
use super::event::Event;
use super::queued::Queued;
use super::recording::RecordingStream;
use crate::backend::{BackendEvent, BackendStream, FillPattern, MemoryRange};
use crate::device::Device;
use crate::error::{Error, Problem};

/// Work for a device, done in the order in which it was given; made by [`Device::stream`].
///
/// Kernels, copies within the device and fills are queued. What takes values from the program or brings them back
/// returns when the program's memory is its own again; [`Stream::write_async`] and [`Stream::read_async`] return at
/// once. Streams run beside each other unless an [`Event`] orders them;
/// one stream may be used by several threads. Dropping a stream does not stop its work.
///
/// On the host CPU all work is done before a call returns.
///
/// ```
/// let stream = offload_rt::Device::host().stream()?;
/// let x = stream.upload(&[1u32, 2, 3, 4])?;
/// let mut y = stream.zeroed::<u32>(4)?;
/// stream.copy(x.slice(..2)?, y.slice_mut(2..)?)?;
/// assert_eq!(stream.download(&y)?, [0, 0, 1, 2]);
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Debug)]
pub struct Stream {
    backend: Box<dyn BackendStream>,
    device: Device,
    queued: Queued,
    /// Of a capture.
    recording: Option<RecordingStream>,
}

impl Device {
    /// A new stream: an order of work beside that of other streams.
    ///
    /// All streams and programs of a device share one context, so that buffers can be used with each of them.
    ///
    /// # Errors
    /// The driver refuses, or the crate feature for the device is not enabled.
    pub fn stream(&self) -> Result<Stream, Error> {
        let stream = self.backend().stream();
        Ok(Stream::new(self, stream.map_err(|problem| Error::from_device(&self.to_string(), problem))?))
    }
}

impl Stream {
    pub(crate) fn new(device: &Device, backend: Box<dyn BackendStream>) -> Stream {
        Stream { backend, device: device.clone(), queued: Queued::default(), recording: None }
    }

    /// A stream of a capture.
    pub(super) fn from_recording(device: &Device, recording: RecordingStream) -> Stream {
        let backend = Box::new(recording.clone());
        Stream { recording: Some(recording), ..Stream::new(device, backend) }
    }

    /// The device that does the work.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A buffer with a copy of `values`.
    ///
    /// # Errors
    /// The device has no memory for it, or refuses; this holds for all that make buffers.
    pub fn upload<T: Plain>(&self, values: &[T]) -> Result<Buffer<T>, Error> {
        let mut buffer = self.allocate(values.len())?;
        self.write(&mut buffer, values)?;
        Ok(buffer)
    }

    /// A buffer of `len` zeros.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    pub fn zeroed<T: Plain>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let mut buffer = self.allocate(len)?;
        self.fill(&mut buffer, T::zeroed())?;
        Ok(buffer)
    }

    /// A buffer of `len` values that are unspecified until they are written.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    pub fn allocate<T: Plain>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let size = len.checked_mul(size_of::<T>());
        let size =
            size.ok_or_else(|| self.problem(format!("{len} values are more than 2^64 bytes").into()))?;
        let failed =
            |problem: Problem| self.problem(problem.during(&format!("cannot allocate {size} bytes")));
        // No driver has empty buffers.
        if let Some(recording) = &self.recording {
            let (memory, lease) = recording.lease(size.max(1)).map_err(failed)?;
            return Ok(Buffer::with_lease(memory, lease, len));
        }
        Ok(Buffer::new(self.backend.allocate(size.max(1)).map_err(failed)?, len))
    }

    /// Copies `values` to the device, after the work that the stream has.
    ///
    /// # Errors
    /// The lengths differ, the buffer is of another device, or the driver reports a failure; this holds for all that
    /// copy.
    pub fn write<'b, T: Plain>(&self, to: impl Into<SliceMut<'b, T>>, values: &[T]) -> Result<(), Error> {
        let to = to.into();
        self.check(to.range(), size_of_val(values))?;
        match values {
            [] => Ok(()),
            values => self.done(self.backend.write(to.range(), bytemuck::cast_slice(values))),
        }
    }

    /// Waits for the stream's work, and copies to `values`.
    ///
    /// # Errors
    /// As [`Stream::write`]; a failure of a kernel before it is reported here, with its name.
    pub fn read<'b, T: Plain>(&self, from: impl Into<Slice<'b, T>>, values: &mut [T]) -> Result<(), Error> {
        let from = from.into();
        self.check(from.range(), size_of_val(values))?;
        if values.is_empty() {
            return self.synchronize();
        }
        self.done(self.backend.read(from.range(), bytemuck::cast_slice_mut(values)))?;
        self.finished()
    }

    /// Waits for the stream's work, and returns the values.
    ///
    /// # Errors
    /// As [`Stream::read`].
    pub fn download<'b, T: Plain>(&self, from: impl Into<Slice<'b, T>>) -> Result<Vec<T>, Error> {
        let from = from.into();
        let mut values = vec![T::zeroed(); from.len()];
        self.read(from, &mut values)?;
        Ok(values)
    }

    /// Copies values within the device. [`Stream::copy_from`] copies from another one.
    ///
    /// # Errors
    /// As [`Stream::write`].
    pub fn copy<'a, 'b, T: Plain>(
        &self,
        from: impl Into<Slice<'a, T>>,
        to: impl Into<SliceMut<'b, T>>,
    ) -> Result<(), Error> {
        let from = from.into();
        let to = to.into();
        self.check(from.range(), to.range().size)?;
        self.check(to.range(), from.range().size)?;
        match from.range().size {
            0 => Ok(()),
            _ => self.done(self.backend.copy(from.range(), to.range())),
        }
    }

    /// Sets every value to `value`.
    ///
    /// # Errors
    /// As [`Stream::write`].
    pub fn fill<'b, T: Plain>(&self, to: impl Into<SliceMut<'b, T>>, value: T) -> Result<(), Error> {
        let range = to.into().range();
        self.check(range, range.size)?;
        match (range.size, FillPattern::from_value(bytemuck::bytes_of(&value))) {
            (0, _) => Ok(()),
            (_, Some(pattern)) => self.done(self.backend.fill(range, pattern)),
            (_, None) => self.done(self.fill_by_copies(range, bytemuck::bytes_of(&value))),
        }
    }

    /// Marks the present end of the stream's work.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn record(&self) -> Result<Event, Error> {
        Ok(self.event(self.done(self.backend.record())?))
    }

    /// Makes the work that is given from now on wait for `event`, which may be of another device.
    ///
    /// Two devices of CUDA, or of HIP, wait by themselves, as streams of one device do, and this returns at once. Otherwise
    /// this returns when the work before the event has run.
    ///
    /// # Errors
    /// The driver refuses; or the event is of another device, and its work failed.
    pub fn wait_for(&self, event: &Event) -> Result<(), Error> {
        if self.recording.is_none() && event.is_recorded() {
            let problem = "it cannot wait for an event of a capture".to_string();
            return Err(self.problem(problem.into()));
        }
        if self.recording.is_none() && !self.backend.waits_for(&*event.backend) {
            return event.wait();
        }
        self.done(self.backend.wait_for(&*event.backend))
    }

    /// Waits for all work.
    ///
    /// # Errors
    /// A kernel or copy failed, or an assertion in a kernel: the message names the kernel, or those that come into
    /// question.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.done(self.backend.synchronize())?;
        self.finished()
    }

    /// [`Stream::synchronize`], but not longer than `limit`: a kernel that does not end is an error, and the program goes on.
    /// What the stream's work uses stays in use.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let stream = offload_rt::Device::host().stream()?;
    /// let zeros = stream.zeroed::<u32>(1 << 20)?;
    /// stream.synchronize_timeout(Duration::from_secs(10))?;
    /// # drop(zeros);
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Stream::synchronize`]; or the work has not run by then: the message names the kernels in flight.
    pub fn synchronize_timeout(&self, limit: Duration) -> Result<(), Error> {
        if self.record()?.wait_timeout(limit)? {
            return self.synchronize();
        }
        let problem = format!("the work of the stream has not run after {limit:?}");
        Err(self.queued.failed(&self.device, problem.into()))
    }

    /// All work has run.
    pub(super) fn finished(&self) -> Result<(), Error> {
        let concluded = self.queued.conclude(&self.device);
        self.queued.clear();
        concluded
    }

    pub(crate) fn backend(&self) -> &dyn BackendStream {
        &*self.backend
    }

    #[inline]
    pub(super) fn recording(&self) -> Option<&RecordingStream> {
        self.recording.as_ref()
    }

    pub(super) fn queued(&self) -> &Queued {
        &self.queued
    }

    /// A point in this stream.
    pub(super) fn event(&self, backend: Box<dyn BackendEvent>) -> Event {
        Event { backend, device: self.device.clone(), queued: self.queued.clone() }
    }

    /// Writes `value` once, and doubles what is there.
    fn fill_by_copies(&self, range: MemoryRange<'_>, value: &[u8]) -> Result<(), Problem> {
        let mut filled = value.len();
        self.backend.write(range.part(0, filled), value)?;
        while filled < range.size {
            let more = filled.min(range.size.saturating_sub(filled));
            self.backend.copy(range.part(0, more), range.part(filled, more))?;
            filled = filled.saturating_add(more);
        }
        Ok(())
    }

    /// Compares a range with the device and with the size of the other side.
    pub(super) fn check(&self, range: MemoryRange<'_>, other: usize) -> Result<(), Error> {
        if !range.memory.is_usable_in(self.backend.context()) {
            let problem = self.problem("it cannot use a buffer of another device".to_string().into());
            return Err(problem.with_hint("Stream::copy_from copies from a buffer of another device"));
        }
        if range.size != other {
            let size = range.size;
            return Err(
                self.problem(format!("{size} bytes of a buffer are copied to or from {other}").into())
            );
        }
        Ok(())
    }

    pub(super) fn done<R>(&self, result: Result<R, Problem>) -> Result<R, Error> {
        result.map_err(|problem| self.queued.failed(&self.device, problem))
    }

    pub(super) fn problem(&self, problem: Problem) -> Error {
        Error::from_device(&self.device.to_string(), problem)
    }
}

impl FillPattern {
    /// The shortest pattern that repeats to `value`, if a driver can fill with it.
    fn from_value(value: &[u8]) -> Option<FillPattern> {
        if let Some([byte]) = repeated_unit(value) {
            return Some(FillPattern::Bytes1(byte));
        }
        if let Some(unit) = repeated_unit(value) {
            return Some(FillPattern::Bytes2(u16::from_ne_bytes(unit)));
        }
        let unit = repeated_unit(value)?;
        Some(FillPattern::Bytes4(u32::from_ne_bytes(unit)))
    }
}

/// The first `N` bytes of `value`, if it is a repetition of them.
fn repeated_unit<const N: usize>(value: &[u8]) -> Option<[u8; N]> {
    let unit: [u8; N] = value.first_chunk().copied()?;
    let chunks = value.chunks_exact(N);
    let is_repetition = chunks.remainder().is_empty() && chunks.into_iter().all(|chunk| *chunk == unit);
    is_repetition.then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_filled_with_their_shortest_pattern() {
        let cases: [(&[u8], Option<FillPattern>); 6] = [
            (&[0; 12], Some(FillPattern::Bytes1(0))),
            (&[1, 2, 1, 2], Some(FillPattern::Bytes2(u16::from_ne_bytes([1, 2])))),
            (&1.0f32.to_ne_bytes(), Some(FillPattern::Bytes4(1.0f32.to_bits()))),
            (&[1, 2, 3, 1, 2, 3], None),
            (&7u64.to_ne_bytes(), None),
            (&[1, 2, 3], None),
        ];
        for (value, pattern) in cases {
            assert_eq!(FillPattern::from_value(value), pattern, "{value:?}");
        }
    }
}
