//! Finds, selects, decompresses and verifies the device images that `offload-build` put into the program.
//!
//! - [`include_kernels!`] brings in a crate's own kernels: a [`Module`] of images, and a struct with a typed method for
//!   each kernel;
//! - [`Registry`] lists every image: of this program, of all loaded libraries, or of a pack beside the program;
//! - [`ImageRequest`] asks for the images of a module, by variant and specialisation constants:
//!   [`select`](ImageRequest::select) picks the best image of each kernel for a [`Device`], or for the description of one,
//!   and lists the [`Candidate`]s with the [`Refusal`] of each other image; [`load`](ImageRequest::load) makes a [`Program`] of them, which has kernels;
//! - [`Device::stream`] makes a [`Stream`]: it keeps data on the device in [`Buffer`]s, and [`Kernel::launch`] puts work
//!   into it; [`Event`]s order streams and tell times;
//! - [`Stream::capture`] records work as a [`Graph`], which is launched as one; [`Stream::copy_from`] copies between devices,
//!   and [`Device::memory_pool`] limits what buffers come from;
//! - [`Device::managed`] makes memory that all devices of a driver and the program use in place; on Unix,
//!   `Device::import_buffer` takes memory of Vulkan and others, and `Buffer::export_dma_buf` gives it to them;
//! - [`Image`]s and [`Sampler`]s are those of OpenCL C, for kernels that take `image2d_t` and `sampler_t`;
//! - [`Entry::load`] decompresses one image, once, and checks it against its hash; [`Device::open`] hands it to a
//!   driver.
//!
//! Nothing runs before `main`. Finding packs reads their headers, and selecting the records of one kernel module.
//!
//! | feature | adds |
//! |---|---|
//! | `host` (default) | `host`: images for the program's own CPU run in this process, without a driver |
//! | `opencl` | `opencl`: OpenCL devices; the library is opened at run time |
//! | `cuda` | `cuda`: NVIDIA devices through CUDA's driver, which is opened at run time |
//! | `launchers` | `launchers`: what host functions of CUDA C++ with `<<<...>>>` call, which are linked into the program |
//! | `hip` | `hip`: AMD devices through HIP's runtime, which is opened at run time |
//! | `cudarc-0_19`, `opencl3-0_12` | conversions for the types of these crates, in `cuda::cudarc_0_19` and `opencl::opencl3_0_12` |
//! | `dlpack` | `dlpack`: buffers from and to tensors of other libraries, without a copy |
//! | `futures` | [`Stream::completion`] and [`Event::completion`] are futures for the end of work, for any executor |
//! | `half` | `half::f16` is an element of buffers and an argument of kernels, see [`Half`] |
//! | `libzstd` (default) | images are decompressed by zstd's own library, which needs a C compiler to build |
//! | `pure` | they are read by decoders in Rust: with `default-features = false`, no C compiler is needed |
//! | `archive` | images that were built with `compression = "archive"` can be read |
//! | `test` | `test` and `bench`: kernel tests and benchmarks that run on every device, for `[dev-dependencies]` |
//!
//! SYCLBIN files are launched by the crate [`offload-sycl`](https://docs.rs/offload-sycl), on the OpenCL devices of this one.
//!
//! ```
//! use offload_format::codec::{self, Codec};
//! use offload_format::pack::{NewImage, PackBuilder};
//! use offload_rt::{Device, DeviceDescription, OpenClDescription, Registry};
//!
//! // A pack as a build makes it.
//! let frame = codec::encode(b"kernel void f(global int *x) { x[0] = 1; }", Codec::Zstd, 3)?;
//! let mut builder = PackBuilder::new("my-crate", "0.1.0");
//! builder.image(NewImage::new("blas", "opencl-c".parse()?), frame.info())?;
//! let pack = builder.finish()?.with_frames([&frame])?;
//!
//! let registry = Registry::from_pack(pack);
//! let device = DeviceDescription::from(OpenClDescription::new("some GPU", "someone").opencl_c());
//! let selection = registry.request("blas").select(&device)?;
//! assert_eq!(selection.entry().target_text(), "opencl-c");
//! assert!(selection.entry().load()?.bytes().starts_with(b"kernel void"));
//!
//! let error = registry.request("blas").select(&Device::host()).unwrap_err();
//! assert!(error.to_string().contains("opencl-c: it is for an OpenCL device, not for the host CPU"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Processes that fork
//! First use images on one side of a `fork`: before it in the parent, or in the child alone. A child that is made while
//! another thread of its parent decodes an image or reads an index waits for that thread for ever, as it would for any
//! lock of the standard library. What was read before is there on both sides; GPU drivers survive no fork at all.
//!
//! # Unsafe code
//! It is in the modules `sections` (reading linked and loaded memory), `launch`, `module`, and
//! in the adapters `host`, `opencl`, `cuda`, `launchers`, `hip` and `dlpack`; everywhere else it is denied.
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(any(feature = "libzstd", feature = "pure", target_family = "wasm")))]
compile_error!(
    "offload-rt cannot read compressed images: enable its feature `libzstd`, as the default features do, or `pure`, which needs no C compiler"
);

#[cfg(feature = "test")]
pub mod bench;
#[cfg(feature = "cuda")]
#[allow(unsafe_code, reason = "calls the CUDA driver")]
pub mod cuda;
#[cfg(feature = "dlpack")]
#[allow(unsafe_code, reason = "shares memory with other libraries")]
pub mod dlpack;
#[cfg(feature = "hip")]
#[allow(unsafe_code, non_upper_case_globals, reason = "calls HIP's runtime, by its own names")]
pub mod hip;
#[cfg(all(feature = "host", any(unix, windows)))]
#[allow(unsafe_code, reason = "loads and calls native code")]
pub mod host;
#[cfg(feature = "opencl")]
pub mod opencl;

#[cfg(all(feature = "launchers", target_os = "linux"))]
#[allow(unsafe_code, reason = "is called from C, and calls the CUDA driver")]
pub mod launchers;

#[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
mod backend;
#[cfg(any(feature = "opencl", all(feature = "host", any(unix, windows))))]
mod block_pool;
mod cpu_properties;
mod description;
mod device;
mod devices;
#[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
mod driver_library;
mod entry;
mod error;
#[cfg(unix)]
mod external;
#[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
mod failures;
#[cfg(any(feature = "cuda", feature = "hip"))]
#[allow(unsafe_code, reason = "calls CUDA's driver and HIP's runtime")]
mod gpu;
mod group_size;
mod identity;
pub mod images;
mod index;
mod launch;
mod libraries;
mod macros;
#[allow(unsafe_code, reason = "takes the address of a linked symbol")]
mod module;
mod module_images;
#[cfg(any(feature = "cuda", feature = "hip"))]
mod output;
mod pack_info;
mod properties;
mod range;
mod recorded;
mod refusal;
mod registry;
mod request;
#[allow(unsafe_code, reason = "reads memory that the linker and the loader describe")]
mod sections;
mod select;
mod specialization;
#[cfg(any(feature = "cuda", feature = "hip", feature = "opencl", all(feature = "host", any(unix, windows))))]
mod structure;
#[cfg(feature = "test")]
pub mod test;
mod text;
mod variable;

pub use offload_format::codec::Codec;
pub use offload_format::pack::{ArgInfo, ArgKind, KernelInfo, MissingKind};
pub use offload_format::{
    Aspects, Hash128, HostLevel, ImageKind, Import, SpecConstant, SpecUse, SpecValue, SpirvVersion, Target,
    UnknownTarget, Variant,
};

pub use crate::backend::{KernelArg, PoolStatistics, StreamPriority};
pub use crate::description::{CudaDescription, DeviceDescription, HipDescription, OpenClDescription};
pub use crate::device::Device;
pub use crate::devices::{DeviceRequest, Devices};
pub use crate::entry::{Entry, LoadedImage};
pub use crate::error::{Error, ErrorKind};
#[cfg(unix)]
pub use crate::external::{ExternalMemory, ExternalMemoryKind, ExternalSemaphoreKind};
pub use crate::identity::{DeviceUuid, PciAddress, PciAddressError};
pub use crate::images::{
    AddressingMode, ChannelOrder, ChannelType, Coordinates, FilterMode, ImageFormat, TextureSettings,
};
pub use crate::index::{Missing, Unreadable};
#[cfg(feature = "futures")]
pub use crate::launch::Completion;
#[cfg(unix)]
pub use crate::launch::ExternalSemaphore;
pub use crate::launch::{
    Advice, Arg, Buffer, Event, ExportedBuffer, Graph, GraphPool, Half, Image, Image1d, Image1dArray,
    Image1dBuffer, Image2d, Image2dArray, Image3d, ImageSlice, ImageSliceMut, Kernel, Local, Managed,
    MemoryLocation, MemoryPool, Pinned, Plain, Program, Sampler, Slice, SliceMut, Stream, Surface, Texture,
    Transfer,
};
pub use crate::module::Module;
pub use crate::properties::{CacheSizes, DeviceProperties, KernelProperties};
pub use crate::range::{Dimensions, NdRange};
pub use crate::refusal::{Refusal, RefusedImage};
pub use crate::registry::Registry;
pub use crate::request::ImageRequest;
pub use crate::select::{Candidate, Outcome, Selection};
pub use crate::specialization::Specialization;

/// Items for the expansion of this crate's macros; not for direct use.
#[doc(hidden)]
pub mod __private {
    pub use crate::launch::{Bound, Extent, LoadedKernels};
    pub use crate::sections::included::{AlignedPack, IncludedPack, IncludedSlot};
}
