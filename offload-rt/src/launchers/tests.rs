//! The list of functions that builds compare calls with.

use std::ffi::{CStr, c_int};

use offload_format::launchers::{FUNCTIONS, PREFIX};

use super::*;

macro_rules! addresses {
    ($($module:ident: $($function:ident)*;)*) => {
        [$($((stringify!($function), $module::$function as *const ())),*),*]
    };
}

#[test]
fn every_function_that_host_functions_may_call_is_there() {
    let addresses = addresses! {
        array: offload_cudaFreeArray offload_cudaMalloc3DArray offload_cudaMallocArray;
        array_copy: offload_cudaMemcpy2DFromArray offload_cudaMemcpy2DFromArrayAsync offload_cudaMemcpy2DToArray
            offload_cudaMemcpy2DToArrayAsync offload_cudaMemcpy3D offload_cudaMemcpy3DAsync
            offload_cudaMemcpyFromArray offload_cudaMemcpyToArray;
        device: offload___cudaDescribeDevice offload_cudaDeviceDisablePeerAccess
            offload_cudaDeviceGetLimit offload_cudaDeviceSetLimit offload_cudaDeviceCanAccessPeer offload_cudaDeviceEnablePeerAccess
            offload_cudaDeviceGetAttribute offload_cudaDeviceGetPCIBusId
            offload_cudaDeviceGetStreamPriorityRange offload_cudaDeviceReset offload_cudaDeviceSynchronize
            offload_cudaDriverGetVersion offload_cudaRuntimeGetVersion offload_cudaGetDevice
            offload_cudaGetDeviceCount offload_cudaSetDevice;
        event: offload_cudaEventCreate offload_cudaEventCreateWithFlags offload_cudaEventDestroy
            offload_cudaEventElapsedTime offload_cudaEventQuery offload_cudaEventRecord offload_cudaEventSynchronize;
        error_text: offload_cudaGetErrorName offload_cudaGetErrorString;
        failure: offload_cudaGetLastError offload_cudaPeekAtLastError;
        function: offload_cudaFuncGetAttributes offload_cudaFuncSetAttribute offload_cudaFuncSetCacheConfig
            offload_cudaOccupancyMaxActiveBlocksPerMultiprocessor
            offload_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags;
        graph: offload_cudaGraphDestroy offload_cudaGraphExecDestroy offload_cudaGraphExecUpdate
            offload_cudaGraphInstantiate offload_cudaGraphInstantiateWithFlags offload_cudaGraphLaunch
            offload_cudaStreamBeginCapture offload_cudaStreamEndCapture offload_cudaStreamIsCapturing
            offload_cudaThreadExchangeStreamCaptureMode;
        launch: offload___cudaPopCallConfiguration offload___cudaPushCallConfiguration
            offload_cudaLaunchCooperativeKernel offload_cudaLaunchKernel;
        memory: offload_cudaPointerGetAttributes offload_cudaHostRegister offload_cudaHostUnregister offload_cudaMemcpyPeer
            offload_cudaMemcpyPeerAsync offload_cudaHostAlloc offload_cudaHostGetDevicePointer offload_cudaMallocManaged
            offload_cudaMallocPitch offload_cudaMemcpy2D offload_cudaMemcpy2DAsync offload_cudaFree offload_cudaFreeAsync offload_cudaFreeHost offload_cudaMalloc
            offload_cudaMallocAsync offload_cudaMallocHost offload_cudaMemGetInfo offload_cudaMemcpy
            offload_cudaMemcpyAsync offload_cudaMemset offload_cudaMemsetAsync;
        pool: offload_cudaDeviceGetDefaultMemPool offload_cudaDeviceGetMemPool offload_cudaMallocFromPoolAsync
            offload_cudaMemPoolCreate offload_cudaMemPoolDestroy offload_cudaMemPoolGetAttribute
            offload_cudaMemPoolSetAccess offload_cudaMemPoolSetAttribute offload_cudaMemPoolTrimTo;
        registration: offload___cudaRegisterFatBinary offload___cudaRegisterFatBinaryEnd
            offload___cudaRegisterFunction offload___cudaRegisterVar offload___cudaUnregisterFatBinary;
        stream: offload_cudaStreamGetFlags offload_cudaLaunchHostFunc offload_cudaStreamCreateWithPriority offload_cudaStreamCreate offload_cudaStreamCreateWithFlags offload_cudaStreamDestroy
            offload_cudaStreamQuery offload_cudaStreamSynchronize offload_cudaStreamWaitEvent;
        texture: offload_cudaCreateSurfaceObject offload_cudaCreateTextureObject offload_cudaDestroySurfaceObject
            offload_cudaDestroyTextureObject;
        symbol: offload_cudaGetSymbolAddress offload_cudaGetSymbolSize offload_cudaMemcpyFromSymbol
            offload_cudaMemcpyFromSymbolAsync offload_cudaMemcpyToSymbol offload_cudaMemcpyToSymbolAsync;
    };
    assert!(addresses.iter().all(|(_, address)| !address.is_null()));
    let mut names: Vec<&str> = addresses.iter().map(|(name, _)| name.strip_prefix(PREFIX).unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, FUNCTIONS);
}

fn text(code: c_int) -> String {
    let text = error_text::offload_cudaGetErrorString(code);
    // SAFETY: the function returns a constant text.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_string()
}

#[test]
fn a_failure_has_a_number_once_and_a_reason_that_stays() {
    let nothing: *const std::ffi::c_void = FUNCTIONS.as_ptr().cast();
    assert!(registration::kernel(nothing).is_err());
    let code = failure::returned(registration::kernel(nothing).map(drop));
    assert_eq!(code, failure::INVALID_DEVICE_FUNCTION);
    assert_eq!(failure::offload_cudaPeekAtLastError(), code);
    assert_eq!(failure::offload_cudaGetLastError(), code);
    assert_eq!(failure::offload_cudaGetLastError(), failure::SUCCESS);
    let reason = last_error().unwrap().to_string();
    assert_eq!(text(code), reason);
    assert_ne!(text(failure::SUCCESS), reason);
    std::thread::spawn(|| assert!(last_error().is_none())).join().unwrap();
}
