//! Copies between devices: by the driver, if both are of one that can, or through the program's memory.

use std::slice;

use super::args::Plain;
use super::buffer::{Slice, SliceMut};
use super::stream::Stream;
use crate::backend::MemoryRange;
use crate::error::Error;

/// So many bytes at a time go through the program's memory.
const STAGED: usize = 16 << 20;

/// A copy between two streams.
#[derive(Clone, Copy)]
struct DeviceCopy<'a> {
    source: &'a Stream,
    target: &'a Stream,
    from: MemoryRange<'a>,
    to: MemoryRange<'a>,
}

impl Stream {
    /// Copies values from another device, of which `source` is a stream and `from` a buffer, to a buffer of this one.
    ///
    /// It comes after the work that both streams have, and before what they are given later. Two devices of CUDA, or of
    /// HIP, copy by themselves, as streams of one device do, and this returns at once. Otherwise the values go through
    /// the program's memory, and this returns when they are there.
    ///
    /// ```
    /// let device = offload_rt::Device::best()?;
    /// let (host, stream) = (offload_rt::Device::host().stream()?, device.stream()?);
    /// let x = host.upload(&[1.0f32, 2.0, 3.0, 4.0])?;
    /// let mut y = stream.zeroed::<f32>(2)?;
    /// stream.copy_from(&host, x.slice(2..)?, &mut y)?;
    /// assert_eq!(stream.download(&y)?, [3.0, 4.0]);
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// The lengths differ, a buffer is of another device than its stream, or a driver reports a failure.
    pub fn copy_from<'a, 'b, T: Plain>(
        &self,
        source: &Stream,
        from: impl Into<Slice<'a, T>>,
        to: impl Into<SliceMut<'b, T>>,
    ) -> Result<(), Error> {
        let from = from.into().range();
        let to = to.into().range();
        source.check(from, to.size)?;
        self.check(to, from.size)?;
        if from.size == 0 {
            return Ok(());
        }
        let copy = DeviceCopy { source, target: self, from, to };
        if source.backend().context() == self.backend().context() {
            return copy.within_context();
        }
        if self.done(self.backend().copy_from(source.backend(), from, to))? {
            return Ok(());
        }
        copy.through_program()
    }
}

impl DeviceCopy<'_> {
    fn within_context(&self) -> Result<(), Error> {
        let DeviceCopy { source, target, from, to } = *self;
        target.wait_for(&source.record()?)?;
        target.done(target.backend().copy(from, to))?;
        source.wait_for(&target.record()?)
    }

    /// Reading waits for the source's work, and writing returns when the bytes may change.
    fn through_program(&self) -> Result<(), Error> {
        let DeviceCopy { source, target, from, mut to } = *self;
        if let Some(bytes) = bytes(&from) {
            return target.done(target.backend().write(to, bytes));
        }
        if let Some(bytes) = bytes_mut(&mut to) {
            return source.done(source.backend().read(from, bytes));
        }
        let mut staged = vec![0u8; from.size.min(STAGED)];
        let mut done = 0usize;
        while done < from.size {
            staged.truncate(from.size.saturating_sub(done));
            source.done(source.backend().read(from.part(done, staged.len()), &mut staged))?;
            target.done(target.backend().write(to.part(done, staged.len()), &staged))?;
            done = done.saturating_add(staged.len());
        }
        Ok(())
    }
}

/// The bytes of a range that the caller has borrowed to read, if they are in the program's memory.
fn bytes<'a>(range: &'a MemoryRange<'_>) -> Option<&'a [u8]> {
    let start = range.memory.get().in_program()?.wrapping_add(range.offset);
    // SAFETY: the range lies within its memory, whose bytes are written; its buffer is borrowed, so that no stream writes
    // to it meanwhile.
    Some(unsafe { slice::from_raw_parts(start, range.size) })
}

/// The bytes of a range that the caller has borrowed to write, if they are in the program's memory.
fn bytes_mut<'a>(range: &'a mut MemoryRange<'_>) -> Option<&'a mut [u8]> {
    let start = range.memory.get().in_program()?.wrapping_add(range.offset);
    // SAFETY: as above; this is the only borrow of the range.
    Some(unsafe { slice::from_raw_parts_mut(start, range.size) })
}

#[cfg(all(test, feature = "host", any(unix, windows)))]
mod tests {
    use crate::device::Device;

    #[test]
    fn streams_of_one_device_copy_and_lengths_are_compared() {
        let first = Device::host().stream().unwrap();
        let second = Device::host().stream().unwrap();
        let x = first.upload(&[1u32, 2, 3, 4]).unwrap();
        let mut y = second.zeroed::<u32>(4).unwrap();
        second.copy_from(&first, x.slice(1..3).unwrap(), y.slice_mut(2..).unwrap()).unwrap();
        assert_eq!(second.download(&y).unwrap(), [0, 0, 2, 3]);
        second.copy_from(&first, x.slice(..0).unwrap(), y.slice_mut(..0).unwrap()).unwrap();
        let error = second.copy_from(&first, &x, y.slice_mut(..3).unwrap()).unwrap_err().to_string();
        assert!(error.contains("16 bytes of a buffer are copied to or from 12"), "{error}");
    }
}
