//! Memory that is shared with other libraries.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use super::api::DriverApi;
use super::device::GpuDevice;
use super::memory::GpuMemory;
use crate::backend::{BackendInterchange, BackendMemory, ContextId, Owner, downcast};
use crate::error::Problem;

impl<A: DriverApi> BackendInterchange for GpuDevice<A> {
    fn dlpack_device(&self) -> Result<[i32; 2], Problem> {
        Ok([A::DLPACK_TYPE, A::ordinal(self.context()?.handle())])
    }

    fn memory_context(&self) -> Result<ContextId, Problem> {
        Ok(self.context()?.id())
    }

    fn share(&self, memory: &dyn BackendMemory) -> Result<*mut c_void, Problem> {
        let address = downcast::<GpuMemory<A>>(memory)?.give_away()?;
        Ok(ptr::with_exposed_provenance_mut(address as usize))
    }

    fn adopt(
        &self,
        address: *mut c_void,
        _size: usize,
        owner: Owner,
    ) -> Result<Arc<dyn BackendMemory>, Problem> {
        let address = address.expose_provenance() as u64;
        Ok(Arc::new(GpuMemory::<A>::adopted(address, self.context()?, owner)))
    }
}
