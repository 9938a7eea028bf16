//! Points in streams: waiting for them, and the time between two.

use std::any::Any;
use std::thread;
use std::time::{Duration, Instant};

use super::queued::Queued;
use super::recording::RecordedEvent;
use crate::backend::BackendEvent;
use crate::device::Device;
use crate::error::Error;

/// The longest time between two looks at an event.
const MAX_PAUSE: Duration = Duration::from_millis(1);

/// A point in a [`Stream`](crate::Stream), made by [`Stream::record`](crate::Stream::record).
///
/// ```
/// let stream = offload_rt::Device::host().stream()?;
/// let start = stream.record()?;
/// let zeros = stream.zeroed::<u32>(1 << 20)?;
/// let end = stream.record()?;
/// println!("filling {} values took {:?}", zeros.len(), end.since(&start)?);
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Debug)]
pub struct Event {
    pub(super) backend: Box<dyn BackendEvent>,
    pub(super) device: Device,
    pub(super) queued: Queued,
}

impl Event {
    /// Waits until all work before the event has run.
    ///
    /// # Errors
    /// Work before the event failed: the message names the kernel, or all kernels that it may have been.
    pub fn wait(&self) -> Result<(), Error> {
        self.backend.wait().map_err(|problem| self.queued.failed(&self.device, problem))?;
        self.queued.conclude(&self.device)
    }

    /// Waits until all work before the event has run, but not longer than `limit`; `false` if it has not by then.
    ///
    /// # Errors
    /// As [`Event::wait`].
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool, Error> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(1);
        while !self.is_done()? {
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            thread::sleep(pause.min(left));
            pause = pause.saturating_mul(2).min(MAX_PAUSE);
        }
        self.queued.conclude(&self.device)?;
        Ok(true)
    }

    /// Whether all work before the event has run. The call does not wait.
    ///
    /// # Errors
    /// As [`Event::wait`].
    pub fn is_done(&self) -> Result<bool, Error> {
        self.backend.is_done().map_err(|problem| self.queued.failed(&self.device, problem))
    }

    /// Whether it is of a capture.
    pub(super) fn is_recorded(&self) -> bool {
        let event: &dyn Any = &*self.backend;
        event.is::<RecordedEvent>()
    }

    /// Waits for both, and returns the time from `earlier` to this by the device's own clock.
    ///
    /// # Errors
    /// As [`Event::wait`]; or `earlier` is of another device, or the driver does not tell times.
    pub fn since(&self, earlier: &Event) -> Result<Duration, Error> {
        if self.backend.context() != earlier.backend.context() {
            let problem = format!("cannot tell the time since an event of {}", earlier.device);
            return Err(Error::device(&self.device.to_string(), problem));
        }
        earlier.wait()?;
        self.wait()?;
        let since = self.backend.since(&*earlier.backend);
        since.map_err(|problem| Error::from_device(&self.device.to_string(), problem))
    }
}
