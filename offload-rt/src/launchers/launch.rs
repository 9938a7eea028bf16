//! Launches: the configuration between `<<<` and `>>>`, and the call that clang makes of a kernel's arguments.

use std::cell::RefCell;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use super::current::Current;
use super::failure::{CudaError, Failure, INVALID_CONFIGURATION, Outcome, returned};
use super::kernels;
use super::platform::StreamHandle;
use crate::launch::Kernel;
use crate::range::NdRange;
use crate::text::escape;

/// `dim3` of CUDA.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Dim3 {
    pub(super) x: c_uint,
    pub(super) y: c_uint,
    pub(super) z: c_uint,
}

/// The configuration of a launch that has blocks and threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Configuration {
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    /// Bytes of dynamic shared memory.
    pub(super) shared: c_uint,
    pub(super) stream: StreamHandle,
}

/// What is between `<<<` and `>>>`.
#[derive(Clone, Copy, Debug)]
struct GivenConfiguration {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: StreamHandle,
}

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
    unsafe { current.platform.launch(&kernel, &configuration, arguments) }
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
    unsafe { current.platform.launch_cooperative(&kernel, &configuration, arguments) }
}

impl GivenConfiguration {
    /// The configuration as back ends take it. Drivers have another number for a launch of nothing than CUDA's runtime,
    /// which programs ask for.
    fn check(&self, kernel: &str) -> Outcome<Configuration> {
        let GivenConfiguration { grid, block, shared, stream } = *self;
        if [grid.x, grid.y, grid.z, block.x, block.y, block.z].contains(&0) {
            let problem = format!("the launch of `{}` has no block or no thread: {self}", escape(kernel));
            return Err(Failure::new(INVALID_CONFIGURATION, problem));
        }
        let bytes = c_int::try_from(shared).ok().and_then(|bytes| c_uint::try_from(bytes).ok());
        match bytes {
            Some(shared) => Ok(Configuration { grid, block, shared, stream }),
            None => {
                let problem =
                    format!("the launch of `{}` wants too much shared memory: {self}", escape(kernel));
                Err(Failure::new(INVALID_CONFIGURATION, problem))
            }
        }
    }
}

impl Configuration {
    /// The range of work-items, if a block has at most `max_threads`.
    pub(super) fn range(&self, max_threads: c_int) -> Outcome<NdRange> {
        let block = self.block.sizes();
        let threads = block.iter().try_fold(1usize, |threads, size| threads.checked_mul(*size));
        if threads
            .and_then(|threads| c_int::try_from(threads).ok())
            .is_none_or(|threads| threads > max_threads)
        {
            let problem = format!("a block of {block:?} threads has more than {max_threads}");
            return Err(Failure::new(INVALID_CONFIGURATION, problem));
        }
        let mut global = self.grid.sizes();
        for (size, block) in global.iter_mut().zip(block) {
            *size = size.saturating_mul(block);
        }
        Ok(NdRange::new(global, block).with_shared_memory(self.shared))
    }
}

impl Dim3 {
    fn sizes(self) -> [usize; 3] {
        [self.x, self.y, self.z].map(|size| usize::try_from(size).unwrap_or(usize::MAX))
    }
}

impl std::fmt::Display for GivenConfiguration {
    /// As the source has it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let GivenConfiguration { grid, block, shared, .. } = self;
        write!(
            f,
            "<<<({}, {}, {}), ({}, {}, {}), {shared}>>>",
            grid.x, grid.y, grid.z, block.x, block.y, block.z
        )
    }
}
