//! The operations of the shared back end by CUDA's functions.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;

use super::api::{
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, CU_EVENT_DEFAULT, CU_EVENT_DISABLE_TIMING,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS,
    CU_MEM_ATTACH_GLOBAL, CU_MEMHOSTALLOC_PORTABLE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
    CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_NON_BLOCKING, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D, CUevent,
    CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUmodule, CUstream, CuResult, CudaApi, DeviceId,
};
use super::context::CudaContext;
use super::launch_mode;
use super::module;
use super::params::ParameterSizes;
use super::properties;
use crate::backend::IpcMemoryHandle;
use crate::entry::LoadedImage;
use crate::error::Problem;
use crate::gpu::{
    ArrayDescriptor, BoxCopy, CaptureInfo, Context, DriverApi, Entered, INVALID_VALUE, NodeLaunch, PeerCopy,
    PoolAccess, RawArray, RawCallback, RawHostFunction, RawPool, ResourceDescriptor, Shape,
    TextureDescriptor, call, operations,
};
#[cfg(unix)]
use crate::gpu::{
    MappedBufferDescriptor, MemoryHandleDescriptor, RawExternalMemory, RawExternalSemaphore,
    SemaphoreHandleDescriptor, SemaphoreParameters,
};
use crate::identity::DeviceIdentity;
use crate::properties::DeviceProperties;
use crate::range::LaunchMode;

/// "The number of bytes of kernel parameters is limited to 32764", and each has at least one:
/// <https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#function-parameters>.
const MAX_PARAMETERS: usize = 32764;

/// The only flags of `cuStreamWaitEvent` that old drivers have, of `cuStreamAddCallback` and of
/// `cuCtxEnablePeerAccess`.
const NO_FLAGS: c_uint = 0;

/// `CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD`.
#[cfg(unix)]
const DMA_BUF_FD: c_uint = 1;

/// "0 means no limit": `cuOccupancyMaxPotentialBlockSize`.
const NO_LIMIT: c_int = 0;

impl DriverApi for CudaApi {
    const DEVICES: &'static str = "offload_rt::cuda::devices()";

    /// `kDLCUDA`.
    #[cfg(feature = "dlpack")]
    const DLPACK_TYPE: i32 = 2;

    /// `CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD`.
    #[cfg(unix)]
    const DMA_BUF: c_uint = 9;

    /// "Ownership of the file descriptor is transferred to the CUDA driver when the handle is imported successfully."
    #[cfg(unix)]
    const TAKES_DESCRIPTORS: bool = true;

    type Device = DeviceId;
    type ArgumentCheck = ParameterSizes;

    fn primary_context(device: &DeviceId) -> CuResult<Context<CudaApi>> {
        CudaContext::retain(*device)
    }

    fn identity(device: &DeviceId) -> DeviceIdentity {
        properties::identity(*device)
    }

    fn properties(device: &DeviceId) -> CuResult<DeviceProperties> {
        properties::properties(*device)
    }

    // A stream that is destroyed lives until its work is done, and a release waits for kernels that use memory of
    // `cuMemAlloc`.
    operations! {
        create_event(event: *mut CUevent) => cuEventCreate(event, CU_EVENT_DEFAULT);
        create_ordering_event(event: *mut CUevent) => cuEventCreate(event, CU_EVENT_DISABLE_TIMING);
        record_event(event: CUevent, stream: CUstream) => cuEventRecord(event, stream);
        query_event(event: CUevent) => cuEventQuery(event);
        synchronize_event(event: CUevent) => cuEventSynchronize(event);
        elapsed_time(milliseconds: *mut f32, start: CUevent, end: CUevent) =>
            cuEventElapsedTime(milliseconds, start, end);
        destroy_event(event: CUevent) => cuEventDestroy_v2(event);

        allocate_host(memory: *mut *mut c_void, size: usize) =>
            cuMemHostAlloc(memory, size, CU_MEMHOSTALLOC_PORTABLE);
        free_host(memory: *mut c_void) => cuMemFreeHost(memory);

        allocate_managed_memory(address: *mut u64, size: usize) =>
            cuMemAllocManaged(address, size, CU_MEM_ATTACH_GLOBAL);
        prefetch(address: u64, size: usize, device: c_int, stream: CUstream) =>
            cuMemPrefetchAsync(address, size, device, stream);
        advise(address: u64, size: usize, advice: c_uint, device: c_int) =>
            cuMemAdvise(address, size, advice, device);

        memory_info(free: *mut usize, total: *mut usize) => cuMemGetInfo_v2(free, total);
        allocate(address: *mut u64, size: usize) => cuMemAlloc_v2(address, size);
        free(address: u64) => cuMemFree_v2(address);
        ipc_memory_handle(handle: *mut IpcMemoryHandle, address: u64) => cuIpcGetMemHandle(handle, address);
        open_ipc_memory(address: *mut u64, handle: IpcMemoryHandle) =>
            cuIpcOpenMemHandle_v2(address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
        close_ipc_memory(address: u64) => cuIpcCloseMemHandle(address);
        #[cfg(unix)]
        import_memory(memory: *mut RawExternalMemory, handle: &MemoryHandleDescriptor) =>
            cuImportExternalMemory(memory, handle);
        #[cfg(unix)]
        map_memory(address: *mut u64, memory: RawExternalMemory, part: &MappedBufferDescriptor) =>
            cuExternalMemoryGetMappedBuffer(address, memory, part);
        #[cfg(unix)]
        destroy_memory(memory: RawExternalMemory) => cuDestroyExternalMemory(memory);
        #[cfg(unix)]
        dma_buf(descriptor: *mut c_int, address: u64, size: usize) =>
            cuMemGetHandleForAddressRange(descriptor.cast(), address, size, DMA_BUF_FD, 0);
        #[cfg(unix)]
        import_semaphore(semaphore: *mut RawExternalSemaphore, handle: &SemaphoreHandleDescriptor) =>
            cuImportExternalSemaphore(semaphore, handle);
        #[cfg(unix)]
        wait_semaphore(semaphore: RawExternalSemaphore, parameters: &SemaphoreParameters, stream: CUstream) =>
            cuWaitExternalSemaphoresAsync(&raw const semaphore, parameters, 1, stream);
        #[cfg(unix)]
        signal_semaphore(semaphore: RawExternalSemaphore, parameters: &SemaphoreParameters, stream: CUstream) =>
            cuSignalExternalSemaphoresAsync(&raw const semaphore, parameters, 1, stream);
        #[cfg(unix)]
        destroy_semaphore(semaphore: RawExternalSemaphore) => cuDestroyExternalSemaphore(semaphore);
        pool_attribute(pool: RawPool, attribute: c_uint, value: *mut c_void) =>
            cuMemPoolGetAttribute(pool, attribute, value);
        trim_pool(pool: RawPool, kept: usize) => cuMemPoolTrimTo(pool, kept);
        allocate_from_pool(address: *mut u64, size: usize, pool: RawPool, stream: CUstream) =>
            cuMemAllocFromPoolAsync(address, size, pool, stream);
        free_in_order(address: u64, stream: CUstream) => cuMemFreeAsync(address, stream);
        copy_to_device(to: u64, from: *const c_void, size: usize, stream: CUstream) =>
            cuMemcpyHtoDAsync_v2(to, from, size, stream);
        copy_from_device(to: *mut c_void, from: u64, size: usize, stream: CUstream) =>
            cuMemcpyDtoHAsync_v2(to, from, size, stream);
        copy_on_device(to: u64, from: u64, size: usize, stream: CUstream) =>
            cuMemcpyDtoDAsync_v2(to, from, size, stream);
        can_access_peer(can_access: *mut c_int, device: c_int, peer: c_int) =>
            cuDeviceCanAccessPeer(can_access, device, peer);
        enable_peer_access(peer: &CudaContext) => cuCtxEnablePeerAccess(peer.raw(), NO_FLAGS);
        set_pool_access(pool: RawPool, access: *const PoolAccess, count: usize) =>
            cuMemPoolSetAccess(pool, access, count);
        copy_peer(copy: &PeerCopy<'_, CudaApi>, stream: CUstream) =>
            cuMemcpyPeerAsync(copy.to, copy.to_context.raw(), copy.from, copy.from_context.raw(), copy.size, stream);
        fill_u8(to: u64, value: u8, count: usize, stream: CUstream) => cuMemsetD8Async(to, value, count, stream);
        fill_u16(to: u64, value: u16, count: usize, stream: CUstream) => cuMemsetD16Async(to, value, count, stream);
        fill_u32(to: u64, value: u32, count: usize, stream: CUstream) => cuMemsetD32Async(to, value, count, stream);

        create_array(array: *mut RawArray, descriptor: &ArrayDescriptor) => cuArray3DCreate_v2(array, descriptor);
        destroy_array(array: RawArray) => cuArrayDestroy(array);
        copy_box(copy: &BoxCopy, stream: CUstream) => cuMemcpy3DAsync_v2(&CUDA_MEMCPY3D::new(copy), stream);
        create_texture(number: *mut u64, resource: &ResourceDescriptor, description: &TextureDescriptor) =>
            cuTexObjectCreate(number, resource, description, ptr::null());
        destroy_texture(number: u64) => cuTexObjectDestroy(number);
        create_surface(number: *mut u64, resource: &ResourceDescriptor) => cuSurfObjectCreate(number, resource);
        destroy_surface(number: u64) => cuSurfObjectDestroy(number);

        create_stream(stream: *mut CUstream) => cuStreamCreate(stream, CU_STREAM_NON_BLOCKING);
        create_stream_with_priority(stream: *mut CUstream, priority: c_int) =>
            cuStreamCreateWithPriority(stream, CU_STREAM_NON_BLOCKING, priority);
        stream_priorities(lowest: *mut c_int, highest: *mut c_int) =>
            cuCtxGetStreamPriorityRange(lowest, highest);
        synchronize_stream(stream: CUstream) => cuStreamSynchronize(stream);
        wait_event(stream: CUstream, event: CUevent) => cuStreamWaitEvent(stream, event, NO_FLAGS);
        add_callback(stream: CUstream, callback: RawCallback, data: *mut c_void) =>
            cuStreamAddCallback(stream, callback, data, NO_FLAGS);
        destroy_stream(stream: CUstream) => cuStreamDestroy_v2(stream);

        begin_capture(stream: CUstream) => cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
        end_capture(stream: CUstream, graph: *mut CUgraph) => cuStreamEndCapture(stream, graph);
        add_host_node(stream: CUstream, function: RawHostFunction, data: *mut c_void) =>
            cuLaunchHostFunc(stream, function, data);
        capture_info(stream: CUstream, info: &mut CaptureInfo) =>
            cuStreamGetCaptureInfo_v2(
                stream, &raw mut info.status, &raw mut info.number, &raw mut info.graph, &raw mut info.nodes,
                &raw mut info.count
            );
        instantiate_graph(executable: *mut CUgraphExec, graph: CUgraph) =>
            cuGraphInstantiateWithFlags(executable, graph, 0);
        launch_graph(executable: CUgraphExec, stream: CUstream) => cuGraphLaunch(executable, stream);
        destroy_graph_exec(executable: CUgraphExec) => cuGraphExecDestroy(executable);
        destroy_graph(graph: CUgraph) => cuGraphDestroy(graph);

        get_function(function: *mut CUfunction, module: CUmodule, name: *const c_char) =>
            cuModuleGetFunction(function, module, name);
        get_global(address: *mut u64, size: *mut usize, module: CUmodule, name: *const c_char) =>
            cuModuleGetGlobal_v2(address, size, module, name);
        synchronize() => cuCtxSynchronize();
        unload_module(module: CUmodule) => cuModuleUnload(module);
        function_attribute(value: *mut c_int, attribute: c_uint, function: CUfunction) =>
            cuFuncGetAttribute(value, attribute, function);
        potential_block(grid: *mut c_int, block: *mut c_int, function: CUfunction, shared: usize) =>
            cuOccupancyMaxPotentialBlockSize(grid, block, function, None, shared, NO_LIMIT);
        resident_blocks(blocks: *mut c_int, function: CUfunction, threads: c_int, shared: usize) =>
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, NO_FLAGS);
        launch(function: CUfunction, shape: &Shape, stream: CUstream, parameters: *mut *mut c_void) =>
            cuLaunchKernel(
                function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1], shape.block[2],
                shape.shared, stream, parameters, ptr::null_mut()
            );
    }

    fn check_mode(mode: &LaunchMode, is_capturing: bool) -> Result<(), Problem> {
        if is_capturing && mode.is_dependent {
            let problem = "a graph cannot keep a programmatic dependent launch".to_string();
            return Err(Problem::with_hint(problem, "leave `programmatic_dependent` out in the capture"));
        }
        Ok(())
    }

    unsafe fn launch_in_mode(
        &'static self,
        launch: &NodeLaunch<'_>,
        mode: &LaunchMode,
        stream: CUstream,
    ) -> CuResult<()> {
        // SAFETY: the contract is the same.
        unsafe { launch_mode::launch(self, launch, mode, stream) }
    }

    fn has_graphs(&self) -> bool {
        self.cuGraphExecKernelNodeSetParams.is_some()
            && self.cuGraphInstantiateWithFlags.is_some()
            && self.cuStreamGetCaptureInfo_v2.is_some()
    }

    unsafe fn update_graph(
        &'static self,
        executable: CUgraphExec,
        node: CUgraphNode,
        launch: &NodeLaunch<'_>,
    ) -> CuResult<()> {
        let params = CUDA_KERNEL_NODE_PARAMS {
            func: launch.function,
            grid: launch.shape.grid,
            block: launch.shape.block,
            shared_mem_bytes: launch.shape.shared,
            kernel_params: launch.parameters,
            extra: ptr::null_mut(),
        };
        // SAFETY: by the contract.
        unsafe { call!(self, cuGraphExecKernelNodeSetParams(executable, node, &raw const params)) }
    }

    fn has_managed_memory(&'static self, context: &CudaContext) -> bool {
        let value = context.device().attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
        value.is_ok_and(|value| value != 0)
    }

    fn has_peer_copy(&self) -> bool {
        true
    }

    /// The driver stages ordinary memory during the call, but not memory that it has locked, nor any where the device reads
    /// ordinary memory by itself (<https://docs.nvidia.com/cuda/cuda-driver-api/api-sync-behavior.html>).
    fn reads_later(&'static self, context: &CudaContext, bytes: &[u8]) -> bool {
        if context.reads_pageable_memory() {
            return true;
        }
        let mut kind = 0u32;
        let address = bytes.as_ptr().addr() as u64;
        let place = (&raw mut kind).cast();
        let attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        // SAFETY: the attribute's value is one number of this size; the driver looks whether it knows the address.
        match unsafe { call!(self, cuPointerGetAttribute(place, attribute, address)) } {
            Ok(()) => true,
            // "CUDA_ERROR_INVALID_VALUE if the pointer was not allocated with, mapped by, or registered with CUDA".
            Err(error) => error.code() != Some(INVALID_VALUE),
        }
    }

    unsafe fn is_stream_of(&'static self, stream: CUstream, context: &CudaContext) -> CuResult<bool> {
        let mut own = ptr::null_mut();
        // SAFETY: by the contract; the function writes one handle.
        unsafe { call!(self, cuStreamGetCtx(stream, &raw mut own)) }?;
        Ok(own == context.raw())
    }

    fn load_module(
        entered: &Entered<'_, CudaApi>,
        image: &LoadedImage,
        libraries: &[LoadedImage],
    ) -> Result<CUmodule, Problem> {
        module::load(entered, image, libraries)
    }

    unsafe fn kernel_names(&'static self, module: CUmodule) -> Option<Vec<String>> {
        // SAFETY: the contract is the same.
        unsafe { module::kernel_names(self, module) }
    }

    /// `None` before CUDA 12.4.
    unsafe fn parameter_sizes(&'static self, function: CUfunction) -> Option<Vec<usize>> {
        let mut sizes = Vec::new();
        while sizes.len() < MAX_PARAMETERS {
            let index = sizes.len();
            let mut offset = 0;
            let mut size = 0;
            // SAFETY: the function writes two sizes; the caller answers for the kernel.
            let queried =
                unsafe { call!(self, cuFuncGetParamInfo(function, index, &raw mut offset, &raw mut size)) };
            match queried {
                Ok(()) => sizes.push(size),
                // "CUDA_ERROR_INVALID_VALUE if paramIndex is out of range": there are no more.
                Err(error) if error.code() == Some(INVALID_VALUE) => return Some(sizes),
                Err(_) => return None,
            }
        }
        None
    }

    #[inline]
    unsafe fn opt_in_shared_memory(&'static self, function: CUfunction, shape: &Shape) -> CuResult<()> {
        let Some(most) = shape.opt_in else { return Ok(()) };
        // SAFETY: by the contract. Always the most: a lower value of another thread would take it from this launch.
        unsafe {
            set_dynamic_shared(self, function, most)
                .or_else(|_| set_dynamic_shared(self, function, shape.shared))
        }
    }
}

/// # Safety
/// `function` is of a loaded module of the current context.
unsafe fn set_dynamic_shared(api: &'static CudaApi, function: CUfunction, bytes: u32) -> CuResult<()> {
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    let attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: by the contract.
    unsafe { call!(api, cuFuncSetAttribute(function, attribute, bytes)) }
}
