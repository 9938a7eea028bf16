//! The operations of the shared back end by HIP's functions.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;

use super::api::{
    DeviceId, HIP_MEMCPY3D, HipApi, HipResult, hipDeviceptr_t, hipEvent_t, hipEventDefault,
    hipEventDisableTiming, hipFunction_t, hipGraph_t, hipGraphExec_t, hipGraphNode_t, hipHostMallocPortable,
    hipIpcMemLazyEnablePeerAccess, hipKernelNodeParams, hipMemAttachGlobal, hipMemoryTypeUnregistered,
    hipModule_t, hipPointerAttribute_t, hipStream_t, hipStreamCaptureModeRelaxed, hipStreamNonBlocking,
};
use super::device::HipDevice;
use super::module;
use super::params::LocalParameters;
use super::properties;
use crate::backend::IpcMemoryHandle;
use crate::entry::{Entry, LoadedImage};
use crate::error::Problem;
use crate::gpu::{
    ArrayDescriptor, BoxCopy, CaptureInfo, Context, DriverApi, Entered, INVALID_VALUE, NodeLaunch, PeerCopy,
    PoolAccess, RawArray, RawCallback, RawHostFunction, RawPool, ResourceDescriptor, Shape,
    TextureDescriptor, call, operations,
};
#[cfg(unix)]
use crate::gpu::{
    MEMORY_OPAQUE_FD, MappedBufferDescriptor, MemoryHandleDescriptor, RawExternalMemory,
    RawExternalSemaphore, SemaphoreHandleDescriptor, SemaphoreParameters,
};
use crate::identity::DeviceIdentity;
use crate::properties::DeviceProperties;
use crate::range::LaunchMode;

/// The only flags of `hipStreamWaitEvent`, `hipStreamAddCallback` and `hipDeviceEnablePeerAccess`.
const NO_FLAGS: c_uint = 0;

/// `hipMemRangeHandleTypeDmaBufFd`.
#[cfg(unix)]
const DMA_BUF_FD: c_uint = 1;

/// "0 means no limit": `hipModuleOccupancyMaxPotentialBlockSize`.
const NO_LIMIT: c_int = 0;

impl DriverApi for HipApi {
    const DEVICES: &'static str = "offload_rt::hip::devices()";

    /// `kDLROCM`.
    #[cfg(feature = "dlpack")]
    const DLPACK_TYPE: i32 = 10;

    /// HIP has no type of its own for it: on Linux, what it imports as an opaque handle is a dma-buf
    /// (`hsa_amd_interop_map_buffer`).
    #[cfg(unix)]
    const DMA_BUF: c_uint = MEMORY_OPAQUE_FD;

    /// The runtime opens what it needs, and leaves the descriptor to the caller
    /// (<https://github.com/ROCm/clr/blob/amd-staging/hipamd/src/hip_memory.cpp>).
    #[cfg(unix)]
    const TAKES_DESCRIPTORS: bool = false;

    type Device = HipDevice;
    type ArgumentCheck = LocalParameters;

    fn primary_context(device: &HipDevice) -> HipResult<Context<HipApi>> {
        Ok(device.context())
    }

    fn identity(device: &HipDevice) -> DeviceIdentity {
        properties::identity(device.id())
    }

    fn properties(device: &HipDevice) -> HipResult<DeviceProperties> {
        properties::properties(device.id())
    }

    // "This API performs an implicit hipDeviceSynchronize() call": the documentation of `hipFree`.
    operations! {
        create_event(event: *mut hipEvent_t) => hipEventCreateWithFlags(event, hipEventDefault);
        create_ordering_event(event: *mut hipEvent_t) => hipEventCreateWithFlags(event, hipEventDisableTiming);
        record_event(event: hipEvent_t, stream: hipStream_t) => hipEventRecord(event, stream);
        query_event(event: hipEvent_t) => hipEventQuery(event);
        synchronize_event(event: hipEvent_t) => hipEventSynchronize(event);
        elapsed_time(milliseconds: *mut f32, start: hipEvent_t, end: hipEvent_t) =>
            hipEventElapsedTime(milliseconds, start, end);
        destroy_event(event: hipEvent_t) => hipEventDestroy(event);

        allocate_host(memory: *mut *mut c_void, size: usize) =>
            hipHostMalloc(memory, size, hipHostMallocPortable);
        free_host(memory: *mut c_void) => hipHostFree(memory);

        allocate_managed_memory(address: *mut u64, size: usize) =>
            hipMallocManaged(address.cast(), size, hipMemAttachGlobal);
        prefetch(address: u64, size: usize, device: c_int, stream: hipStream_t) =>
            hipMemPrefetchAsync(pointer(address), size, device, stream);
        advise(address: u64, size: usize, advice: c_uint, device: c_int) =>
            hipMemAdvise(pointer(address), size, advice, device);

        memory_info(free: *mut usize, total: *mut usize) => hipMemGetInfo(free, total);
        allocate(address: *mut u64, size: usize) => hipMalloc(address.cast(), size);
        free(address: u64) => hipFree(pointer(address));
        ipc_memory_handle(handle: *mut IpcMemoryHandle, address: u64) =>
            hipIpcGetMemHandle(handle, pointer(address));
        open_ipc_memory(address: *mut u64, handle: IpcMemoryHandle) =>
            hipIpcOpenMemHandle(address.cast(), handle, hipIpcMemLazyEnablePeerAccess);
        close_ipc_memory(address: u64) => hipIpcCloseMemHandle(pointer(address));
        #[cfg(unix)]
        import_memory(memory: *mut RawExternalMemory, handle: &MemoryHandleDescriptor) =>
            hipImportExternalMemory(memory, handle);
        #[cfg(unix)]
        map_memory(address: *mut u64, memory: RawExternalMemory, part: &MappedBufferDescriptor) =>
            hipExternalMemoryGetMappedBuffer(address.cast(), memory, part);
        #[cfg(unix)]
        destroy_memory(memory: RawExternalMemory) => hipDestroyExternalMemory(memory);
        #[cfg(unix)]
        dma_buf(descriptor: *mut c_int, address: u64, size: usize) =>
            hipMemGetHandleForAddressRange(descriptor.cast(), pointer(address), size, DMA_BUF_FD, 0);
        #[cfg(unix)]
        import_semaphore(semaphore: *mut RawExternalSemaphore, handle: &SemaphoreHandleDescriptor) =>
            hipImportExternalSemaphore(semaphore, handle);
        #[cfg(unix)]
        wait_semaphore(semaphore: RawExternalSemaphore, parameters: &SemaphoreParameters, stream: hipStream_t) =>
            hipWaitExternalSemaphoresAsync(&raw const semaphore, parameters, 1, stream);
        #[cfg(unix)]
        signal_semaphore(semaphore: RawExternalSemaphore, parameters: &SemaphoreParameters, stream: hipStream_t) =>
            hipSignalExternalSemaphoresAsync(&raw const semaphore, parameters, 1, stream);
        #[cfg(unix)]
        destroy_semaphore(semaphore: RawExternalSemaphore) => hipDestroyExternalSemaphore(semaphore);
        pool_attribute(pool: RawPool, attribute: c_uint, value: *mut c_void) =>
            hipMemPoolGetAttribute(pool, attribute, value);
        trim_pool(pool: RawPool, kept: usize) => hipMemPoolTrimTo(pool, kept);
        allocate_from_pool(address: *mut u64, size: usize, pool: RawPool, stream: hipStream_t) =>
            hipMallocFromPoolAsync(address.cast(), size, pool, stream);
        free_in_order(address: u64, stream: hipStream_t) => hipFreeAsync(pointer(address), stream);
        copy_to_device(to: u64, from: *const c_void, size: usize, stream: hipStream_t) =>
            hipMemcpyHtoDAsync(pointer(to), from.cast_mut(), size, stream);
        copy_from_device(to: *mut c_void, from: u64, size: usize, stream: hipStream_t) =>
            hipMemcpyDtoHAsync(to, pointer(from), size, stream);
        copy_on_device(to: u64, from: u64, size: usize, stream: hipStream_t) =>
            hipMemcpyDtoDAsync(pointer(to), pointer(from), size, stream);
        can_access_peer(can_access: *mut c_int, device: c_int, peer: c_int) =>
            hipDeviceCanAccessPeer(can_access, device, peer);
        enable_peer_access(peer: &c_int) => hipDeviceEnablePeerAccess(*peer, NO_FLAGS);
        set_pool_access(pool: RawPool, access: *const PoolAccess, count: usize) =>
            hipMemPoolSetAccess(pool, access, count);
        copy_peer(copy: &PeerCopy<'_, HipApi>, stream: hipStream_t) =>
            hipMemcpyPeerAsync(
                pointer(copy.to), *copy.to_context, pointer(copy.from), *copy.from_context, copy.size, stream
            );
        fill_u8(to: u64, value: u8, count: usize, stream: hipStream_t) =>
            hipMemsetD8Async(pointer(to), value, count, stream);
        fill_u16(to: u64, value: u16, count: usize, stream: hipStream_t) =>
            hipMemsetD16Async(pointer(to), value, count, stream);
        fill_u32(to: u64, value: u32, count: usize, stream: hipStream_t) =>
            hipMemsetD32Async(pointer(to), value.cast_signed(), count, stream);

        create_array(array: *mut RawArray, descriptor: &ArrayDescriptor) => hipArray3DCreate(array, descriptor);
        destroy_array(array: RawArray) => hipArrayDestroy(array);
        copy_box(copy: &BoxCopy, stream: hipStream_t) => hipDrvMemcpy3DAsync(&HIP_MEMCPY3D::new(copy), stream);
        create_texture(number: *mut u64, resource: &ResourceDescriptor, description: &TextureDescriptor) =>
            hipTexObjectCreate(number.cast(), resource, description, ptr::null());
        destroy_texture(number: u64) => hipTexObjectDestroy(pointer(number));
        create_surface(number: *mut u64, resource: &ResourceDescriptor) =>
            hipCreateSurfaceObject(number.cast(), ptr::from_ref(resource).cast());
        destroy_surface(number: u64) => hipDestroySurfaceObject(pointer(number));

        create_stream(stream: *mut hipStream_t) =>
            hipStreamCreateWithFlags(stream, hipStreamNonBlocking);
        create_stream_with_priority(stream: *mut hipStream_t, priority: c_int) =>
            hipStreamCreateWithPriority(stream, hipStreamNonBlocking, priority);
        stream_priorities(lowest: *mut c_int, highest: *mut c_int) =>
            hipDeviceGetStreamPriorityRange(lowest, highest);
        synchronize_stream(stream: hipStream_t) => hipStreamSynchronize(stream);
        add_callback(stream: hipStream_t, callback: RawCallback, data: *mut c_void) =>
            hipStreamAddCallback(stream, callback, data, NO_FLAGS);
        wait_event(stream: hipStream_t, event: hipEvent_t) => hipStreamWaitEvent(stream, event, NO_FLAGS);

        begin_capture(stream: hipStream_t) => hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed);
        end_capture(stream: hipStream_t, graph: *mut hipGraph_t) => hipStreamEndCapture(stream, graph);
        add_host_node(stream: hipStream_t, function: RawHostFunction, data: *mut c_void) =>
            hipLaunchHostFunc(stream, function, data);
        capture_info(stream: hipStream_t, info: &mut CaptureInfo) =>
            hipStreamGetCaptureInfo_v2(
                stream, &raw mut info.status, &raw mut info.number, &raw mut info.graph, &raw mut info.nodes,
                &raw mut info.count
            );
        instantiate_graph(executable: *mut hipGraphExec_t, graph: hipGraph_t) =>
            hipGraphInstantiateWithFlags(executable, graph, 0);
        launch_graph(executable: hipGraphExec_t, stream: hipStream_t) => hipGraphLaunch(executable, stream);
        destroy_graph_exec(executable: hipGraphExec_t) => hipGraphExecDestroy(executable);
        destroy_graph(graph: hipGraph_t) => hipGraphDestroy(graph);

        get_function(function: *mut hipFunction_t, module: hipModule_t, name: *const c_char) =>
            hipModuleGetFunction(function, module, name);
        get_global(address: *mut u64, size: *mut usize, module: hipModule_t, name: *const c_char) =>
            hipModuleGetGlobal(address.cast(), size, module, name);
        synchronize() => hipDeviceSynchronize();
        unload_module(module: hipModule_t) => hipModuleUnload(module);
        function_attribute(value: *mut c_int, attribute: c_uint, function: hipFunction_t) =>
            hipFuncGetAttribute(value, attribute, function);
        potential_block(grid: *mut c_int, block: *mut c_int, function: hipFunction_t, shared: usize) =>
            hipModuleOccupancyMaxPotentialBlockSize(grid, block, function, shared, NO_LIMIT);
        resident_blocks(blocks: *mut c_int, function: hipFunction_t, threads: c_int, shared: usize) =>
            hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, NO_FLAGS);
        launch_in_mode(launch: &NodeLaunch<'_>, _mode: &LaunchMode, stream: hipStream_t) =>
            hipModuleLaunchCooperativeKernel(
                launch.function, launch.shape.grid[0], launch.shape.grid[1], launch.shape.grid[2],
                launch.shape.block[0], launch.shape.block[1], launch.shape.block[2], launch.shape.shared, stream,
                launch.parameters
            );
        launch(function: hipFunction_t, shape: &Shape, stream: hipStream_t, parameters: *mut *mut c_void) =>
            hipModuleLaunchKernel(
                function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1], shape.block[2],
                shape.shared, stream, parameters, ptr::null_mut()
            );
    }

    /// No documentation says that a cooperative launch can be captured.
    fn check_mode(mode: &LaunchMode, is_capturing: bool) -> Result<(), Problem> {
        if mode.cluster.is_some() || mode.is_dependent {
            let problem =
                "HIP has no clusters of work-groups and no programmatic dependent launches".to_string();
            let hint = "leave `NdRange::with_cluster` and `NdRange::programmatic_dependent` out";
            return Err(Problem::with_hint(problem, hint));
        }
        if is_capturing {
            let problem = "a graph of HIP cannot keep a cooperative launch".to_string();
            return Err(Problem::with_hint(problem, "launch it before or after `graph.launch(&stream)`"));
        }
        Ok(())
    }

    fn has_graphs(&self) -> bool {
        self.hipGraphExecKernelNodeSetParams.is_some()
            && self.hipGraphInstantiateWithFlags.is_some()
            && self.hipStreamGetCaptureInfo_v2.is_some()
    }

    /// `func` is a function of the host or, as here, of a module: the runtime takes what it does not know as a
    /// `hipFunction_t` (`getFunc` in <https://github.com/ROCm/clr/blob/amd-staging/hipamd/src/hip_graph_internal.hpp>).
    unsafe fn update_graph(
        &'static self,
        executable: hipGraphExec_t,
        node: hipGraphNode_t,
        launch: &NodeLaunch<'_>,
    ) -> HipResult<()> {
        let params = hipKernelNodeParams {
            block: launch.shape.block,
            extra: ptr::null_mut(),
            func: launch.function.cast(),
            grid: launch.shape.grid,
            kernel_params: launch.parameters,
            shared_mem_bytes: launch.shape.shared,
        };
        // SAFETY: by the contract.
        unsafe { call!(self, hipGraphExecKernelNodeSetParams(executable, node, &raw const params)) }
    }

    fn has_managed_memory(&'static self, device: &c_int) -> bool {
        DeviceId { api: self, ordinal: *device }.has_managed_memory().unwrap_or(false)
    }

    fn has_peer_copy(&self) -> bool {
        self.hipMemcpyPeerAsync.is_some()
    }

    /// "If host or dest are not pinned, the memory copy will be performed synchronously" (the documentation of
    /// `hipMemcpyAsync`). What the runtime does not know is not pinned.
    fn reads_later(&'static self, _: &c_int, bytes: &[u8]) -> bool {
        let mut attributes = hipPointerAttribute_t {
            kind: hipMemoryTypeUnregistered,
            device: 0,
            device_pointer: ptr::null_mut(),
            host_pointer: ptr::null_mut(),
            is_managed: 0,
            allocation_flags: 0,
        };
        let address = bytes.as_ptr().cast();
        // SAFETY: the function fills the structure, and looks whether it knows the address.
        match unsafe { call!(self, hipPointerGetAttributes(&raw mut attributes, address)) } {
            Ok(()) => attributes.kind != hipMemoryTypeUnregistered,
            Err(error) => error.code() != Some(INVALID_VALUE),
        }
    }

    unsafe fn is_stream_of(&'static self, stream: hipStream_t, context: &c_int) -> HipResult<bool> {
        if self.hipStreamGetDevice.is_none() {
            return Ok(true);
        }
        let mut device = 0;
        // SAFETY: by the contract; the function writes one number.
        unsafe { call!(self, hipStreamGetDevice(stream, &raw mut device)) }?;
        Ok(device == *context)
    }

    /// "If commands are still executing on the specified stream, some may complete execution before the queue is deleted":
    /// the others would be lost.
    unsafe fn destroy_stream(&'static self, stream: hipStream_t) -> HipResult<()> {
        // SAFETY: by the contract.
        unsafe {
            let _ = call!(self, hipStreamSynchronize(stream));
            call!(self, hipStreamDestroy(stream))
        }
    }

    fn check_libraries(image: &LoadedImage, libraries: &[Entry]) -> Result<(), Problem> {
        module::refuse_libraries(image, libraries)
    }

    fn load_module(
        entered: &Entered<'_, HipApi>,
        image: &LoadedImage,
        _: &[LoadedImage],
    ) -> Result<hipModule_t, Problem> {
        module::load(entered, image)
    }
}

/// An address as HIP takes it.
#[inline]
pub(crate) fn pointer(address: u64) -> hipDeviceptr_t {
    ptr::with_exposed_provenance_mut(address as usize)
}
