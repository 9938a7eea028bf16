//! The runtime's library, opened when the first function is needed.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};
use std::sync::OnceLock;

use super::properties::Properties;
use super::types::{
    HIP_MEMCPY3D, hipDeviceptr_t, hipError_t, hipEvent_t, hipFunction_attribute, hipFunction_t, hipGraph_t,
    hipGraphExec_t, hipGraphNode_t, hipKernelNodeParams, hipModule_t, hipPointerAttribute_t, hipStream_t,
};
use crate::backend::IpcMemoryHandle;
use crate::gpu::{
    ArrayDescriptor, MappedBufferDescriptor, MemoryHandleDescriptor, PoolAccess, PoolProperties, RawArray,
    RawCallback, RawExternalMemory, RawExternalSemaphore, RawHostFunction, RawPool, ResourceDescriptor,
    SemaphoreHandleDescriptor, SemaphoreParameters, TextureDescriptor, function_table, open_first,
};

/// The names by which the system finds it: of ROCm 7 and 6, then without a version. The structures that are used here came
/// with ROCm 6.
pub(crate) const LIBRARIES: &[&str] = if cfg!(windows) {
    &["amdhip64_7.dll", "amdhip64_6.dll"]
} else {
    &["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"]
};

// `R0600` is part of the library's name for a function whose structure changed with ROCm 6; `hip_runtime_api.h` hides it
// behind a macro.
function_table! {
    /// The runtime's functions.
    pub(crate) struct HipApi -> hipError_t;
    required {
        hipDeviceSynchronize(),
        hipEventCreateWithFlags(*mut hipEvent_t, c_uint),
        hipEventDestroy(hipEvent_t),
        hipEventElapsedTime(*mut f32, hipEvent_t, hipEvent_t),
        hipEventQuery(hipEvent_t),
        hipEventRecord(hipEvent_t, hipStream_t),
        hipEventSynchronize(hipEvent_t),
        hipFree(*mut c_void),
        hipFuncGetAttribute(*mut c_int, hipFunction_attribute, hipFunction_t),
        hipGetDevice(*mut c_int),
        hipGetDeviceCount(*mut c_int),
        hipGetDevicePropertiesR0600(*mut Properties, c_int),
        hipInit(c_uint),
        hipMalloc(*mut *mut c_void, usize),
        hipMemcpyDtoDAsync(hipDeviceptr_t, hipDeviceptr_t, usize, hipStream_t),
        hipMemcpyDtoHAsync(*mut c_void, hipDeviceptr_t, usize, hipStream_t),
        // The source is not written to, though its type has no `const`.
        hipMemcpyHtoDAsync(hipDeviceptr_t, *mut c_void, usize, hipStream_t),
        hipMemsetD16Async(hipDeviceptr_t, c_ushort, usize, hipStream_t),
        hipMemsetD32Async(hipDeviceptr_t, c_int, usize, hipStream_t),
        hipMemsetD8Async(hipDeviceptr_t, c_uchar, usize, hipStream_t),
        hipModuleGetFunction(*mut hipFunction_t, hipModule_t, *const c_char),
        hipModuleGetGlobal(*mut hipDeviceptr_t, *mut usize, hipModule_t, *const c_char),
        // Function; blocks of the grid; threads of a block; bytes of shared memory; stream; parameters; extra options.
        hipModuleLaunchKernel(
            hipFunction_t, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, hipStream_t, *mut *mut c_void,
            *mut *mut c_void
        ),
        hipModuleLoadData(*mut hipModule_t, *const c_void),
        hipModuleUnload(hipModule_t),
        hipSetDevice(c_int),
        hipStreamCreateWithFlags(*mut hipStream_t, c_uint),
        hipStreamDestroy(hipStream_t),
        hipStreamSynchronize(hipStream_t),
        hipStreamWaitEvent(hipStream_t, hipEvent_t, c_uint),
    }
    optional {
        // For copies between devices.
        hipDeviceCanAccessPeer(*mut c_int, c_int, c_int),
        hipDeviceEnablePeerAccess(c_int, c_uint),
        hipMemPoolSetAccess(RawPool, *const PoolAccess, usize),
        // For memory of other processes; a handle goes by value.
        hipIpcCloseMemHandle(*mut c_void),
        hipIpcGetMemHandle(*mut IpcMemoryHandle, *mut c_void),
        hipIpcOpenMemHandle(*mut *mut c_void, IpcMemoryHandle, c_uint),
        // For memory and semaphores of other programming interfaces.
        hipDestroyExternalMemory(RawExternalMemory),
        hipDestroyExternalSemaphore(RawExternalSemaphore),
        hipExternalMemoryGetMappedBuffer(*mut *mut c_void, RawExternalMemory, *const MappedBufferDescriptor),
        hipImportExternalMemory(*mut RawExternalMemory, *const MemoryHandleDescriptor),
        hipImportExternalSemaphore(*mut RawExternalSemaphore, *const SemaphoreHandleDescriptor),
        // Since ROCm 7: a place for the handle; address; size; type of the handle; flags.
        hipMemGetHandleForAddressRange(*mut c_void, hipDeviceptr_t, usize, c_uint, c_ulonglong),
        hipSignalExternalSemaphoresAsync(
            *const RawExternalSemaphore, *const SemaphoreParameters, c_uint, hipStream_t
        ),
        hipWaitExternalSemaphoresAsync(
            *const RawExternalSemaphore, *const SemaphoreParameters, c_uint, hipStream_t
        ),
        // For priorities: the lowest, and the highest, which is a lower number.
        hipDeviceGetStreamPriorityRange(*mut c_int, *mut c_int),
        hipStreamCreateWithPriority(*mut hipStream_t, c_uint, c_int),
        // For textures and surfaces, which are pointers in their types; a view of the resource is null. That of a surface is
        // a `hipResourceDesc`, of which an array is the same.
        hipArray3DCreate(*mut RawArray, *const ArrayDescriptor),
        hipArrayDestroy(RawArray),
        hipCreateSurfaceObject(*mut *mut c_void, *const c_void),
        hipDestroySurfaceObject(*mut c_void),
        hipDrvMemcpy3DAsync(*const HIP_MEMCPY3D, hipStream_t),
        hipTexObjectCreate(
            *mut *mut c_void, *const ResourceDescriptor, *const TextureDescriptor, *const c_void
        ),
        hipTexObjectDestroy(*mut c_void),
        // For memory pools.
        hipMallocFromPoolAsync(*mut *mut c_void, usize, RawPool, hipStream_t),
        hipMemPoolCreate(*mut RawPool, *const PoolProperties),
        hipMemPoolDestroy(RawPool),
        hipMemPoolGetAttribute(RawPool, c_uint, *mut c_void),
        hipMemPoolSetAttribute(RawPool, c_uint, *mut c_void),
        hipMemPoolTrimTo(RawPool, usize),
        // For graphs.
        hipGraphDestroy(hipGraph_t),
        hipGraphExecDestroy(hipGraphExec_t),
        hipGraphExecKernelNodeSetParams(hipGraphExec_t, hipGraphNode_t, *const hipKernelNodeParams),
        hipGraphInstantiateWithFlags(*mut hipGraphExec_t, hipGraph_t, c_ulonglong),
        hipGraphLaunch(hipGraphExec_t, hipStream_t),
        hipLaunchHostFunc(hipStream_t, RawHostFunction, *mut c_void),
        hipStreamBeginCapture(hipStream_t, c_uint),
        hipStreamEndCapture(hipStream_t, *mut hipGraph_t),
        // Stream; status; number of the capture; graph; nodes that the next one comes after, and how many they are.
        hipStreamGetCaptureInfo_v2(
            hipStream_t, *mut c_uint, *mut c_ulonglong, *mut hipGraph_t, *mut *const hipGraphNode_t, *mut usize
        ),
        // For launchers.
        hipDeviceDisablePeerAccess(c_int),
        hipDeviceGetAttribute(*mut c_int, c_uint, c_int),
        hipDeviceGetDefaultMemPool(*mut RawPool, c_int),
        hipDeviceGetLimit(*mut usize, c_uint),
        hipDeviceGetMemPool(*mut RawPool, c_int),
        hipDeviceSetLimit(c_uint, usize),
        hipFreeAsync(*mut c_void, hipStream_t),
        // Executable; graph; the node that does not fit; the result.
        hipGraphExecUpdate(hipGraphExec_t, hipGraph_t, *mut hipGraphNode_t, *mut c_uint),
        hipHostRegister(*mut c_void, usize, c_uint),
        hipHostUnregister(*mut c_void),
        hipMallocAsync(*mut *mut c_void, usize, hipStream_t),
        hipMallocManaged(*mut *mut c_void, usize, c_uint),
        // The ordinal of a device, or -1 for the program.
        hipMemAdvise(*const c_void, usize, c_uint, c_int),
        hipMemPrefetchAsync(*const c_void, usize, c_int, hipStream_t),
        hipMemcpy2DAsync(*mut c_void, usize, *const c_void, usize, usize, usize, c_uint, hipStream_t),
        hipMemGetInfo(*mut usize, *mut usize),
        // The last is the kind of a copy.
        hipMemcpy(*mut c_void, *const c_void, usize, c_uint),
        hipMemcpyAsync(*mut c_void, *const c_void, usize, c_uint, hipStream_t),
        // As `hipModuleLaunchKernel`, without the extra options.
        hipModuleLaunchCooperativeKernel(
            hipFunction_t, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, hipStream_t, *mut *mut c_void
        ),
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(*mut c_int, hipFunction_t, c_int, usize, c_uint),
        hipStreamGetFlags(hipStream_t, *mut c_uint),
        hipStreamQuery(hipStream_t),
        hipThreadExchangeStreamCaptureMode(*mut c_uint),
        // For properties and launch sizes.
        hipDeviceGetPCIBusId(*mut c_char, c_int, c_int),
        // Blocks of the grid; threads of a block; function; shared memory of a block; limit of its threads.
        hipModuleOccupancyMaxPotentialBlockSize(*mut c_int, *mut c_int, hipFunction_t, usize, c_int),
        // For work that outlives a call.
        hipHostFree(*mut c_void),
        hipHostMalloc(*mut *mut c_void, usize, c_uint),
        // Target and its device; source and its device; size; stream.
        hipMemcpyPeerAsync(hipDeviceptr_t, c_int, hipDeviceptr_t, c_int, usize, hipStream_t),
        hipPointerGetAttributes(*mut hipPointerAttribute_t, *const c_void),
        hipRuntimeGetVersion(*mut c_int),
        hipStreamAddCallback(hipStream_t, RawCallback, *mut c_void, c_uint),
        hipStreamGetDevice(hipStream_t, *mut c_int),
        hipGetErrorName(hipError_t) -> *const c_char,
        hipGetErrorString(hipError_t) -> *const c_char,
    }
}

/// The functions of this machine's runtime, or why there are none. A failure is not kept: the next call looks again.
pub(crate) fn functions() -> Result<&'static HipApi, String> {
    static OPENED: OnceLock<HipApi> = OnceLock::new();
    if let Some(functions) = OPENED.get() {
        return Ok(functions);
    }
    // SAFETY: libraries of these names are HIP's.
    let functions = unsafe { open_first("runtime", LIBRARIES) }?;
    Ok(OPENED.get_or_init(|| functions))
}
