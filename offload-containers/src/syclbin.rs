//! SYCLBIN: the file from which a SYCL program loads kernels.
//!
//! Follows the design document of the container
//! (<https://github.com/intel/llvm/blob/sycl/sycl/doc/design/SYCLBINDesign.md>). Written is the form that released
//! runtimes read: version 1 of the inner format in version 1 of LLVM's [OffloadBinary](crate::offload_binary). Read are
//! also envelopes of version 2, the inner format alone, and the draft of a second version, which has an entry of the
//! envelope for each piece.
//!
//! ```
//! use offload_format::Limits;
//! use offload_containers::syclbin::{ImageKindNumber, NewModule, State, parse, write};
//!
//! let module = NewModule::default().with_kernels(["__sycl_kernel_saxpy"])?.with_spirv(b"....");
//! let bytes = write(State::Executable, &[module], ImageKindNumber::default())?;
//! let file = parse(&bytes, &Limits::default())?;
//! assert_eq!(file.state()?, State::Executable);
//! assert_eq!(file.modules[0].kernels().collect::<Vec<_>>(), ["__sycl_kernel_saxpy"]);
//! # Ok::<(), offload_format::Error>(())
//! ```

mod base64;
mod draft;
mod file;
mod forms;
mod hazard;
mod names;
mod property;
mod read;
mod state;
mod tables;
mod write;

pub use self::file::{AbstractModule, Envelope, File, Payload};
pub use self::forms::Forms;
pub use self::hazard::{Consequence, Hazard, Problem, Release, Usage, hazards, hazards_of};
pub use self::names::{NativeTarget, native_target};
pub use self::property::{Property, PropertySets, PropertyValue};
pub use self::read::parse;
pub use self::state::{ImageKindNumber, State};
pub use self::tables::{RawHeader, RawModule, RawPayload};
pub use self::write::{Native, NewModule, Requirements, write};

/// First bytes of the inner format, as a little-endian number.
pub const MAGIC: u32 = 0x5359_4249;
/// The prefix under which a SYCL runtime looks for a kernel that is asked for by its plain name.
pub const KERNEL_PREFIX: &str = "__sycl_kernel_";

/// The sets of properties that this crate reads or writes; every other one passes through.
pub mod sets {
    /// About the file: `state`.
    pub const GLOBAL: &str = "SYCLBIN/global metadata";
    /// About an IR module: `type`, `target`.
    pub const IR: &str = "SYCLBIN/ir module metadata";
    /// About a native image: `arch`, `target`.
    pub const NATIVE: &str = "SYCLBIN/native device code image metadata";
    /// The kernels of a module.
    pub const KERNEL_NAMES: &str = "SYCL/kernel names";
    /// What a device must have.
    pub const REQUIREMENTS: &str = "SYCL/device requirements";
    /// Symbols that another module must define.
    pub const IMPORTED: &str = "SYCL/imported symbols";
    /// What the module defines for others.
    pub const EXPORTED: &str = "SYCL/exported symbols";
}
