//! SYCLBIN: the file from which a SYCL program loads kernels.
//!
//! Follows the design document of the container
//! (<https://github.com/intel/llvm/blob/sycl/sycl/doc/design/SYCLBINDesign.md>). The writer writes the form that released
//! runtimes read: version 1 of the inner format in version 1 of LLVM's [OffloadBinary](crate::offload_binary). The reader
//! also accepts envelopes of version 2, the inner format without an envelope, and the draft of version 2, which has one
//! envelope entry for each piece.
//!
//! ```
//! use offload_format::Limits;
//! use offload_containers::syclbin::{ImageKindNumber, NewModule, BundleState, parse, write};
//!
//! let module = NewModule::default().with_kernels(["__sycl_kernel_saxpy"])?.with_spirv(b"....");
//! let bytes = write(BundleState::Executable, &[module], ImageKindNumber::default())?;
//! let file = parse(&bytes, &Limits::default())?;
//! assert_eq!(file.state()?, BundleState::Executable);
//! assert_eq!(file.modules[0].kernels().collect::<Vec<_>>(), ["__sycl_kernel_saxpy"]);
//! # Ok::<(), offload_format::Error>(())
//! ```

mod base64;
mod draft;
mod file;
mod hazard;
mod module_images;
mod names;
mod property;
mod read;
mod state;
mod tables;
mod write;

pub use self::file::{AbstractModule, Envelope, File, Payload};
pub use self::hazard::{Consequence, Hazard, Problem, Release, Usage, hazards, hazards_of};
pub use self::module_images::ModuleImages;
pub use self::names::{NativeTarget, native_target};
pub use self::property::{Property, PropertySets, PropertyValue};
pub use self::read::parse;
pub use self::state::{BundleState, ImageKindNumber};
pub use self::tables::{RawHeader, RawModule, RawPayload};
pub use self::write::{NativeImage, NewModule, Requirements, write};

/// First bytes of the inner format, as a little-endian number.
pub const MAGIC: u32 = 0x5359_4249;
/// The prefix that a SYCL runtime adds to a kernel's plain name for the lookup.
pub const KERNEL_PREFIX: &str = "__sycl_kernel_";

/// The property sets that this crate reads or writes; others pass through.
pub mod sets {
    /// The metadata of the file: `state`.
    pub const GLOBAL: &str = "SYCLBIN/global metadata";
    /// The metadata of an IR module: `type`, `target`.
    pub const IR: &str = "SYCLBIN/ir module metadata";
    /// The metadata of a native image: `arch`, `target`.
    pub const NATIVE: &str = "SYCLBIN/native device code image metadata";
    /// The kernels of a module.
    pub const KERNEL_NAMES: &str = "SYCL/kernel names";
    /// The requirements on a device.
    pub const REQUIREMENTS: &str = "SYCL/device requirements";
    /// Imported symbols.
    pub const IMPORTED: &str = "SYCL/imported symbols";
    /// Exported symbols.
    pub const EXPORTED: &str = "SYCL/exported symbols";
}
