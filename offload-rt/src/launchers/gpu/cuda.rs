//! CUDA's driver.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{GpuPlatform, LauncherApi, address};
use crate::cuda::api::{
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
    CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
    CUDA_MEMCPY2D, CUcontext, CUdevice, CUevent, CUfunction, CUgraph, CUgraphExec, CUpointer_attribute,
    CUstream, CuResult, CudaApi, DeviceId,
};
use crate::cuda::context::CudaContext;
use crate::cuda::device;
use crate::cuda::driver::{CUDA, CudaDriver};
use crate::device::Device;
use crate::error::Error;
use crate::gpu::{GpuDevice, INVALID_VALUE, RawPool, call, operations};
use crate::launchers::configuration::{Configuration, Dim3};
use crate::launchers::failure::{Failure, INVALID_DEVICE, Outcome};
use crate::launchers::platform::{
    Block, ContextHandle, Copy, EnteredContext, GraphUpdate, MANAGED_MEMORY, Platform, PointerAttributes,
    RowsCopy,
};

/// A `CUmemorytype`: the driver tells memory by its address.
const CU_MEMORYTYPE_UNIFIED: c_uint = 4;

/// The driver's devices, if it starts.
pub(in crate::launchers) fn platform() -> Result<&'static dyn Platform, Error> {
    static OPENED: OnceLock<GpuPlatform<CudaApi>> = OnceLock::new();
    let api = CudaDriver::open()?.functions();
    Ok(OPENED.get_or_init(|| GpuPlatform { api }))
}

impl LauncherApi for CudaApi {
    operations! {
        create_stream_with(stream: *mut CUstream, flags: c_uint) => cuStreamCreate(stream, flags);
        query_stream(stream: CUstream) => cuStreamQuery(stream);
        read_stream_flags(stream: CUstream, flags: *mut c_uint) => cuStreamGetFlags(stream, flags);
        set_limit(limit: c_uint, value: usize) => cuCtxSetLimit(limit, value);
        read_limit(value: *mut usize, limit: c_uint) => cuCtxGetLimit(value, limit);
        create_event_with(event: *mut CUevent, flags: c_uint) => cuEventCreate(event, flags);

        begin_capture_in(stream: CUstream, mode: c_uint) => cuStreamBeginCapture_v2(stream, mode);
        exchange_capture_mode(mode: *mut c_uint) => cuThreadExchangeStreamCaptureMode(mode);
        instantiate_graph_with(executable: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) =>
            cuGraphInstantiateWithFlags(executable, graph, flags);
        update_executable(executable: CUgraphExec, graph: CUgraph, update: &mut GraphUpdate) =>
            cuGraphExecUpdate_v2(executable, graph, ptr::from_mut(update).cast());

        allocate_in_order(address: *mut u64, size: usize, stream: CUstream) => cuMemAllocAsync(address, size, stream);
        copy_any(copy: Copy) => cuMemcpy(address(copy.to), address(copy.from), copy.size);
        copy_any_in_order(copy: Copy, stream: CUstream) =>
            cuMemcpyAsync(address(copy.to), address(copy.from), copy.size, stream);

        allocate_managed(address: *mut u64, size: usize, flags: c_uint) => cuMemAllocManaged(address, size, flags);

        lock_memory(memory: *mut c_void, size: usize, flags: c_uint) => cuMemHostRegister_v2(memory, size, flags);
        unlock_memory(memory: *mut c_void) => cuMemHostUnregister(memory);

        set_function_attribute(function: CUfunction, attribute: c_uint, value: c_int) =>
            cuFuncSetAttribute(function, attribute, value);
        set_cache(function: CUfunction, cache: c_uint) => cuFuncSetCacheConfig(function, cache);
        occupancy(blocks: *mut c_int, function: CUfunction, block: Block, flags: c_uint) =>
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block.threads, block.shared, flags);
    }

    fn thread_context(&'static self) -> Outcome<ContextHandle> {
        let mut raw = ptr::null_mut();
        // SAFETY: the function writes one handle.
        unsafe { call!(self, cuCtxGetCurrent(&raw mut raw)) }?;
        if raw.is_null() {
            raw = primary(device_with_number(self, 0)?)?;
            // SAFETY: primary contexts that are taken here are never released.
            unsafe { call!(self, cuCtxPushCurrent_v2(raw)) }?;
        }
        Ok(handle(raw))
    }

    unsafe fn enter_stream(&'static self, stream: CUstream) -> Outcome<EnteredContext> {
        if self.cuStreamGetCtx.is_none() {
            return Ok(EnteredContext { context: self.thread_context()?, previous: None });
        }
        let mut raw = ptr::null_mut();
        let mut current = ptr::null_mut();
        // SAFETY: by the contract; each function writes one handle.
        unsafe {
            call!(self, cuStreamGetCtx(stream, &raw mut raw))?;
            call!(self, cuCtxGetCurrent(&raw mut current))?;
        }
        if current == raw {
            return Ok(EnteredContext { context: handle(raw), previous: None });
        }
        // SAFETY: a stream's context lives as long as the stream.
        unsafe { call!(self, cuCtxPushCurrent_v2(raw)) }?;
        Ok(EnteredContext { context: handle(raw), previous: Some(handle(current)) })
    }

    /// The thread's stack of contexts has the one before.
    fn leave_context(&'static self, _: ContextHandle) {
        let mut popped = ptr::null_mut();
        // SAFETY: this thread pushed the context, and the calls since have left the stack as they found it.
        let _ = unsafe { call!(self, cuCtxPopCurrent_v2(&raw mut popped)) };
    }

    fn context_device(&'static self, context: ContextHandle) -> Outcome<Device> {
        retain_primary(self)?;
        let raw: CUcontext = ptr::with_exposed_provenance_mut(context.0);
        // SAFETY: the context is current. It stays if it is a primary one, and else by the contract of this module.
        let adopted = unsafe { CudaContext::adopt(self, raw, Arc::new(())) }?;
        Ok(device::from_context(CudaDriver::open()?, adopted)?)
    }

    fn device_count(&'static self) -> CuResult<usize> {
        Ok(DeviceId::all(self)?.len())
    }

    fn device_number(&'static self) -> Outcome<usize> {
        let current = current_device(self)?;
        let devices = DeviceId::all(self)?;
        Ok(devices.iter().position(|device| device.raw == current.raw).unwrap_or(0))
    }

    fn set_device(&'static self, number: c_int) -> Outcome {
        let raw = primary(device_with_number(self, number)?)?;
        // SAFETY: primary contexts that are taken here are never released.
        Ok(unsafe { call!(self, cuCtxSetCurrent(raw)) }?)
    }

    fn device_attribute(&'static self, attribute: c_uint, number: c_int) -> Outcome<c_int> {
        let device = device_with_number(self, number)?;
        let mut value = 0;
        // SAFETY: the function writes one number.
        unsafe { call!(self, cuDeviceGetAttribute(&raw mut value, attribute, device.raw)) }?;
        Ok(value)
    }

    fn device_name(&'static self, number: c_int) -> Outcome<String> {
        Ok(device_with_number(self, number)?.name()?)
    }

    fn device_memory(&'static self, number: c_int) -> Outcome<usize> {
        let device = device_with_number(self, number)?;
        let mut bytes = 0;
        // SAFETY: the function writes one number.
        unsafe { call!(self, cuDeviceTotalMem_v2(&raw mut bytes, device.raw)) }?;
        Ok(bytes)
    }

    fn version(&'static self) -> Outcome<c_int> {
        Ok(c_int::try_from(CudaDriver::open()?.version()).unwrap_or(0))
    }

    fn device_pci_address(&'static self, number: c_int) -> Outcome<String> {
        Ok(device_with_number(self, number)?.pci_address()?)
    }

    fn can_access(&'static self, number: c_int, peer: c_int) -> Outcome<bool> {
        let device = device_with_number(self, number)?;
        let peer = device_with_number(self, peer)?;
        let mut can_access: c_int = 0;
        // SAFETY: the function writes one number.
        unsafe { call!(self, cuDeviceCanAccessPeer(&raw mut can_access, device.raw, peer.raw)) }?;
        Ok(can_access != 0)
    }

    fn enable_access(&'static self, peer: c_int) -> Outcome {
        let peer = primary(device_with_number(self, peer)?)?;
        // SAFETY: primary contexts that are taken here are never released.
        Ok(unsafe { call!(self, cuCtxEnablePeerAccess(peer, 0)) }?)
    }

    fn disable_access(&'static self, peer: c_int) -> Outcome {
        let peer = primary(device_with_number(self, peer)?)?;
        // SAFETY: primary contexts that are taken here are never released.
        Ok(unsafe { call!(self, cuCtxDisablePeerAccess(peer)) }?)
    }

    fn pointer_attributes(&'static self, memory: *mut c_void) -> Outcome<PointerAttributes> {
        let mut attributes = PointerAttributes::unregistered(memory);
        let address = address(memory);
        let place = (&raw mut attributes.kind).cast();
        // SAFETY: the attribute's value is one number of this size; the driver looks whether it knows the address.
        match unsafe { call!(self, cuPointerGetAttribute(place, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)) }
        {
            Ok(()) => {}
            // "CUDA_ERROR_INVALID_VALUE if the pointer was not allocated with, mapped by, or registered with CUDA".
            Err(error) if error.code() == Some(INVALID_VALUE) => return Ok(attributes),
            Err(error) => return Err(error.into()),
        }
        attributes.device = 0;
        attributes.host_pointer = ptr::null_mut();
        let mut is_managed: c_uint = 0;
        let others: [(CUpointer_attribute, *mut c_void); 4] = [
            (CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (&raw mut attributes.device_pointer).cast()),
            (CU_POINTER_ATTRIBUTE_HOST_POINTER, (&raw mut attributes.host_pointer).cast()),
            (CU_POINTER_ATTRIBUTE_IS_MANAGED, (&raw mut is_managed).cast()),
            (CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (&raw mut attributes.device).cast()),
        ];
        for (attribute, place) in others {
            // SAFETY: each place has the size of the attribute's value. Memory of a device has no pointer of the program.
            let _ = unsafe { call!(self, cuPointerGetAttribute(place, attribute, address)) };
        }
        if is_managed != 0 {
            attributes.kind = MANAGED_MEMORY;
        }
        Ok(attributes)
    }

    fn device_pool(&'static self, number: c_int) -> Outcome<RawPool> {
        let device = device_with_number(self, number)?;
        let mut pool = ptr::null_mut();
        // SAFETY: the function writes one handle.
        unsafe { call!(self, cuDeviceGetMemPool(&raw mut pool, device.raw)) }?;
        Ok(pool)
    }

    fn default_device_pool(&'static self, number: c_int) -> Outcome<RawPool> {
        let device = device_with_number(self, number)?;
        let mut pool = ptr::null_mut();
        // SAFETY: the function writes one handle.
        unsafe { call!(self, cuDeviceGetDefaultMemPool(&raw mut pool, device.raw)) }?;
        Ok(pool)
    }

    unsafe fn copy_rows_in_order(&'static self, copy: RowsCopy, stream: CUstream) -> CuResult<()> {
        let parameters = CUDA_MEMCPY2D {
            src_x_in_bytes: 0,
            src_y: 0,
            src_memory_type: CU_MEMORYTYPE_UNIFIED,
            src_host: ptr::null(),
            src_device: address(copy.from),
            src_array: ptr::null_mut(),
            src_pitch: copy.from_pitch,
            dst_x_in_bytes: 0,
            dst_y: 0,
            dst_memory_type: CU_MEMORYTYPE_UNIFIED,
            dst_host: ptr::null_mut(),
            dst_device: address(copy.to),
            dst_array: ptr::null_mut(),
            dst_pitch: copy.to_pitch,
            width: copy.width,
            height: copy.height,
        };
        // SAFETY: by the contract; the function reads the structure.
        unsafe { call!(self, cuMemcpy2DAsync_v2(&raw const parameters, stream)) }
    }

    unsafe fn launch_cooperative(
        &'static self,
        function: CUfunction,
        configuration: &Configuration,
        arguments: *mut *mut c_void,
    ) -> CuResult<()> {
        let Configuration { grid: Dim3 { x, y, z }, block, shared, stream } = *configuration;
        let stream = stream.cast();
        // SAFETY: by the contract.
        unsafe {
            call!(
                self,
                cuLaunchCooperativeKernel(
                    function, x, y, z, block.x, block.y, block.z, shared, stream, arguments
                )
            )
        }
    }
}

/// The number of `device`, which is one of CUDA.
pub(in crate::launchers) fn number(device: &Device) -> Result<c_int, Error> {
    let found = GpuDevice::<CudaApi>::from_device(device)?.device();
    let devices = DeviceId::all(found.api).map_err(|error| Error::device(CUDA, error.to_string()))?;
    let position = devices.iter().position(|other| other.raw == found.raw);
    Ok(position.and_then(|position| c_int::try_from(position).ok()).unwrap_or(-1))
}

fn handle(raw: CUcontext) -> ContextHandle {
    ContextHandle(raw.expose_provenance())
}

/// The device with this number.
fn device_with_number(api: &'static CudaApi, number: c_int) -> Outcome<DeviceId> {
    let devices = DeviceId::all(api)?;
    let found = usize::try_from(number).ok().and_then(|number| devices.get(number));
    found.copied().ok_or_else(|| {
        let problem = format!("there is no device {number}: the driver shows {}", devices.len());
        Failure::new(INVALID_DEVICE, problem)
    })
}

/// The device of the current context.
fn current_device(api: &'static CudaApi) -> Outcome<DeviceId> {
    let mut raw = 0;
    // SAFETY: the function writes one number.
    unsafe { call!(api, cuCtxGetDevice(&raw mut raw)) }?;
    Ok(DeviceId { api, raw })
}

/// Keeps the primary context of the current device if it is active, as it is where the current context is it: modules are
/// loaded in it.
fn retain_primary(api: &'static CudaApi) -> Outcome {
    let device = current_device(api)?;
    let mut flags: c_uint = 0;
    let mut active: c_int = 0;
    // SAFETY: the function writes two numbers. Where it is lacking, any context is taken as it is.
    let asked =
        unsafe { call!(api, cuDevicePrimaryCtxGetState(device.raw, &raw mut flags, &raw mut active)) };
    if asked.is_ok() && active != 0 {
        primary(device)?;
    }
    Ok(())
}

/// The primary context of `device`, which is kept from the first call on: modules are loaded in it.
fn primary(device: DeviceId) -> Outcome<CUcontext> {
    /// Addresses of contexts by device. The thread that takes one is not the only one that uses it.
    static TAKEN: Mutex<BTreeMap<CUdevice, usize>> = Mutex::new(BTreeMap::new());
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = taken.get(&device.raw) {
        return Ok(ptr::with_exposed_provenance_mut(*context));
    }
    let mut raw = ptr::null_mut();
    // SAFETY: the function writes one handle.
    unsafe { call!(device.api, cuDevicePrimaryCtxRetain(&raw mut raw, device.raw)) }?;
    taken.insert(device.raw, raw.expose_provenance());
    Ok(raw)
}
