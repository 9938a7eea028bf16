//! Launches: the configuration between `<<<` and `>>>`, and the call that clang makes of a kernel's arguments.

use std::cell::RefCell;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use super::context::Current;
use super::failure::{CudaError, Failure, INVALID_CONFIGURATION, Outcome, returned};
use super::kernels;
use crate::cuda::api::{CUfunction, CUstream};
use crate::gpu::call;
use crate::text::escape;

/// `dim3` of CUDA.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Dim3 {
    x: c_uint,
    y: c_uint,
    z: c_uint,
}

#[derive(Clone, Copy, Debug)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: CUstream,
}

thread_local! {
    /// A launch pushes its configuration before the arguments are evaluated, which may launch as well, and the kernel's
    /// function on the host takes it: clang's interface passes it on in no other way.
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Returns 0, for which the launch goes on.
#[unsafe(no_mangle)]
pub(super) extern "C" fn offload___cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: *mut c_void,
) -> c_uint {
    let configuration = Configuration { grid, block, shared, stream: stream.cast() };
    CONFIGURATIONS.with_borrow_mut(|all| all.push(configuration));
    0
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload___cudaPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    shared: *mut usize,
    stream: *mut *mut c_void,
) -> CudaError {
    let Some(configuration) = CONFIGURATIONS.with_borrow_mut(Vec::pop) else {
        let problem = "a kernel's function on the host was called without `<<<...>>>`";
        return returned(Err(Failure::new(INVALID_CONFIGURATION, problem)));
    };
    // SAFETY: clang passes places of these types.
    unsafe {
        *grid = configuration.grid;
        *block = configuration.block;
        *shared = configuration.shared;
        *stream = configuration.stream.cast();
    }
    returned(Ok(()))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaLaunchKernel(
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: *mut c_void,
) -> CudaError {
    let configuration = Configuration { grid, block, shared, stream: stream.cast() };
    // SAFETY: the caller answers for the kernel and its arguments.
    returned(unsafe { launch(stub, configuration, arguments) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaLaunchCooperativeKernel(
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: *mut c_void,
) -> CudaError {
    let configuration = Configuration { grid, block, shared, stream: stream.cast() };
    // SAFETY: as above.
    returned(unsafe { launch_cooperative(stub, configuration, arguments) })
}

/// A launch that only the driver may refuse.
struct Prepared {
    current: Current,
    function: CUfunction,
    shared: c_uint,
}

impl Prepared {
    /// # Safety
    /// The stream is one of CUDA.
    unsafe fn new(stub: *const c_void, configuration: Configuration) -> Outcome<Prepared> {
        // SAFETY: by the contract.
        let current = unsafe { Current::for_stream(configuration.stream) }?;
        let kernel = kernels::kernel(&current, stub)?;
        let shared = configuration.check(kernel.name())?;
        let function = kernel.raw()?;
        Ok(Prepared { current, function, shared })
    }
}

/// # Safety
/// `arguments` leads to the arguments of the kernel of `stub`, the stream is one of CUDA, and the kernel stays within
/// its memory.
unsafe fn launch(stub: *const c_void, configuration: Configuration, arguments: *mut *mut c_void) -> Outcome {
    let Configuration { grid: Dim3 { x, y, z }, block, stream, .. } = configuration;
    // SAFETY: by the contract.
    let Prepared { current, function, shared } = unsafe { Prepared::new(stub, configuration) }?;
    let extra = ptr::null_mut();
    // SAFETY: by the contract; the kernel's module is loaded in the current context.
    Ok(unsafe {
        call!(
            current.api(),
            cuLaunchKernel(function, x, y, z, block.x, block.y, block.z, shared, stream, arguments, extra)
        )
    }?)
}

/// # Safety
/// As that of [`launch`].
unsafe fn launch_cooperative(
    stub: *const c_void,
    configuration: Configuration,
    arguments: *mut *mut c_void,
) -> Outcome {
    let Configuration { grid: Dim3 { x, y, z }, block, stream, .. } = configuration;
    // SAFETY: by the contract.
    let Prepared { current, function, shared } = unsafe { Prepared::new(stub, configuration) }?;
    // SAFETY: by the contract; the kernel's module is loaded in the current context.
    Ok(unsafe {
        call!(
            current.api(),
            cuLaunchCooperativeKernel(
                function, x, y, z, block.x, block.y, block.z, shared, stream, arguments
            )
        )
    }?)
}

impl Configuration {
    /// The bytes of shared memory as the driver takes them. It has another number for a launch of nothing than CUDA's
    /// runtime, which programs ask for.
    fn check(&self, kernel: &str) -> Outcome<c_uint> {
        let Dim3 { x, y, z } = self.grid;
        let block = self.block;
        if [x, y, z, block.x, block.y, block.z].contains(&0) {
            let problem = format!("the launch of `{}` has no block or no thread: {self}", escape(kernel));
            return Err(Failure::new(INVALID_CONFIGURATION, problem));
        }
        c_int::try_from(self.shared).ok().and_then(|bytes| c_uint::try_from(bytes).ok()).ok_or_else(|| {
            let problem = format!("the launch of `{}` wants too much shared memory: {self}", escape(kernel));
            Failure::new(INVALID_CONFIGURATION, problem)
        })
    }
}

impl std::fmt::Display for Configuration {
    /// As the source has it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Configuration { grid, block, shared, .. } = self;
        write!(
            f,
            "<<<({}, {}, {}), ({}, {}, {}), {shared}>>>",
            grid.x, grid.y, grid.z, block.x, block.y, block.z
        )
    }
}
