//! External memory and semaphores by their file descriptors.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use opencl_sys::CL_DEVICE_EXTENSIONS;

use crate::backend::{BackendMemory, BackendSemaphore, ContextId, MemoryRange, downcast};
use crate::error::Problem;
use crate::external::{ExternalMemory, ExternalMemoryKind, ExternalSemaphoreKind};
use crate::opencl::answers::{has, text};
use crate::opencl::api::{CommandQueue, ExternalBuffer, Semaphore};
use crate::opencl::context::ClContext;
use crate::opencl::memory::ClMemory;

#[derive(Debug)]
pub(in crate::opencl) struct ClSemaphore {
    // Released in this order.
    pub(in crate::opencl) semaphore: Semaphore,
    context: Arc<ClContext>,
}

impl BackendSemaphore for ClSemaphore {
    fn context(&self) -> ContextId {
        self.context.id()
    }
}

/// Memory of another programming interface; `None` if the driver imports none of its kind.
pub(in crate::opencl) fn import_memory(
    context: &Arc<ClContext>,
    memory: ExternalMemory,
    size: u64,
) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
    let name = match memory.kind {
        ExternalMemoryKind::OpaqueFd => "cl_khr_external_memory_opaque_fd",
        ExternalMemoryKind::DmaBuf => "cl_khr_external_memory_dma_buf",
    };
    if !has(&text(context.device(), CL_DEVICE_EXTENSIONS), name) {
        return Ok(None);
    }
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let imported = ExternalBuffer::import(&context.context, context.device(), memory, size);
    let imported = imported.map_err(|error| error.to_string())?;
    Ok(Some(Arc::new(ClMemory::external(context.id(), imported))))
}

/// A semaphore of another programming interface; `None` if the driver imports none of its kind. OpenCL has binary ones.
pub(in crate::opencl) fn import_semaphore(
    context: Arc<ClContext>,
    kind: ExternalSemaphoreKind,
    descriptor: OwnedFd,
) -> Result<Option<Arc<dyn BackendSemaphore>>, Problem> {
    let extensions = text(context.device(), CL_DEVICE_EXTENSIONS);
    if kind != ExternalSemaphoreKind::OpaqueFd || !has(&extensions, "cl_khr_external_semaphore_opaque_fd") {
        return Ok(None);
    }
    let imported = Semaphore::import(&context.context, context.device(), descriptor);
    let semaphore = imported.map_err(|error| error.to_string())?;
    Ok(Some(Arc::new(ClSemaphore { semaphore, context })))
}

/// External memory among `ranges`, each once.
fn external<'m>(
    ranges: impl IntoIterator<Item = MemoryRange<'m>>,
) -> Result<Vec<&'m ExternalBuffer>, Problem> {
    let mut found: Vec<&ExternalBuffer> = Vec::new();
    for range in ranges {
        let Some(memory) = downcast::<ClMemory>(range.memory.get())?.external_buffer() else { continue };
        if !found.iter().any(|other| std::ptr::eq(*other, memory)) {
            found.push(memory);
        }
    }
    Ok(found)
}

/// Queues what `commands` does with `ranges`, between taking over external memory among them and handing it back.
pub(in crate::opencl) fn with_external<'m, R>(
    queue: &CommandQueue,
    ranges: impl IntoIterator<Item = MemoryRange<'m>>,
    commands: impl FnOnce() -> Result<R, Problem>,
) -> Result<R, Problem> {
    let used = external(ranges)?;
    for memory in &used {
        let taken = queue.take_over(memory);
        taken.map_err(|error| format!("cannot take over external memory: {error}"))?;
    }
    let done = commands();
    for memory in &used {
        let handed = queue.hand_back(memory);
        handed.map_err(|error| format!("cannot hand back external memory: {error}"))?;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, MemoryRef};
    use crate::opencl::api::external_tests::{Fake, calls, note};

    #[test]
    fn external_memory_is_the_driver_s_around_each_command_alone() {
        let fake = Fake::with_functions();
        let context = ContextId { backend: Backend::OpenCl, handle: 1 };
        let memory: Arc<dyn BackendMemory> = Arc::new(ClMemory::external(context, fake.imported()));
        let range = MemoryRange::new(MemoryRef::Shared(&memory), 0, 16, 1);
        calls();
        let done = with_external(&fake.queue, [range, range.part(4, 4)], || {
            note("command".to_string());
            Ok(7)
        });
        assert_eq!(
            (done.unwrap(), calls()),
            (7, ["acquire 1 3", "command", "release 1 3"].map(String::from).to_vec())
        );
        let failed: Result<(), Problem> =
            with_external(&fake.queue, [range], || Err("no".to_string().into()));
        assert!(failed.is_err());
        assert_eq!(calls(), ["acquire 1 3", "release 1 3"]);
    }
}
