//! The context of a device, which all its streams, buffers and programs share.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use opencl_sys::{CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, CL_DEVICE_VERSION};

use super::answers;
use super::api::{Buffer, Context, DeviceId};
use super::library::CompiledLibraries;
use crate::backend::{Backend, ContextId};
use crate::block_pool::BlockPool;
use crate::error::Problem;

/// A context of one device.
#[derive(Debug)]
pub(super) struct ClContext {
    device: DeviceId,
    /// Bytes of local memory that a work-group has, if the driver tells.
    pub(super) local_memory: Option<u64>,
    /// Whether the last work-groups of a range may be smaller.
    pub(super) has_uneven_ranges: bool,
    /// Released before the context.
    pub(super) pool: Arc<BlockPool<Arc<Buffer>>>,
    pub(super) context: Context,
    /// The device libraries that the driver has compiled for it.
    pub(super) libraries: CompiledLibraries,
}

/// The contexts that are in use. Buffers work with all programs of a device only if they have one context, also when
/// the program has asked for its devices twice; CUDA and HIP keep a primary context for this, OpenCL leaves it to us.
static IN_USE: Mutex<Vec<Weak<ClContext>>> = Mutex::new(Vec::new());

impl ClContext {
    /// The context of `device`, made if it is not in use yet.
    pub(super) fn for_device(id: DeviceId) -> Result<Arc<ClContext>, Problem> {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.retain(|context| context.strong_count() > 0);
        if let Some(found) = in_use.iter().filter_map(Weak::upgrade).find(|context| context.device == id) {
            return Ok(found);
        }
        let context = Context::new(id).map_err(|error| format!("cannot make a context: {error}"))?;
        let context = ClContext::from_context(context, id);
        in_use.push(Arc::downgrade(&context));
        Ok(context)
    }

    /// The caller's context, which has `device`.
    pub(super) fn from_context(context: Context, device: DeviceId) -> Arc<ClContext> {
        let local_memory = answers::long(device, CL_DEVICE_LOCAL_MEM_SIZE);
        let has_uneven_ranges = has_uneven_ranges(device);
        let libraries = CompiledLibraries::default();
        let pool = Arc::new(BlockPool::new());
        Arc::new(ClContext { device, local_memory, has_uneven_ranges, pool, context, libraries })
    }

    pub(super) fn device(&self) -> DeviceId {
        self.device
    }

    pub(super) fn id(&self) -> ContextId {
        id_of(self.context.handle())
    }
}

/// Whether the device has non-uniform work-groups: every device of OpenCL 2 does, and later ones tell.
fn has_uneven_ranges(device: DeviceId) -> bool {
    let version = answers::text(device, CL_DEVICE_VERSION);
    version.starts_with("OpenCL 2.") || answers::flag(device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT)
}

/// The context with this handle.
pub(super) fn id_of(handle: usize) -> ContextId {
    ContextId { backend: Backend::OpenCl, handle }
}
