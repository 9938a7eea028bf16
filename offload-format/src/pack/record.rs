//! Decoded records of a pack: images, blocks, kernels, arguments, missing images.

use super::layout::{ARG_IS_CONST, KERNEL_ARGS_UNKNOWN, KERNEL_HAS_BARRIER, UNKNOWN};
use super::tables::{RecordRange, Tables, reference};
use crate::codec::{Codec, Filter};
use crate::open_enum;
use crate::{Aspects, Error, Hash128, ImageKind, OffloadKind, Target, UnknownTarget, bytes};

/// One device image of a pack.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Image<'a> {
    /// The kernel module, as named in build.rs.
    pub module: &'a str,
    /// The values of the module's variant, empty if it has none.
    pub variant: &'a str,
    /// The target's text; see [`Image::target`].
    pub target_text: &'a str,
    /// The format of the raw bytes.
    pub image_kind: ImageKind,
    /// The programming model that launches it.
    pub offload_kind: OffloadKind,
    /// The codec of its frame.
    pub codec: Codec,
    /// The reversible filter applied before compression.
    pub filter: Filter,
    /// The parent image in its delta chain, by index.
    pub parent: Option<u32>,
    /// The block that contains it, by index.
    pub block: Option<u32>,
    /// Offset of the frame in the payload in bytes; for an image in a block, its offset in the block's content.
    pub offset: u64,
    /// Size of the frame in bytes; for an image in a block the same as `raw_size`.
    pub stored_size: u64,
    /// Size of the image in bytes.
    pub raw_size: u64,
    /// Hash of the image.
    pub hash: Hash128,
    /// Version word of the image's own format: for SPIR-V that of its header, for PTX the same form (`0x00070800` is PTX
    /// 7.8), for a cubin the ABI version of its ELF header, for an AMD code object its version, with that of a
    /// generic processor in the second byte: `0x0106` is version 6 for version 1 of the processor.
    pub format_version: Option<u32>,
    /// The device aspects that it requires.
    pub aspects: Aspects,
    /// The part of a split module, empty if the image has all kernels.
    pub part: &'a str,
    /// The device libraries that are linked with it when it is loaded, in the form of
    /// [`Import::list`](crate::Import::list).
    pub imports: &'a str,
    /// The functions that it exports, separated by `,`; see [`Image::exported`].
    pub exports: &'a str,
    /// Its specialisation constants, in the form of [`SpecConstant::list`](crate::SpecConstant::list).
    pub spec: &'a str,
    /// Its number in the pack.
    pub number: u32,
    /// The page with its kernels.
    pub(super) page: Option<u32>,
    pub(super) first_kernel: u32,
    pub(super) kernel_count: u32,
    pub(super) first_details: u32,
}

impl<'a> Image<'a> {
    /// The exported functions. An image with exports is a device library.
    pub fn exported(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.exports.split(',').filter(|name| !name.is_empty())
    }

    /// The target, if this release knows it.
    ///
    /// # Errors
    /// [`UnknownTarget`] for one of a later release.
    pub fn target(&self) -> Result<Target, UnknownTarget> {
        self.target_text.parse()
    }
}

/// A block: a frame of several small images.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Block {
    /// Offset of the frame in the payload in bytes.
    pub offset: u64,
    /// Size of the frame in bytes.
    pub stored_size: u64,
    /// Size of the content in bytes: that of all images together.
    pub raw_size: u64,
    /// The codec of the frame.
    pub codec: Codec,
    /// None in this release: the images of a block have filters of their own.
    pub filter: Filter,
    /// The parent block, whose content is the prefix of this one, by index.
    pub parent: Option<u32>,
    /// Hash of the content.
    pub hash: Hash128,
}

/// The range of a frame in the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameRange {
    /// Offset from the start of the payload in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
}

/// One kernel of an image; `None` means "not known".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// The entry point.
    pub name: String,
    /// Its arguments, in order.
    pub args: Option<Vec<ArgInfo>>,
    /// `reqd_work_group_size`, if the source gives one.
    pub required_work_group: Option<[u32; 3]>,
    /// Required or compiled sub-group size.
    pub sub_group_size: Option<u32>,
    /// Registers in the architecture's own unit: GRFs of a hardware thread (Intel), VGPRs (AMD), registers (NVIDIA).
    pub registers: Option<u32>,
    /// Scalar registers (AMD's SGPRs).
    pub scalar_registers: Option<u32>,
    /// Accumulation registers (AMD's AGPRs).
    pub accumulator_registers: Option<u32>,
    /// Local (shared) memory in bytes.
    pub local_memory: Option<u64>,
    /// Private memory per work-item in bytes.
    pub private_memory: Option<u64>,
    /// Spilled bytes per work-item (AMD, NVIDIA) or hardware thread (Intel).
    pub spilled: Option<u64>,
    /// The largest work-group that the compiled kernel allows.
    pub max_work_group: Option<u32>,
    /// Whether the kernel may call `barrier`.
    pub has_barrier: bool,
    /// An optimisation remark of the build, for people; empty without one.
    pub remark: String,
}

/// A kernel's name and launch requirements, borrowed from the pack, for the selection of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelNeeds<'a> {
    /// The entry point.
    pub name: &'a str,
    /// As [`KernelInfo::required_work_group`].
    pub required_work_group: Option<[u32; 3]>,
    /// As [`KernelInfo::sub_group_size`].
    pub sub_group_size: Option<u32>,
}

impl KernelInfo {
    /// The kernel `name`; everything else is unknown.
    pub fn new(name: impl Into<String>) -> KernelInfo {
        KernelInfo { name: name.into(), ..KernelInfo::default() }
    }
}

impl ArgInfo {
    /// An argument of `kind`; everything else is unknown.
    pub fn new(kind: ArgKind) -> ArgInfo {
        ArgInfo {
            name: String::new(),
            type_name: String::new(),
            kind,
            size: None,
            base_type: String::new(),
            element_size: None,
            is_const: false,
        }
    }

    /// The same with its name and its type in the source.
    #[must_use]
    pub fn named(self, name: impl Into<String>, type_name: impl Into<String>) -> ArgInfo {
        ArgInfo { name: name.into(), type_name: type_name.into(), ..self }
    }

    /// The same with its size in bytes, if known.
    #[must_use]
    pub fn with_size(self, size: impl Into<Option<u32>>) -> ArgInfo {
        ArgInfo { size: size.into(), ..self }
    }

    /// The same with the size of its pointee in bytes.
    #[must_use]
    pub fn with_element_size(self, size: impl Into<Option<u32>>) -> ArgInfo {
        ArgInfo { element_size: size.into(), ..self }
    }

    /// The same with its type as [`ArgInfo::base_type`] has it.
    #[must_use]
    pub fn with_base_type(self, base_type: impl Into<String>) -> ArgInfo {
        ArgInfo { base_type: base_type.into(), ..self }
    }

    /// The same as a pointer to `const`, or as a `read_only` image.
    #[must_use]
    pub fn constant(self) -> ArgInfo {
        ArgInfo { is_const: true, ..self }
    }
}

open_enum! {
    /// The kind of a kernel argument.
    ArgKind {
        /// A scalar, vector or structure passed by value.
        Value = 0 => "value",
        /// A pointer to global memory.
        Global = 1 => "global",
        /// A pointer to constant memory.
        Constant = 2 => "constant",
        /// A pointer to local memory, sized at launch.
        Local = 3 => "local",
        /// An image.
        Image = 4 => "image",
        /// A sampler.
        Sampler = 5 => "sampler",
    }
}

impl ArgKind {
    /// Whether it is a pointer to a buffer.
    pub(super) fn points_to_elements(self) -> bool {
        matches!(self, ArgKind::Global | ArgKind::Constant)
    }
}

/// An argument of a [`KernelInfo`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgInfo {
    /// Its name in the source, empty if unknown.
    pub name: String,
    /// Its type in the source, empty if unknown.
    pub type_name: String,
    /// Its kind.
    pub kind: ArgKind,
    /// Size of a value in bytes, if known. A local argument of an AMD code object has size 8 if the kernel takes it as a
    /// byte offset into the dynamic local memory.
    pub size: Option<u32>,
    /// Its type, or the pointee type of a pointer, without typedefs and qualifiers, in OpenCL C's words (`float`, `uint4`,
    /// `struct particle`); empty if unknown.
    pub base_type: String,
    /// Size of the pointee of a pointer to global or constant memory in bytes, if known.
    pub element_size: Option<u32>,
    /// Whether it is a pointer to `const` or to constant memory, or an image that is `read_only`.
    pub is_const: bool,
}

open_enum! {
    /// The reason why images are missing from a pack.
    MissingKind {
        /// An optional target could not be built.
        Target = 1 => "skipped target",
        /// No kernel was compiled (documentation builds, lints, `OFFLOAD_SKIP`): all images are missing.
        Build = 2 => "skipped build",
        /// The images of a target were removed from the linked program.
        Pruned = 3 => "pruned",
        /// The images of a target are in a sidecar; the reason is the name of the file.
        Sidecar = 4 => "sidecar",
        /// A kernel that the images for a target have no code for; the reason is its name, `: ` and why.
        Kernel = 5 => "kernel left out",
        /// A kernel that the settings keep to other targets; the reason is its name, `: ` and which.
        KeptKernel = 6 => "kernel of other targets",
    }
}

/// Missing images of a pack, with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Missing<'a> {
    /// The kind of reason.
    pub kind: MissingKind,
    /// The kernel module.
    pub module: &'a str,
    /// The target, empty for all.
    pub target: &'a str,
    /// The reason, for people.
    pub reason: &'a str,
}

impl<'a> Missing<'a> {
    /// All targets of `module`, without a reason.
    pub fn new(kind: MissingKind, module: &'a str) -> Missing<'a> {
        Missing { kind, module, target: "", reason: "" }
    }

    /// The same for one target.
    #[must_use]
    pub fn with_target(self, target: &'a str) -> Missing<'a> {
        Missing { target, ..self }
    }

    /// The same with a reason.
    #[must_use]
    pub fn with_reason(self, reason: &'a str) -> Missing<'a> {
        Missing { reason, ..self }
    }
}

pub(super) fn block(record: &[u8]) -> Result<Block, Error> {
    const WHAT: &str = "the block record";
    Ok(Block {
        offset: bytes::u64_at(record, 0, WHAT)?,
        stored_size: bytes::u64_at(record, 8, WHAT)?,
        raw_size: bytes::u64_at(record, 16, WHAT)?,
        codec: Codec::from_u16(bytes::u16_at(record, 24, WHAT)?),
        filter: Filter::from_u16(bytes::u16_at(record, 26, WHAT)?),
        parent: reference(record, 28, WHAT)?,
        hash: Hash128(bytes::array(record, 32, WHAT)?),
    })
}

/// A kernel without its arguments, and the range of their records if they are known.
pub(super) struct KernelRecord {
    pub(super) kernel: KernelInfo,
    pub(super) args: Option<RecordRange>,
}

const KERNEL: &str = "the kernel record";
const DETAILS: &str = "the details of a kernel";

/// Offset of the text of the remark in the details of a kernel.
pub(super) const DETAILS_REMARK: u64 = 52;

/// The kernel with these `needs` and the details of `record`, whose texts are in `tables`.
pub(super) fn kernel(
    needs: &KernelNeeds<'_>,
    tables: &Tables<'_>,
    record: &[u8],
) -> Result<KernelRecord, Error> {
    let flags = bytes::u32_at(record, 12, DETAILS)?;
    let kernel = KernelInfo {
        name: needs.name.to_string(),
        args: None,
        required_work_group: needs.required_work_group,
        sub_group_size: needs.sub_group_size,
        registers: nonzero(record, 8, DETAILS)?,
        has_barrier: flags & KERNEL_HAS_BARRIER != 0,
        local_memory: quantity(record, 16, DETAILS)?,
        private_memory: quantity(record, 24, DETAILS)?,
        spilled: quantity(record, 32, DETAILS)?,
        scalar_registers: nonzero(record, 40, DETAILS)?,
        accumulator_registers: nonzero(record, 44, DETAILS)?,
        max_work_group: nonzero(record, 48, DETAILS)?,
        remark: tables.text(record, DETAILS_REMARK)?.to_string(),
    };
    let args = if flags & KERNEL_ARGS_UNKNOWN == 0 { Some(args(record)?) } else { None };
    Ok(KernelRecord { kernel, args })
}

/// The range of the arguments in the details of a kernel.
pub(super) fn args(record: &[u8]) -> Result<RecordRange, Error> {
    let first = bytes::u32_at(record, 0, DETAILS)?;
    Ok(RecordRange { first, count: bytes::u32_at(record, 4, DETAILS)? })
}

/// The `u32` at `offset`; `None` for 0, which stands for unknown.
fn nonzero(record: &[u8], offset: u64, what: &'static str) -> Result<Option<u32>, Error> {
    Ok(Some(bytes::u32_at(record, offset, what)?).filter(|value| *value != 0))
}

/// The `u64` at `offset`; `None` for [`UNKNOWN`].
fn quantity(record: &[u8], offset: u64, what: &'static str) -> Result<Option<u64>, Error> {
    Ok(Some(bytes::u64_at(record, offset, what)?).filter(|value| *value != UNKNOWN))
}

/// The launch requirements of the kernel in `record`.
pub(super) fn needs<'a>(tables: &Tables<'a>, record: &[u8]) -> Result<KernelNeeds<'a>, Error> {
    let x = bytes::u32_at(record, 8, KERNEL)?;
    let y = bytes::u32_at(record, 12, KERNEL)?;
    let z = bytes::u32_at(record, 16, KERNEL)?;
    Ok(KernelNeeds {
        name: tables.text(record, 0)?,
        required_work_group: Some([x, y, z]).filter(|size| *size != [0; 3]),
        sub_group_size: nonzero(record, 20, KERNEL)?,
    })
}

pub(super) fn arg(tables: &Tables<'_>, record: &[u8]) -> Result<ArgInfo, Error> {
    const WHAT: &str = "the argument record";
    let kind = ArgKind::from_u16(bytes::u16_at(record, 16, WHAT)?);
    let size = nonzero(record, 20, WHAT)?;
    let points = kind.points_to_elements();
    Ok(ArgInfo {
        name: tables.text(record, 0)?.to_string(),
        type_name: tables.text(record, 8)?.to_string(),
        kind,
        size: size.filter(|_| !points),
        element_size: size.filter(|_| points),
        base_type: tables.text(record, 24)?.to_string(),
        is_const: bytes::u16_at(record, 18, WHAT)? & ARG_IS_CONST != 0,
    })
}

pub(super) fn missing<'a>(tables: &Tables<'a>, record: &[u8]) -> Result<Missing<'a>, Error> {
    Ok(Missing {
        kind: MissingKind::from_u16(bytes::u16_at(record, 0, "the record of missing images")?),
        module: tables.text(record, 8)?,
        target: tables.text(record, 16)?,
        reason: tables.text(record, 24)?,
    })
}
