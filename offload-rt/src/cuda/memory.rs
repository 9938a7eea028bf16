//! Device memory of CUDA's driver.

use std::sync::Arc;

use super::api::{CUdeviceptr, CUstream, CuResult, call};
use super::context::Context;
use crate::backend::{BackendMemory, ContextId, DeviceAddress, MemoryRange, Owner};
use crate::error::Problem;

/// Memory of a device, its own or the caller's.
#[derive(Debug)]
pub(super) struct CudaMemory {
    address: CUdeviceptr,
    context: ContextId,
    /// The stream that it was borrowed for.
    only_in: Option<CUstream>,
    held: MemoryHeld,
}

#[derive(Debug)]
enum MemoryHeld {
    /// It was allocated here, and is released in this context.
    Own(Arc<Context>),
    /// It is the caller's.
    Owned { _owner: Owner },
    /// It is the caller's, who outlives this.
    #[cfg(feature = "cudarc-0_19")]
    Borrowed,
}

// SAFETY: the driver's functions may be called from any thread; the handle of a stream is only compared.
unsafe impl Send for CudaMemory {}
// SAFETY: as above.
unsafe impl Sync for CudaMemory {}

impl CudaMemory {
    pub(super) fn allocate(context: &Arc<Context>, size: usize) -> CuResult<CudaMemory> {
        let entered = context.enter()?;
        let mut address = 0;
        // SAFETY: a context is current; the function writes one address.
        unsafe { call!(entered.functions(), cuMemAlloc_v2(&raw mut address, size)) }?;
        let held = MemoryHeld::Own(context.clone());
        Ok(CudaMemory { address, context: context.id(), only_in: None, held })
    }

    /// The caller's memory, which `owner` keeps.
    pub(super) fn owned(address: CUdeviceptr, context: ContextId, owner: Owner) -> CudaMemory {
        CudaMemory { address, context, only_in: None, held: MemoryHeld::Owned { _owner: owner } }
    }

    /// The caller's memory, who outlives the result, for work in `stream`.
    #[cfg(feature = "cudarc-0_19")]
    pub(super) fn borrowed(address: CUdeviceptr, context: ContextId, stream: CUstream) -> CudaMemory {
        CudaMemory { address, context, only_in: Some(stream), held: MemoryHeld::Borrowed }
    }

    pub(super) fn address(&self) -> CUdeviceptr {
        self.address
    }
}

impl BackendMemory for CudaMemory {
    fn context(&self) -> ContextId {
        self.context
    }

    fn device_address(&self) -> DeviceAddress {
        DeviceAddress { start: self.address, only_in: self.only_in.map_or(0, |stream| stream.addr()) }
    }
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        let MemoryHeld::Own(context) = &self.held else { return };
        if let Ok(entered) = context.enter() {
            // SAFETY: it was allocated once; the driver waits for kernels that use memory of `cuMemAlloc`.
            let _ = unsafe { call!(entered.functions(), cuMemFree_v2(self.address)) };
        }
    }
}

/// Where `range` starts, for work in `stream`.
pub(super) fn start(range: MemoryRange<'_>, stream: CUstream) -> Result<CUdeviceptr, Problem> {
    range.memory.device_address().at(range.offset, stream.cast())
}
