//! Device memory.

use std::sync::Arc;

use super::api::{DriverApi, RawStream};
use super::context::Context;
use super::error::ApiResult;
use crate::backend::{BackendMemory, ContextId, DeviceAddress, MemoryRange, Owner};
use crate::error::Problem;

/// Memory of a device, its own or the caller's.
#[derive(Debug)]
pub(crate) struct GpuMemory<A: DriverApi> {
    address: u64,
    context: ContextId,
    /// The stream that it was borrowed for.
    only_in: Option<RawStream>,
    held: MemoryHeld<A>,
}

#[derive(Debug)]
enum MemoryHeld<A: DriverApi> {
    /// It was allocated here, and is released in this context.
    Own(Arc<Context<A>>),
    /// It is the caller's.
    Owned { _owner: Owner },
    /// It is the caller's, who outlives this.
    #[cfg(feature = "cudarc-0_19")]
    Borrowed,
}

// SAFETY: the library's functions may be called from any thread; the handle of a stream is only compared.
unsafe impl<A: DriverApi> Send for GpuMemory<A> {}
// SAFETY: as above.
unsafe impl<A: DriverApi> Sync for GpuMemory<A> {}

impl<A: DriverApi> GpuMemory<A> {
    pub(super) fn allocate(context: &Arc<Context<A>>, size: usize) -> ApiResult<GpuMemory<A>, A> {
        let entered = context.enter()?;
        let mut address = 0;
        // SAFETY: the context is current; the function writes one address.
        unsafe { entered.api().allocate(&raw mut address, size) }?;
        let held = MemoryHeld::Own(context.clone());
        Ok(GpuMemory { address, context: context.id(), only_in: None, held })
    }

    /// The caller's memory, which `owner` keeps.
    pub(crate) fn owned(address: u64, context: ContextId, owner: Owner) -> GpuMemory<A> {
        GpuMemory { address, context, only_in: None, held: MemoryHeld::Owned { _owner: owner } }
    }

    /// The caller's memory, who outlives the result, for work in `stream`.
    #[cfg(feature = "cudarc-0_19")]
    pub(crate) fn borrowed(address: u64, context: ContextId, stream: RawStream) -> GpuMemory<A> {
        GpuMemory { address, context, only_in: Some(stream), held: MemoryHeld::Borrowed }
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

impl<A: DriverApi> BackendMemory for GpuMemory<A> {
    fn context(&self) -> ContextId {
        self.context
    }

    fn device_address(&self) -> DeviceAddress {
        DeviceAddress { start: self.address, only_in: self.only_in.map_or(0, |stream| stream.addr()) }
    }
}

impl<A: DriverApi> Drop for GpuMemory<A> {
    fn drop(&mut self) {
        let MemoryHeld::Own(context) = &self.held else { return };
        if let Ok(entered) = context.enter() {
            // SAFETY: it was allocated once; the library waits for work that uses it.
            let _ = unsafe { entered.api().free(self.address) };
        }
    }
}

/// Where `range` starts, for work in `stream`.
pub(super) fn start(range: MemoryRange<'_>, stream: RawStream) -> Result<u64, Problem> {
    range.memory.get().device_address().at(range.offset, stream.cast())
}
