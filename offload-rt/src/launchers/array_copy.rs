//! Copies to and from arrays.
//!
//! Each is a copy of boxes in the order of a stream; what has no stream waits, as the default stream does. The kind of a
//! copy is checked and not needed, as for other [memory](super::memory).

use std::ffi::{c_int, c_void};
use std::ptr;

use super::array::form_of;
use super::current::Current;
use super::elements::{ArrayForm, ArrayHandle, Extent};
use super::failure::{CudaError, Failure, INVALID_VALUE, Outcome, returned};
use super::memory::check_kind;
use super::platform::StreamHandle;
use super::stream;
use crate::gpu::{BoxCopy, CopyPlace};

/// `cudaPos`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    x: usize,
    y: usize,
    z: usize,
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct PitchedPointer {
    start: *mut c_void,
    pitch: usize,
    width: usize,
    rows: usize,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy3d {
    from_array: ArrayHandle,
    from_position: Position,
    from: PitchedPointer,
    to_array: ArrayHandle,
    to_position: Position,
    to: PitchedPointer,
    extent: Extent,
    kind: c_int,
}

/// Where a copy begins in an array: bytes of a row, and the row.
#[derive(Clone, Copy, Debug)]
struct ArrayStart {
    array: ArrayHandle,
    x: usize,
    y: usize,
}

/// Rows in memory.
#[derive(Clone, Copy, Debug)]
struct Rows {
    start: *mut c_void,
    pitch: usize,
    /// Bytes of each.
    width: usize,
    height: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    ToArray,
    FromArray,
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpy2DToArray(
    to: ArrayHandle,
    x: usize,
    y: usize,
    from: *const c_void,
    pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> CudaError {
    let rows = Rows { start: from.cast_mut(), pitch, width, height };
    // SAFETY: the caller has these rows.
    returned(unsafe { copy_rows(ArrayStart { array: to, x, y }, rows, Direction::ToArray, kind) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpy2DToArrayAsync(
    to: ArrayHandle,
    x: usize,
    y: usize,
    from: *const c_void,
    pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: StreamHandle,
) -> CudaError {
    let rows = Rows { start: from.cast_mut(), pitch, width, height };
    let array = ArrayStart { array: to, x, y };
    // SAFETY: the caller has these rows, until the stream has copied them.
    returned(unsafe { copy_rows_in_order(array, rows, Direction::ToArray, kind, stream) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpy2DFromArray(
    to: *mut c_void,
    pitch: usize,
    from: ArrayHandle,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> CudaError {
    let rows = Rows { start: to, pitch, width, height };
    // SAFETY: the caller has room for these rows.
    returned(unsafe { copy_rows(ArrayStart { array: from, x, y }, rows, Direction::FromArray, kind) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpy2DFromArrayAsync(
    to: *mut c_void,
    pitch: usize,
    from: ArrayHandle,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: StreamHandle,
) -> CudaError {
    let rows = Rows { start: to, pitch, width, height };
    let array = ArrayStart { array: from, x, y };
    // SAFETY: the caller has room for these rows, until the stream has copied them.
    returned(unsafe { copy_rows_in_order(array, rows, Direction::FromArray, kind, stream) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpyToArray(
    to: ArrayHandle,
    x: usize,
    y: usize,
    from: *const c_void,
    size: usize,
    kind: c_int,
) -> CudaError {
    let array = ArrayStart { array: to, x, y };
    // SAFETY: the caller has so many bytes.
    returned(unsafe { copy_bytes(array, from.cast_mut(), size, Direction::ToArray, kind) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpyFromArray(
    to: *mut c_void,
    from: ArrayHandle,
    x: usize,
    y: usize,
    size: usize,
    kind: c_int,
) -> CudaError {
    let array = ArrayStart { array: from, x, y };
    // SAFETY: the caller has room for so many bytes.
    returned(unsafe { copy_bytes(array, to, size, Direction::FromArray, kind) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpy3D(copy: *const Copy3d) -> CudaError {
    // SAFETY: the caller has what the parameters name; null is the default stream.
    returned(unsafe { copy_3d(copy, ptr::null_mut()).and_then(|()| stream::synchronize(ptr::null_mut())) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpy3DAsync(
    copy: *const Copy3d,
    stream: StreamHandle,
) -> CudaError {
    // SAFETY: the caller has what the parameters name, until the stream has copied it.
    returned(unsafe { copy_3d(copy, stream) })
}

unsafe fn copy_rows(array: ArrayStart, rows: Rows, direction: Direction, kind: c_int) -> Outcome {
    // SAFETY: by the contract; null is the default stream.
    unsafe {
        copy_rows_in_order(array, rows, direction, kind, ptr::null_mut())?;
        stream::synchronize(ptr::null_mut())
    }
}

unsafe fn copy_rows_in_order(
    array: ArrayStart,
    rows: Rows,
    direction: Direction,
    kind: c_int,
    stream: StreamHandle,
) -> Outcome {
    check_kind(kind)?;
    form_of(array.array)?;
    let Rows { start, pitch, width, height } = rows;
    let outside = CopyPlace::Memory { address: address(start), row: pitch, rows: height };
    let inside = CopyPlace::Array { array: array.array.cast(), x_in_bytes: array.x, y: array.y, z: 0 };
    let (from, to) = match direction {
        Direction::ToArray => (outside, inside),
        Direction::FromArray => (inside, outside),
    };
    // SAFETY: by the contract.
    unsafe { copy(BoxCopy { from, to, width_in_bytes: width, height, depth: 1 }, stream) }
}

/// Rows one after the other, of which the first and the last may be parts.
unsafe fn copy_bytes(
    array: ArrayStart,
    start: *mut c_void,
    size: usize,
    direction: Direction,
    kind: c_int,
) -> Outcome {
    let row = form_of(array.array)?.row();
    let mut place = array;
    let mut done = 0usize;
    while done < size {
        let left = row.saturating_sub(place.x);
        let width = left.min(size.saturating_sub(done));
        if width == 0 {
            return Err(Failure::new(INVALID_VALUE, format!("byte {} is not in the array's rows", place.x)));
        }
        let rows = Rows { start: start.wrapping_byte_add(done), pitch: row, width, height: 1 };
        // SAFETY: by the contract; null is the default stream.
        unsafe { copy_rows_in_order(place, rows, direction, kind, ptr::null_mut()) }?;
        done = done.saturating_add(width);
        place = ArrayStart { x: 0, y: place.y.saturating_add(1), ..place };
    }
    // SAFETY: null is the default stream.
    unsafe { stream::synchronize(ptr::null_mut()) }
}

unsafe fn copy_3d(parameters: *const Copy3d, stream: StreamHandle) -> Outcome {
    // SAFETY: by the contract.
    let Some(parameters) = (unsafe { parameters.as_ref() }) else {
        return Err(Failure::new(INVALID_VALUE, "a copy has parameters, null is given"));
    };
    let Copy3d { from_array, from_position, from, to_array, to_position, to, extent, kind } = *parameters;
    check_kind(kind)?;
    let from_form = form_if_any(from_array)?;
    let to_form = form_if_any(to_array)?;
    // "If a CUDA array is participating in the copy, the extent is defined in terms of that array's elements."
    let element = from_form.or(to_form).map_or(1, |form| form.format.element_size());
    let copied = BoxCopy {
        from: place(from_array, from_form, from_position, from),
        to: place(to_array, to_form, to_position, to),
        width_in_bytes: extent.width.saturating_mul(element),
        height: extent.height,
        depth: extent.depth,
    };
    // SAFETY: by the contract.
    unsafe { copy(copied, stream) }
}

fn form_if_any(array: ArrayHandle) -> Outcome<Option<ArrayForm>> {
    if array.is_null() { Ok(None) } else { form_of(array).map(Some) }
}

/// A position in an array is in its elements, and one in memory in bytes.
fn place(array: ArrayHandle, form: Option<ArrayForm>, at: Position, memory: PitchedPointer) -> CopyPlace {
    let Position { x, y, z } = at;
    if let Some(form) = form {
        let x_in_bytes = x.saturating_mul(form.format.element_size());
        return CopyPlace::Array { array: array.cast(), x_in_bytes, y, z };
    }
    let row = z.saturating_mul(memory.rows).saturating_add(y);
    let start = memory.start.wrapping_byte_add(row.saturating_mul(memory.pitch).saturating_add(x));
    CopyPlace::Memory { address: address(start), row: memory.pitch, rows: memory.rows }
}

unsafe fn copy(copy: BoxCopy, stream: StreamHandle) -> Outcome {
    if copy.width_in_bytes == 0 || copy.height == 0 || copy.depth == 0 {
        return Ok(());
    }
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.copy_box_in_order(&copy, stream) }
}

fn address(memory: *mut c_void) -> u64 {
    memory.expose_provenance() as u64
}
