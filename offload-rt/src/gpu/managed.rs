//! Managed memory: one address for the program and the kernels of all devices, which the library moves or maps.
//!
//! Kernels and the program may use different memory at the same time: devices that let the program touch no managed memory
//! while a kernel runs (`cudaDevAttrConcurrentManagedAccess`) neither have nor use any here.

use std::ffi::{c_int, c_uint};
use std::sync::{Arc, Mutex, PoisonError};

use super::api::DriverApi;
use super::context::Context;
use super::error::ApiResult;
use super::stream_handle::StreamHandle;
use super::stream_users::StreamUsers;
use crate::backend::{AdviceKind, MemoryAdvice, MemoryPlace};
use crate::error::Problem;

/// `CU_DEVICE_CPU`, `hipCpuDeviceId`.
pub(super) const PROGRAM: c_int = -1;

/// What the program waits for.
#[derive(Debug)]
pub(super) struct ManagedMemory<A: DriverApi> {
    context: Arc<Context<A>>,
    pub(super) users: StreamUsers<A>,
    /// Contexts of other devices that use it, each once.
    others: Mutex<Vec<Arc<Context<A>>>>,
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
        let managed = ManagedMemory { context, users: StreamUsers::new(), others: Mutex::default() };
        Ok(Some((address, managed)))
    }

    /// Notes that work in `stream`, of any device of the library, uses it.
    pub(super) fn use_in(&self, stream: &Arc<StreamHandle<A>>) -> Result<(), Problem> {
        if stream.context.id() != self.context.id() {
            self.add_context(&stream.context)?;
        }
        self.users.add(stream);
        Ok(())
    }

    fn add_context(&self, context: &Arc<Context<A>>) -> Result<(), Problem> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if others.iter().any(|other| other.id() == context.id()) {
            return Ok(());
        }
        if !context.api().has_managed_memory(context.handle()) {
            let problem = "the device cannot use managed memory while the program uses it".to_string();
            return Err(Problem::with_hint(problem, "copy the values to a buffer of the device"));
        }
        others.push(context.clone());
        Ok(())
    }

    /// Waits for all work that uses it.
    pub(super) fn wait(&self) -> Result<(), Problem> {
        let Some(users) = self.users.all() else { return self.wait_for_devices() };
        for user in users.iter() {
            let entered = user.context.enter()?;
            // SAFETY: the stream lives, and is of the current context.
            unsafe { entered.api().synchronize_stream(user.raw) }?;
        }
        Ok(())
    }

    fn wait_for_devices(&self) -> Result<(), Problem> {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        for context in [&self.context].into_iter().chain(others.iter()) {
            let entered = context.enter()?;
            // SAFETY: the context is current.
            unsafe { entered.api().synchronize() }?;
        }
        Ok(())
    }

    /// Gives the library advice on the memory at `address`, for the device of `context`.
    pub(super) fn advise(address: u64, advice: MemoryAdvice, context: &Context<A>) -> ApiResult<(), A> {
        let entered = context.enter()?;
        let device = match advice.place {
            MemoryPlace::Device => A::ordinal(context.handle()),
            MemoryPlace::Program => PROGRAM,
        };
        // SAFETY: the memory has this size.
        unsafe { entered.api().advise(address, advice.size, number(advice), device) }
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

/// `CUmem_advise`, `hipMemoryAdvise`: what undoes advice has the next number.
fn number(advice: MemoryAdvice) -> c_uint {
    let number = match advice.kind {
        AdviceKind::ReadMostly => 1,
        AdviceKind::PreferredLocation => 3,
        AdviceKind::AccessedBy => 5,
    };
    if advice.is_withdrawn { number + 1 } else { number }
}
