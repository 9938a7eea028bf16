//! Buffers from and to tensors of other libraries, without a copy, by DLPack (<https://dmlc.github.io/dlpack/latest/>).
//!
//! NumPy, PyTorch, JAX, CuPy and others exchange tensors as pointers to [`DLManagedTensorVersioned`], or to
//! [`DLManagedTensor`] before DLPack 1.0. In Python these lie in capsules, whose names are `dltensor_versioned` and
//! `dltensor`; the consumer renames it to `used_dltensor_versioned` or `used_dltensor`
//! (<https://dmlc.github.io/dlpack/latest/python_spec.html>).
//!
//! The host CPU (`kDLCPU`), CUDA (`kDLCUDA`) and HIP (`kDLROCM`) have it. Tensors have no streams: the caller
//! orders the work of both libraries. [`Stream::synchronize`](crate::Stream::synchronize) is the plain way; the streams that Python's `__dlpack__(stream=...)` names are handed over by `cuda::raw` and `hip::raw`.
//!
//! ```
//! use offload_rt::{Device, dlpack};
//!
//! let device = Device::host();
//! let stream = device.stream()?;
//! let buffer = stream.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let tensor = dlpack::export(&device, buffer, &[2, 3])?;
//! // What another library does with it.
//! // SAFETY: the tensor is whole, and taken once.
//! let back = unsafe { dlpack::import::<f32>(&device, tensor)? };
//! assert_eq!(back.shape, [2, 3]);
//! assert_eq!(stream.download(&back.buffer)?[5], 6.0);
//! # Ok::<(), offload_rt::Error>(())
//! ```

mod managed;
mod tensor;

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use self::managed::{Exported, Imported, Managed};
pub use self::tensor::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
};
use crate::backend::BackendInterchange;
use crate::device::Device;
use crate::error::Error;
use crate::launch::{Buffer, Plain};

/// `kDLCUDAHost`, `kDLROCMHost`: memory of the program that a driver has locked.
const LOCKED: [i32; 2] = [3, 11];
/// `kDLCUDAManaged`.
const CUDA_MANAGED: i32 = 13;
const CPU: i32 = 1;
const CUDA: i32 = 2;

/// The element of a tensor.
pub trait Element: Plain {
    /// Its type.
    const DATA_TYPE: DLDataType;
}

macro_rules! elements {
    ($($element:ty: $code:literal,)*) => {$(
        impl Element for $element {
            const DATA_TYPE: DLDataType =
                DLDataType { code: $code, bits: 8 * size_of::<$element>() as u8, lanes: 1 };
        }
    )*};
}

// `kDLInt`, `kDLUInt` and `kDLFloat`.
elements! {
    i8: 0, i16: 0, i32: 0, i64: 0,
    u8: 1, u16: 1, u32: 1, u64: 1,
    f32: 2, f64: 2,
}

// `kDLFloat` and `kDLBfloat`.
#[cfg(feature = "half")]
elements! {
    half::f16: 2, half::bf16: 4,
}

/// A tensor of another library.
#[derive(Debug)]
#[non_exhaustive]
pub struct Tensor<T> {
    /// Its elements, in rows one after another. The other library has the memory again when this is dropped and the work of
    /// the device is done.
    pub buffer: Buffer<T>,
    /// A size for each dimension.
    pub shape: Vec<usize>,
}

/// Gives `buffer`, of `device`, to another library as a tensor of this shape. Its deleter drops the buffer.
///
/// # Errors
/// The shape has not as many elements, the buffer is of another device, or the device has no addresses that other libraries
/// can use, as those of OpenCL. The buffer is dropped then.
pub fn export<T: Element>(
    device: &Device,
    buffer: Buffer<T>,
    shape: &[usize],
) -> Result<NonNull<DLManagedTensorVersioned>, Error> {
    export_as(device, buffer, shape)
}

/// [`export`] for libraries before DLPack 1.0.
///
/// # Errors
/// As [`export`].
pub fn export_unversioned<T: Element>(
    device: &Device,
    buffer: Buffer<T>,
    shape: &[usize],
) -> Result<NonNull<DLManagedTensor>, Error> {
    export_as(device, buffer, shape)
}

/// Takes a tensor of another library, whose memory `device` uses. Its deleter is called when the buffer is dropped and the
/// work of the device is done.
///
/// # Errors
/// The tensor is of another major version, another device or another type of elements, is read only, or its rows do not lie
/// one after another. It is still the caller's then.
///
/// # Safety
/// `tensor` and what it refers to are as DLPack describes them, and nothing else calls its deleter. No other code uses the
/// memory at the same time, unless streams and events order them.
pub unsafe fn import<T: Element>(
    device: &Device,
    tensor: NonNull<DLManagedTensorVersioned>,
) -> Result<Tensor<T>, Error> {
    // SAFETY: the contract is the same.
    unsafe { import_as(device, tensor) }
}

/// [`import`] from libraries before DLPack 1.0.
///
/// # Errors
/// As [`import`].
///
/// # Safety
/// That of [`import`].
pub unsafe fn import_unversioned<T: Element>(
    device: &Device,
    tensor: NonNull<DLManagedTensor>,
) -> Result<Tensor<T>, Error> {
    // SAFETY: the contract is the same.
    unsafe { import_as(device, tensor) }
}

fn interchange(device: &Device) -> Result<&dyn BackendInterchange, Error> {
    let problem = "its memory has no addresses that other libraries can use";
    device.backend().interchange().ok_or_else(|| {
        Error::device(&device.to_string(), problem).with_hint("DLPack is for the host CPU, CUDA and HIP")
    })
}

fn export_as<T: Element, M: Managed>(
    device: &Device,
    buffer: Buffer<T>,
    shape: &[usize],
) -> Result<NonNull<M>, Error> {
    let failed = |problem| Error::from_device(&device.to_string(), problem);
    let backend = interchange(device)?;
    let memory = buffer.memory();
    if memory.context() != backend.memory_context().map_err(failed)? {
        return Err(Error::device(&device.to_string(), "the buffer is of another device"));
    }
    let len = buffer.len();
    if element_count(shape) != Some(len) {
        let problem = format!("a tensor of shape {shape:?} has not {len} elements");
        return Err(Error::device("device buffer", problem));
    }
    let data = backend.share(memory).map_err(failed)?;
    let [device_type, device_id] = backend.dlpack_device().map_err(failed)?;
    let tensor = DLTensor {
        data,
        device: DLDevice { device_type, device_id },
        ndim: 0,
        dtype: T::DATA_TYPE,
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    Ok(Exported::leak(tensor, shape, Box::new(buffer)))
}

/// # Safety
/// That of [`import`].
unsafe fn import_as<T: Element, M: Managed + 'static>(
    device: &Device,
    tensor: NonNull<M>,
) -> Result<Tensor<T>, Error> {
    let refused = |problem: String| Error::device("DLPack tensor", problem);
    let failed = |problem| Error::from_device(&device.to_string(), problem);
    let backend = interchange(device)?;
    // SAFETY: by the contract; of another version only what all have is read.
    let managed = unsafe { tensor.as_ref() };
    managed.check().map_err(refused)?;
    let described = managed.tensor();
    let [device_type, device_id] = backend.dlpack_device().map_err(failed)?;
    let own = DLDevice { device_type, device_id };
    if !is_memory_of(described.device, own) {
        let DLDevice { device_type, device_id } = described.device;
        let problem = format!(
            "it is of device type {device_type}, number {device_id}, and {device} is of type {}, number {}",
            own.device_type, own.device_id
        );
        return Err(refused(problem));
    }
    if described.dtype != T::DATA_TYPE {
        let problem = format!("its elements are {:?}, not {:?}", described.dtype, T::DATA_TYPE);
        return Err(refused(problem));
    }
    // SAFETY: by the contract.
    let shape = unsafe { rows(described) }.map_err(refused)?;
    let size = element_count(&shape).and_then(|count| count.checked_mul(size_of::<T>()));
    let Some(size) = size.filter(|size| isize::try_from(*size).is_ok()) else {
        return Err(refused(format!("shape {shape:?} is more memory than there can be")));
    };
    let data = first_element(described);
    if size > 0 && (data.is_null() || !data.cast::<T>().is_aligned()) {
        let problem = format!("its address {data:p} is not one of elements of {} bytes", size_of::<T>());
        return Err(refused(problem));
    }
    let len = size / size_of::<T>();
    let memory = backend.adopt(data, size, Arc::new(Imported::new(tensor))).map_err(failed)?;
    Ok(Tensor { buffer: Buffer::new(memory, len), shape })
}

fn is_memory_of(tensor: DLDevice, device: DLDevice) -> bool {
    match device.device_type {
        // The number of a CPU says nothing, and locked memory has that of its GPU.
        CPU => tensor.device_type == CPU || LOCKED.contains(&tensor.device_type),
        CUDA if tensor.device_type == CUDA_MANAGED => true,
        _ => tensor == device,
    }
}

fn first_element(tensor: &DLTensor) -> *mut c_void {
    tensor.data.wrapping_byte_add(usize::try_from(tensor.byte_offset).unwrap_or(usize::MAX))
}

/// The shape of a tensor whose rows lie one after another.
///
/// # Safety
/// There are as many sizes, and steps if there are any, as dimensions.
unsafe fn rows(tensor: &DLTensor) -> Result<Vec<usize>, String> {
    let count = usize::try_from(tensor.ndim).map_err(|_| format!("it has {} dimensions", tensor.ndim))?;
    let mut shape = Vec::with_capacity(count);
    for dimension in 0..count {
        // SAFETY: by the contract.
        let size = unsafe { tensor.shape.add(dimension).read() };
        shape.push(usize::try_from(size).map_err(|_| format!("a dimension has the size {size}"))?);
    }
    if tensor.strides.is_null() || shape.contains(&0) {
        return Ok(shape);
    }
    let mut step = 1i64;
    for (dimension, size) in shape.iter().enumerate().rev() {
        // SAFETY: by the contract.
        let stride = unsafe { tensor.strides.add(dimension).read() };
        if *size > 1 && stride != step {
            return Err(format!("its rows do not lie one after another: shape {shape:?}"));
        }
        step = step.saturating_mul(i64::try_from(*size).unwrap_or(i64::MAX));
    }
    Ok(shape)
}

fn element_count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1usize, |count, size| count.checked_mul(*size))
}

#[cfg(test)]
#[cfg(all(feature = "host", any(unix, windows)))]
mod tests;
