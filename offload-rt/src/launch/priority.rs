//! Priorities of streams.

use super::stream::Stream;
use crate::backend::StreamPriority;
use crate::device::Device;
use crate::error::{Error, Problem};

impl Device {
    /// A new stream whose work groups the device starts before those of streams with a lower priority.
    ///
    /// It is a hint for kernels that wait for a place on the device: those that run go on, and copies are not touched by
    /// it. CUDA: <https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__STREAM.html>; OpenCL:
    /// [`cl_khr_priority_hints`](https://registry.khronos.org/OpenCL/sdk/3.0/docs/man/html/cl_khr_priority_hints.html).
    ///
    /// ```
    /// use offload_rt::{Device, StreamPriority};
    ///
    /// let device = Device::host();
    /// // The host CPU has done the work when a call returns, so that its streams have no priorities.
    /// assert!(device.stream_with_priority(StreamPriority::High).is_err());
    /// let stream = device.stream_with_priority(StreamPriority::Normal)?;
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::stream`]; or the streams of the device have no priorities, and the priority is not
    /// [`StreamPriority::Normal`].
    pub fn stream_with_priority(&self, priority: StreamPriority) -> Result<Stream, Error> {
        if priority == StreamPriority::Normal {
            return self.stream();
        }
        let made = self.backend().stream_with_priority(priority);
        match made.map_err(|problem| Error::from_device(&self.to_string(), problem))? {
            Some(backend) => Ok(Stream::new(self, backend)),
            None => {
                let problem = "its streams have no priorities".to_string();
                let problem = Problem::with_hint(problem, "`Device::stream` makes a stream without one");
                Err(Error::from_device(&self.to_string(), problem))
            }
        }
    }
}
