//! Memory that processes share: handles of the drivers of CUDA and HIP.

use super::args::Plain;
use super::buffer::Buffer;
use crate::backend::{Backend, IpcMemoryHandle};
use crate::device::Device;
use crate::error::{Error, Problem};

/// The bytes of a handle: version, driver, size of the memory in bytes, and the driver's own.
const SIZE: usize = 80;
const VERSION: u32 = 1;

/// A buffer for other processes, made by [`Buffer::export`]; its bytes go to them in any way.
///
/// ```no_run
/// use offload_rt::{Device, ExportedBuffer};
///
/// # fn send(_: [u8; 80]) {}
/// # fn received() -> [u8; 80] { [0; 80] }
/// // One process, which keeps the buffer as long as others have it:
/// let device = Device::best()?;
/// let buffer = device.exportable_buffer::<f32>(1 << 20)?;
/// send(buffer.export()?.to_bytes());
///
/// // The other one, on the same device:
/// let exported = ExportedBuffer::from_bytes(&received())?;
/// // SAFETY: the first process has the buffer still, and does not use it meanwhile.
/// let buffer = unsafe { device.open_exported::<f32>(&exported)? };
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportedBuffer {
    backend: Backend,
    /// Of its values, in bytes.
    size: u64,
    handle: IpcMemoryHandle,
}

/// The number of a driver in the bytes.
fn number(backend: Backend) -> Option<u32> {
    match backend {
        Backend::Cuda => Some(1),
        Backend::Hip => Some(2),
        Backend::Host | Backend::OpenCl => None,
    }
}

impl ExportedBuffer {
    /// The bytes, for a process with the same release of this crate.
    pub fn to_bytes(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let driver = number(self.backend).unwrap_or(0);
        let parts =
            [&VERSION.to_le_bytes()[..], &driver.to_le_bytes(), &self.size.to_le_bytes(), &self.handle.0];
        for (byte, part) in bytes.iter_mut().zip(parts.into_iter().flatten()) {
            *byte = *part;
        }
        bytes
    }

    /// What [`to_bytes`](ExportedBuffer::to_bytes) has made.
    ///
    /// # Errors
    /// It has not made them.
    pub fn from_bytes(bytes: &[u8]) -> Result<ExportedBuffer, Error> {
        let refused = || Error::device("exported buffer", "these bytes are not those of an exported buffer");
        let (version, rest) = bytes.split_first_chunk().ok_or_else(refused)?;
        let (driver, rest) = rest.split_first_chunk().ok_or_else(refused)?;
        let (size, handle) = rest.split_first_chunk().ok_or_else(refused)?;
        let driver = Some(u32::from_le_bytes(*driver));
        let backend = [Backend::Cuda, Backend::Hip].into_iter().find(|backend| number(*backend) == driver);
        match (backend, <[u8; 64]>::try_from(handle)) {
            (Some(backend), Ok(handle)) if u32::from_le_bytes(*version) == VERSION => Ok(ExportedBuffer {
                backend,
                size: u64::from_le_bytes(*size),
                handle: IpcMemoryHandle(handle),
            }),
            _ => Err(refused()),
        }
    }
}

impl Device {
    /// A buffer of `len` values that [`Buffer::export`] gives to other processes. The values are unspecified until they are
    /// written.
    ///
    /// It is memory of its own, of whole blocks of 2 MiB, not of the device's pool: releasing it waits for work that uses it.
    ///
    /// # Errors
    /// The device has no such memory, as OpenCL devices and the host CPU, or not so much of it.
    pub fn exportable_buffer<T: Plain>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let failed = |problem: Problem| Error::from_device(&self.to_string(), problem);
        let Some(size) = len.checked_mul(size_of::<T>()) else {
            return Err(failed(format!("{len} values are more than 2^64 bytes").into()));
        };
        let memory = self.backend().allocate_exportable(size.max(1));
        let memory =
            memory.map_err(|problem| failed(problem.during(&format!("cannot allocate {size} bytes"))))?;
        Ok(Buffer::new(memory.ok_or_else(|| not_shared(self))?, len))
    }

    /// Opens a buffer of another process, which has the same device or one that is connected with it.
    ///
    /// # Errors
    /// The buffer is of another driver, has no whole number of values, or the driver refuses, as in the process that has made
    /// the buffer.
    ///
    /// # Safety
    /// The other process keeps its buffer until this one is dropped, and the values are of a type that every bit pattern is a
    /// value of. Work of both processes with the buffer is ordered: each synchronizes before the other one goes on.
    #[allow(unsafe_code, reason = "shares memory with another process")]
    pub unsafe fn open_exported<T: Plain>(&self, exported: &ExportedBuffer) -> Result<Buffer<T>, Error> {
        let failed = |problem: Problem| Error::from_device(&self.to_string(), problem);
        let size = usize::try_from(exported.size).unwrap_or(usize::MAX);
        if size.checked_rem(size_of::<T>()) != Some(0) {
            let problem =
                format!("a buffer of {size} bytes has no whole number of values of {}", size_of::<T>());
            return Err(failed(problem.into()));
        }
        let opened = self.backend().open_exported(exported.backend, exported.handle);
        let memory = opened.map_err(|problem| failed(problem.during("cannot open the buffer")))?;
        let memory = memory.ok_or_else(|| not_shared(self))?;
        Ok(Buffer::new(memory, size / size_of::<T>()))
    }
}

impl<T: Plain> Buffer<T> {
    /// The handle of the buffer for other processes, which may open it while this one has it. The buffer is one of
    /// [`Device::exportable_buffer`].
    ///
    /// # Errors
    /// The buffer is of a stream, or the driver refuses.
    pub fn export(&self) -> Result<ExportedBuffer, Error> {
        const BUFFER: &str = "device buffer";
        let memory = self.memory();
        let handle = memory.export().map_err(|problem| Error::from_device(BUFFER, problem))?;
        match handle {
            Some(handle) => {
                let size = self.len().saturating_mul(size_of::<T>()) as u64;
                Ok(ExportedBuffer { backend: memory.context().backend, size, handle })
            }
            None => Err(Error::device(BUFFER, "other processes cannot open memory of this device")),
        }
    }
}

fn not_shared(device: &Device) -> Error {
    Error::device(&device.to_string(), "its memory cannot be shared between processes")
        .with_hint("copy the values, or take a device of CUDA or HIP")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_a_buffer_again() {
        let handle = IpcMemoryHandle(std::array::from_fn(|index| index as u8));
        let exported = ExportedBuffer { backend: Backend::Hip, size: 1 << 40, handle };
        let bytes = exported.to_bytes();
        assert_eq!(ExportedBuffer::from_bytes(&bytes).unwrap(), exported);
        assert!(ExportedBuffer::from_bytes(&bytes[1..]).is_err());
        for (at, value) in [(0, 2), (4, 3)] {
            let mut bytes = bytes;
            bytes[at] = value;
            assert!(ExportedBuffer::from_bytes(&bytes).is_err());
        }
    }

    #[test]
    #[cfg(all(feature = "host", any(unix, windows)))]
    fn the_host_shares_no_memory() {
        let host = Device::host();
        assert!(host.exportable_buffer::<u8>(4).unwrap_err().to_string().contains("between processes"));
        assert!(host.stream().unwrap().zeroed::<u8>(4).unwrap().export().is_err());
    }
}
