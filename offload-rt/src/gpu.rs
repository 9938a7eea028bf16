//! The back end that CUDA and HIP share, generic over the table of a library's functions.
//!
//! HIP's runtime mirrors CUDA's driver: its objects, its ordering rules and most of its numbers, under other names. So
//! contexts, streams, events, memory, modules and launches are written once, over [`DriverApi`]. `cuda` and `hip`
//! implement it, and keep what is particular to a library: the search for it, devices and their limits, the loading of
//! images, checks of arguments, and hints for errors.

mod api;
mod array;
mod context;
mod device;
mod device_pool;
mod driver_module;
mod error;
mod event;
mod external;
mod function;
mod graph;
mod handles;
mod host_function;
mod image;
#[cfg(unix)]
mod imported;
#[cfg(feature = "dlpack")]
mod interchange;
mod kernel;
mod kernels;
mod library;
mod limits;
mod managed;
mod memory;
mod module;
mod parameters;
mod peers;
mod pinned;
mod pool;
mod raw;
mod retired;
mod retired_list;
mod stream;
mod stream_handle;
mod stream_users;

pub(crate) use self::api::{
    ArgumentCheck, CaptureInfo, DriverApi, NodeLaunch, PeerCopy, RawCallback, RawEvent, RawExternalMemory,
    RawExternalSemaphore, RawFunction, RawGraph, RawGraphExec, RawGraphNode, RawHostFunction, RawModule,
    RawStream, operations,
};
#[cfg(all(feature = "launchers", target_os = "linux"))]
pub(crate) use self::array::PitchedResource;
pub(crate) use self::array::{
    ArrayDescriptor, BoxCopy, CopyPlace, RawArray, ResourceDescriptor, TextureDescriptor,
};
pub(crate) use self::context::{Context, ContextApi, Entered};
pub(crate) use self::device::GpuDevice;
pub(crate) use self::error::{
    ApiError, ApiResult, INVALID_VALUE, ResultCode, ResultTexts, call, library_text,
};
#[cfg(test)]
pub(crate) use self::error::{NOT_FOUND, SUCCESS};
#[cfg(all(unix, feature = "hip"))]
pub(crate) use self::external::MEMORY_OPAQUE_FD;
pub(crate) use self::external::{
    MappedBufferDescriptor, MemoryHandleDescriptor, SemaphoreHandleDescriptor, SemaphoreParameters,
};
pub(crate) use self::handles::{adopt_memory, adopt_stream, own_kernel, own_memory, own_stream};
pub(crate) use self::library::{FunctionTable, function_address, function_table, function_type, open_first};
pub(crate) use self::limits::{Limits, Shape};
#[cfg(feature = "cudarc-0_19")]
pub(crate) use self::memory::GpuMemory;
pub(crate) use self::pool::{PoolAccess, PoolProperties, RawPool};
#[cfg(feature = "cuda")]
pub(crate) use self::raw::handles;
pub(crate) use self::retired::release_all;
pub(crate) use self::retired_list::Retired;
