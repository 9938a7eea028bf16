//! Copies between pinned memory and a device that run beside the program.

use std::fmt;
use std::mem;

use super::args::Plain;
use super::buffer::{Slice, SliceMut};
use super::event::Event;
use super::pinned::Pinned;
use super::stream::Stream;
use crate::backend::BackendEvent;
use crate::error::{Error, Problem};

/// A copy to or from a device that was begun, made by [`Stream::write_async`] and [`Stream::read_async`].
///
/// It holds the pinned memory until the copy is done, so that nothing else can use it meanwhile; [`Transfer::wait`]
/// gives it back. Dropping it waits.
///
/// ```
/// let device = offload_rt::Device::host();
/// let (stream, mut values) = (device.stream()?, device.pinned::<f32>(1024)?);
/// values.fill(2.0);
/// let mut buffer = stream.allocate::<f32>(1024)?;
/// let begun = stream.write_async(&mut buffer, values)?;
/// // The program goes on, and then needs the memory again.
/// let values = begun.wait()?;
/// let values = stream.read_async(&buffer, values)?.wait()?;
/// assert_eq!(values[1023], 2.0);
/// # Ok::<(), offload_rt::Error>(())
/// ```
///
/// ```compile_fail,E0382
/// # let device = offload_rt::Device::host();
/// # let (stream, mut values) = (device.stream()?, device.pinned::<f32>(1024)?);
/// # let mut buffer = stream.allocate::<f32>(1024)?;
/// let begun = stream.write_async(&mut buffer, values)?;
/// values[0] = 1.0; // The copy has it.
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[must_use = "dropping it waits for the copy"]
pub struct Transfer<T> {
    /// `None` only while it is taken apart.
    values: Option<Pinned<T>>,
    done: Event,
}

impl Stream {
    /// Begins to copy pinned memory to the device, after the work that the stream has, and returns at once.
    ///
    /// Later work of the stream comes after the copy.
    ///
    /// # Errors
    /// As [`Stream::write`]; the memory is then released.
    #[allow(unsafe_code, reason = "the device reads memory of the program")]
    pub fn write_async<'b, T: Plain>(
        &self,
        to: impl Into<SliceMut<'b, T>>,
        values: Pinned<T>,
    ) -> Result<Transfer<T>, Error> {
        let range = to.into().range();
        self.check(range, size_of_val(&*values))?;
        let begun = match range.size {
            0 => self.backend().record(),
            // SAFETY: the memory has this size; the transfer holds it until the copy is done.
            _ => unsafe { self.backend().write_later(range, values.as_ptr().cast()) },
        };
        self.transfer(values, begun)
    }

    /// Begins to copy from the device to pinned memory, after the work that the stream has, and returns at once.
    ///
    /// # Errors
    /// As [`Stream::write_async`]. A failure of a kernel before it is reported by [`Transfer::wait`].
    #[allow(unsafe_code, reason = "the device writes memory of the program")]
    pub fn read_async<'b, T: Plain>(
        &self,
        from: impl Into<Slice<'b, T>>,
        mut values: Pinned<T>,
    ) -> Result<Transfer<T>, Error> {
        let range = from.into().range();
        self.check(range, size_of_val(&*values))?;
        let begun = match range.size {
            0 => self.backend().record(),
            // SAFETY: as above; every bit pattern is a value of `T`.
            _ => unsafe { self.backend().read_later(range, values.as_mut_ptr().cast()) },
        };
        self.transfer(values, begun)
    }

    /// The copy that `begun` tells of.
    pub(super) fn transfer<T>(
        &self,
        values: Pinned<T>,
        begun: Result<Box<dyn BackendEvent>, Problem>,
    ) -> Result<Transfer<T>, Error> {
        // After an error no copy is under way: the memory may go.
        Ok(Transfer { done: self.event(self.done(begun)?), values: Some(values) })
    }
}

impl<T: Plain> Transfer<T> {
    /// Waits for the copy, and gives the memory back.
    ///
    /// # Errors
    /// As [`Event::wait`]. The memory is then leaked, since the device may still use it.
    pub fn wait(mut self) -> Result<Pinned<T>, Error> {
        let values = self.values.take();
        let waited = self.done.wait();
        match (waited, values) {
            (Ok(()), Some(values)) => Ok(values),
            (Err(error), values) => {
                mem::forget(values);
                Err(error)
            }
            (Ok(()), None) => Err(Error::device("pinned memory", "the copy has lost it")),
        }
    }
}

impl<T> Transfer<T> {
    /// The end of the copy: other streams may wait for it.
    pub fn event(&self) -> &Event {
        &self.done
    }

    /// Whether the copy is done. It does not wait.
    ///
    /// # Errors
    /// As [`Event::is_done`].
    pub fn is_done(&self) -> Result<bool, Error> {
        self.done.is_done()
    }
}

impl<T> Drop for Transfer<T> {
    fn drop(&mut self) {
        if self.values.is_some() && self.done.wait().is_err() {
            // The device may still use it.
            mem::forget(self.values.take());
        }
    }
}

impl<T> fmt::Debug for Transfer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transfer").field("values", &self.values).field("done", &self.done).finish()
    }
}
