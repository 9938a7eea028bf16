//! Captures of streams, and graphs
//! (<https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__GRAPH.html>): they are those of the back end.
//!
//! A kernel that is launched in a capture for the first time is loaded then. Drivers refuse that while a thread captures in
//! another mode than the relaxed one, so that [`RelaxedCapture`] surrounds loading, as CUDA's runtime does it.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use super::current::Current;
use super::failure::{CudaError, Failure, GRAPH_UPDATE_FAILURE, INVALID_VALUE, Outcome, returned};
use super::platform::{
    GraphExecHandle, GraphHandle, GraphUpdate, Platform, RELAXED_CAPTURE, StreamHandle, UPDATE_SUCCESS,
};

/// The relaxed mode of captures for the calls of this thread, while this lives.
#[derive(Debug)]
pub(super) struct RelaxedCapture {
    platform: &'static dyn Platform,
    before: Option<c_uint>,
}

impl RelaxedCapture {
    /// Without the library's function no capture hinders.
    pub(super) fn new(platform: &'static dyn Platform) -> RelaxedCapture {
        RelaxedCapture { platform, before: platform.exchange_capture_mode(RELAXED_CAPTURE).ok() }
    }
}

impl Drop for RelaxedCapture {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = self.platform.exchange_capture_mode(before);
        }
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamBeginCapture(
    stream: StreamHandle,
    mode: c_int,
) -> CudaError {
    // SAFETY: the stream is the caller's.
    returned(unsafe { begin(stream, mode) })
}

unsafe fn begin(stream: StreamHandle, mode: c_int) -> Outcome {
    let mode = capture_mode(mode)?;
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.begin_capture(stream, mode) }
}

fn capture_mode(mode: c_int) -> Outcome<c_uint> {
    let number = c_uint::try_from(mode).ok().filter(|mode| *mode <= RELAXED_CAPTURE);
    number.ok_or_else(|| Failure::new(INVALID_VALUE, format!("{mode} is no mode of captures")))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamEndCapture(
    stream: StreamHandle,
    graph: *mut GraphHandle,
) -> CudaError {
    // SAFETY: the stream is the caller's, who has a place for the handle.
    returned(unsafe { end(stream, graph) })
}

unsafe fn end(stream: StreamHandle, graph: *mut GraphHandle) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    let captured = unsafe { current.platform.end_capture(stream) }?;
    // SAFETY: by the contract.
    unsafe { *graph = captured };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamIsCapturing(
    stream: StreamHandle,
    status: *mut c_uint,
) -> CudaError {
    // SAFETY: the stream is the caller's, who has a place for the number.
    returned(unsafe { is_capturing(stream, status) })
}

unsafe fn is_capturing(stream: StreamHandle, status: *mut c_uint) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    let found = unsafe { current.platform.capture_status(stream) }?;
    // SAFETY: by the contract.
    unsafe { *status = found };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) -> CudaError {
    // SAFETY: the caller has the number, and a place for the one before.
    returned(unsafe { exchange_mode(mode) })
}

unsafe fn exchange_mode(mode: *mut c_int) -> Outcome {
    // SAFETY: by the contract.
    let wanted = capture_mode(unsafe { *mode })?;
    let before = Current::for_thread()?.platform.exchange_capture_mode(wanted)?;
    // SAFETY: by the contract.
    unsafe { *mode = c_int::try_from(before).unwrap_or(0) };
    Ok(())
}

/// In the form of CUDA 12.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGraphInstantiate(
    executable: *mut GraphExecHandle,
    graph: GraphHandle,
    flags: c_ulonglong,
) -> CudaError {
    // SAFETY: the graph is the caller's, who has a place for the handle.
    returned(unsafe { instantiate(executable, graph, flags) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGraphInstantiateWithFlags(
    executable: *mut GraphExecHandle,
    graph: GraphHandle,
    flags: c_ulonglong,
) -> CudaError {
    // SAFETY: as above.
    returned(unsafe { instantiate(executable, graph, flags) })
}

unsafe fn instantiate(executable: *mut GraphExecHandle, graph: GraphHandle, flags: c_ulonglong) -> Outcome {
    check_handle(graph)?;
    // SAFETY: by the contract.
    let made = unsafe { Current::for_thread()?.platform.instantiate_graph(graph, flags) }?;
    // SAFETY: by the contract.
    unsafe { *executable = made };
    Ok(())
}

/// In the form of CUDA 12.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGraphExecUpdate(
    executable: GraphExecHandle,
    graph: GraphHandle,
    update: *mut GraphUpdate,
) -> CudaError {
    // SAFETY: the graphs are the caller's, who has a place for the result.
    returned(unsafe { exec_update(executable, graph, update) })
}

unsafe fn exec_update(executable: GraphExecHandle, graph: GraphHandle, update: *mut GraphUpdate) -> Outcome {
    check_handle(executable)?;
    check_handle(graph)?;
    // SAFETY: by the contract.
    let updated = unsafe { Current::for_thread()?.platform.update_graph(executable, graph) }?;
    if !update.is_null() {
        // SAFETY: by the contract.
        unsafe { *update = updated };
    }
    if updated.result == UPDATE_SUCCESS {
        return Ok(());
    }
    let problem =
        format!("the graph cannot take the place of the other ({}): instantiate it", updated.result);
    Err(Failure::new(GRAPH_UPDATE_FAILURE, problem))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGraphLaunch(
    executable: GraphExecHandle,
    stream: StreamHandle,
) -> CudaError {
    // SAFETY: graph and stream are the caller's.
    returned(unsafe { launch(executable, stream) })
}

unsafe fn launch(executable: GraphExecHandle, stream: StreamHandle) -> Outcome {
    check_handle(executable)?;
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.launch_graph(executable, stream) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGraphDestroy(graph: GraphHandle) -> CudaError {
    let destroyed = check_handle(graph).and_then(|()| Current::for_thread());
    // SAFETY: the caller gives its graph away.
    returned(destroyed.and_then(|current| unsafe { current.platform.destroy_graph(graph) }))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGraphExecDestroy(executable: GraphExecHandle) -> CudaError {
    let destroyed = check_handle(executable).and_then(|()| Current::for_thread());
    // SAFETY: as above.
    returned(destroyed.and_then(|current| unsafe { current.platform.destroy_graph_exec(executable) }))
}

/// Programs destroy graphs that they may not have.
fn check_handle(graph: *mut c_void) -> Outcome {
    if graph.is_null() { Err(Failure::new(INVALID_VALUE, "null is no graph")) } else { Ok(()) }
}
