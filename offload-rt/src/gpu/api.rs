//! The operations that CUDA's driver and HIP's runtime both have.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fmt::Debug;
use std::ptr;

use offload_format::pack::KernelInfo;

use super::array::{ArrayDescriptor, BoxCopy, RawArray, ResourceDescriptor, TextureDescriptor};
use super::context::{Context, ContextApi, Entered};
use super::error::{ApiResult, ResultCode};
#[cfg(unix)]
use super::external::{
    MappedBufferDescriptor, MemoryHandleDescriptor, SemaphoreHandleDescriptor, SemaphoreParameters,
};
use super::limits::Shape;
use super::pool::{PoolAccess, RawPool};
pub(crate) use super::raw::{
    RawEvent, RawExternalMemory, RawExternalSemaphore, RawFunction, RawGraph, RawGraphExec, RawGraphNode,
    RawModule, RawStream,
};
use crate::backend::{IpcMemoryHandle, KernelArg};
use crate::entry::{Entry, LoadedImage};
use crate::error::Problem;
use crate::identity::DeviceIdentity;
use crate::properties::DeviceProperties;
use crate::range::LaunchMode;

/// `CUstreamCallback`, `hipStreamCallback_t`.
pub(crate) type RawCallback = extern "system" fn(RawStream, ResultCode, *mut c_void);

/// `CUhostFn`, `hipHostFn_t`.
pub(crate) type RawHostFunction = extern "system" fn(*mut c_void);

// `CU_FUNC_ATTRIBUTE_*`, `HIP_FUNC_ATTRIBUTE_*`.
pub(crate) const FUNCTION_MAX_THREADS: c_uint = 0;
pub(crate) const FUNCTION_SHARED_SIZE: c_uint = 1;
pub(crate) const FUNCTION_LOCAL_SIZE: c_uint = 3;
pub(crate) const FUNCTION_REGISTERS: c_uint = 4;

/// A library's table of functions, and what its implementation does in its own way.
///
/// # Safety of the operations
/// Unsafe methods call the library's function of the same meaning. Handles are of this library and live, a pointer has room
/// for what the function reads or writes there, and the context that the handles are of is the thread's current one.
/// Addresses of device memory are numbers.
pub(crate) trait DriverApi: ContextApi + Debug + Send + Sync {
    /// The function that lists devices, for hints.
    const DEVICES: &'static str;

    /// The device's `DLDeviceType`.
    #[cfg(feature = "dlpack")]
    const DLPACK_TYPE: i32;

    /// The type of a dma-buf's handle.
    #[cfg(unix)]
    const DMA_BUF: c_uint;

    /// Whether the file descriptor of an import is the library's after it.
    #[cfg(unix)]
    const TAKES_DESCRIPTORS: bool;

    /// A device, as it is listed.
    type Device: Debug + Send + Sync;
    type ArgumentCheck: ArgumentCheck;

    /// The primary context of `device`, which the library makes if it has none.
    fn primary_context(device: &Self::Device) -> ApiResult<Context<Self>, Self>;

    /// What other drivers tell of the device too.
    fn identity(device: &Self::Device) -> DeviceIdentity;
    /// The properties of `device` beside its free memory.
    fn properties(device: &Self::Device) -> ApiResult<DeviceProperties, Self>;

    // Events.
    unsafe fn create_event(&'static self, event: *mut RawEvent) -> ApiResult<(), Self>;
    /// An event that orders streams, and tells no times.
    unsafe fn create_ordering_event(&'static self, event: *mut RawEvent) -> ApiResult<(), Self>;
    unsafe fn record_event(&'static self, event: RawEvent, stream: RawStream) -> ApiResult<(), Self>;
    unsafe fn query_event(&'static self, event: RawEvent) -> ApiResult<(), Self>;
    unsafe fn synchronize_event(&'static self, event: RawEvent) -> ApiResult<(), Self>;
    /// Writes milliseconds.
    unsafe fn elapsed_time(
        &'static self,
        milliseconds: *mut f32,
        start: RawEvent,
        end: RawEvent,
    ) -> ApiResult<(), Self>;
    /// The library keeps what work in a stream needs of the event.
    unsafe fn destroy_event(&'static self, event: RawEvent) -> ApiResult<(), Self>;

    // Memory of the program that the library has locked, for all devices.
    unsafe fn allocate_host(&'static self, memory: *mut *mut c_void, size: usize) -> ApiResult<(), Self>;
    unsafe fn free_host(&'static self, memory: *mut c_void) -> ApiResult<(), Self>;

    // Memory of the device and the program.
    /// Whether kernels and the program use it at the same time, each other parts of it.
    fn has_managed_memory(&'static self, context: &Self::ContextHandle) -> bool;
    /// It is released as memory of the device is.
    unsafe fn allocate_managed_memory(&'static self, address: *mut u64, size: usize) -> ApiResult<(), Self>;
    /// Moves it to the device of this ordinal, or to the program with [`PROGRAM`](super::managed::PROGRAM).
    unsafe fn prefetch(
        &'static self,
        address: u64,
        size: usize,
        device: c_int,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
    /// `advice` is a `CUmem_advise` or a `hipMemoryAdvise`, for a device as in `prefetch`.
    unsafe fn advise(
        &'static self,
        address: u64,
        size: usize,
        advice: c_uint,
        device: c_int,
    ) -> ApiResult<(), Self>;

    // Memory of the device.
    /// Writes the free and all bytes of the current context's device.
    unsafe fn memory_info(&'static self, free: *mut usize, total: *mut usize) -> ApiResult<(), Self>;
    unsafe fn allocate(&'static self, address: *mut u64, size: usize) -> ApiResult<(), Self>;
    /// Waits for work that uses the memory.
    unsafe fn free(&'static self, address: u64) -> ApiResult<(), Self>;
    // Memory of other processes.
    /// `address` is what `allocate` wrote.
    unsafe fn ipc_memory_handle(
        &'static self,
        handle: *mut IpcMemoryHandle,
        address: u64,
    ) -> ApiResult<(), Self>;
    unsafe fn open_ipc_memory(
        &'static self,
        address: *mut u64,
        handle: IpcMemoryHandle,
    ) -> ApiResult<(), Self>;
    unsafe fn close_ipc_memory(&'static self, address: u64) -> ApiResult<(), Self>;
    // Memory and semaphores of other programming interfaces.
    #[cfg(unix)]
    unsafe fn import_memory(
        &'static self,
        memory: *mut RawExternalMemory,
        handle: &MemoryHandleDescriptor,
    ) -> ApiResult<(), Self>;
    /// What it writes is released as memory of the device is, and before `memory`.
    #[cfg(unix)]
    unsafe fn map_memory(
        &'static self,
        address: *mut u64,
        memory: RawExternalMemory,
        part: &MappedBufferDescriptor,
    ) -> ApiResult<(), Self>;
    #[cfg(unix)]
    unsafe fn destroy_memory(&'static self, memory: RawExternalMemory) -> ApiResult<(), Self>;
    /// `address` is what `allocate` wrote, and `size` a multiple of the system's pages.
    #[cfg(unix)]
    unsafe fn dma_buf(
        &'static self,
        descriptor: *mut c_int,
        address: u64,
        size: usize,
    ) -> ApiResult<(), Self>;
    #[cfg(unix)]
    unsafe fn import_semaphore(
        &'static self,
        semaphore: *mut RawExternalSemaphore,
        handle: &SemaphoreHandleDescriptor,
    ) -> ApiResult<(), Self>;
    #[cfg(unix)]
    unsafe fn wait_semaphore(
        &'static self,
        semaphore: RawExternalSemaphore,
        parameters: &SemaphoreParameters,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
    #[cfg(unix)]
    unsafe fn signal_semaphore(
        &'static self,
        semaphore: RawExternalSemaphore,
        parameters: &SemaphoreParameters,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
    /// All waits and signals of it are done.
    #[cfg(unix)]
    unsafe fn destroy_semaphore(&'static self, semaphore: RawExternalSemaphore) -> ApiResult<(), Self>;
    // Memory pools.
    unsafe fn pool_attribute(
        &'static self,
        pool: RawPool,
        attribute: c_uint,
        value: *mut c_void,
    ) -> ApiResult<(), Self>;
    unsafe fn trim_pool(&'static self, pool: RawPool, kept: usize) -> ApiResult<(), Self>;
    /// The memory is there for work that the stream is given from now on.
    unsafe fn allocate_from_pool(
        &'static self,
        address: *mut u64,
        size: usize,
        pool: RawPool,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
    /// Releases memory of a pool after the work that the stream has.
    unsafe fn free_in_order(&'static self, address: u64, stream: RawStream) -> ApiResult<(), Self>;
    unsafe fn copy_to_device(
        &'static self,
        to: u64,
        from: *const c_void,
        size: usize,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
    unsafe fn copy_from_device(
        &'static self,
        to: *mut c_void,
        from: u64,
        size: usize,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
    unsafe fn copy_on_device(
        &'static self,
        to: u64,
        from: u64,
        size: usize,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
    /// Whether `device` can use the memory of `peer`, by their ordinals.
    unsafe fn can_access_peer(
        &'static self,
        can_access: *mut c_int,
        device: c_int,
        peer: c_int,
    ) -> ApiResult<(), Self>;
    /// Lets the current context use memory of `peer` that comes from no pool.
    unsafe fn enable_peer_access(&'static self, peer: &Self::ContextHandle) -> ApiResult<(), Self>;
    /// Lets other devices use memory of a pool.
    unsafe fn set_pool_access(
        &'static self,
        pool: RawPool,
        access: *const PoolAccess,
        count: usize,
    ) -> ApiResult<(), Self>;
    /// Whether the library copies between devices.
    fn has_peer_copy(&self) -> bool;
    /// The stream is of the current context.
    unsafe fn copy_peer(&'static self, copy: &PeerCopy<'_, Self>, stream: RawStream) -> ApiResult<(), Self>;
    unsafe fn fill_u8(
        &'static self,
        to: u64,
        value: u8,
        count: usize,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
    unsafe fn fill_u16(
        &'static self,
        to: u64,
        value: u16,
        count: usize,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
    unsafe fn fill_u32(
        &'static self,
        to: u64,
        value: u32,
        count: usize,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
    // Arrays, textures and surfaces.
    unsafe fn create_array(
        &'static self,
        array: *mut RawArray,
        descriptor: &ArrayDescriptor,
    ) -> ApiResult<(), Self>;
    unsafe fn destroy_array(&'static self, array: RawArray) -> ApiResult<(), Self>;
    unsafe fn copy_box(&'static self, copy: &BoxCopy, stream: RawStream) -> ApiResult<(), Self>;
    unsafe fn create_texture(
        &'static self,
        number: *mut u64,
        resource: &ResourceDescriptor,
        description: &TextureDescriptor,
    ) -> ApiResult<(), Self>;
    unsafe fn destroy_texture(&'static self, number: u64) -> ApiResult<(), Self>;
    /// The resource is an array.
    unsafe fn create_surface(
        &'static self,
        number: *mut u64,
        resource: &ResourceDescriptor,
    ) -> ApiResult<(), Self>;
    unsafe fn destroy_surface(&'static self, number: u64) -> ApiResult<(), Self>;
    /// Whether the library may read `bytes`, memory of the program, after a call to copy them. `context` is current.
    fn reads_later(&'static self, context: &Self::ContextHandle, bytes: &[u8]) -> bool;

    // Streams.
    /// The stream is not ordered with the default stream that other code of the process may use.
    unsafe fn create_stream(&'static self, stream: *mut RawStream) -> ApiResult<(), Self>;
    /// As `create_stream`; lower numbers are higher priorities.
    unsafe fn create_stream_with_priority(
        &'static self,
        stream: *mut RawStream,
        priority: c_int,
    ) -> ApiResult<(), Self>;
    /// Writes the numbers of the lowest and the highest priority; both are 0 if the current context's device has none.
    unsafe fn stream_priorities(
        &'static self,
        lowest: *mut c_int,
        highest: *mut c_int,
    ) -> ApiResult<(), Self>;
    /// Whether the stream is of `context`, which is current, as far as the library tells.
    unsafe fn is_stream_of(
        &'static self,
        stream: RawStream,
        context: &Self::ContextHandle,
    ) -> ApiResult<bool, Self>;
    unsafe fn synchronize_stream(&'static self, stream: RawStream) -> ApiResult<(), Self>;
    /// The event may be of another context.
    unsafe fn wait_event(&'static self, stream: RawStream, event: RawEvent) -> ApiResult<(), Self>;
    /// Calls `callback` once, after the work of the stream and before its later work.
    unsafe fn add_callback(
        &'static self,
        stream: RawStream,
        callback: RawCallback,
        data: *mut c_void,
    ) -> ApiResult<(), Self>;
    /// The work of the stream is done all the same.
    unsafe fn destroy_stream(&'static self, stream: RawStream) -> ApiResult<(), Self>;

    // Graphs.
    /// Whether the library has all functions for graphs.
    fn has_graphs(&self) -> bool;
    /// Work that the stream is given from now on goes to a graph; other streams and threads are not touched by it.
    unsafe fn begin_capture(&'static self, stream: RawStream) -> ApiResult<(), Self>;
    /// The stream runs its work again; the graph is null after an error.
    unsafe fn end_capture(&'static self, stream: RawStream, graph: *mut RawGraph) -> ApiResult<(), Self>;
    /// Adds a call of `function` to what the stream captures.
    unsafe fn add_host_node(
        &'static self,
        stream: RawStream,
        function: RawHostFunction,
        data: *mut c_void,
    ) -> ApiResult<(), Self>;
    /// What a stream captures; the nodes are there until it is given more.
    unsafe fn capture_info(&'static self, stream: RawStream, info: &mut CaptureInfo) -> ApiResult<(), Self>;
    unsafe fn instantiate_graph(
        &'static self,
        executable: *mut RawGraphExec,
        graph: RawGraph,
    ) -> ApiResult<(), Self>;
    unsafe fn launch_graph(&'static self, executable: RawGraphExec, stream: RawStream)
    -> ApiResult<(), Self>;
    /// As `launch`, for the launches of the graph from now on. `node` is of the graph that it was made of.
    unsafe fn update_graph(
        &'static self,
        executable: RawGraphExec,
        node: RawGraphNode,
        launch: &NodeLaunch<'_>,
    ) -> ApiResult<(), Self>;
    unsafe fn destroy_graph_exec(&'static self, executable: RawGraphExec) -> ApiResult<(), Self>;
    unsafe fn destroy_graph(&'static self, graph: RawGraph) -> ApiResult<(), Self>;

    // Modules.
    /// Refuses `libraries`, which `image` imports, if the library cannot link them.
    fn check_libraries(_image: &LoadedImage, _libraries: &[Entry]) -> Result<(), Problem> {
        Ok(())
    }
    /// Loads `image`, linked with `libraries`, into the current context. The error holds the messages of the library's
    /// compiler, and a hint where there is one.
    fn load_module(
        entered: &Entered<'_, Self>,
        image: &LoadedImage,
        libraries: &[LoadedImage],
    ) -> Result<RawModule, Problem>;
    /// The names of a module's kernels, if the library tells them.
    unsafe fn kernel_names(&'static self, _module: RawModule) -> Option<Vec<String>> {
        None
    }
    unsafe fn get_function(
        &'static self,
        function: *mut RawFunction,
        module: RawModule,
        name: *const c_char,
    ) -> ApiResult<(), Self>;
    unsafe fn get_global(
        &'static self,
        address: *mut u64,
        size: *mut usize,
        module: RawModule,
        name: *const c_char,
    ) -> ApiResult<(), Self>;
    /// Waits for all work of the current context.
    unsafe fn synchronize(&'static self) -> ApiResult<(), Self>;
    unsafe fn unload_module(&'static self, module: RawModule) -> ApiResult<(), Self>;

    // Kernels.
    unsafe fn function_attribute(
        &'static self,
        value: *mut c_int,
        attribute: c_uint,
        function: RawFunction,
    ) -> ApiResult<(), Self>;
    /// Writes the threads of the block with which most threads of the kernel run at a time, and the blocks that fill the
    /// device; each block has `shared` bytes of dynamic shared memory.
    unsafe fn potential_block(
        &'static self,
        grid: *mut c_int,
        block: *mut c_int,
        function: RawFunction,
        shared: usize,
    ) -> ApiResult<(), Self>;
    /// The sizes of a kernel's parameters, if the library tells them.
    unsafe fn parameter_sizes(&'static self, _function: RawFunction) -> Option<Vec<usize>> {
        None
    }
    /// Lets the kernel have as much dynamic shared memory as `shape` has, where that takes an opt-in.
    unsafe fn opt_in_shared_memory(
        &'static self,
        _function: RawFunction,
        _shape: &Shape,
    ) -> ApiResult<(), Self> {
        Ok(())
    }
    /// `parameters` leads to a pointer to each parameter, which are read during the call.
    unsafe fn launch(
        &'static self,
        function: RawFunction,
        shape: &Shape,
        stream: RawStream,
        parameters: *mut *mut c_void,
    ) -> ApiResult<(), Self>;
    /// Writes how many blocks of `threads`, with `shared` bytes of dynamic shared memory each, a multiprocessor has room for.
    unsafe fn resident_blocks(
        &'static self,
        blocks: *mut c_int,
        function: RawFunction,
        threads: c_int,
        shared: usize,
    ) -> ApiResult<(), Self>;
    /// Refuses a mode that the library has not, or not in the capture of a graph.
    fn check_mode(mode: &LaunchMode, is_capturing: bool) -> Result<(), Problem>;
    /// As `launch`, in a mode that is not plain and was checked. [`TOO_LARGE`](super::error::TOO_LARGE) is the error of a
    /// cooperative launch of too many blocks.
    unsafe fn launch_in_mode(
        &'static self,
        launch: &NodeLaunch<'_>,
        mode: &LaunchMode,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
}

/// The check of a launch's arguments that is particular to a library, beside that against the kernel's record.
pub(crate) trait ArgumentCheck: Debug + Send + Sync {
    /// For the kernel of `info`, whose parameters have `sizes`, if the library tells them.
    fn new(info: &KernelInfo, sizes: Option<Vec<usize>>) -> Self;

    fn check(&self, args: &[KernelArg<'_>]) -> Result<(), Problem>;
}

/// A copy between the memory of two contexts.
pub(crate) struct PeerCopy<'c, A: DriverApi> {
    pub(crate) to: u64,
    pub(crate) to_context: &'c A::ContextHandle,
    pub(crate) from: u64,
    pub(crate) from_context: &'c A::ContextHandle,
    pub(crate) size: usize,
}

/// What a stream captures.
#[derive(Debug)]
pub(crate) struct CaptureInfo {
    pub(crate) status: c_uint,
    pub(crate) number: u64,
    pub(crate) graph: RawGraph,
    /// The nodes that the next one comes after.
    pub(crate) nodes: *const RawGraphNode,
    pub(crate) count: usize,
}

impl CaptureInfo {
    pub(crate) fn empty() -> CaptureInfo {
        CaptureInfo { status: 0, number: 0, graph: ptr::null_mut(), nodes: ptr::null(), count: 0 }
    }
}

/// A launch, as nodes of a graph have it too.
pub(crate) struct NodeLaunch<'s> {
    pub(crate) function: RawFunction,
    pub(crate) shape: &'s Shape,
    pub(crate) parameters: *mut *mut c_void,
}

/// Implements operations of [`DriverApi`] by calls of the library's functions.
macro_rules! operations {
    ($($(#[$attribute:meta])* $operation:ident($($argument:ident: $type:ty),*) => $function:ident($($passed:expr),*);)*) => {$(
        $(#[$attribute])*
        #[inline]
        unsafe fn $operation(&'static self, $($argument: $type),*) -> $crate::gpu::ApiResult<(), Self> {
            // SAFETY: the contract of the operation is that of the function.
            unsafe { $crate::gpu::call!(self, $function($($passed),*)) }
        }
    )*};
}

pub(crate) use operations;
