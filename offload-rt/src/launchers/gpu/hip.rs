//! HIP's runtime.
//!
//! A context is a device's number. Warps of CUDA C++ have 32 lanes on every target, so that `warpSize` is 32 on devices
//! with waves of 64 too, and the compute capability is that of `__CUDA_ARCH__`, 8.0 unless the module says otherwise.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ptr;
use std::sync::OnceLock;

use super::{GpuPlatform, LauncherApi};
use crate::device::Device;
use crate::error::Error;
use crate::gpu::{INVALID_VALUE, RawPool, call, operations};
use crate::hip;
use crate::hip::api::{
    DeviceId, HipApi, HipResult, hipEvent_t, hipFunction_t, hipGraph_t, hipGraphExec_t,
    hipPointerAttribute_t, hipStream_t,
};
use crate::hip::runtime::HipRuntime;
use crate::launchers::configuration::{Configuration, Dim3};
use crate::launchers::failure::{Failure, INVALID_DEVICE, NOT_SUPPORTED, Outcome};
use crate::launchers::platform::{
    Block, ContextHandle, Copy, EnteredContext, GraphUpdate, MANAGED_MEMORY, Platform, PointerAttributes,
    RUNTIME_VERSION, RowsCopy, UNREGISTERED_MEMORY,
};

/// `hipMemcpyDefault`.
const COPY_DEFAULT: c_uint = 4;

/// `cudaDevAttrWarpSize` and the compute capability.
const WARP_SIZE: c_uint = 10;
const COMPUTE_CAPABILITY_MAJOR: c_uint = 75;
const COMPUTE_CAPABILITY_MINOR: c_uint = 76;

/// Attributes of devices: the number of CUDA's (`cudaDeviceAttr`) and of HIP's (`hipDeviceAttribute_t` of ROCm 5 and later,
/// <https://github.com/ROCm/HIP/blob/rocm-6.2.x/include/hip/hip_runtime_api.h>).
const ATTRIBUTES: [(c_uint, c_uint); 31] = [
    (1, 56),     // MaxThreadsPerBlock
    (2, 26),     // MaxBlockDimX
    (3, 27),     // MaxBlockDimY
    (4, 28),     // MaxBlockDimZ
    (5, 29),     // MaxGridDimX
    (6, 30),     // MaxGridDimY
    (7, 31),     // MaxGridDimZ
    (8, 74),     // MaxSharedMemoryPerBlock
    (9, 83),     // TotalConstantMemory
    (11, 58),    // MaxPitch
    (12, 71),    // MaxRegistersPerBlock
    (13, 5),     // ClockRate
    (16, 63),    // MultiProcessorCount
    (17, 18),    // KernelExecTimeout
    (18, 16),    // Integrated
    (19, 3),     // CanMapHostMemory
    (20, 6),     // ComputeMode
    (31, 8),     // ConcurrentKernels
    (32, 0),     // EccEnabled
    (33, 67),    // PciBusId
    (34, 68),    // PciDeviceId
    (36, 60),    // MemoryClockRate
    (37, 59),    // GlobalMemoryBusWidth
    (38, 19),    // L2CacheSize
    (39, 57),    // MaxThreadsPerMultiProcessor
    (50, 69),    // PciDomainId
    (81, 10002), // MaxSharedMemoryPerMultiprocessor
    (82, 72),    // MaxRegistersPerMultiprocessor
    (83, 24),    // ManagedMemory
    (95, 10),    // CooperativeLaunch
    (97, 74),    // MaxSharedMemoryPerBlockOptin: HIP has one limit
];

/// The runtime's devices, if it starts.
pub(in crate::launchers) fn platform() -> Result<&'static dyn Platform, Error> {
    static OPENED: OnceLock<GpuPlatform<HipApi>> = OnceLock::new();
    if let Some(opened) = OPENED.get() {
        return Ok(opened);
    }
    let api = HipRuntime::open()?.functions();
    Ok(OPENED.get_or_init(|| GpuPlatform { api }))
}

impl LauncherApi for HipApi {
    operations! {
        create_stream_with(stream: *mut hipStream_t, flags: c_uint) => hipStreamCreateWithFlags(stream, flags);
        query_stream(stream: hipStream_t) => hipStreamQuery(stream);
        read_stream_flags(stream: hipStream_t, flags: *mut c_uint) => hipStreamGetFlags(stream, flags);
        set_limit(limit: c_uint, value: usize) => hipDeviceSetLimit(limit, value);
        read_limit(value: *mut usize, limit: c_uint) => hipDeviceGetLimit(value, limit);
        create_event_with(event: *mut hipEvent_t, flags: c_uint) => hipEventCreateWithFlags(event, flags);

        begin_capture_in(stream: hipStream_t, mode: c_uint) => hipStreamBeginCapture(stream, mode);
        exchange_capture_mode(mode: *mut c_uint) => hipThreadExchangeStreamCaptureMode(mode);
        instantiate_graph_with(executable: *mut hipGraphExec_t, graph: hipGraph_t, flags: c_ulonglong) =>
            hipGraphInstantiateWithFlags(executable, graph, flags);
        update_executable(executable: hipGraphExec_t, graph: hipGraph_t, update: &mut GraphUpdate) =>
            hipGraphExecUpdate(
                executable, graph, (&raw mut update.error_node).cast(), &raw mut update.result
            );

        lock_memory(memory: *mut c_void, size: usize, flags: c_uint) => hipHostRegister(memory, size, flags);
        unlock_memory(memory: *mut c_void) => hipHostUnregister(memory);

        copy_any(copy: Copy) => hipMemcpy(copy.to, copy.from, copy.size, COPY_DEFAULT);
        copy_any_in_order(copy: Copy, stream: hipStream_t) =>
            hipMemcpyAsync(copy.to, copy.from, copy.size, COPY_DEFAULT, stream);
        copy_rows_in_order(copy: RowsCopy, stream: hipStream_t) =>
            hipMemcpy2DAsync(
                copy.to, copy.to_pitch, copy.from, copy.from_pitch, copy.width, copy.height, COPY_DEFAULT, stream
            );

        occupancy(blocks: *mut c_int, function: hipFunction_t, block: Block, flags: c_uint) =>
            hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                blocks, function, block.threads, block.shared, flags
            );
    }

    fn thread_context(&'static self) -> Outcome<ContextHandle> {
        Ok(handle(current_device(self)?))
    }

    unsafe fn enter_stream(&'static self, stream: hipStream_t) -> Outcome<EnteredContext> {
        let current = current_device(self)?;
        let mut device = current;
        if self.hipStreamGetDevice.is_some() {
            // SAFETY: by the contract; the function writes one number.
            unsafe { call!(self, hipStreamGetDevice(stream, &raw mut device)) }?;
        }
        if device == current {
            return Ok(EnteredContext { context: handle(current), previous: None });
        }
        set_current(self, device)?;
        Ok(EnteredContext { context: handle(device), previous: Some(handle(current)) })
    }

    fn leave_context(&'static self, previous: ContextHandle) {
        if let Ok(device) = c_int::try_from(previous.0) {
            // It was the thread's device.
            let _ = set_current(self, device);
        }
    }

    fn context_device(&'static self, context: ContextHandle) -> Outcome<Device> {
        let devices = hip::devices()?;
        let count = devices.len();
        devices.into_iter().nth(context.0).ok_or_else(|| {
            let problem = format!("there is no device {}: HIP shows {count}", context.0);
            Failure::new(INVALID_DEVICE, problem)
        })
    }

    fn device_count(&'static self) -> HipResult<usize> {
        Ok(DeviceId::all(self)?.len())
    }

    fn device_number(&'static self) -> Outcome<usize> {
        Ok(usize::try_from(current_device(self)?).unwrap_or(0))
    }

    fn set_device(&'static self, number: c_int) -> Outcome {
        Ok(set_current(self, number)?)
    }

    fn device_attribute(&'static self, attribute: c_uint, number: c_int) -> Outcome<c_int> {
        match attribute {
            WARP_SIZE => return Ok(32),
            COMPUTE_CAPABILITY_MAJOR => return Ok(8),
            COMPUTE_CAPABILITY_MINOR => return Ok(0),
            _ => {}
        }
        let Some((_, own)) = ATTRIBUTES.iter().find(|(cuda, _)| *cuda == attribute) else {
            let problem = format!("HIP devices have no attribute {attribute} of CUDA's");
            return Err(Failure::new(NOT_SUPPORTED, problem));
        };
        let mut value = 0;
        // SAFETY: the function writes one number.
        unsafe { call!(self, hipDeviceGetAttribute(&raw mut value, *own, number)) }?;
        Ok(value)
    }

    fn device_name(&'static self, number: c_int) -> Outcome<String> {
        Ok(DeviceId { api: self, ordinal: number }.properties()?.name())
    }

    fn device_memory(&'static self, number: c_int) -> Outcome<usize> {
        let bytes = DeviceId { api: self, ordinal: number }.properties()?.global_memory();
        Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// HIP's functions are those of CUDA 12.
    fn version(&'static self) -> Outcome<c_int> {
        Ok(RUNTIME_VERSION)
    }

    fn device_pci_address(&'static self, number: c_int) -> Outcome<String> {
        Ok(DeviceId { api: self, ordinal: number }.pci_address()?)
    }

    fn can_access(&'static self, number: c_int, peer: c_int) -> Outcome<bool> {
        let mut can_access: c_int = 0;
        // SAFETY: the function writes one number.
        unsafe { call!(self, hipDeviceCanAccessPeer(&raw mut can_access, number, peer)) }?;
        Ok(can_access != 0)
    }

    fn enable_access(&'static self, peer: c_int) -> Outcome {
        // SAFETY: the function takes any number.
        Ok(unsafe { call!(self, hipDeviceEnablePeerAccess(peer, 0)) }?)
    }

    fn disable_access(&'static self, peer: c_int) -> Outcome {
        // SAFETY: the function takes any number.
        Ok(unsafe { call!(self, hipDeviceDisablePeerAccess(peer)) }?)
    }

    /// Numbers of kinds are CUDA's since ROCm 6.
    fn pointer_attributes(&'static self, memory: *mut c_void) -> Outcome<PointerAttributes> {
        let mut attributes = hipPointerAttribute_t {
            kind: UNREGISTERED_MEMORY,
            device: 0,
            device_pointer: ptr::null_mut(),
            host_pointer: ptr::null_mut(),
            is_managed: 0,
            allocation_flags: 0,
        };
        // SAFETY: the function fills the structure, and looks whether it knows the address.
        match unsafe { call!(self, hipPointerGetAttributes(&raw mut attributes, memory)) } {
            Ok(()) if attributes.kind != UNREGISTERED_MEMORY => {}
            Ok(()) => return Ok(PointerAttributes::unregistered(memory)),
            Err(error) if error.code() == Some(INVALID_VALUE) => {
                return Ok(PointerAttributes::unregistered(memory));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(PointerAttributes {
            kind: if attributes.is_managed == 0 { attributes.kind } else { MANAGED_MEMORY },
            device: attributes.device,
            device_pointer: attributes.device_pointer,
            host_pointer: attributes.host_pointer,
        })
    }

    fn device_pool(&'static self, number: c_int) -> Outcome<RawPool> {
        let mut pool = ptr::null_mut();
        // SAFETY: the function writes one handle.
        unsafe { call!(self, hipDeviceGetMemPool(&raw mut pool, number)) }?;
        Ok(pool)
    }

    fn default_device_pool(&'static self, number: c_int) -> Outcome<RawPool> {
        let mut pool = ptr::null_mut();
        // SAFETY: the function writes one handle.
        unsafe { call!(self, hipDeviceGetDefaultMemPool(&raw mut pool, number)) }?;
        Ok(pool)
    }

    unsafe fn allocate_managed(
        &'static self,
        address: *mut u64,
        size: usize,
        flags: c_uint,
    ) -> HipResult<()> {
        let mut memory: *mut c_void = ptr::null_mut();
        // SAFETY: by the contract; the function writes one pointer.
        unsafe { call!(self, hipMallocManaged(&raw mut memory, size, flags)) }?;
        // SAFETY: by the contract.
        unsafe { *address = memory.expose_provenance() as u64 };
        Ok(())
    }

    unsafe fn allocate_in_order(
        &'static self,
        address: *mut u64,
        size: usize,
        stream: hipStream_t,
    ) -> HipResult<()> {
        let mut memory: *mut c_void = ptr::null_mut();
        // SAFETY: by the contract; the function writes one pointer.
        unsafe { call!(self, hipMallocAsync(&raw mut memory, size, stream)) }?;
        // SAFETY: by the contract.
        unsafe { *address = memory.expose_provenance() as u64 };
        Ok(())
    }

    /// A kernel has as much shared memory as the device, without an opt-in, and no preference of AMD's hardware is lost.
    unsafe fn set_function_attribute(&'static self, _: hipFunction_t, _: c_uint, _: c_int) -> HipResult<()> {
        Ok(())
    }

    /// AMD's hardware has no such choice; HIP's own `hipFuncSetCacheConfig` does nothing either.
    unsafe fn set_cache(&'static self, _: hipFunction_t, _: c_uint) -> HipResult<()> {
        Ok(())
    }

    unsafe fn launch_cooperative(
        &'static self,
        function: hipFunction_t,
        configuration: &Configuration,
        arguments: *mut *mut c_void,
    ) -> HipResult<()> {
        let Configuration { grid: Dim3 { x, y, z }, block, shared, stream } = *configuration;
        let stream = stream.cast();
        // SAFETY: by the contract.
        unsafe {
            call!(
                self,
                hipModuleLaunchCooperativeKernel(
                    function, x, y, z, block.x, block.y, block.z, shared, stream, arguments
                )
            )
        }
    }
}

fn handle(device: c_int) -> ContextHandle {
    ContextHandle(usize::try_from(device).unwrap_or(0))
}

fn current_device(api: &'static HipApi) -> HipResult<c_int> {
    let mut device = 0;
    // SAFETY: the function writes one number.
    unsafe { call!(api, hipGetDevice(&raw mut device)) }?;
    Ok(device)
}

fn set_current(api: &'static HipApi, device: c_int) -> HipResult<()> {
    // SAFETY: the function takes any number.
    unsafe { call!(api, hipSetDevice(device)) }
}
