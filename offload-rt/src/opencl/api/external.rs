//! External memory and semaphores: functions that a platform hands out, and objects made of file descriptors
//! (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_Ext.html#cl_khr_external_memory>).

use std::ffi::{CStr, c_void};
use std::fmt;
use std::mem;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::ptr;

use opencl_sys::{
    CL_DEVICE_PLATFORM, CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR,
    CL_MEM_READ_WRITE, CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
    CL_SEMAPHORE_TYPE_KHR, cl_command_queue, cl_mem, cl_ulong, clCreateSemaphoreWithPropertiesKHR_t,
    clEnqueueAcquireExternalMemObjectsKHR_t, clEnqueueReleaseExternalMemObjectsKHR_t,
    clEnqueueSignalSemaphoresKHR_t, clEnqueueWaitSemaphoresKHR_t, clReleaseSemaphoreKHR_t,
};

use super::device::DeviceId;
use super::error::{ClError, ClResult};
use super::info::{check, sizes};
use super::library::call;
use super::object::{Buffer, CommandQueue, Context, created};
use crate::external::{ExternalMemory, ExternalMemoryKind};

/// Hands memory over, to OpenCL or back: both commands have this type.
type HandOver = clEnqueueAcquireExternalMemObjectsKHR_t;

/// Waits for semaphores, or signals them: both commands have this type.
type UseSemaphore = clEnqueueWaitSemaphoresKHR_t;

const _: fn(clEnqueueReleaseExternalMemObjectsKHR_t) -> HandOver = |function| function;
const _: fn(clEnqueueSignalSemaphoresKHR_t) -> UseSemaphore = |function| function;

/// A buffer of external memory, or of a part of it.
#[derive(Debug)]
pub(in crate::opencl) struct ExternalBuffer {
    part: Option<Buffer>,
    whole: Buffer,
    acquire: HandOver,
    release: HandOver,
}

/// A binary semaphore.
pub(in crate::opencl) struct Semaphore {
    raw: *mut c_void,
    wait: UseSemaphore,
    signal: UseSemaphore,
    release: clReleaseSemaphoreKHR_t,
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Semaphore({:p})", self.raw)
    }
}

// SAFETY: OpenCL's functions may be called from any thread.
unsafe impl Send for Semaphore {}
// SAFETY: as above.
unsafe impl Sync for Semaphore {}

/// Where the device's platform has a function of an extension; null if it has none.
fn extension(device: DeviceId, name: &CStr) -> ClResult<*mut c_void> {
    let platform = sizes(&device.info(CL_DEVICE_PLATFORM)?).first().copied().unwrap_or(0);
    let platform = ptr::without_provenance_mut(platform);
    // SAFETY: the platform is the device's, and the name ends with a NUL.
    unsafe { call!(device.functions, clGetExtensionFunctionAddressForPlatform(platform, name.as_ptr())) }
}

/// The function of an extension with its type.
macro_rules! extension {
    ($device:expr, $name:literal as $function:ty) => {{
        let address = extension($device, $name)?;
        // SAFETY: a function of this name has this type, of which `None` is a null pointer.
        let function = unsafe { mem::transmute::<*mut c_void, $function>(address) };
        match function {
            Some(_) => function,
            None => return Err(ClError::Lacks(const { name_of($name) })),
        }
    }};
}

/// The name without its NUL.
const fn name_of(name: &'static CStr) -> &'static str {
    match name.to_str() {
        Ok(name) => name,
        Err(_) => "",
    }
}

impl ExternalBuffer {
    /// `size` bytes of `memory` from its offset on.
    pub(in crate::opencl) fn import(
        context: &Context,
        device: DeviceId,
        memory: ExternalMemory,
        size: usize,
    ) -> ClResult<ExternalBuffer> {
        let acquire = extension!(device, c"clEnqueueAcquireExternalMemObjectsKHR" as HandOver);
        let release = extension!(device, c"clEnqueueReleaseExternalMemObjectsKHR" as HandOver);
        let ExternalMemory { kind, descriptor, size: all, offset, .. } = memory;
        let kind = match kind {
            ExternalMemoryKind::OpaqueFd => CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR,
            ExternalMemoryKind::DmaBuf => CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR,
        };
        let properties = [cl_ulong::from(kind), number(&descriptor), 0];
        let all = usize::try_from(all).unwrap_or(usize::MAX);
        let raw = created(|status| {
            let list = properties.as_ptr();
            let no_memory = ptr::null_mut();
            // SAFETY: the context lives, and the list ends with a zero.
            unsafe {
                call!(
                    context.functions,
                    clCreateBufferWithProperties(
                        context.raw,
                        list,
                        CL_MEM_READ_WRITE,
                        all,
                        no_memory,
                        status
                    )
                )
            }
        })?;
        keep(descriptor);
        let whole = Buffer { functions: context.functions, raw };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let part = if offset == 0 { None } else { Some(whole.part(offset, size)?) };
        Ok(ExternalBuffer { part, whole, acquire, release })
    }

    pub(in crate::opencl) fn buffer(&self) -> &Buffer {
        self.part.as_ref().unwrap_or(&self.whole)
    }
}

/// A file descriptor as a property.
fn number(descriptor: &OwnedFd) -> cl_ulong {
    cl_ulong::try_from(descriptor.as_raw_fd()).unwrap_or(cl_ulong::MAX)
}

/// "Importing memory from a file descriptor transfers ownership of the file descriptor from the application to the OpenCL
/// implementation", as importing a semaphore does.
fn keep(descriptor: OwnedFd) {
    let _ = descriptor.into_raw_fd();
}

impl Semaphore {
    pub(in crate::opencl) fn import(
        context: &Context,
        device: DeviceId,
        descriptor: OwnedFd,
    ) -> ClResult<Semaphore> {
        let create =
            extension!(device, c"clCreateSemaphoreWithPropertiesKHR" as clCreateSemaphoreWithPropertiesKHR_t);
        let wait = extension!(device, c"clEnqueueWaitSemaphoresKHR" as UseSemaphore);
        let signal = extension!(device, c"clEnqueueSignalSemaphoresKHR" as UseSemaphore);
        let release = extension!(device, c"clReleaseSemaphoreKHR" as clReleaseSemaphoreKHR_t);
        let properties = [
            CL_SEMAPHORE_TYPE_KHR.into(),
            CL_SEMAPHORE_TYPE_BINARY_KHR.into(),
            CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR.into(),
            number(&descriptor),
            0,
        ];
        let raw = created(|status| match create {
            // SAFETY: the context lives, and the list ends with a zero.
            Some(create) => Ok(unsafe { create(context.raw, properties.as_ptr(), status) }),
            None => Err(ClError::Lacks("clCreateSemaphoreWithPropertiesKHR")),
        })?;
        keep(descriptor);
        Ok(Semaphore { raw, wait, signal, release })
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the reference is this value's; the driver keeps what queued commands need.
            let _ = unsafe { release(self.raw) };
        }
    }
}

impl CommandQueue {
    /// Queues taking over external memory, for commands until [`CommandQueue::hand_back`].
    pub(in crate::opencl) fn take_over(&self, memory: &ExternalBuffer) -> ClResult<()> {
        hand_over(self.raw, memory.acquire, &memory.whole)
    }

    /// Queues handing external memory back, after the commands that use it.
    pub(in crate::opencl) fn hand_back(&self, memory: &ExternalBuffer) -> ClResult<()> {
        hand_over(self.raw, memory.release, &memory.whole)
    }

    /// Makes later commands wait for the signal of `semaphore`, and resets it.
    pub(in crate::opencl) fn wait_for_semaphore(&self, semaphore: &Semaphore) -> ClResult<()> {
        use_semaphore(self, semaphore.wait, semaphore)
    }

    /// Signals `semaphore` after the commands before.
    pub(in crate::opencl) fn signal_semaphore(&self, semaphore: &Semaphore) -> ClResult<()> {
        use_semaphore(self, semaphore.signal, semaphore)
    }
}

fn hand_over(queue: cl_command_queue, function: HandOver, buffer: &Buffer) -> ClResult<()> {
    let function = function.ok_or(ClError::Lacks("clEnqueueAcquireExternalMemObjectsKHR"))?;
    let objects: *const cl_mem = &raw const buffer.raw;
    // SAFETY: there is one object, and no list of events.
    check(unsafe { function(queue, 1, objects, 0, ptr::null(), ptr::null_mut()) })
}

/// Queues a command with a binary semaphore, and hands the queue to the device: others wait for it.
fn use_semaphore(queue: &CommandQueue, function: UseSemaphore, semaphore: &Semaphore) -> ClResult<()> {
    let function = function.ok_or(ClError::Lacks("clEnqueueWaitSemaphoresKHR"))?;
    let objects = &raw const semaphore.raw;
    let no_payload = ptr::null();
    let no_event = ptr::null_mut();
    // SAFETY: there is one semaphore, which has no payload, and no list of events.
    check(unsafe { function(queue.raw, 1, objects, no_payload, 0, ptr::null(), no_event) })?;
    // SAFETY: the queue lives.
    check(unsafe { call!(queue.functions, clFlush(queue.raw))? })
}

#[cfg(test)]
pub(in crate::opencl) mod tests;
