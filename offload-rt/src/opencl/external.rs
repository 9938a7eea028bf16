//! External memory and semaphores of OpenCL devices: memory is taken over before the commands that use it, and handed back
//! after them.

#[cfg(unix)]
pub(super) use self::unix::{ClSemaphore, import_memory, import_semaphore, with_external};

#[cfg(not(unix))]
pub(super) fn with_external<'m, R>(
    _: &super::api::CommandQueue,
    _: impl IntoIterator<Item = crate::backend::MemoryRange<'m>>,
    commands: impl FnOnce() -> Result<R, crate::error::Problem>,
) -> Result<R, crate::error::Problem> {
    commands()
}

#[cfg(unix)]
mod unix;
