//! Typed memory of a device, and parts of it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use super::args::Plain;
use crate::backend::{BackendMemory, Lease, MemoryRange, MemoryRef};
use crate::error::Error;

/// Values of `T` in the memory of a device, made by a [`Stream`](crate::Stream).
///
/// Every stream of the same device may use it, and so may the kernels of all modules. Dropping it is right at any time,
/// also while kernels run that were launched with it: the memory is released after them.
///
/// ```
/// let stream = offload_rt::Device::host().stream()?;
/// let mut buffer = stream.upload(&[1.0f32, 2.0, 3.0, 4.0])?;
/// stream.write(buffer.slice_mut(2..)?, &[7.0, 8.0])?;
/// assert_eq!(stream.download(&buffer)?, [1.0, 2.0, 7.0, 8.0]);
/// assert!(buffer.slice(3..5).is_err());
/// # Ok::<(), offload_rt::Error>(())
/// ```
pub struct Buffer<T> {
    memory: Arc<dyn BackendMemory>,
    /// Of a buffer that was made in a capture.
    lease: Option<Arc<Lease>>,
    len: usize,
    values: PhantomData<fn() -> T>,
}

/// A part of a [`Buffer`] that is read.
pub struct Slice<'a, T> {
    part: ValueRange<'a>,
    values: PhantomData<&'a T>,
}

/// A part of a [`Buffer`] that is written.
pub struct SliceMut<'a, T> {
    part: ValueRange<'a>,
    values: PhantomData<&'a mut T>,
}

/// A range of values in memory.
#[derive(Clone, Copy)]
struct ValueRange<'a> {
    memory: MemoryRef<'a>,
    start: usize,
    len: usize,
}

impl<T: Plain> Buffer<T> {
    /// `memory` has room for `len` values.
    pub(crate) fn new(memory: Arc<dyn BackendMemory>, len: usize) -> Buffer<T> {
        Buffer { memory, lease: None, len, values: PhantomData }
    }

    /// The same, of a capture that has leased `memory`.
    pub(super) fn with_lease(memory: Arc<dyn BackendMemory>, lease: Arc<Lease>, len: usize) -> Buffer<T> {
        Buffer { lease: Some(lease), ..Buffer::new(memory, len) }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The values of `range`, to be read.
    ///
    /// # Errors
    /// The range ends before it starts, or behind the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_, T>, Error> {
        Ok(Slice { part: self.part(range)?, values: PhantomData })
    }

    /// The values of `range`, to be written.
    ///
    /// # Errors
    /// As [`Buffer::slice`].
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<SliceMut<'_, T>, Error> {
        Ok(SliceMut { part: self.part(range)?, values: PhantomData })
    }

    fn part(&self, range: impl RangeBounds<usize>) -> Result<ValueRange<'_>, Error> {
        let start = match range.start_bound() {
            Bound::Included(start) => Some(*start),
            Bound::Excluded(before) => before.checked_add(1),
            Bound::Unbounded => Some(0),
        };
        let end = match range.end_bound() {
            Bound::Included(last) => last.checked_add(1),
            Bound::Excluded(end) => Some(*end),
            Bound::Unbounded => Some(self.len),
        };
        let len = match (start, end) {
            (Some(start), Some(end)) if end <= self.len => end.checked_sub(start),
            _ => None,
        };
        match (start, len) {
            (Some(start), Some(len)) => Ok(ValueRange { memory: self.memory_ref(), start, len }),
            _ => {
                let start = range.start_bound();
                let end = range.end_bound();
                let problem =
                    format!("it has {} values: there is no part from {start:?} to {end:?}", self.len);
                Err(Error::device("device buffer", problem))
            }
        }
    }
}

impl<'a, T: Plain> Slice<'a, T> {
    /// The whole of `memory`, which has room for `len` values.
    #[cfg(feature = "cudarc-0_19")]
    pub(crate) fn whole(memory: &'a dyn BackendMemory, len: usize) -> Slice<'a, T> {
        Slice { part: ValueRange { memory: MemoryRef::Borrowed(memory), start: 0, len }, values: PhantomData }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.part.len
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.part.len == 0
    }

    pub(super) fn range(&self) -> MemoryRange<'a> {
        self.part.range::<T>()
    }
}

impl<'a, T: Plain> SliceMut<'a, T> {
    /// As [`Slice::whole`]; the caller has borrowed the memory to write.
    #[cfg(feature = "cudarc-0_19")]
    pub(crate) fn whole(memory: &'a dyn BackendMemory, len: usize) -> SliceMut<'a, T> {
        SliceMut {
            part: ValueRange { memory: MemoryRef::Borrowed(memory), start: 0, len },
            values: PhantomData,
        }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.part.len
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.part.len == 0
    }

    pub(super) fn range(&self) -> MemoryRange<'a> {
        self.part.range::<T>()
    }
}

impl<'a> ValueRange<'a> {
    /// In bytes. The products fit, because the memory was allocated.
    fn range<T>(self) -> MemoryRange<'a> {
        let element = size_of::<T>();
        MemoryRange::new(
            self.memory,
            self.start.saturating_mul(element),
            self.len.saturating_mul(element),
            element,
        )
    }
}

impl<'a, T: Plain> From<&'a Buffer<T>> for Slice<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Slice<'a, T> {
        let memory = buffer.memory_ref();
        Slice { part: ValueRange { memory, start: 0, len: buffer.len }, values: PhantomData }
    }
}

impl<'a, T: Plain> From<&'a mut Buffer<T>> for SliceMut<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> SliceMut<'a, T> {
        let memory = buffer.memory_ref();
        SliceMut { part: ValueRange { memory, start: 0, len: buffer.len }, values: PhantomData }
    }
}

impl<T> Buffer<T> {
    fn memory_ref(&self) -> MemoryRef<'_> {
        match &self.lease {
            None => MemoryRef::Shared(&self.memory),
            Some(lease) => MemoryRef::Leased(&self.memory, lease),
        }
    }

    /// The memory for users that may outlive the buffer.
    pub(super) fn shared_memory(&self) -> &Arc<dyn BackendMemory> {
        self.memory_ref().end_lease();
        &self.memory
    }

    /// The memory, if nothing but the buffer has it: no graph, and no image.
    pub(super) fn exclusive_memory(&mut self) -> Option<&dyn BackendMemory> {
        Arc::get_mut(&mut self.memory).map(|memory| &*memory)
    }

    pub(crate) fn memory(&self) -> &dyn BackendMemory {
        &**self.shared_memory()
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len).field("memory", &self.memory).finish()
    }
}

impl<T> fmt::Debug for Slice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slice({}..+{})", self.part.start, self.part.len)
    }
}

impl<T> fmt::Debug for SliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SliceMut({}..+{})", self.part.start, self.part.len)
    }
}
