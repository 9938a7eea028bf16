//! Memory and semaphores of other programming interfaces, imported by their file descriptors.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::ptr;
use std::sync::Arc;

use super::api::{DriverApi, RawExternalMemory, RawExternalSemaphore};
use super::context::{Context, Entered};
use super::external::{
    DEDICATED, MEMORY_OPAQUE_FD, MappedBufferDescriptor, MemoryHandleDescriptor, SEMAPHORE_OPAQUE_FD,
    SEMAPHORE_TIMELINE_FD, SemaphoreHandleDescriptor, SemaphoreParameters,
};
use super::retired::retire;
use super::retired_list::RetiredObject;
use super::stream_handle::StreamHandle;
use super::stream_users::StreamUsers;
use crate::backend::{BackendSemaphore, ContextId};
use crate::error::Problem;
use crate::external::{ExternalMemory, ExternalMemoryKind, ExternalSemaphoreKind};

/// Imported memory, a part of which is mapped.
#[derive(Debug)]
pub(super) struct ImportedMemory<A: DriverApi> {
    context: Arc<Context<A>>,
    raw: RawExternalMemory,
    /// Of the part; 0 until it is mapped.
    address: u64,
    pub(super) users: StreamUsers<A>,
    _descriptor: Option<OwnedFd>,
}

/// An imported semaphore.
#[derive(Debug)]
pub(super) struct GpuSemaphore<A: DriverApi> {
    context: Arc<Context<A>>,
    raw: RawExternalSemaphore,
    users: StreamUsers<A>,
    _descriptor: Option<OwnedFd>,
}

// SAFETY: the library's functions may be called from any thread.
unsafe impl<A: DriverApi> Send for ImportedMemory<A> {}
// SAFETY: as above.
unsafe impl<A: DriverApi> Sync for ImportedMemory<A> {}
// SAFETY: as above.
unsafe impl<A: DriverApi> Send for GpuSemaphore<A> {}
// SAFETY: as above.
unsafe impl<A: DriverApi> Sync for GpuSemaphore<A> {}

/// The file descriptor after an import, if it is not the library's now.
fn kept<A: DriverApi>(descriptor: OwnedFd) -> Option<OwnedFd> {
    if A::TAKES_DESCRIPTORS {
        let _ = descriptor.into_raw_fd();
        return None;
    }
    Some(descriptor)
}

impl<A: DriverApi> ImportedMemory<A> {
    /// Imports `memory`, and maps `size` bytes from its offset on.
    pub(super) fn import(
        context: &Arc<Context<A>>,
        memory: ExternalMemory,
        size: u64,
    ) -> Result<ImportedMemory<A>, Problem> {
        let ExternalMemory { kind, descriptor, size: whole, offset, is_dedicated } = memory;
        let kind = match kind {
            ExternalMemoryKind::OpaqueFd => MEMORY_OPAQUE_FD,
            ExternalMemoryKind::DmaBuf => A::DMA_BUF,
        };
        let flags = if is_dedicated { DEDICATED } else { 0 };
        let handle = MemoryHandleDescriptor::new(kind, descriptor.as_raw_fd(), whole, flags);
        let entered = context.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the context is current, and the descriptor is open; the function writes one handle.
        unsafe { entered.api().import_memory(&raw mut raw, &handle) }?;
        let _descriptor = kept::<A>(descriptor);
        let users = StreamUsers::new();
        let mut imported = ImportedMemory { context: context.clone(), raw, address: 0, users, _descriptor };
        let part = MappedBufferDescriptor::new(offset, size);
        // SAFETY: the memory lives; the function writes one address.
        unsafe { entered.api().map_memory(&raw mut imported.address, raw, &part) }
            .map_err(|error| error.during("the memory cannot be mapped"))?;
        Ok(imported)
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }
}

impl<A: DriverApi> Drop for ImportedMemory<A> {
    fn drop(&mut self) {
        // Work that uses it may wait for a semaphore that this thread's next step signals.
        let object = RetiredObject::Memory { raw: self.raw, address: self.address };
        retire(&self.context, &self.users, object);
    }
}

impl<A: DriverApi> GpuSemaphore<A> {
    pub(super) fn import(
        context: &Arc<Context<A>>,
        kind: ExternalSemaphoreKind,
        descriptor: OwnedFd,
    ) -> Result<GpuSemaphore<A>, Problem> {
        let kind = match kind {
            ExternalSemaphoreKind::OpaqueFd => SEMAPHORE_OPAQUE_FD,
            ExternalSemaphoreKind::TimelineFd => SEMAPHORE_TIMELINE_FD,
        };
        let handle = SemaphoreHandleDescriptor::new(kind, descriptor.as_raw_fd());
        let entered = context.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the context is current, and the descriptor is open; the function writes one handle.
        unsafe { entered.api().import_semaphore(&raw mut raw, &handle) }?;
        let _descriptor = kept::<A>(descriptor);
        Ok(GpuSemaphore { context: context.clone(), raw, users: StreamUsers::new(), _descriptor })
    }

    /// Queues a wait for `value` in `stream`, whose context is current.
    pub(super) fn wait_in(
        &self,
        value: u64,
        stream: &Arc<StreamHandle<A>>,
        entered: &Entered<'_, A>,
    ) -> Result<(), Problem> {
        self.users.add(stream);
        // SAFETY: semaphore and stream live, and are of the current context.
        let queued =
            unsafe { entered.api().wait_semaphore(self.raw, &SemaphoreParameters::new(value), stream.raw) };
        queued.map_err(|error| error.during("cannot wait for a semaphore"))
    }

    /// Queues setting it to `value` in `stream`, whose context is current.
    pub(super) fn signal_in(
        &self,
        value: u64,
        stream: &Arc<StreamHandle<A>>,
        entered: &Entered<'_, A>,
    ) -> Result<(), Problem> {
        self.users.add(stream);
        // SAFETY: as above.
        let queued =
            unsafe { entered.api().signal_semaphore(self.raw, &SemaphoreParameters::new(value), stream.raw) };
        queued.map_err(|error| error.during("cannot signal a semaphore"))
    }
}

impl<A: DriverApi> BackendSemaphore for GpuSemaphore<A> {
    fn context(&self) -> ContextId {
        self.context.id()
    }
}

impl<A: DriverApi> Drop for GpuSemaphore<A> {
    fn drop(&mut self) {
        // "Any outstanding signals or waits must have completed before the semaphore is destroyed."
        retire(&self.context, &self.users, RetiredObject::Semaphore(self.raw));
    }
}
