//! Memory of the host CPU's device that is shared with other libraries.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use super::Host;
use super::memory::{CONTEXT, HostMemory};
use crate::backend::{BackendInterchange, BackendMemory, ContextId, Owner, downcast};
use crate::error::Problem;

/// `kDLCPU`.
const CPU: i32 = 1;

impl BackendInterchange for Host {
    fn dlpack_device(&self) -> Result<[i32; 2], Problem> {
        Ok([CPU, 0])
    }

    fn memory_context(&self) -> Result<ContextId, Problem> {
        Ok(CONTEXT)
    }

    fn share(&self, memory: &dyn BackendMemory) -> Result<*mut c_void, Problem> {
        Ok(downcast::<HostMemory>(memory)?.address().cast())
    }

    fn adopt(
        &self,
        address: *mut c_void,
        size: usize,
        owner: Owner,
    ) -> Result<Arc<dyn BackendMemory>, Problem> {
        let start = NonNull::new(address.cast()).unwrap_or(NonNull::dangling());
        Ok(Arc::new(HostMemory::adopted(start, size, owner)))
    }
}
