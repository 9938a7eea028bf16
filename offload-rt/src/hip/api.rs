//! HIP's runtime interface as AMD documents it (<https://rocm.docs.amd.com/projects/HIP/en/latest/reference/hip_runtime_api_reference.html>):
//! the functions of a library that is opened at run time, and their types.
//!
//! Nothing here knows of packs and images, and no header or crate of ROCm is needed. The modules above make objects of the
//! handles, and release them.

mod device;
mod error;
mod library;
mod properties;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use self::device::DeviceId;
pub(crate) use self::library::{HipApi, functions};
pub(super) use self::properties::Properties;
pub(crate) use self::types::*;
use crate::gpu::{ApiError, ApiResult};

pub(crate) type HipError = ApiError<HipApi>;
pub(crate) type HipResult<T> = ApiResult<T, HipApi>;
