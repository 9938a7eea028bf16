//! The driver's library, opened when the first function is needed.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};
use std::path::Path;
use std::sync::OnceLock;

use super::types::{
    CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUcontext, CUdevice, CUdevice_attribute,
    CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUgraph, CUgraphExec,
    CUgraphExecUpdateResultInfo, CUgraphNode, CUjit_option, CUjitInputType, CUlaunchConfig, CUlinkState,
    CUmodule, CUoccupancyB2DSize, CUpointer_attribute, CUresult, CUstream, CUuuid,
};
use crate::backend::IpcMemoryHandle;
use crate::gpu::{
    ArrayDescriptor, MappedBufferDescriptor, MemoryHandleDescriptor, PoolAccess, PoolProperties, RawArray,
    RawCallback, RawExternalMemory, RawExternalSemaphore, RawHostFunction, RawPool, ResourceDescriptor,
    SemaphoreHandleDescriptor, SemaphoreParameters, TextureDescriptor, function_table, open_first,
};

/// The name by which the system finds it.
pub(crate) const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

// A suffix as `_v2` is part of the library's name for a function; `cuda.h` hides it behind a macro. The newest form is not
// always the one to take: drivers before 12.8 lack `cuEventElapsedTime_v2`.
function_table! {
    /// The driver's functions.
    pub(crate) struct CudaApi -> CUresult;
    required {
        cuCtxGetCurrent(*mut CUcontext),
        cuCtxPopCurrent_v2(*mut CUcontext),
        cuCtxPushCurrent_v2(CUcontext),
        cuCtxSynchronize(),
        cuDeviceGet(*mut CUdevice, c_int),
        cuDeviceGetAttribute(*mut c_int, CUdevice_attribute, CUdevice),
        cuDeviceGetCount(*mut c_int),
        cuDeviceGetName(*mut c_char, c_int, CUdevice),
        cuDevicePrimaryCtxRelease_v2(CUdevice),
        cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice),
        cuDriverGetVersion(*mut c_int),
        cuEventCreate(*mut CUevent, c_uint),
        cuEventDestroy_v2(CUevent),
        cuEventElapsedTime(*mut f32, CUevent, CUevent),
        cuEventRecord(CUevent, CUstream),
        cuFuncGetAttribute(*mut c_int, CUfunction_attribute, CUfunction),
        cuFuncSetAttribute(CUfunction, CUfunction_attribute, c_int),
        cuGetErrorName(CUresult, *mut *const c_char),
        cuGetErrorString(CUresult, *mut *const c_char),
        cuInit(c_uint),
        // Function; blocks of the grid; threads of a block; bytes of shared memory; stream; parameters; extra options.
        cuLaunchKernel(
            CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void,
            *mut *mut c_void
        ),
        cuMemAlloc_v2(*mut CUdeviceptr, usize),
        cuMemFree_v2(CUdeviceptr),
        cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream),
        cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream),
        cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char),
        cuModuleGetGlobal_v2(*mut CUdeviceptr, *mut usize, CUmodule, *const c_char),
        cuModuleLoadDataEx(*mut CUmodule, *const c_void, c_uint, *mut CUjit_option, *mut *mut c_void),
        cuModuleUnload(CUmodule),
        cuStreamCreate(*mut CUstream, c_uint),
        cuStreamDestroy_v2(CUstream),
        cuStreamSynchronize(CUstream),
    }
    optional {
        // Since CUDA 12.4.
        cuFuncGetName(*mut *const c_char, CUfunction),
        cuFuncGetParamInfo(CUfunction, usize, *mut usize, *mut usize),
        cuModuleEnumerateFunctions(*mut CUfunction, c_uint, CUmodule),
        cuModuleGetFunctionCount(*mut c_uint, CUmodule),
        // For device libraries that are linked at load.
        cuLinkAddData_v2(
            CUlinkState, CUjitInputType, *mut c_void, usize, *const c_char, c_uint, *mut CUjit_option,
            *mut *mut c_void
        ),
        cuLinkComplete(CUlinkState, *mut *mut c_void, *mut usize),
        cuLinkCreate_v2(c_uint, *mut CUjit_option, *mut *mut c_void, *mut CUlinkState),
        cuLinkDestroy(CUlinkState),
        // For launchers.
        cuCtxDisablePeerAccess(CUcontext),
        cuCtxGetLimit(*mut usize, c_uint),
        cuCtxSetCurrent(CUcontext),
        cuCtxSetLimit(c_uint, usize),
        cuStreamGetFlags(CUstream, *mut c_uint),
        // Since CUDA 12.0.
        cuGraphExecUpdate_v2(CUgraphExec, CUgraph, *mut CUgraphExecUpdateResultInfo),
        cuDeviceGetDefaultMemPool(*mut RawPool, CUdevice),
        cuDeviceGetMemPool(*mut RawPool, CUdevice),
        cuDeviceTotalMem_v2(*mut usize, CUdevice),
        cuDevicePrimaryCtxGetState(CUdevice, *mut c_uint, *mut c_int),
        cuFuncSetCacheConfig(CUfunction, c_uint),
        // As `cuLaunchKernel`, without the extra options.
        cuLaunchCooperativeKernel(
            CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void
        ),
        // Since CUDA 11.8.
        cuLaunchKernelEx(*const CUlaunchConfig, CUfunction, *mut *mut c_void, *mut *mut c_void),
        cuMemAllocManaged(*mut CUdeviceptr, usize, c_uint),
        // The ordinal of a device, or -1 for the program; those without a suffix take it as a number.
        cuMemAdvise(CUdeviceptr, usize, c_uint, CUdevice),
        cuMemPrefetchAsync(CUdeviceptr, usize, CUdevice, CUstream),
        cuMemHostRegister_v2(*mut c_void, usize, c_uint),
        cuMemHostUnregister(*mut c_void),
        cuMemcpy2DAsync_v2(*const CUDA_MEMCPY2D, CUstream),
        cuMemAllocAsync(*mut CUdeviceptr, usize, CUstream),
        cuMemFreeAsync(CUdeviceptr, CUstream),
        cuMemcpy(CUdeviceptr, CUdeviceptr, usize),
        cuMemcpyAsync(CUdeviceptr, CUdeviceptr, usize, CUstream),
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(*mut c_int, CUfunction, c_int, usize, c_uint),
        cuThreadExchangeStreamCaptureMode(*mut c_uint),
        // For properties and launch sizes.
        cuDeviceGetPCIBusId(*mut c_char, c_int, CUdevice),
        // Since CUDA 11.4.
        cuDeviceGetUuid_v2(*mut CUuuid, CUdevice),
        // Blocks of the grid; threads of a block; function; shared memory of a block by its size, or constant; limit.
        cuOccupancyMaxPotentialBlockSize(*mut c_int, *mut c_int, CUfunction, CUoccupancyB2DSize, usize, c_int),
        // For copies between devices.
        cuCtxEnablePeerAccess(CUcontext, c_uint),
        cuDeviceCanAccessPeer(*mut c_int, CUdevice, CUdevice),
        cuMemPoolSetAccess(RawPool, *const PoolAccess, usize),
        // For memory of other processes; a handle goes by value.
        cuIpcCloseMemHandle(CUdeviceptr),
        cuIpcGetMemHandle(*mut IpcMemoryHandle, CUdeviceptr),
        cuIpcOpenMemHandle_v2(*mut CUdeviceptr, IpcMemoryHandle, c_uint),
        // For memory and semaphores of other programming interfaces.
        cuDestroyExternalMemory(RawExternalMemory),
        cuDestroyExternalSemaphore(RawExternalSemaphore),
        cuExternalMemoryGetMappedBuffer(*mut CUdeviceptr, RawExternalMemory, *const MappedBufferDescriptor),
        cuImportExternalMemory(*mut RawExternalMemory, *const MemoryHandleDescriptor),
        cuImportExternalSemaphore(*mut RawExternalSemaphore, *const SemaphoreHandleDescriptor),
        // Since CUDA 11.7: a place for the handle; address; size; type of the handle; flags.
        cuMemGetHandleForAddressRange(*mut c_void, CUdeviceptr, usize, c_uint, c_ulonglong),
        cuSignalExternalSemaphoresAsync(
            *const RawExternalSemaphore, *const SemaphoreParameters, c_uint, CUstream
        ),
        cuWaitExternalSemaphoresAsync(
            *const RawExternalSemaphore, *const SemaphoreParameters, c_uint, CUstream
        ),
        // For priorities: the lowest, and the highest, which is a lower number.
        cuCtxGetStreamPriorityRange(*mut c_int, *mut c_int),
        cuStreamCreateWithPriority(*mut CUstream, c_uint, c_int),
        // For textures and surfaces; a view of the resource is null.
        cuArray3DCreate_v2(*mut RawArray, *const ArrayDescriptor),
        cuArrayDestroy(RawArray),
        cuMemcpy3DAsync_v2(*const CUDA_MEMCPY3D, CUstream),
        cuSurfObjectCreate(*mut u64, *const ResourceDescriptor),
        cuSurfObjectDestroy(u64),
        cuTexObjectCreate(*mut u64, *const ResourceDescriptor, *const TextureDescriptor, *const c_void),
        cuTexObjectDestroy(u64),
        // For memory pools.
        cuMemAllocFromPoolAsync(*mut CUdeviceptr, usize, RawPool, CUstream),
        cuMemPoolCreate(*mut RawPool, *const PoolProperties),
        cuMemPoolDestroy(RawPool),
        cuMemPoolGetAttribute(RawPool, c_uint, *mut c_void),
        cuMemPoolSetAttribute(RawPool, c_uint, *mut c_void),
        cuMemPoolTrimTo(RawPool, usize),
        // For graphs. The forms without a suffix are those of all releases.
        cuGraphDestroy(CUgraph),
        cuGraphExecDestroy(CUgraphExec),
        cuGraphExecKernelNodeSetParams(CUgraphExec, CUgraphNode, *const CUDA_KERNEL_NODE_PARAMS),
        cuGraphInstantiateWithFlags(*mut CUgraphExec, CUgraph, c_ulonglong),
        cuGraphLaunch(CUgraphExec, CUstream),
        cuLaunchHostFunc(CUstream, RawHostFunction, *mut c_void),
        cuStreamBeginCapture_v2(CUstream, c_uint),
        cuStreamEndCapture(CUstream, *mut CUgraph),
        // Stream; status; number of the capture; graph; nodes that the next one comes after, and how many they are.
        cuStreamGetCaptureInfo_v2(
            CUstream, *mut c_uint, *mut u64, *mut CUgraph, *mut *const CUgraphNode, *mut usize
        ),
        // For work that outlives a call; no launch needs them.
        cuCtxGetDevice(*mut CUdevice),
        cuEventQuery(CUevent),
        cuEventSynchronize(CUevent),
        cuMemFreeHost(*mut c_void),
        cuMemGetInfo_v2(*mut usize, *mut usize),
        cuMemHostAlloc(*mut *mut c_void, usize, c_uint),
        cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, CUstream),
        cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, usize, CUstream),
        cuMemsetD16Async(CUdeviceptr, c_ushort, usize, CUstream),
        cuMemsetD32Async(CUdeviceptr, c_uint, usize, CUstream),
        cuMemsetD8Async(CUdeviceptr, c_uchar, usize, CUstream),
        cuPointerGetAttribute(*mut c_void, CUpointer_attribute, CUdeviceptr),
        cuStreamAddCallback(CUstream, RawCallback, *mut c_void, c_uint),
        cuStreamGetCtx(CUstream, *mut CUcontext),
        cuStreamQuery(CUstream),
        cuStreamWaitEvent(CUstream, CUevent, c_uint),
    }
}

/// The functions of this machine's driver, or why there are none. A failure is not kept: the next call looks again.
pub(crate) fn functions() -> Result<&'static CudaApi, String> {
    static OPENED: OnceLock<CudaApi> = OnceLock::new();
    match OPENED.get() {
        Some(functions) => Ok(functions),
        None => open_any(LIBRARY, &ELSEWHERE).map(|functions| OPENED.get_or_init(|| functions)),
    }
}

/// Where the library is on systems whose loader does not look there by itself: WSL
/// (<https://docs.nvidia.com/cuda/wsl-user-guide/>), and NixOS (<https://nixos.wiki/wiki/Nvidia>).
const ELSEWHERE: [&str; 2] = if cfg!(target_os = "linux") {
    ["/usr/lib/wsl/lib/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1"]
} else {
    [LIBRARY; 2]
};

/// The library `name`, or the first of `files` that exists; the reason is that of `name`, or of the file that is there.
fn open_any(name: &str, files: &[&str]) -> Result<CudaApi, String> {
    let problem = match open(name) {
        Ok(functions) => return Ok(functions),
        Err(problem) => problem,
    };
    match files.iter().find(|file| Path::new(file).is_absolute() && Path::new(file).exists()) {
        Some(file) => open(file),
        None => Err(problem),
    }
}

fn open(name: &str) -> Result<CudaApi, String> {
    // SAFETY: a library of this name is CUDA's.
    unsafe { open_first("driver", &[name]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_elsewhere_is_opened_where_the_system_finds_none() {
        let directory = std::env::temp_dir().join(format!("offload-rt-libcuda-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let file = directory.join("libcuda.so.1");
        std::fs::write(&file, "not a library").unwrap();
        let path = file.to_str().unwrap();
        let error = open_any("no-such-library.so", &["/nonexistent/libcuda.so.1", path]).unwrap_err();
        std::fs::remove_dir_all(&directory).unwrap();
        assert!(error.contains(path), "{error}");
        let error = open_any("no-such-library.so", &["/nonexistent/libcuda.so.1"]).unwrap_err();
        assert!(error.starts_with("cannot open the driver's library no-such-library.so: "), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_of_something_else_lacks_the_first_function() {
        let error = open("libc.so.6").unwrap_err();
        assert_eq!(error, "the library libc.so.6 lacks the function cuCtxGetCurrent");
    }
}
