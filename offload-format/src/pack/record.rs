//! The records of a pack as a reader sees them.

use super::layout::{ARG_IS_CONST, KERNEL_ARGS_UNKNOWN, KERNEL_HAS_BARRIER, UNKNOWN};
use super::tables::{RecordRange, Tables};
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
    /// What the raw bytes are.
    pub image_kind: ImageKind,
    /// Which programming model launches them.
    pub offload_kind: OffloadKind,
    /// How the frame is compressed.
    pub codec: Codec,
    /// Which reversible filter was applied before compression.
    pub filter: Filter,
    /// The image that this one is stored relative to, by index.
    pub parent: Option<u32>,
    /// The block that holds this image, by index.
    pub block: Option<u32>,
    /// Where the frame starts, in bytes from the payload; for an image in a block, where it starts in the block's
    /// content.
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
    /// What the device must support.
    pub aspects: Aspects,
    /// Which part of a split module this is, empty if the image holds all kernels.
    pub part: &'a str,
    /// The device libraries that are linked with it when it is loaded, as [`Import::list`](crate::Import::list) reads them.
    pub imports: &'a str,
    /// The functions that it has for images which import it, with `,` between them; see [`Image::exported`].
    pub exports: &'a str,
    /// Its specialisation constants, as [`SpecConstant::list`](crate::SpecConstant::list) reads them.
    pub spec: &'a str,
    /// Its number in the pack.
    pub number: u32,
    /// The page that has its kernels.
    pub(super) page: Option<u32>,
    pub(super) first_kernel: u32,
    pub(super) kernel_count: u32,
}

impl<'a> Image<'a> {
    /// The functions that it has for images which import it. An image with some is a device library.
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

/// A frame that holds several small images.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Block {
    /// Where the frame starts, in bytes from the payload.
    pub offset: u64,
    /// Size of the frame in bytes.
    pub stored_size: u64,
    /// Size of the content in bytes: that of all images together.
    pub raw_size: u64,
    /// How the frame holds the content.
    pub codec: Codec,
    /// None in this release: the images of a block have filters of their own.
    pub filter: Filter,
    /// The block whose content is the prefix of this one, by index.
    pub parent: Option<u32>,
    /// Hash of the content.
    pub hash: Hash128,
}

/// Where a frame lies in a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Offset from the payload's start in bytes.
    pub offset: u64,
    /// Its size in bytes.
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
    /// Registers a work-item uses, in the architecture's own unit: the GRF count of a hardware thread (Intel),
    /// VGPRs (AMD), registers (NVIDIA).
    pub registers: Option<u32>,
    /// Scalar registers (AMD's SGPRs).
    pub scalar_registers: Option<u32>,
    /// Accumulation registers (AMD's AGPRs).
    pub accumulator_registers: Option<u32>,
    /// Local (shared) memory in bytes.
    pub local_memory: Option<u64>,
    /// Private memory in bytes a work-item.
    pub private_memory: Option<u64>,
    /// Spilled bytes, of a work-item (AMD, NVIDIA) or of a hardware thread (Intel).
    pub spilled: Option<u64>,
    /// The largest work-group that the compiled kernel allows.
    pub max_work_group: Option<u32>,
    /// Whether the kernel may call `barrier`.
    pub has_barrier: bool,
    /// What the build chose for this kernel and why, for people; empty if there was nothing to choose.
    pub remark: String,
}

/// A kernel's name and what it requires of a launch, as they stand in the pack: what choosing an image asks of it.
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
    /// The kernel `name`, of which nothing else is known.
    pub fn new(name: impl Into<String>) -> KernelInfo {
        KernelInfo { name: name.into(), ..KernelInfo::default() }
    }
}

impl ArgInfo {
    /// An argument of which nothing but its kind is known.
    pub fn new(kind: ArgKind) -> ArgInfo {
        let [name, type_name, base_type] = [const { String::new() }; 3];
        ArgInfo { name, type_name, kind, size: None, base_type, element_size: None, is_const: false }
    }

    /// The same with its name and its type in the source.
    #[must_use]
    pub fn named(self, name: impl Into<String>, type_name: impl Into<String>) -> ArgInfo {
        ArgInfo { name: name.into(), type_name: type_name.into(), ..self }
    }

    /// The same with its size in bytes, if that is known.
    #[must_use]
    pub fn with_size(self, size: impl Into<Option<u32>>) -> ArgInfo {
        ArgInfo { size: size.into(), ..self }
    }

    /// The same with the size in bytes of what it points to.
    #[must_use]
    pub fn with_element_size(self, size: impl Into<Option<u32>>) -> ArgInfo {
        ArgInfo { element_size: size.into(), ..self }
    }

    /// The same with its type as [`ArgInfo::base_type`] has it.
    #[must_use]
    pub fn with_base_type(self, base_type: impl Into<String>) -> ArgInfo {
        ArgInfo { base_type: base_type.into(), ..self }
    }

    /// The same, of memory that the kernel does not write to.
    #[must_use]
    pub fn constant(self) -> ArgInfo {
        ArgInfo { is_const: true, ..self }
    }
}

open_enum! {
    /// What a kernel argument is.
    ArgKind {
        /// A scalar, vector or structure passed by value.
        Value = 0 => "value",
        /// A pointer to global memory.
        Global = 1 => "global",
        /// A pointer to constant memory.
        Constant = 2 => "constant",
        /// A pointer to local memory, whose size the launch gives.
        Local = 3 => "local",
        /// An image.
        Image = 4 => "image",
        /// A sampler.
        Sampler = 5 => "sampler",
    }
}

impl ArgKind {
    /// Whether it is a pointer to values that the launch gives.
    pub(super) fn points_to_elements(self) -> bool {
        matches!(self, ArgKind::Global | ArgKind::Constant)
    }
}

/// An argument of a [`KernelInfo`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgInfo {
    /// Its name in the source, empty if that is not known.
    pub name: String,
    /// Its type in the source, empty if that is not known.
    pub type_name: String,
    /// What it is.
    pub kind: ArgKind,
    /// Size in bytes of a value, if known. A local argument of an AMD code object has one, 8, if the kernel takes it as an
    /// offset in bytes into the dynamic local memory.
    pub size: Option<u32>,
    /// Its type without typedefs and qualifiers, for a pointer that of what it points to, in OpenCL C's words (`float`,
    /// `uint4`, `struct particle`); empty if that is not known.
    pub base_type: String,
    /// Size in bytes of what a pointer to global or constant memory points to, if known.
    pub element_size: Option<u32>,
    /// Whether it is a pointer to what the source declares `const`, or to constant memory.
    pub is_const: bool,
}

open_enum! {
    /// What is missing from a pack.
    MissingKind {
        /// The images of an optional target, which could not be built.
        Target = 1 => "skipped target",
        /// All images: no kernel was compiled (documentation builds, lints, `OFFLOAD_SKIP`).
        Build = 2 => "skipped build",
        /// The images of a target were removed from the linked program.
        Pruned = 3 => "pruned",
        /// The images of a target, which lie in a sidecar: the reason is the name of the file.
        Sidecar = 4 => "sidecar",
    }
}

/// What is missing from a pack, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Missing<'a> {
    /// The case.
    pub kind: MissingKind,
    /// The kernel module concerned.
    pub module: &'a str,
    /// The target concerned, empty for all.
    pub target: &'a str,
    /// The reason, for people.
    pub reason: &'a str,
}

impl<'a> Missing<'a> {
    /// Something of all targets of `module`, without a reason.
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
    let parent = bytes::u32_at(record, 28, WHAT)?;
    Ok(Block {
        offset: bytes::u64_at(record, 0, WHAT)?,
        stored_size: bytes::u64_at(record, 8, WHAT)?,
        raw_size: bytes::u64_at(record, 16, WHAT)?,
        codec: Codec::from_u16(bytes::u16_at(record, 24, WHAT)?),
        filter: Filter::from_u16(bytes::u16_at(record, 26, WHAT)?),
        parent: (parent != super::layout::NONE).then_some(parent),
        hash: Hash128(bytes::array(record, 32, WHAT)?),
    })
}

/// A kernel without its arguments, and which those are, if they are known.
pub(super) struct KernelRecord {
    pub(super) kernel: KernelInfo,
    pub(super) args: Option<RecordRange>,
}

/// The kernel in `record`.
pub(super) fn kernel(tables: &Tables<'_>, record: &[u8]) -> Result<KernelRecord, Error> {
    const WHAT: &str = "the kernel record";
    let u32_at = |offset| bytes::u32_at(record, offset, WHAT);
    let quantity = |offset| bytes::u64_at(record, offset, WHAT).map(|v| (v != UNKNOWN).then_some(v));
    let KernelNeeds { name, required_work_group, sub_group_size } = needs(tables, record)?;
    let kernel = KernelInfo {
        name: name.to_string(),
        args: None,
        required_work_group,
        sub_group_size,
        registers: Some(u32_at(32)?).filter(|v| *v != 0),
        has_barrier: u32_at(36)? & KERNEL_HAS_BARRIER != 0,
        local_memory: quantity(40)?,
        private_memory: quantity(48)?,
        spilled: quantity(56)?,
        scalar_registers: Some(u32_at(64)?).filter(|v| *v != 0),
        accumulator_registers: Some(u32_at(68)?).filter(|v| *v != 0),
        max_work_group: Some(u32_at(72)?).filter(|v| *v != 0),
        remark: tables.text(record, 76)?.to_string(),
    };
    let known = u32_at(36)? & KERNEL_ARGS_UNKNOWN == 0;
    let args = RecordRange { first: u32_at(8)?, count: u32_at(12)? };
    Ok(KernelRecord { kernel, args: known.then_some(args) })
}

/// What the kernel in `record` requires.
pub(super) fn needs<'a>(tables: &Tables<'a>, record: &[u8]) -> Result<KernelNeeds<'a>, Error> {
    let u32_at = |offset| bytes::u32_at(record, offset, "kernel record");
    Ok(KernelNeeds {
        name: tables.text(record, 0)?,
        required_work_group: Some([u32_at(16)?, u32_at(20)?, u32_at(24)?]).filter(|size| *size != [0; 3]),
        sub_group_size: Some(u32_at(28)?).filter(|size| *size != 0),
    })
}

/// Whether both records have the name and the requirements that [`needs`] reads at the same places.
pub(super) fn same_needs(one: &[u8], other: &[u8]) -> bool {
    let parts = |record: &[u8]| {
        let all = record.first_chunk::<32>()?;
        Some((*all.first_chunk::<8>()?, *all.last_chunk::<16>()?))
    };
    parts(one) == parts(other)
}

pub(super) fn arg(tables: &Tables<'_>, record: &[u8]) -> Result<ArgInfo, Error> {
    const WHAT: &str = "the argument record";
    let kind = ArgKind::from_u16(bytes::u16_at(record, 16, WHAT)?);
    let size = Some(bytes::u32_at(record, 20, WHAT)?).filter(|size| *size != 0);
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
        kind: MissingKind::from_u16(bytes::u16_at(record, 0, "the record of what is missing")?),
        module: tables.text(record, 8)?,
        target: tables.text(record, 16)?,
        reason: tables.text(record, 24)?,
    })
}
