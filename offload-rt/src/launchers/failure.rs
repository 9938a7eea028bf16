//! Failures: the number that a function of C returns, and the reason, which the thread keeps.

use std::cell::RefCell;
use std::ffi::c_int;

use crate::cuda::api::functions;
use crate::error::{Error, ErrorKind, Problem};
use crate::gpu::{ApiError, ResultTexts};

/// A `cudaError_t` (<https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html>). Numbers of the driver
/// are the same.
pub(super) type CudaError = c_int;

pub(super) const SUCCESS: CudaError = 0;
pub(super) const INVALID_VALUE: CudaError = 1;
pub(super) const MEMORY_ALLOCATION: CudaError = 2;
pub(super) const INVALID_CONFIGURATION: CudaError = 9;
pub(super) const INVALID_SYMBOL: CudaError = 13;
const INSUFFICIENT_DRIVER: CudaError = 35;
pub(super) const INVALID_DEVICE_FUNCTION: CudaError = 98;
pub(super) const NOT_READY: CudaError = 600;
const NO_DEVICE: CudaError = 100;
pub(super) const INVALID_DEVICE: CudaError = 101;
const INVALID_KERNEL_IMAGE: CudaError = 200;
const NO_KERNEL_IMAGE_FOR_DEVICE: CudaError = 209;
pub(super) const INVALID_HANDLE: CudaError = 400;
pub(super) const ILLEGAL_STATE: CudaError = 401;
const SYMBOL_NOT_FOUND: CudaError = 500;
pub(super) const ASSERT: CudaError = 710;
const LAUNCH_FAILURE: CudaError = 719;
pub(super) const NOT_SUPPORTED: CudaError = 801;
pub(super) const CAPTURE_UNSUPPORTED: CudaError = 900;
pub(super) const GRAPH_UPDATE_FAILURE: CudaError = 910;
const UNKNOWN: CudaError = 999;

/// Why a function failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    code: CudaError,
    error: Error,
}

pub(super) type Outcome<T = ()> = Result<T, Failure>;

#[derive(Debug, Default)]
struct LastFailure {
    /// What `cudaGetLastError` returns, and takes away.
    code: CudaError,
    /// The last failure of any function.
    kept: Option<Failure>,
}

thread_local! {
    /// CUDA's interface has an error for each thread.
    static LAST: RefCell<LastFailure> = RefCell::default();
}

/// The reason for the last failure of a function of CUDA's runtime in this thread, of which host functions return the
/// number alone: which images there are and why none fits the device, for instance.
///
/// It stays when `cudaGetLastError` takes the number.
pub fn last_error() -> Option<Error> {
    LAST.with_borrow(|last| last.kept.as_ref().map(|failure| failure.error.clone()))
}

impl Failure {
    pub(super) fn new(code: CudaError, problem: impl Into<String>) -> Failure {
        Failure { code, error: Error::device("launchers", problem) }
    }

    /// Whether an assertion of a kernel failed.
    pub(super) fn is_assertion(&self) -> bool {
        self.code == ASSERT
    }

    pub(super) fn into_error(self) -> Error {
        self.error
    }

    pub(super) fn with_error(code: CudaError, error: Error) -> Failure {
        Failure { code, error }
    }
}

/// Results of HIP have CUDA's numbers where CUDA has them.
impl<A: ResultTexts> From<ApiError<A>> for Failure {
    fn from(error: ApiError<A>) -> Failure {
        let code = match &error {
            ApiError::Code(code, _) => CudaError::try_from(*code).unwrap_or(UNKNOWN),
            ApiError::Lacks(..) => NOT_SUPPORTED,
        };
        Failure { code, error: Error::from_device(A::INTERFACE, Problem::from(error)) }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let code = match error.kind() {
            ErrorKind::NoFit => NO_KERNEL_IMAGE_FOR_DEVICE,
            ErrorKind::UnknownModule | ErrorKind::AmbiguousModule | ErrorKind::UnknownVariant => {
                NO_KERNEL_IMAGE_FOR_DEVICE
            }
            ErrorKind::UnknownKernel => SYMBOL_NOT_FOUND,
            ErrorKind::Image | ErrorKind::Library => INVALID_KERNEL_IMAGE,
            ErrorKind::NoDevice if functions().is_ok() => NO_DEVICE,
            ErrorKind::NoDevice => INSUFFICIENT_DRIVER,
            ErrorKind::Launch => LAUNCH_FAILURE,
            ErrorKind::Device => UNKNOWN,
        };
        Failure { code, error }
    }
}

/// What a function returns; a failure becomes the thread's last one.
pub(super) fn returned(outcome: Outcome) -> CudaError {
    let Err(failure) = outcome else { return SUCCESS };
    let code = failure.code;
    LAST.with_borrow_mut(|last| *last = LastFailure { code, kept: Some(failure) });
    code
}

/// As [`returned`], for a number that is an answer and no failure.
pub(super) fn answered(outcome: Outcome, answer: CudaError) -> CudaError {
    match outcome {
        Err(failure) if failure.code == answer => answer,
        outcome => returned(outcome),
    }
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaGetLastError() -> CudaError {
    LAST.with_borrow_mut(|last| std::mem::take(&mut last.code))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaPeekAtLastError() -> CudaError {
    LAST.with_borrow(|last| last.code)
}

/// The reason of the thread's last failure, if its number is `code`.
pub(super) fn last_reason(code: CudaError) -> Option<String> {
    LAST.with_borrow(|last| {
        let failure = last.kept.as_ref().filter(|failure| failure.code == code);
        failure.map(|failure| failure.error.to_string())
    })
}
