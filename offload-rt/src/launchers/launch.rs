//! Launches: the configuration between `<<<` and `>>>`, and the call that clang makes of a kernel's arguments.

use std::cell::RefCell;
use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use super::configuration::{Configuration, Dim3, GivenConfiguration};
use super::current::Current;
use super::failure::{CudaError, Failure, INVALID_CONFIGURATION, Outcome, returned};
use super::kernels;
use crate::launch::Kernel;

thread_local! {
    /// A launch pushes its configuration before the arguments are evaluated, which may launch as well, and the kernel's
    /// function on the host takes it: clang's interface passes it on in no other way.
    static CONFIGURATIONS: RefCell<Vec<GivenConfiguration>> = const { RefCell::new(Vec::new()) };
}

/// Returns 0, for which the launch goes on.
#[unsafe(no_mangle)]
pub(super) extern "C" fn offload___cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: *mut c_void,
) -> c_uint {
    let configuration = GivenConfiguration { grid, block, shared, stream };
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
        *stream = configuration.stream;
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
    let configuration = GivenConfiguration { grid, block, shared, stream };
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
    let configuration = GivenConfiguration { grid, block, shared, stream };
    // SAFETY: as above.
    returned(unsafe { launch_cooperative(stub, configuration, arguments) })
}

/// A launch that only the back end may refuse.
struct Prepared {
    current: Current,
    kernel: Arc<Kernel>,
    configuration: Configuration,
}

impl Prepared {
    /// # Safety
    /// The stream is one of [`Current::for_stream`].
    unsafe fn new(stub: *const c_void, given: GivenConfiguration) -> Outcome<Prepared> {
        // SAFETY: by the contract.
        let current = unsafe { Current::for_stream(given.stream) }?;
        let kernel = kernels::kernel(&current, stub)?;
        let configuration = given.check(&kernel.info().name)?;
        Ok(Prepared { current, kernel, configuration })
    }
}

/// # Safety
/// `arguments` leads to the arguments of the kernel of `stub`, the stream is one of [`Current::for_stream`], and the kernel
/// stays within its memory.
unsafe fn launch(stub: *const c_void, given: GivenConfiguration, arguments: *mut *mut c_void) -> Outcome {
    // SAFETY: by the contract.
    let Prepared { current, kernel, configuration } = unsafe { Prepared::new(stub, given) }?;
    // SAFETY: by the contract; the kernel is loaded in the current context.
    let launched = unsafe { current.platform.launch(&kernel, &configuration, arguments) };
    remember_assertion(&current, launched)
}

/// # Safety
/// As that of [`launch`].
unsafe fn launch_cooperative(
    stub: *const c_void,
    given: GivenConfiguration,
    arguments: *mut *mut c_void,
) -> Outcome {
    // SAFETY: by the contract.
    let Prepared { current, kernel, configuration } = unsafe { Prepared::new(stub, given) }?;
    // SAFETY: by the contract; the kernel is loaded in the current context.
    let launched = unsafe { current.platform.launch_cooperative(&kernel, &configuration, arguments) };
    remember_assertion(&current, launched)
}

/// The CPU runs a kernel during the call: an assertion fails the launch, and as on a GPU the next wait too.
fn remember_assertion(current: &Current, launched: Outcome) -> Outcome {
    if let Err(failure) = &launched
        && failure.is_assertion()
    {
        kernels::context(current)?.remember_failure(failure);
    }
    launched
}
