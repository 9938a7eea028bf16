//! The structures of `dlpack.h` 1.x, by its names (<https://dmlc.github.io/dlpack/latest/c_api.html>).

use std::ffi::c_void;

/// A change of the major version is one of the layout behind `flags`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// 1 here.
    pub major: u32,
    /// Of the numbers for devices and types.
    pub minor: u32,
}

/// A device.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// A `DLDeviceType`.
    pub device_type: i32,
    /// The number of the device among those that its driver shows.
    pub device_id: i32,
}

/// The type of an element.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// A `DLDataTypeCode`.
    pub code: u8,
    /// Bits of a number.
    pub bits: u8,
    /// Numbers of an element, 1 if it is no vector.
    pub lanes: u16,
}

/// A tensor, whose memory another structure manages.
#[repr(C)]
#[derive(Debug)]
pub struct DLTensor {
    /// An address of the device.
    pub data: *mut c_void,
    /// Where it lies.
    pub device: DLDevice,
    /// Dimensions.
    pub ndim: i32,
    /// The type of an element.
    pub dtype: DLDataType,
    /// A size for each dimension.
    pub shape: *mut i64,
    /// A step for each dimension, in elements; null for rows one after another.
    pub strides: *mut i64,
    /// Where the first element lies behind `data`.
    pub byte_offset: u64,
}

/// A tensor with its memory, in a capsule `dltensor_versioned` of Python.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// Of the producer.
    pub version: DLPackVersion,
    /// The producer's.
    pub manager_ctx: *mut c_void,
    /// Releases memory and structure.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// `DLPACK_FLAG_BITMASK_*`.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

/// A tensor with its memory before DLPack 1.0, in a capsule `dltensor` of Python.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The producer's.
    pub manager_ctx: *mut c_void,
    /// Releases memory and structure.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}
