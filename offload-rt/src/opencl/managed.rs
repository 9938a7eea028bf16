//! Managed memory: shared virtual memory with a buffer over it, which commands use as any other.
//!
//! The program has it while the buffer is mapped, as coarse-grained memory demands; fine-grained memory may be used that way
//! too (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#_shared_virtual_memory>).

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use opencl_sys::{
    CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER,
};

use super::answers::long;
use super::api::{Buffer, ClResult, CommandQueue, SharedMemory};
use super::context::ClContext;
use super::current_queue::Current;
use crate::error::Problem;

#[derive(Debug)]
pub(super) struct ManagedMemory {
    // Released in this order.
    pub(super) buffer: Buffer,
    _memory: SharedMemory,
    size: usize,
    /// Maps the buffer.
    queue: CommandQueue,
    state: Mutex<ManagedState>,
    _context: Arc<ClContext>,
}

#[derive(Debug, Default)]
struct ManagedState {
    /// The queues of streams that use it, each once.
    users: Vec<Arc<RwLock<Current>>>,
    /// Where the program has it.
    mapped: Option<MappedAddress>,
}

#[derive(Debug)]
struct MappedAddress(*mut c_void);

// SAFETY: it is only compared and handed to OpenCL, whose functions may be called from any thread.
unsafe impl Send for MappedAddress {}

impl ManagedMemory {
    /// Memory of `size` bytes, at least 1; `None` if the device has none.
    pub(super) fn new(context: Arc<ClContext>, size: usize) -> ClResult<Option<ManagedMemory>> {
        let capabilities = long(context.device(), CL_DEVICE_SVM_CAPABILITIES).unwrap_or(0);
        if capabilities & (CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER) == 0 {
            return Ok(None);
        }
        // SAFETY: the context is kept, and released last.
        let memory = unsafe { SharedMemory::new(&context.context, size) }?;
        // SAFETY: the memory is released after all work that uses the buffer was waited for.
        let buffer = unsafe { memory.buffer(size) }?;
        let queue = CommandQueue::new(&context.context, context.device(), None)?;
        let state = Mutex::new(ManagedState::default());
        Ok(Some(ManagedMemory { buffer, _memory: memory, size, queue, state, _context: context }))
    }

    /// Notes that a stream uses it.
    pub(super) fn use_in(&self, stream: &Arc<RwLock<Current>>) {
        let mut state = self.lock();
        if !state.users.iter().any(|user| Arc::ptr_eq(user, stream)) {
            state.users.push(stream.clone());
        }
    }

    /// Waits for all work that uses it, and hands it to the program.
    pub(super) fn map(&self) -> Result<*mut u8, Problem> {
        let mut state = self.lock();
        state.finish().map_err(|error| format!("the work before failed: {error}"))?;
        let address = self.queue.map(&self.buffer, self.size);
        let address = address.map_err(|error| format!("cannot map managed memory: {error}"))?;
        state.mapped = Some(MappedAddress(address));
        Ok(address.cast())
    }

    /// Hands it back to the device, if the program has it.
    pub(super) fn unmap(&self) -> Result<(), Problem> {
        let Some(mapped) = self.lock().mapped.take() else { return Ok(()) };
        let unmapped = self.queue.unmap(&self.buffer, mapped.0).and_then(|()| self.queue.finish());
        Ok(unmapped.map_err(|error| format!("cannot unmap managed memory: {error}"))?)
    }

    fn lock(&self) -> MutexGuard<'_, ManagedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ManagedState {
    fn finish(&self) -> ClResult<()> {
        for user in &self.users {
            let queue = user.read().unwrap_or_else(PoisonError::into_inner).queue.clone();
            queue.finish()?;
        }
        Ok(())
    }
}

impl Drop for ManagedMemory {
    fn drop(&mut self) {
        // A failure leaves nothing to be done.
        let _ = self.unmap();
        let _ = self.lock().finish();
    }
}
