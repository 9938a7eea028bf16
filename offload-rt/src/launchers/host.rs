//! The program's own CPU, whose work is done when a call returns.
//!
//! All its streams are one. Memory of the device is memory of the program.

mod graph;
mod objects;

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use self::graph::{KeptLaunch, Operation};
use self::objects::{HostArray, HostEvent};
use super::configuration::Configuration;
use super::elements::{ArrayForm, ArrayHandle, Extent, TextureElements, TextureSource};
use super::failure::{
    ASSERT, CudaError, Failure, INVALID_DEVICE, INVALID_HANDLE, INVALID_VALUE, MEMORY_ALLOCATION,
    NOT_SUPPORTED, Outcome,
};
use super::platform::{
    Block, ContextHandle, Copy, DEVICE_MEMORY, EnteredContext, EventHandle, Fill, GraphExecHandle,
    GraphHandle, GraphUpdate, HOST_MEMORY, MANAGED_MEMORY, MemoryInfo, Platform, PointerAttributes,
    PoolHandle, RUNTIME_VERSION, RowsCopy, StreamHandle,
};
use crate::backend::{BackendTexture, downcast};
use crate::device::Device;
use crate::error::{Error, Problem};
use crate::gpu::{BoxCopy, RawHostFunction};
use crate::host::{HostKernel, HostMemory, TextureMemory, TextureObject};
use crate::images::TextureSettings;
use crate::launch::Kernel;

/// How the texts of failed assertions begin (`__offload_assert_fail` of `offload-build`).
const ASSERTION: &str = "assertion `";

/// The most threads of a block.
const MAX_THREADS: c_int = 1024;

/// `cudaMemPoolAttrReleaseThreshold`, the last that is a setting, and the first of 64 bits.
const LAST_POOL_SETTING: c_uint = 4;
/// `cudaMemPoolAttrUsedMemHigh`.
const LAST_POOL_ATTRIBUTE: c_uint = 8;

/// Not of size 0: back ends are told apart by their addresses.
#[derive(Debug)]
struct HostPlatform {
    _byte: u8,
}

/// Memory that a caller has.
#[derive(Debug)]
struct Allocation {
    memory: HostMemory,
    size: usize,
    /// The `cudaMemoryType` that it was asked for as.
    kind: c_uint,
}

/// What callers have allocated, by address: they release it by nothing else.
static ALLOCATIONS: Mutex<BTreeMap<usize, Allocation>> = Mutex::new(BTreeMap::new());

/// The textures and surfaces that callers have, by number.
static TEXTURES: Mutex<BTreeMap<u64, Box<TextureObject>>> = Mutex::new(BTreeMap::new());

pub(super) fn platform() -> &'static dyn Platform {
    static PLATFORM: HostPlatform = HostPlatform { _byte: 0 };
    &PLATFORM
}

/// The handle of every stream: an address that no library can have for its own.
pub(super) fn stream() -> StreamHandle {
    static STREAM: u64 = 0;
    (&raw const STREAM).cast_mut().cast()
}

/// The handle of the one pool.
fn pool() -> PoolHandle {
    static POOL: u64 = 0;
    (&raw const POOL).cast_mut().cast()
}

impl Platform for HostPlatform {
    fn thread_context(&'static self) -> Outcome<ContextHandle> {
        Ok(ContextHandle(0))
    }

    unsafe fn enter_stream(&'static self, _: StreamHandle) -> Outcome<EnteredContext> {
        Ok(EnteredContext { context: ContextHandle(0), previous: None })
    }

    fn leave(&'static self, _: ContextHandle) {}

    fn device(&'static self, _: ContextHandle) -> Outcome<Device> {
        Ok(Device::host())
    }

    fn device_count(&'static self) -> Outcome<c_int> {
        Ok(1)
    }

    fn device_number(&'static self) -> Outcome<c_int> {
        Ok(0)
    }

    fn set_device(&'static self, number: c_int) -> Outcome {
        check_device(number)
    }

    fn device_attribute(&'static self, attribute: c_uint, number: c_int) -> Outcome<c_int> {
        check_device(number)?;
        attribute_value(attribute).ok_or_else(|| {
            Failure::new(NOT_SUPPORTED, format!("the CPU has no attribute {attribute} of CUDA's devices"))
        })
    }

    fn device_name(&'static self, number: c_int) -> Outcome<String> {
        check_device(number)?;
        Ok(Device::host().name().to_string())
    }

    fn device_memory(&'static self, number: c_int) -> Outcome<usize> {
        check_device(number)?;
        pages(libc::_SC_PHYS_PAGES)
    }

    fn version(&'static self) -> Outcome<c_int> {
        Ok(RUNTIME_VERSION)
    }

    fn pci_address(&'static self, number: c_int) -> Outcome<String> {
        check_device(number)?;
        Err(Failure::new(NOT_SUPPORTED, "the CPU is at no address of PCI"))
    }

    fn can_access_peer(&'static self, number: c_int, peer: c_int) -> Outcome<bool> {
        check_device(number)?;
        check_device(peer)?;
        Ok(false)
    }

    fn enable_peer_access(&'static self, peer: c_int) -> Outcome {
        Err(Failure::new(INVALID_DEVICE, format!("device {peer} is no other than the CPU")))
    }

    fn disable_peer_access(&'static self, peer: c_int) -> Outcome {
        self.enable_peer_access(peer)
    }

    /// Stack and heap of the CPU are the system's.
    fn set_limit(&'static self, _: c_uint, _: usize) -> Outcome {
        Ok(())
    }

    fn limit(&'static self, limit: c_uint) -> Outcome<usize> {
        Err(Failure::new(NOT_SUPPORTED, format!("the CPU has no limit {limit} of CUDA's devices")))
    }

    /// The one pool.
    unsafe fn create_pool(&'static self, _: *const c_void) -> Outcome<PoolHandle> {
        Ok(pool())
    }

    unsafe fn destroy_pool(&'static self, _: PoolHandle) -> Outcome {
        Ok(())
    }

    unsafe fn set_pool_access(&'static self, _: PoolHandle, _: *const c_void, _: usize) -> Outcome {
        Ok(())
    }

    unsafe fn trim_pool(&'static self, _: PoolHandle, _: usize) -> Outcome {
        Ok(())
    }

    /// It keeps no memory, and nothing else is set.
    unsafe fn pool_attribute(&'static self, _: PoolHandle, attribute: c_uint, value: *mut c_void) -> Outcome {
        match attribute {
            // SAFETY: by the contract, these are numbers of 32 bits.
            1..=3 => unsafe { value.cast::<c_int>().write(0) },
            // SAFETY: as above, of 64 bits.
            LAST_POOL_SETTING..=LAST_POOL_ATTRIBUTE => unsafe { value.cast::<u64>().write(0) },
            _ => {
                let problem = format!("a pool of the CPU has no attribute {attribute}");
                return Err(Failure::new(INVALID_VALUE, problem));
            }
        }
        Ok(())
    }

    unsafe fn allocate_from_pool(
        &'static self,
        size: usize,
        _: PoolHandle,
        _: StreamHandle,
    ) -> Outcome<*mut c_void> {
        self.allocate(size)
    }

    fn pool(&'static self, number: c_int) -> Outcome<PoolHandle> {
        check_device(number)?;
        Ok(pool())
    }

    fn default_pool(&'static self, number: c_int) -> Outcome<PoolHandle> {
        check_device(number)?;
        Ok(pool())
    }

    /// What is set is how long a pool keeps memory, and the CPU's keeps none.
    unsafe fn set_pool_attribute(
        &'static self,
        given: PoolHandle,
        attribute: c_uint,
        _: *mut c_void,
    ) -> Outcome {
        if given == pool() && (1..=LAST_POOL_SETTING).contains(&attribute) {
            return Ok(());
        }
        Err(Failure::new(INVALID_VALUE, format!("a pool of the CPU has no setting {attribute}")))
    }

    fn synchronize(&'static self) -> Outcome {
        graph::refuse_wait_for_all()
    }

    fn create_stream(&'static self, _: c_uint) -> Outcome<StreamHandle> {
        Ok(stream())
    }

    unsafe fn destroy_stream(&'static self, _: StreamHandle) -> Outcome {
        Ok(())
    }

    unsafe fn synchronize_stream(&'static self, stream: StreamHandle) -> Outcome {
        graph::refuse_wait(stream)
    }

    unsafe fn query_stream(&'static self, stream: StreamHandle) -> Outcome {
        graph::refuse_wait(stream)
    }

    unsafe fn stream_flags(&'static self, _: StreamHandle) -> Outcome<c_uint> {
        Ok(0)
    }

    unsafe fn call_in_order(
        &'static self,
        stream: StreamHandle,
        function: RawHostFunction,
        data: *mut c_void,
    ) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { graph::run_or_keep(stream, Operation::Call { function, data }) }
    }

    unsafe fn wait_event(&'static self, _: StreamHandle, _: EventHandle) -> Outcome {
        Ok(())
    }

    fn create_event(&'static self, _: c_uint) -> Outcome<EventHandle> {
        Ok(Box::into_raw(Box::new(HostEvent::default())).cast())
    }

    unsafe fn destroy_event(&'static self, event: EventHandle) -> Outcome {
        // SAFETY: by the contract, it is one of `create_event` that was not destroyed.
        drop(unsafe { Box::from_raw(event.cast::<HostEvent>()) });
        Ok(())
    }

    unsafe fn record_event(&'static self, event: EventHandle, stream: StreamHandle) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { graph::run_or_keep(stream, Operation::Record(event)) }
    }

    unsafe fn query_event(&'static self, _: EventHandle) -> Outcome {
        Ok(())
    }

    unsafe fn synchronize_event(&'static self, _: EventHandle) -> Outcome {
        Ok(())
    }

    unsafe fn elapsed_time(&'static self, start: EventHandle, end: EventHandle) -> Outcome<f32> {
        // SAFETY: by the contract.
        let start = unsafe { recorded(start) }?;
        // SAFETY: by the contract.
        let end = unsafe { recorded(end) }?;
        Ok(end.saturating_duration_since(start).as_secs_f32() * 1000.0)
    }

    /// The mode says what the driver checks other calls for, and the CPU has none.
    unsafe fn begin_capture(&'static self, stream: StreamHandle, _: c_uint) -> Outcome {
        graph::begin(stream)
    }

    unsafe fn end_capture(&'static self, stream: StreamHandle) -> Outcome<GraphHandle> {
        graph::end(stream)
    }

    unsafe fn capture_status(&'static self, stream: StreamHandle) -> Outcome<c_uint> {
        Ok(graph::status(stream))
    }

    fn exchange_capture_mode(&'static self, mode: c_uint) -> Outcome<c_uint> {
        Ok(graph::exchange_mode(mode))
    }

    /// Flags are of how a GPU launches.
    unsafe fn instantiate_graph(
        &'static self,
        graph: GraphHandle,
        _: c_ulonglong,
    ) -> Outcome<GraphExecHandle> {
        // SAFETY: the contract is the same.
        Ok(unsafe { graph::instantiate(graph) })
    }

    unsafe fn update_graph(
        &'static self,
        executable: GraphExecHandle,
        graph: GraphHandle,
    ) -> Outcome<GraphUpdate> {
        // SAFETY: the contract is the same.
        Ok(unsafe { graph::update(executable, graph) })
    }

    unsafe fn launch_graph(&'static self, executable: GraphExecHandle, stream: StreamHandle) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { graph::launch(executable, stream) }
    }

    unsafe fn destroy_graph(&'static self, graph: GraphHandle) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { graph::destroy(graph) };
        Ok(())
    }

    unsafe fn destroy_graph_exec(&'static self, executable: GraphExecHandle) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { graph::destroy_exec(executable) };
        Ok(())
    }

    fn memory_info(&'static self) -> Outcome<MemoryInfo> {
        Ok(MemoryInfo { free: pages(libc::_SC_AVPHYS_PAGES)?, total: pages(libc::_SC_PHYS_PAGES)? })
    }

    fn allocate(&'static self, size: usize) -> Outcome<*mut c_void> {
        allocate(size, DEVICE_MEMORY)
    }

    unsafe fn allocate_in_order(&'static self, size: usize, _: StreamHandle) -> Outcome<*mut c_void> {
        self.allocate(size)
    }

    fn allocate_managed(&'static self, size: usize, _: c_uint) -> Outcome<*mut c_void> {
        allocate(size, MANAGED_MEMORY)
    }

    unsafe fn free(&'static self, memory: *mut c_void) -> Outcome {
        take_allocation(memory).map(drop)
    }

    unsafe fn free_in_order(&'static self, memory: *mut c_void, stream: StreamHandle) -> Outcome {
        let operation = Operation::Keep { _memory: take_allocation(memory)? };
        // SAFETY: nothing is done with the memory.
        unsafe { graph::run_or_keep(stream, operation) }
    }

    fn allocate_host(&'static self, size: usize) -> Outcome<*mut c_void> {
        allocate(size, HOST_MEMORY)
    }

    unsafe fn free_host(&'static self, memory: *mut c_void) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { self.free(memory) }
    }

    unsafe fn lock_host(&'static self, _: *mut c_void, _: usize, _: c_uint) -> Outcome {
        Ok(())
    }

    unsafe fn unlock_host(&'static self, _: *mut c_void) -> Outcome {
        Ok(())
    }

    /// The program reaches all of it.
    fn pointer_attributes(&'static self, memory: *mut c_void) -> Outcome<PointerAttributes> {
        let allocations = ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let last = allocations.range(..=memory.addr()).next_back();
        let held = last.filter(|(start, found)| memory.addr() - *start < found.size.max(1));
        let Some((_, Allocation { kind, .. })) = held else {
            return Ok(PointerAttributes::unregistered(memory));
        };
        Ok(PointerAttributes { kind: *kind, device: 0, device_pointer: memory, host_pointer: memory })
    }

    unsafe fn copy(&'static self, copy: Copy) -> Outcome {
        let Copy { to, from, size } = copy;
        // SAFETY: by the contract.
        unsafe { to.copy_from(from, size) };
        Ok(())
    }

    unsafe fn copy_in_order(&'static self, copy: Copy, stream: StreamHandle) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { graph::run_or_keep(stream, Operation::Copy(copy)) }
    }

    unsafe fn copy_rows_in_order(&'static self, copy: RowsCopy, stream: StreamHandle) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { graph::run_or_keep(stream, Operation::CopyRows(copy)) }
    }

    unsafe fn fill_in_order(&'static self, fill: Fill, stream: StreamHandle) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { graph::run_or_keep(stream, Operation::Fill(fill)) }
    }

    fn create_array(&'static self, form: &ArrayForm) -> Outcome<ArrayHandle> {
        let slices = form.extent.depth.max(1);
        let size = form.row().checked_mul(form.rows()).and_then(|size| size.checked_mul(slices));
        let memory = size.ok_or_else(|| Problem::from("it is more than 2^64 bytes".to_string()));
        let memory = memory.and_then(HostMemory::for_buffer).map_err(|problem| {
            Failure::with_error(MEMORY_ALLOCATION, Error::from_device("host CPU", problem))
        })?;
        Ok(Box::into_raw(Box::new(HostArray { memory, form: *form })).cast())
    }

    unsafe fn destroy_array(&'static self, array: ArrayHandle) -> Outcome {
        // SAFETY: by the contract, it is one of `create_array` that was not destroyed.
        drop(unsafe { Box::from_raw(array.cast::<HostArray>()) });
        Ok(())
    }

    unsafe fn copy_box_in_order(&'static self, copy: &BoxCopy, stream: StreamHandle) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { graph::run_or_keep(stream, Operation::CopyBox(*copy)) }
    }

    unsafe fn create_texture(
        &'static self,
        source: &TextureSource,
        settings: &TextureSettings,
    ) -> Outcome<u64> {
        // SAFETY: by the contract.
        let elements = unsafe { elements(source) };
        Ok(keep(TextureObject::for_elements(&elements, settings)))
    }

    unsafe fn destroy_texture(&'static self, texture: u64) -> Outcome {
        let mut textures = TEXTURES.lock().unwrap_or_else(PoisonError::into_inner);
        match textures.remove(&texture) {
            Some(_) => Ok(()),
            None => {
                Err(Failure::new(INVALID_VALUE, format!("{texture:#x} is no texture or surface of the CPU")))
            }
        }
    }

    unsafe fn create_surface(&'static self, array: ArrayHandle, form: &ArrayForm) -> Outcome<u64> {
        let source =
            TextureSource { elements: TextureElements::Array { array, form: *form }, format: form.format };
        // SAFETY: by the contract.
        let elements = unsafe { elements(&source) };
        Ok(keep(TextureObject::for_surface(&elements)))
    }

    unsafe fn destroy_surface(&'static self, surface: u64) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { self.destroy_texture(surface) }
    }

    /// The registers and the local memory of compiled code are the CPU's own matter.
    fn function_attribute(&'static self, kernel: &Kernel, attribute: c_uint) -> Outcome<c_int> {
        Ok(match attribute {
            // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
            0 => MAX_THREADS,
            // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            8 => number(host_kernel(kernel)?.max_shared_memory()),
            _ => 0,
        })
    }

    /// A block has all the shared memory that it can have without an opt-in.
    fn set_function_attribute(&'static self, _: &Kernel, _: c_uint, _: c_int) -> Outcome {
        Ok(())
    }

    fn set_cache(&'static self, _: &Kernel, _: c_uint) -> Outcome {
        Ok(())
    }

    /// A block runs on one CPU.
    fn occupancy(&'static self, kernel: &Kernel, block: Block, _: c_uint) -> Outcome<c_int> {
        let shared = u64::try_from(block.shared).unwrap_or(u64::MAX);
        let fits =
            (1..=MAX_THREADS).contains(&block.threads) && shared <= host_kernel(kernel)?.max_shared_memory();
        Ok(c_int::from(fits))
    }

    unsafe fn launch(
        &'static self,
        kernel: &Kernel,
        configuration: &Configuration,
        arguments: *mut *mut c_void,
    ) -> Outcome {
        let range = configuration.range(MAX_THREADS)?;
        if graph::is_capturing(configuration.stream) {
            // SAFETY: by the contract.
            let launch = unsafe { KeptLaunch::new(kernel, range, arguments) }?;
            // SAFETY: the stream captures.
            return unsafe { graph::run_or_keep(configuration.stream, Operation::Launch(launch)) };
        }
        // SAFETY: by the contract.
        unsafe { host_kernel(kernel)?.launch_with_pointers(&range, arguments) }
            .map_err(|problem| launch_failure(kernel, problem))
    }

    /// Kernels that wait for the whole grid have no image for the CPU, and others do not notice.
    unsafe fn launch_cooperative(
        &'static self,
        kernel: &Kernel,
        configuration: &Configuration,
        arguments: *mut *mut c_void,
    ) -> Outcome {
        // SAFETY: the contract is the same.
        unsafe { self.launch(kernel, configuration, arguments) }
    }

    fn result_name(&'static self, _: CudaError) -> Option<String> {
        None
    }

    fn result_text(&'static self, _: CudaError) -> Option<String> {
        None
    }
}

/// # Safety
/// An array is one of `create_array`.
unsafe fn elements(source: &TextureSource) -> TextureMemory {
    let format = source.format;
    let size = format.element_size();
    match source.elements {
        TextureElements::Array { array, form } => {
            // SAFETY: by the contract.
            let HostArray { memory, .. } = unsafe { &*array.cast::<HostArray>() };
            let Extent { width, height, depth } = form.extent;
            // The layers of rows are rows.
            let extent = if height == 0 && depth > 0 {
                [width, depth, 1]
            } else {
                [width, height.max(1), depth.max(1)]
            };
            let slice_pitch = form.row().saturating_mul(form.rows());
            TextureMemory { start: memory.address(), extent, format, row_pitch: form.row(), slice_pitch }
        }
        TextureElements::Linear { start, size: bytes } => {
            let width = bytes.checked_div(size).unwrap_or(0);
            TextureMemory {
                start: start.cast(),
                extent: [width, 1, 1],
                format,
                row_pitch: bytes,
                slice_pitch: bytes,
            }
        }
        TextureElements::Pitched { start, width, height, pitch } => TextureMemory {
            start: start.cast(),
            extent: [width, height, 1],
            format,
            row_pitch: pitch,
            slice_pitch: pitch.saturating_mul(height),
        },
    }
}

/// The number that kernels take.
fn keep(texture: TextureObject) -> u64 {
    let texture = Box::new(texture);
    let number = texture.number();
    TEXTURES.lock().unwrap_or_else(PoisonError::into_inner).insert(number, texture);
    number
}

fn check_device(number: c_int) -> Outcome {
    if number == 0 {
        return Ok(());
    }
    Err(Failure::new(INVALID_DEVICE, format!("there is no device {number}: the CPU is device 0")))
}

/// Attributes by the numbers of `cudaDeviceAttr`
/// (<https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html>).
fn attribute_value(attribute: c_uint) -> Option<c_int> {
    Some(match attribute {
        // Threads of a block, in all and by dimension, and of a multiprocessor.
        1..=3 | 39 => MAX_THREADS,
        4 => 64,
        // Blocks of a grid by dimension.
        5 => c_int::MAX,
        6 | 7 => 65535,
        // Shared memory of a block without an opt-in.
        8 => 48 << 10,
        // Constant memory.
        9 => 64 << 10,
        // Lanes of a warp.
        10 => 32,
        // Registers of a block and of a multiprocessor, which sources divide by.
        12 | 82 => 65536,
        // Multiprocessors.
        16 => std::thread::available_parallelism().map_or(1, |count| number(count.get() as u64)),
        // MaxPitch.
        11 => c_int::MAX,
        // The alignment of rows, textures and surfaces.
        14 | 30 => 512,
        // Integrated, CanMapHostMemory, UnifiedAddressing, ManagedMemory, CooperativeLaunch.
        18 | 19 | 41 | 83 | 95 => 1,
        // HostNativeAtomicSupported, PageableMemoryAccess, ConcurrentManagedAccess, CanUseHostPointerForRegisteredMem,
        // HostRegisterSupported, PageableMemoryAccessUsesHostPageTables, DirectManagedMemAccessFromHost,
        // MaxBlocksPerMultiprocessor, MemoryPoolsSupported.
        86 | 88 | 89 | 91 | 99..=101 | 106 | 115 => 1,
        // KernelExecTimeout, ComputeMode, ConcurrentKernels.
        17 | 20 | 31 => 0,
        // Frequencies, the width of a bus, caches, engines for copies, EccEnabled, the address on PCI, TccDriver: the CPU has
        // none, or none that is known.
        13 | 15 | 32..=38 | 40 | 50 => 0,
        // Priorities of streams, caches, boards, ComputePreemptionSupported, CooperativeMultiDeviceLaunch, windows of
        // caches, reserved shared memory, clusters.
        78..=80 | 84 | 85 | 90 | 96 | 108 | 109 | 111 | 120 => 0,
        // SingleToDoublePrecisionPerfRatio.
        87 => 2,
        // The compute capability of `__CUDA_ARCH__`, unless the module says otherwise.
        75 => 8,
        76 => 0,
        // Shared memory of a multiprocessor, and of a block with an opt-in.
        81 | 97 => 227 << 10,
        _ => return None,
    })
}

fn number(value: u64) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}

fn allocate(size: usize, kind: c_uint) -> Outcome<*mut c_void> {
    let memory = HostMemory::for_buffer(size)
        .map_err(|problem| Failure::with_error(MEMORY_ALLOCATION, Error::from_device("host CPU", problem)))?;
    let address: *mut c_void = memory.address().cast();
    let mut allocations = ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    allocations.insert(address.addr(), Allocation { memory, size, kind });
    Ok(address)
}

/// The memory at this address, which callers have no more.
fn take_allocation(memory: *mut c_void) -> Outcome<HostMemory> {
    let mut allocations = ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = allocations.remove(&memory.addr()).map(|allocation| allocation.memory);
    taken.ok_or_else(|| Failure::new(INVALID_VALUE, format!("{memory:?} was not allocated on the CPU")))
}

fn launch_failure(kernel: &Kernel, problem: Problem) -> Failure {
    let is_assertion = problem.text.starts_with(ASSERTION);
    let error = Error::from_launch(&kernel.info().name, problem);
    if is_assertion { Failure::with_error(ASSERT, error) } else { Failure::from(error) }
}

fn host_kernel(kernel: &Kernel) -> Outcome<&HostKernel> {
    let kernel = downcast::<HostKernel>(&**kernel.backend())
        .map_err(|problem| Error::from_device("host CPU", problem))?;
    Ok(kernel)
}

/// # Safety
/// `event` is one of this back end.
unsafe fn recorded(event: EventHandle) -> Outcome<Instant> {
    // SAFETY: by the contract.
    let HostEvent(recorded) = unsafe { &*event.cast() };
    let recorded = *recorded.lock().unwrap_or_else(PoisonError::into_inner);
    recorded.ok_or_else(|| Failure::new(INVALID_HANDLE, "the event was not recorded"))
}

/// Bytes of the pages that the system counts under `name`.
fn pages(name: c_int) -> Outcome<usize> {
    let count = system_value(name)?;
    let size = system_value(libc::_SC_PAGESIZE)?;
    Ok(count.saturating_mul(size))
}

fn system_value(name: c_int) -> Outcome<usize> {
    // SAFETY: the function reads a number of the system.
    let value = unsafe { libc::sysconf(name) };
    usize::try_from(value).map_err(|_| Failure::new(NOT_SUPPORTED, "the system does not tell its memory"))
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn memory_is_released_once() {
        let platform = platform();
        let memory = platform.allocate(16).unwrap();
        // SAFETY: the memory is this test's own.
        unsafe {
            platform.fill_in_order(Fill { to: memory, value: 7, size: 16 }, ptr::null_mut()).unwrap();
            assert_eq!(memory.cast::<u8>().add(15).read(), 7);
            platform.free(memory).unwrap();
            assert!(platform.free(memory).is_err());
        }
    }

    #[test]
    fn time_passes_between_recorded_events_alone() {
        let platform = platform();
        let start = platform.create_event(0).unwrap();
        let end = platform.create_event(0).unwrap();
        // SAFETY: the events are this test's own.
        unsafe {
            assert!(platform.elapsed_time(start, end).is_err());
            platform.record_event(start, stream()).unwrap();
            platform.record_event(end, stream()).unwrap();
            assert!(platform.elapsed_time(start, end).unwrap() >= 0.0);
            platform.destroy_event(start).unwrap();
            platform.destroy_event(end).unwrap();
        }
    }
}
