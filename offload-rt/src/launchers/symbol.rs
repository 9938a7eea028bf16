//! Variables of kernels (`__constant__`, `__device__`), by what stands for them on the host.

use std::ffi::{CString, c_int, c_void};
use std::ptr;

use super::context::Current;
use super::failure::{CudaError, Failure, INVALID_SYMBOL, INVALID_VALUE, Outcome, returned};
use super::kernels::{self, LoadedVariable};
use super::memory;
use crate::cuda::api::CUstream;
use crate::gpu::call;

/// Where a variable is.
#[derive(Clone, Copy, Debug)]
struct Place {
    address: usize,
    size: usize,
}

/// A part of a variable, in bytes.
#[derive(Clone, Copy, Debug)]
struct Part {
    offset: usize,
    size: usize,
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGetSymbolAddress(
    address: *mut *mut c_void,
    symbol: *const c_void,
) -> CudaError {
    // SAFETY: the caller has a place for the pointer.
    returned(unsafe { get_address(address, symbol) })
}

unsafe fn get_address(address: *mut *mut c_void, symbol: *const c_void) -> Outcome {
    let place = place(symbol)?;
    // SAFETY: by the contract.
    unsafe { *address = ptr::with_exposed_provenance_mut(place.address) };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGetSymbolSize(
    size: *mut usize,
    symbol: *const c_void,
) -> CudaError {
    // SAFETY: the caller has a place for the number.
    returned(unsafe { get_size(size, symbol) })
}

unsafe fn get_size(size: *mut usize, symbol: *const c_void) -> Outcome {
    let place = place(symbol)?;
    // SAFETY: by the contract.
    unsafe { *size = place.size };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpyToSymbol(
    symbol: *const c_void,
    from: *const c_void,
    size: usize,
    offset: usize,
    kind: c_int,
) -> CudaError {
    // SAFETY: the caller has this many bytes.
    returned(unsafe { copy_to(symbol, from, Part { offset, size }, kind) })
}

unsafe fn copy_to(symbol: *const c_void, from: *const c_void, part: Part, kind: c_int) -> Outcome {
    let to = place(symbol)?.part(part)?;
    // SAFETY: by the contract; the part is within the variable.
    unsafe { memory::copy(to, from, part.size, kind) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpyToSymbolAsync(
    symbol: *const c_void,
    from: *const c_void,
    size: usize,
    offset: usize,
    kind: c_int,
    stream: CUstream,
) -> CudaError {
    // SAFETY: the caller has this many bytes, until the stream has copied them.
    returned(unsafe { copy_to_in_order(symbol, from, Part { offset, size }, kind, stream) })
}

unsafe fn copy_to_in_order(
    symbol: *const c_void,
    from: *const c_void,
    part: Part,
    kind: c_int,
    stream: CUstream,
) -> Outcome {
    // SAFETY: by the contract.
    let to = unsafe { place_for(symbol, stream) }?.part(part)?;
    // SAFETY: by the contract; the part is within the variable.
    unsafe { memory::copy_in_order(to, from, part.size, kind, stream) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpyFromSymbol(
    to: *mut c_void,
    symbol: *const c_void,
    size: usize,
    offset: usize,
    kind: c_int,
) -> CudaError {
    // SAFETY: the caller has room for this many bytes.
    returned(unsafe { copy_from(to, symbol, Part { offset, size }, kind) })
}

unsafe fn copy_from(to: *mut c_void, symbol: *const c_void, part: Part, kind: c_int) -> Outcome {
    let from = place(symbol)?.part(part)?;
    // SAFETY: by the contract; the part is within the variable.
    unsafe { memory::copy(to, from, part.size, kind) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpyFromSymbolAsync(
    to: *mut c_void,
    symbol: *const c_void,
    size: usize,
    offset: usize,
    kind: c_int,
    stream: CUstream,
) -> CudaError {
    // SAFETY: the caller has room for this many bytes, until the stream has copied them.
    returned(unsafe { copy_from_in_order(to, symbol, Part { offset, size }, kind, stream) })
}

unsafe fn copy_from_in_order(
    to: *mut c_void,
    symbol: *const c_void,
    part: Part,
    kind: c_int,
    stream: CUstream,
) -> Outcome {
    // SAFETY: by the contract.
    let from = unsafe { place_for(symbol, stream) }?.part(part)?;
    // SAFETY: by the contract; the part is within the variable.
    unsafe { memory::copy_in_order(to, from, part.size, kind, stream) }
}

impl Place {
    fn part(self, part: Part) -> Outcome<*mut c_void> {
        let end = part.offset.checked_add(part.size);
        if end.is_none_or(|end| end > self.size) {
            let problem = format!(
                "{} bytes from byte {} on are more than the variable has, which has {}",
                part.size, part.offset, self.size
            );
            return Err(Failure::new(INVALID_VALUE, problem));
        }
        Ok(ptr::with_exposed_provenance_mut(self.address.wrapping_add(part.offset)))
    }
}

/// The variable in the thread's context.
fn place(symbol: *const c_void) -> Outcome<Place> {
    place_in(&Current::for_thread()?, symbol)
}

/// The variable in the context of `stream`, which is one of CUDA.
unsafe fn place_for(symbol: *const c_void, stream: CUstream) -> Outcome<Place> {
    // SAFETY: by the contract.
    place_in(&unsafe { Current::for_stream(stream) }?, symbol)
}

fn place_in(current: &Current, symbol: *const c_void) -> Outcome<Place> {
    let LoadedVariable { program, name } = kernels::variable(current, symbol)?;
    let name = CString::new(name).map_err(|_| Failure::new(INVALID_VALUE, "the name has a NUL"))?;
    for module in program.raw_modules()? {
        let mut address = 0;
        let mut size = 0;
        // SAFETY: the module is loaded in the current context; the function writes two numbers.
        let found = unsafe {
            call!(
                current.api(),
                cuModuleGetGlobal_v2(&raw mut address, &raw mut size, module.cast(), name.as_ptr())
            )
        };
        if found.is_ok() {
            return Ok(Place { address: usize::try_from(address).unwrap_or(0), size });
        }
    }
    Err(Failure::new(INVALID_SYMBOL, format!("no image has the variable `{}`", name.to_string_lossy())))
}
