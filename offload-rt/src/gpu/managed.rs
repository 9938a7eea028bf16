//! Managed memory: one address for kernels and the program, which the library moves or maps.
//!
//! Kernels and the program may use different memory at the same time: devices that let the program touch no managed memory
//! while a kernel runs (`cudaDevAttrConcurrentManagedAccess`) have none here.

use std::ffi::c_int;
use std::sync::Arc;

use super::api::DriverApi;
use super::context::Context;
use super::error::ApiResult;
use super::stream_users::StreamUsers;
use crate::error::Problem;

/// `CU_DEVICE_CPU`, `hipCpuDeviceId`.
pub(super) const PROGRAM: c_int = -1;

/// What the program waits for.
#[derive(Debug)]
pub(super) struct ManagedMemory<A: DriverApi> {
    context: Arc<Context<A>>,
    pub(super) users: StreamUsers<A>,
}

impl<A: DriverApi> ManagedMemory<A> {
    /// Memory of `size` bytes; `None` if library or device have none.
    pub(super) fn allocate(context: &Arc<Context<A>>, size: usize) -> ApiResult<Option<(u64, Self)>, A> {
        if !context.api().has_managed_memory(context.handle()) {
            return Ok(None);
        }
        let entered = context.enter()?;
        let mut address = 0;
        // SAFETY: the context is current; the function writes one address.
        unsafe { entered.api().allocate_managed_memory(&raw mut address, size) }?;
        let context = context.clone();
        let managed = ManagedMemory { context, users: StreamUsers::new() };
        Ok(Some((address, managed)))
    }

    /// Waits for all work that uses it.
    pub(super) fn wait(&self) -> Result<(), Problem> {
        let entered = self.context.enter()?;
        let Some(users) = self.users.all() else {
            // SAFETY: the context is current.
            return Ok(unsafe { entered.api().synchronize() }?);
        };
        for user in users.iter() {
            // SAFETY: the stream lives, and is of the current context.
            unsafe { entered.api().synchronize_stream(user.raw) }?;
        }
        Ok(())
    }

    pub(super) fn release(&self, address: u64) {
        // No documentation says that the release of managed memory waits for work that uses it.
        let _ = self.wait();
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was allocated once.
            let _ = unsafe { entered.api().free(address) };
        }
    }
}
