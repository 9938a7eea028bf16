//! SPIR-V modules: kernels, imports, exports, capabilities, and rewrites for drivers and SYCL runtimes.
//!
//! Layout and instruction numbers follow the SPIR-V specification, sections "Physical Layout of a SPIR-V Module and
//! Instruction" and "Binary Form" (<https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html>).
//!
//! ```
//! use offload_format::Limits;
//! use offload_images::spirv::Module;
//!
//! let truncated = [0x03, 0x02, 0x23, 0x07, 0, 0, 1, 0];
//! assert!(Module::parse(&truncated, &Limits::default()).is_err());
//! ```

mod definition;
mod drivers;
mod module;
mod printf;
mod rename;
mod stream;

pub use self::definition::{Definition, definition_at};
pub use self::drivers::with_portable_instructions;
pub use self::module::{EntryPoint, ExecutionMode, Generator, Module};
pub use self::printf::with_character_formats;
pub use self::rename::{with_added_entry_points, with_prefixed_kernels};

/// First word of every module.
pub const MAGIC: u32 = 0x0723_0203;
/// Size of the header in bytes.
pub const HEADER_SIZE: u64 = 20;

#[cfg(test)]
pub(crate) mod tests {
    pub(crate) const SAMPLE: &[u8] = include_bytes!("../../tests/data/saxpy-reduce.spv");
    pub(crate) const ASPECTS_SAMPLE: &[u8] = include_bytes!("../../tests/data/aspects.spv");
    pub(crate) const IMPORT: &[u8] = include_bytes!("../../tests/data/import.spv");
}
