//! The back ends that functions of CUDA's runtime work on: CUDA's driver, HIP's runtime, and the program's own CPU.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::fmt::Debug;
use std::ptr;

use super::configuration::Configuration;
pub(super) use super::configuration::StreamHandle;
use super::elements::{ArrayForm, ArrayHandle, TextureSource};
use super::failure::{CudaError, Outcome};
use crate::device::Device;
use crate::gpu::{BoxCopy, RawHostFunction};
use crate::images::TextureSettings;
use crate::launch::Kernel;

/// The release of CUDA's runtime that these functions are of, as the headers of `offload-build` have it.
pub(super) const RUNTIME_VERSION: c_int = 12060;

/// A `cudaGraph_t`: a graph of the back end.
pub(super) type GraphHandle = *mut c_void;

/// A `cudaGraphExec_t`: a graph of the back end that can be launched.
pub(super) type GraphExecHandle = *mut c_void;

/// A `cudaEvent_t`: an event of the back end.
pub(super) type EventHandle = *mut c_void;

/// A context of the back end, as a number: programs are loaded once in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ContextHandle(pub(super) usize);

/// A context that a thread works in.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnteredContext {
    pub(super) context: ContextHandle,
    /// The thread's context before, if it was another.
    pub(super) previous: Option<ContextHandle>,
}

/// Memory of a device in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryInfo {
    pub(super) free: usize,
    pub(super) total: usize,
}

/// The resources of a block that decide how many a multiprocessor holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) threads: c_int,
    /// Bytes of dynamic shared memory.
    pub(super) shared: usize,
}

/// A copy between two ranges that do not overlap; the back end tells its memory from the program's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub(super) to: *mut c_void,
    pub(super) from: *const c_void,
    pub(super) size: usize,
}

/// A copy of rows, each `pitch` bytes behind the one before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowsCopy {
    pub(super) to: *mut c_void,
    pub(super) to_pitch: usize,
    pub(super) from: *const c_void,
    pub(super) from_pitch: usize,
    /// Bytes of a row.
    pub(super) width: usize,
    /// The number of rows.
    pub(super) height: usize,
}

/// `cudaMemoryType`: memory that the back end does not know, of the program, of a device, and of both.
pub(super) const UNREGISTERED_MEMORY: c_uint = 0;
pub(super) const HOST_MEMORY: c_uint = 1;
pub(super) const DEVICE_MEMORY: c_uint = 2;
pub(super) const MANAGED_MEMORY: c_uint = 3;

/// `cudaPointerAttributes`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct PointerAttributes {
    /// A `cudaMemoryType`.
    pub(super) kind: c_uint,
    pub(super) device: c_int,
    /// Null if devices do not reach the memory.
    pub(super) device_pointer: *mut c_void,
    /// Null if the program does not reach it.
    pub(super) host_pointer: *mut c_void,
}

impl PointerAttributes {
    /// Those of memory that the back end does not know.
    pub(super) fn unregistered(memory: *mut c_void) -> PointerAttributes {
        let device_pointer = ptr::null_mut();
        PointerAttributes { kind: UNREGISTERED_MEMORY, device: -2, device_pointer, host_pointer: memory }
    }
}

/// A fill of a range with one byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    pub(super) to: *mut c_void,
    pub(super) value: u8,
    pub(super) size: usize,
}

/// A `cudaMemPool_t`: a pool of the back end.
pub(super) type PoolHandle = *mut c_void;

/// `cudaStreamCaptureStatusNone`.
pub(super) const NO_CAPTURE: c_uint = 0;
/// `cudaStreamCaptureModeRelaxed`: the thread may load and allocate while a stream captures.
pub(super) const RELAXED_CAPTURE: c_uint = 2;

/// `cudaGraphExecUpdateSuccess`.
pub(super) const UPDATE_SUCCESS: c_uint = 0;
/// `cudaGraphExecUpdateErrorNotSupported`.
pub(super) const UPDATE_NOT_SUPPORTED: c_uint = 6;

/// `cudaGraphExecUpdateResultInfo`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct GraphUpdate {
    /// A `cudaGraphExecUpdateResult`.
    pub(super) result: c_uint,
    pub(super) error_node: *mut c_void,
    pub(super) error_from_node: *mut c_void,
}

impl GraphUpdate {
    /// An update with this result, whatever the node.
    pub(super) fn with_result(result: c_uint) -> GraphUpdate {
        GraphUpdate { result, error_node: ptr::null_mut(), error_from_node: ptr::null_mut() }
    }
}

/// What functions of CUDA's runtime need of a back end. Numbers of attributes, flags and results are CUDA's.
///
/// # Safety of the operations
/// Handles are of this back end and live, a pointer has room for what is read or written there, kernels and programs are
/// loaded in the thread's current context, and memory is released once.
pub(super) trait Platform: Debug + Sync {
    /// The thread's context. Where it has none, that of device 0 becomes the thread's own, as CUDA's runtime has it.
    fn thread_context(&'static self) -> Outcome<ContextHandle>;
    /// Makes the context of `stream`, which is no default stream, the thread's own.
    unsafe fn enter_stream(&'static self, stream: StreamHandle) -> Outcome<EnteredContext>;
    /// Makes `previous` the thread's context again. A failure leaves nothing to be done.
    fn leave(&'static self, previous: ContextHandle);
    /// The device of `context`, which is current and stays.
    fn device(&'static self, context: ContextHandle) -> Outcome<Device>;

    fn device_count(&'static self) -> Outcome<c_int>;
    /// The number of the device of the current context.
    fn device_number(&'static self) -> Outcome<c_int>;
    fn set_device(&'static self, number: c_int) -> Outcome;
    fn device_attribute(&'static self, attribute: c_uint, number: c_int) -> Outcome<c_int>;
    fn device_name(&'static self, number: c_int) -> Outcome<String>;
    /// Memory of a device in bytes.
    fn device_memory(&'static self, number: c_int) -> Outcome<usize>;
    /// The release of CUDA whose functions the library has, as 12080.
    fn version(&'static self) -> Outcome<c_int>;
    /// The address on PCI, as `0000:01:00.0`.
    fn pci_address(&'static self, number: c_int) -> Outcome<String>;
    /// Whether a device can use the memory of another.
    fn can_access_peer(&'static self, number: c_int, peer: c_int) -> Outcome<bool>;
    /// Lets the current context use the memory of another device.
    fn enable_peer_access(&'static self, peer: c_int) -> Outcome;
    /// Takes that back.
    fn disable_peer_access(&'static self, peer: c_int) -> Outcome;
    /// Sets a `cudaLimit` of the current context.
    fn set_limit(&'static self, limit: c_uint, value: usize) -> Outcome;
    fn limit(&'static self, limit: c_uint) -> Outcome<usize>;
    /// `properties` leads to a `cudaMemPoolProps`.
    unsafe fn create_pool(&'static self, properties: *const c_void) -> Outcome<PoolHandle>;
    unsafe fn destroy_pool(&'static self, pool: PoolHandle) -> Outcome;
    /// `accesses` leads to so many of `cudaMemAccessDesc`.
    unsafe fn set_pool_access(
        &'static self,
        pool: PoolHandle,
        accesses: *const c_void,
        count: usize,
    ) -> Outcome;
    /// Releases what the pool holds and is not used, down to `kept` bytes.
    unsafe fn trim_pool(&'static self, pool: PoolHandle, kept: usize) -> Outcome;
    /// The attribute is a `cudaMemPoolAttr`, which has the size of `value`.
    unsafe fn pool_attribute(
        &'static self,
        pool: PoolHandle,
        attribute: c_uint,
        value: *mut c_void,
    ) -> Outcome;
    unsafe fn allocate_from_pool(
        &'static self,
        size: usize,
        pool: PoolHandle,
        stream: StreamHandle,
    ) -> Outcome<*mut c_void>;
    /// The pool of a device that `cudaMallocAsync` takes memory from.
    fn pool(&'static self, number: c_int) -> Outcome<PoolHandle>;
    /// That which it took it from at first.
    fn default_pool(&'static self, number: c_int) -> Outcome<PoolHandle>;
    /// The attribute is a `cudaMemPoolAttr`, which has the size of `value`.
    unsafe fn set_pool_attribute(
        &'static self,
        pool: PoolHandle,
        attribute: c_uint,
        value: *mut c_void,
    ) -> Outcome;
    /// Waits for the work of the current context.
    fn synchronize(&'static self) -> Outcome;

    fn create_stream(&'static self, flags: c_uint) -> Outcome<StreamHandle>;
    unsafe fn destroy_stream(&'static self, stream: StreamHandle) -> Outcome;
    unsafe fn synchronize_stream(&'static self, stream: StreamHandle) -> Outcome;
    unsafe fn query_stream(&'static self, stream: StreamHandle) -> Outcome;
    unsafe fn stream_flags(&'static self, stream: StreamHandle) -> Outcome<c_uint>;
    /// Calls `function`, which calls nothing of the back end, in the order of the stream.
    unsafe fn call_in_order(
        &'static self,
        stream: StreamHandle,
        function: RawHostFunction,
        data: *mut c_void,
    ) -> Outcome;
    unsafe fn wait_event(&'static self, stream: StreamHandle, event: EventHandle) -> Outcome;

    fn create_event(&'static self, flags: c_uint) -> Outcome<EventHandle>;
    unsafe fn destroy_event(&'static self, event: EventHandle) -> Outcome;
    unsafe fn record_event(&'static self, event: EventHandle, stream: StreamHandle) -> Outcome;
    unsafe fn query_event(&'static self, event: EventHandle) -> Outcome;
    unsafe fn synchronize_event(&'static self, event: EventHandle) -> Outcome;
    /// In milliseconds.
    unsafe fn elapsed_time(&'static self, start: EventHandle, end: EventHandle) -> Outcome<f32>;

    /// Keeps the work that the stream is given from now on for a graph. The mode is a `cudaStreamCaptureMode`.
    unsafe fn begin_capture(&'static self, stream: StreamHandle, mode: c_uint) -> Outcome;
    unsafe fn end_capture(&'static self, stream: StreamHandle) -> Outcome<GraphHandle>;
    /// A `cudaStreamCaptureStatus`.
    unsafe fn capture_status(&'static self, stream: StreamHandle) -> Outcome<c_uint>;
    /// Makes `mode` the one that the thread's calls beside captures are checked by; returns the one before.
    fn exchange_capture_mode(&'static self, mode: c_uint) -> Outcome<c_uint>;
    unsafe fn instantiate_graph(
        &'static self,
        graph: GraphHandle,
        flags: c_ulonglong,
    ) -> Outcome<GraphExecHandle>;
    /// Has launches of `executable` do the work of `graph`, if the back end can change one to the other.
    unsafe fn update_graph(
        &'static self,
        executable: GraphExecHandle,
        graph: GraphHandle,
    ) -> Outcome<GraphUpdate>;
    unsafe fn launch_graph(&'static self, executable: GraphExecHandle, stream: StreamHandle) -> Outcome;
    unsafe fn destroy_graph(&'static self, graph: GraphHandle) -> Outcome;
    unsafe fn destroy_graph_exec(&'static self, executable: GraphExecHandle) -> Outcome;

    fn memory_info(&'static self) -> Outcome<MemoryInfo>;
    fn allocate(&'static self, size: usize) -> Outcome<*mut c_void>;
    unsafe fn allocate_in_order(&'static self, size: usize, stream: StreamHandle) -> Outcome<*mut c_void>;
    /// Memory that the program and the device use by the same address.
    fn allocate_managed(&'static self, size: usize, flags: c_uint) -> Outcome<*mut c_void>;
    unsafe fn free(&'static self, memory: *mut c_void) -> Outcome;
    unsafe fn free_in_order(&'static self, memory: *mut c_void, stream: StreamHandle) -> Outcome;
    /// Memory of the program that devices reach.
    fn allocate_host(&'static self, size: usize) -> Outcome<*mut c_void>;
    unsafe fn free_host(&'static self, memory: *mut c_void) -> Outcome;
    /// Lets devices reach memory of the program.
    unsafe fn lock_host(&'static self, memory: *mut c_void, size: usize, flags: c_uint) -> Outcome;
    unsafe fn unlock_host(&'static self, memory: *mut c_void) -> Outcome;
    /// What the back end knows of an address.
    fn pointer_attributes(&'static self, memory: *mut c_void) -> Outcome<PointerAttributes>;
    /// Waits for the copy.
    unsafe fn copy(&'static self, copy: Copy) -> Outcome;
    unsafe fn copy_in_order(&'static self, copy: Copy, stream: StreamHandle) -> Outcome;
    unsafe fn copy_rows_in_order(&'static self, copy: RowsCopy, stream: StreamHandle) -> Outcome;
    unsafe fn fill_in_order(&'static self, fill: Fill, stream: StreamHandle) -> Outcome;

    fn create_array(&'static self, form: &ArrayForm) -> Outcome<ArrayHandle>;
    unsafe fn destroy_array(&'static self, array: ArrayHandle) -> Outcome;
    unsafe fn copy_box_in_order(&'static self, copy: &BoxCopy, stream: StreamHandle) -> Outcome;
    unsafe fn create_texture(
        &'static self,
        source: &TextureSource,
        settings: &TextureSettings,
    ) -> Outcome<u64>;
    unsafe fn destroy_texture(&'static self, texture: u64) -> Outcome;
    unsafe fn create_surface(&'static self, array: ArrayHandle, form: &ArrayForm) -> Outcome<u64>;
    unsafe fn destroy_surface(&'static self, surface: u64) -> Outcome;

    fn function_attribute(&'static self, kernel: &Kernel, attribute: c_uint) -> Outcome<c_int>;
    fn set_function_attribute(&'static self, kernel: &Kernel, attribute: c_uint, value: c_int) -> Outcome;
    fn set_cache(&'static self, kernel: &Kernel, cache: c_uint) -> Outcome;
    /// The number of blocks that a multiprocessor holds at once.
    fn occupancy(&'static self, kernel: &Kernel, block: Block, flags: c_uint) -> Outcome<c_int>;
    /// `arguments` leads to a pointer to each argument, which are read during the call.
    unsafe fn launch(
        &'static self,
        kernel: &Kernel,
        configuration: &Configuration,
        arguments: *mut *mut c_void,
    ) -> Outcome;
    /// Launches blocks that run at the same time.
    unsafe fn launch_cooperative(
        &'static self,
        kernel: &Kernel,
        configuration: &Configuration,
        arguments: *mut *mut c_void,
    ) -> Outcome;

    /// The library's name of a result.
    fn result_name(&'static self, code: CudaError) -> Option<String>;
    /// The library's text for a result.
    fn result_text(&'static self, code: CudaError) -> Option<String>;
}
