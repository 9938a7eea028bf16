//! Device memory of HIP's runtime.

use std::ptr;
use std::sync::Arc;

use super::api::{HipResult, call, hipDeviceptr_t};
use super::context::Context;
use crate::backend::{BackendMemory, ContextId, DeviceAddress, MemoryRange, Owner, downcast};
use crate::error::Problem;

/// Memory of a device, its own or the caller's.
#[derive(Debug)]
pub(super) struct HipMemory {
    pub(super) address: hipDeviceptr_t,
    context: Arc<Context>,
    /// Of memory that is the caller's.
    owner: Option<Owner>,
}

// SAFETY: an address that only the runtime and the device read at.
unsafe impl Send for HipMemory {}
// SAFETY: as above.
unsafe impl Sync for HipMemory {}

impl HipMemory {
    pub(super) fn allocate(context: &Arc<Context>, size: usize) -> HipResult<HipMemory> {
        let entered = context.enter()?;
        let mut address = ptr::null_mut();
        // SAFETY: the device is current; the function writes one address.
        unsafe { call!(entered.functions(), hipMalloc(&raw mut address, size)) }?;
        Ok(HipMemory { address, context: context.clone(), owner: None })
    }

    /// The caller's memory, which `owner` keeps.
    pub(super) fn owned(address: hipDeviceptr_t, context: Arc<Context>, owner: Owner) -> HipMemory {
        HipMemory { address, context, owner: Some(owner) }
    }
}

impl BackendMemory for HipMemory {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn device_address(&self) -> DeviceAddress {
        DeviceAddress { start: self.address.addr() as u64, only_in: 0 }
    }
}

impl Drop for HipMemory {
    fn drop(&mut self) {
        if self.owner.is_some() {
            return;
        }
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was allocated once; "this API performs an implicit hipDeviceSynchronize() call".
            let _ = unsafe { call!(entered.functions(), hipFree(self.address)) };
        }
    }
}

/// Where `range` starts.
pub(super) fn start(range: MemoryRange<'_>) -> Result<hipDeviceptr_t, Problem> {
    Ok(downcast::<HipMemory>(range.memory)?.address.wrapping_byte_add(range.offset))
}
