//! The back end and the context that a call works in: those of its stream, or the thread's.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use super::failure::{Failure, Outcome};
use super::gpu::{cuda, hip};
use super::host;
use super::platform::{ContextHandle, EnteredContext, Platform, StreamHandle};
use crate::error::Error;

/// Handles up to this one stand for the default streams of the current context (`cudaStreamLegacy`,
/// `cudaStreamPerThread`).
const LAST_DEFAULT_STREAM: usize = 2;

thread_local! {
    /// What [`set_device`](super::set_device) has chosen. As CUDA's runtime has it, a device is current in a thread.
    static SELECTED: Cell<Option<&'static dyn Platform>> = const { Cell::new(None) };
}

/// The current context of the thread while this lives.
pub(super) struct Current {
    pub(super) platform: &'static dyn Platform,
    pub(super) context: ContextHandle,
    previous: Option<ContextHandle>,
    /// A context is current in one thread.
    _thread: PhantomData<*mut ()>,
}

impl Current {
    /// The thread's context.
    pub(super) fn for_thread() -> Outcome<Current> {
        let platform = platform()?;
        let context = platform.thread_context()?;
        Ok(Current::new(platform, EnteredContext { context, previous: None }))
    }

    /// The context of `stream`; for a default stream that of [`Current::for_thread`].
    ///
    /// # Safety
    /// `stream` is a default stream, one of the CPU, or one of the GPUs' library that [`gpu_platform`] finds.
    pub(super) unsafe fn for_stream(stream: StreamHandle) -> Outcome<Current> {
        if stream.addr() <= LAST_DEFAULT_STREAM {
            return Current::for_thread();
        }
        let platform = if stream == host::stream() { host::platform() } else { gpu_platform()? };
        // SAFETY: by the contract.
        let entered = unsafe { platform.enter_stream(stream) }?;
        Ok(Current::new(platform, entered))
    }

    fn new(platform: &'static dyn Platform, entered: EnteredContext) -> Current {
        let EnteredContext { context, previous } = entered;
        Current { platform, context, previous, _thread: PhantomData }
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if let Some(previous) = self.previous {
            self.platform.leave(previous);
        }
    }
}

impl fmt::Debug for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Current").field("platform", &self.platform).field("context", &self.context).finish()
    }
}

/// Makes `platform` the thread's own.
pub(super) fn select(platform: &'static dyn Platform) {
    SELECTED.set(Some(platform));
}

/// The thread's back end.
pub(super) fn platform() -> Outcome<&'static dyn Platform> {
    SELECTED.get().map_or_else(default_platform, Ok)
}

/// The back end of streams that are none of the CPU.
fn gpu_platform() -> Outcome<&'static dyn Platform> {
    match SELECTED.get() {
        Some(selected) if !std::ptr::addr_eq(selected, host::platform()) => Ok(selected),
        _ => default_platform(),
    }
}

/// CUDA's driver, or HIP's runtime where there is none. The CPU has to be asked for: a program that runs there by mistake
/// would be slow without a word.
fn default_platform() -> Outcome<&'static dyn Platform> {
    let cuda_error = match cuda::platform() {
        Ok(platform) => return Ok(platform),
        Err(error) => error,
    };
    let hip_error = match hip::platform() {
        Ok(platform) => return Ok(platform),
        Err(error) => error,
    };
    Err(Failure::from(without_gpu(&cuda_error, &hip_error)))
}

fn without_gpu(cuda: &Error, hip: &Error) -> Error {
    let mut hints = Vec::new();
    hints.extend(cuda.hint());
    hints.extend(hip.hint());
    hints.push(
        "for the CPU: `offload_rt::launchers::set_device(&Device::host())`, or a stream of it".to_string(),
    );
    Error::no_device("launchers", format!("{}; {}", cuda.problem(), hip.problem()))
        .with_hint(hints.join("; "))
}
