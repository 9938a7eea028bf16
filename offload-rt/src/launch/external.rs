//! Memory and semaphores of other programming interfaces: buffers over it, and their order with streams.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::args::Plain;
use super::buffer::Buffer;
use super::stream::Stream;
use crate::backend::BackendSemaphore;
use crate::device::Device;
use crate::error::{Error, Problem};
use crate::external::{ExternalMemory, ExternalSemaphoreKind};

/// A semaphore of another programming interface, made by [`Device::import_semaphore`].
///
/// It can be dropped at any time: the driver releases it after the work of the streams that use it.
#[derive(Clone, Debug)]
pub struct ExternalSemaphore {
    backend: Arc<dyn BackendSemaphore>,
    kind: ExternalSemaphoreKind,
}

impl ExternalSemaphore {
    /// The kind that it was imported as.
    pub fn kind(&self) -> ExternalSemaphoreKind {
        self.kind
    }
}

impl Device {
    /// A buffer of `len` values over memory of another programming interface, from its offset on, without a copy.
    ///
    /// It can be dropped at any time, as other buffers can: nothing waits. The memory stays the other interface's.
    ///
    /// ```no_run
    /// use std::os::fd::OwnedFd;
    ///
    /// use offload_rt::{Device, ExternalMemory, ExternalMemoryKind, ExternalSemaphoreKind};
    ///
    /// # fn exported_by_vulkan() -> (OwnedFd, OwnedFd) { unimplemented!() }
    /// let device = Device::best()?;
    /// let stream = device.stream()?;
    /// // vkGetMemoryFdKHR and vkGetSemaphoreFdKHR, of a timeline semaphore:
    /// let (memory, timeline) = exported_by_vulkan();
    /// let memory = ExternalMemory::new(ExternalMemoryKind::OpaqueFd, memory, 4 << 20).with_offset(1 << 20);
    /// // SAFETY: Vulkan keeps both, has memory of this size, and uses it before the value 1 and after 2.
    /// let (mut frame, timeline) = unsafe {
    ///     let frame = device.import_buffer::<f32>(memory, 1 << 18)?;
    ///     (frame, device.import_semaphore(ExternalSemaphoreKind::TimelineFd, timeline)?)
    /// };
    /// stream.wait_external(&timeline, 1)?;
    /// stream.fill(&mut frame, 0.5)?;
    /// stream.signal_external(&timeline, 2)?;
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// The values do not fit into the memory behind the offset, or are not aligned there; the device imports no such
    /// memory, as the host CPU; or the driver refuses.
    ///
    /// # Safety
    /// The file descriptor is a handle of this kind, of memory of this size, and dedicated as it says. Its bytes are
    /// initialized. Work of others that use the memory is ordered with that of the streams that use the buffer, by
    /// [`wait_external`](Stream::wait_external) and [`signal_external`](Stream::signal_external), or because each
    /// synchronizes before the other one goes on.
    #[allow(unsafe_code, reason = "shares memory with other programming interfaces")]
    pub unsafe fn import_buffer<T: Plain>(
        &self,
        memory: ExternalMemory,
        len: usize,
    ) -> Result<Buffer<T>, Error> {
        let failed = |problem: Problem| Error::from_device(&self.to_string(), problem);
        let size = fitting_size::<T>(&memory, len).map_err(|problem| failed(problem.into()))?;
        let imported = self.backend().import_memory(memory, size.max(1));
        let imported = imported.map_err(|problem| failed(problem.during("cannot import the memory")))?;
        let imported = imported.ok_or_else(|| {
            Error::device(&self.to_string(), "it imports no such memory of other programming interfaces")
                .with_hint("copy the values through the program's memory, or take a device of CUDA or HIP")
        })?;
        Ok(Buffer::new(imported, len))
    }

    /// A semaphore of another programming interface, which streams of this device wait for and signal.
    ///
    /// # Errors
    /// The device imports no such semaphores, as the host CPU, or the driver refuses, as HIP's runtime on Linux does.
    ///
    /// # Safety
    /// The file descriptor is a handle of this kind, of a semaphore of the same GPU. Waits and signals keep the rules of the
    /// interface that it is of: a binary semaphore is waited for once after each signal, and the value of a timeline
    /// semaphore only grows.
    #[allow(unsafe_code, reason = "shares semaphores with other programming interfaces")]
    pub unsafe fn import_semaphore(
        &self,
        kind: ExternalSemaphoreKind,
        descriptor: OwnedFd,
    ) -> Result<ExternalSemaphore, Error> {
        let imported = self.backend().import_semaphore(kind, descriptor);
        let imported = imported.map_err(|problem| {
            Error::from_device(&self.to_string(), problem.during("cannot import the semaphore"))
        })?;
        match imported {
            Some(backend) => Ok(ExternalSemaphore { backend, kind }),
            None => Err(Error::device(&self.to_string(), "it imports no such semaphores")
                .with_hint("synchronize the stream, and let the program signal the other interface")),
        }
    }
}

impl<T: Plain> Buffer<T> {
    /// A dma-buf of the buffer's memory, for other devices and programming interfaces. The buffer is one of
    /// [`Device::exportable_buffer`]: its values are at the start of the dma-buf, which has whole blocks of 2 MiB.
    ///
    /// The memory lives as long as the buffer or a user of the dma-buf does. Synchronize the stream before others use it,
    /// and let them end before a stream uses it again.
    ///
    /// ```no_run
    /// let device = offload_rt::Device::best()?;
    /// let frame = device.exportable_buffer::<u8>(1920 * 1080 * 4)?;
    /// let dma_buf = frame.export_dma_buf()?;
    /// // VIDIOC_QBUF with V4L2_MEMORY_DMABUF, zwp_linux_dmabuf_v1, ibv_reg_dmabuf_mr ...
    /// # drop(dma_buf);
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// The buffer is of a stream, as the error says; the device has no dma-bufs, as OpenCL devices and the host CPU; or the
    /// driver refuses.
    pub fn export_dma_buf(&self) -> Result<OwnedFd, Error> {
        const BUFFER: &str = "device buffer";
        let exported = self.memory().export_dma_buf();
        let exported = exported.map_err(|problem| Error::from_device(BUFFER, problem))?;
        exported.ok_or_else(|| {
            Error::device(BUFFER, "memory of this device has no dma-buf")
                .with_hint("copy the values, or take a device of CUDA or HIP")
        })
    }
}

impl Stream {
    /// Makes the work that is given from now on wait until `semaphore` has at least `value`. A binary semaphore has no
    /// values: `value` is 0 then, and the wait resets it.
    ///
    /// The call returns at once. Work behind a wait that nothing ends does not run; [`Stream::synchronize_timeout`]
    /// reports it.
    ///
    /// # Errors
    /// The semaphore is of another device, a binary one is given a value, the stream is of a capture, or the driver
    /// refuses.
    pub fn wait_external(&self, semaphore: &ExternalSemaphore, value: u64) -> Result<(), Error> {
        self.check_semaphore(semaphore, value)?;
        self.done(self.backend().wait_external(&*semaphore.backend, value))
    }

    /// Sets `semaphore` to `value` after the work that the stream has. A binary semaphore has no values: `value` is 0 then.
    ///
    /// # Errors
    /// As [`Stream::wait_external`].
    pub fn signal_external(&self, semaphore: &ExternalSemaphore, value: u64) -> Result<(), Error> {
        self.check_semaphore(semaphore, value)?;
        self.done(self.backend().signal_external(&*semaphore.backend, value))
    }

    fn check_semaphore(&self, semaphore: &ExternalSemaphore, value: u64) -> Result<(), Error> {
        if semaphore.backend.context() != self.backend().context() {
            let problem = "it cannot use a semaphore of another device".to_string();
            return Err(self.problem(Problem::with_hint(problem, "import it for the stream's device")));
        }
        if semaphore.kind == ExternalSemaphoreKind::OpaqueFd && value != 0 {
            let problem = format!("a binary semaphore has no value, {value} is given");
            let hint = "give 0, or import a timeline semaphore as `ExternalSemaphoreKind::TimelineFd`";
            return Err(self.problem(Problem::with_hint(problem, hint)));
        }
        Ok(())
    }
}

/// The size of `len` values in bytes, if `memory` has room for them.
fn fitting_size<T>(memory: &ExternalMemory, len: usize) -> Result<u64, String> {
    let ExternalMemory { size, offset, .. } = memory;
    let room = size.checked_sub(*offset);
    let needed = len.checked_mul(size_of::<T>()).map(|needed| needed as u64);
    match (needed, room) {
        (Some(needed), Some(room)) if needed <= room && room > 0 => {
            if offset.is_multiple_of(align_of::<T>() as u64) {
                return Ok(needed);
            }
            Err(format!("values that start at byte {offset} are not aligned to {} bytes", align_of::<T>()))
        }
        _ => Err(format!(
            "{len} values of {} bytes from byte {offset} on do not fit into memory of {size} bytes",
            size_of::<T>()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external::ExternalMemoryKind;

    fn memory(size: u64) -> ExternalMemory {
        let file = std::fs::File::open("/dev/null").unwrap();
        ExternalMemory::new(ExternalMemoryKind::DmaBuf, file.into(), size)
    }

    #[test]
    fn values_fit_behind_the_offset_and_are_aligned() {
        assert_eq!(fitting_size::<u32>(&memory(16), 4), Ok(16));
        assert_eq!(fitting_size::<u32>(&memory(16).with_offset(8), 2), Ok(8));
        assert_eq!(fitting_size::<u32>(&memory(16), 0), Ok(0));
        for (memory, len) in [
            (memory(16), 5),
            (memory(16).with_offset(8), 3),
            (memory(16).with_offset(6), 1),
            (memory(16).with_offset(16), 0),
            (memory(16).with_offset(u64::MAX), 1),
            (memory(0), 0),
            (memory(16), usize::MAX),
        ] {
            assert!(fitting_size::<u32>(&memory, len).is_err(), "{memory:?}, {len}");
        }
    }

    #[test]
    #[cfg(feature = "host")]
    #[allow(unsafe_code, reason = "the imports are refused")]
    fn the_host_imports_and_exports_nothing() {
        let host = Device::host();
        // SAFETY: nothing is imported.
        let error = unsafe { host.import_buffer::<u32>(memory(16), 4) }.unwrap_err();
        assert!(error.to_string().contains("imports no such memory") && error.hint().is_some(), "{error}");
        let descriptor = memory(16).descriptor;
        // SAFETY: as above.
        let error = unsafe { host.import_semaphore(ExternalSemaphoreKind::TimelineFd, descriptor) };
        let error = error.unwrap_err();
        assert!(
            error.to_string().contains("imports no such semaphores") && error.hint().is_some(),
            "{error}"
        );
        let error = host.stream().unwrap().zeroed::<u8>(4).unwrap().export_dma_buf().unwrap_err();
        assert!(error.to_string().contains("no dma-buf") && error.hint().is_some(), "{error}");
    }
}
