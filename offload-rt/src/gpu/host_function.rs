//! Host functions: calls of the program by a thread of the library.
//!
//! Outside of graphs by `cuStreamAddCallback` and `hipStreamAddCallback`, not by their successors `cuLaunchHostFunc` and
//! `hipLaunchHostFunc`:
//! "Unlike cuStreamAddCallback, the function will not be called in the event of an error in the CUDA context"
//! (<https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__EXEC.html>). What a program awaits would never come, and the
//! function would leak.

use std::ffi::c_void;
use std::sync::Arc;

use super::api::{DriverApi, RawStream};
use super::context::Entered;
use super::error::{ApiResult, ResultCode, SUCCESS};
use crate::backend::{HostFunction, RepeatedFunction, WorkBefore};

/// Queues a call of `function` in `stream`, which is of the current context.
pub(super) fn queue<A: DriverApi>(
    entered: &Entered<'_, A>,
    stream: RawStream,
    function: HostFunction,
) -> ApiResult<(), A> {
    let data = Box::into_raw(Box::new(function));
    // SAFETY: the stream lives; the library hands `data` to one call of the function.
    let queued = unsafe { entered.api().add_callback(stream, run, data.cast()) };
    if queued.is_err() {
        // SAFETY: the library refused, and it is this function's again.
        drop(unsafe { Box::from_raw(data) });
    }
    queued
}

/// Adds a node that calls `function` to the graph that `stream`, which is of the current context, captures. The graph does not
/// keep it: the caller does. Graphs have `cuLaunchHostFunc` and `hipLaunchHostFunc` alone.
pub(super) fn capture<A: DriverApi>(
    entered: &Entered<'_, A>,
    stream: RawStream,
    function: &Arc<RepeatedFunction>,
) -> ApiResult<(), A> {
    let data = Arc::as_ptr(function).cast_mut();
    // SAFETY: the stream lives; the launch layer keeps the function longer than the graph.
    unsafe { entered.api().add_host_node(stream, run_again, data.cast()) }
}

extern "system" fn run_again(data: *mut c_void) {
    // SAFETY: `data` is of `capture`, and the function is there as long as the graph is.
    let function = unsafe { &*data.cast::<RepeatedFunction>() };
    function.call(WorkBefore::Done);
}

extern "system" fn run(_: RawStream, status: ResultCode, data: *mut c_void) {
    // SAFETY: `data` is of `queue`, and the library calls once for each.
    let function = unsafe { Box::from_raw(data.cast::<HostFunction>()) };
    function(if status == SUCCESS { WorkBefore::Done } else { WorkBefore::Failed });
}
