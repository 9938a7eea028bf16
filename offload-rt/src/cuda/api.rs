//! CUDA's driver interface as NVIDIA documents it (<https://docs.nvidia.com/cuda/cuda-driver-api/>): the functions of a
//! library that is opened at run time, and their types.
//!
//! Nothing here knows of packs and images, and no other crate's version of CUDA is in it: a program may use a driver crate
//! beside it. The modules above make objects of the handles, and release them.

mod device;
mod error;
mod library;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use self::device::DeviceId;
pub(crate) use self::library::{CudaApi, LIBRARY, functions};
pub(crate) use self::types::*;
use crate::gpu::{ApiError, ApiResult};

pub(crate) type CuError = ApiError<CudaApi>;
pub(crate) type CuResult<T> = ApiResult<T, CudaApi>;
