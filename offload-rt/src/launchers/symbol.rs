//! Variables of kernels (`__constant__`, `__device__`), by what stands for them on the host.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::current::Current;
use super::failure::{CudaError, Failure, INVALID_SYMBOL, INVALID_VALUE, Outcome, returned};
use super::kernels::{self, LoadedVariable};
use super::memory;
use super::platform::StreamHandle;
use crate::backend::ImageVariable;
use crate::text::escape;

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
    let variable = variable(symbol)?;
    // SAFETY: by the contract.
    unsafe { *address = ptr::with_exposed_provenance_mut(variable.address) };
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
    let variable = variable(symbol)?;
    // SAFETY: by the contract.
    unsafe { *size = variable.size };
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
    let to = part.address(variable(symbol)?)?;
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
    stream: StreamHandle,
) -> CudaError {
    // SAFETY: the caller has this many bytes, until the stream has copied them.
    returned(unsafe { copy_to_in_order(symbol, from, Part { offset, size }, kind, stream) })
}

unsafe fn copy_to_in_order(
    symbol: *const c_void,
    from: *const c_void,
    part: Part,
    kind: c_int,
    stream: StreamHandle,
) -> Outcome {
    // SAFETY: by the contract.
    let to = part.address(unsafe { variable_for(symbol, stream) }?)?;
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
    let from = part.address(variable(symbol)?)?;
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
    stream: StreamHandle,
) -> CudaError {
    // SAFETY: the caller has room for this many bytes, until the stream has copied them.
    returned(unsafe { copy_from_in_order(to, symbol, Part { offset, size }, kind, stream) })
}

unsafe fn copy_from_in_order(
    to: *mut c_void,
    symbol: *const c_void,
    part: Part,
    kind: c_int,
    stream: StreamHandle,
) -> Outcome {
    // SAFETY: by the contract.
    let from = part.address(unsafe { variable_for(symbol, stream) }?)?;
    // SAFETY: by the contract; the part is within the variable.
    unsafe { memory::copy_in_order(to, from, part.size, kind, stream) }
}

impl Part {
    /// Where it is in `variable`.
    fn address(self, variable: ImageVariable) -> Outcome<*mut c_void> {
        let end = self.offset.checked_add(self.size);
        if end.is_none_or(|end| end > variable.size) {
            let problem = format!(
                "{} bytes from byte {} on are more than the variable has, which has {}",
                self.size, self.offset, variable.size
            );
            return Err(Failure::new(INVALID_VALUE, problem));
        }
        Ok(ptr::with_exposed_provenance_mut(variable.address.wrapping_add(self.offset)))
    }
}

/// The variable in the thread's context.
fn variable(symbol: *const c_void) -> Outcome<ImageVariable> {
    variable_in(&Current::for_thread()?, symbol)
}

/// The variable in the context of `stream`.
///
/// # Safety
/// That of [`Current::for_stream`].
unsafe fn variable_for(symbol: *const c_void, stream: StreamHandle) -> Outcome<ImageVariable> {
    // SAFETY: by the contract.
    variable_in(&unsafe { Current::for_stream(stream) }?, symbol)
}

fn variable_in(current: &Current, symbol: *const c_void) -> Outcome<ImageVariable> {
    let LoadedVariable { program, name } = kernels::variable(current, symbol)?;
    program
        .variable(name)?
        .ok_or_else(|| Failure::new(INVALID_SYMBOL, format!("no image has the variable `{}`", escape(name))))
}
