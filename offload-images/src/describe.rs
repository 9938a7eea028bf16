//! Kernels, arguments and resources of an image in one form for all formats.
//!
//! The reader of each format keeps the format's own fields; this module converts them to the kernel records of a
//! [pack](offload_format::pack::KernelInfo).
//!
//! ```
//! use offload_images::describe;
//!
//! let ptx = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry copy(.param .u64 from) { ret; }\n";
//! let described = describe::ptx(ptx)?;
//! assert_eq!((described.kernels[0].name.as_str(), described.format_version), ("copy", Some(0x00070000)));
//! # Ok::<(), offload_format::Error>(())
//! ```

use crate::ImageFormat;
use crate::code_object::{self, AddressSpace, ValueKind};
use crate::ptx::{Parameter, Ptx, StateSpace};
use crate::{cubin, spirv, zebin};
use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};
use offload_format::{Aspects, Error, Limits};

/// The record of an image, as far as its bytes have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// Version word of the image's own format, as in [`Image`](offload_format::pack::Image::format_version).
    pub format_version: Option<u32>,
    /// Aspects that the device must support.
    pub aspects: Aspects,
    /// The kernels.
    pub kernels: Vec<KernelInfo>,
    /// Undefined functions, without those that NVIDIA's driver defines.
    pub undefined: Vec<String>,
}

/// Describes an image of any format, detected by its first bytes; `None` for an unknown format.
///
/// # Errors
/// Those of the format's reader.
pub fn any(bytes: &[u8]) -> Result<Option<Description>, Error> {
    let Some(format) = ImageFormat::detect(bytes) else { return Ok(None) };
    match format {
        ImageFormat::SpirV => spirv(bytes),
        ImageFormat::Ptx => ptx(bytes),
        ImageFormat::Cubin => cubin(bytes),
        ImageFormat::AmdCodeObject => code_object(bytes),
        ImageFormat::Zebin => zebin(bytes),
    }
    .map(Some)
}

/// Describes a SPIR-V module.
///
/// # Errors
/// Those of [`spirv::Module::parse`].
pub fn spirv(bytes: &[u8]) -> Result<Description, Error> {
    let module = spirv::Module::parse(bytes, &Limits::default())?;
    let kernels = module.kernels().iter().map(|entry| {
        let mut info = KernelInfo::new(entry.name.clone());
        info.required_work_group = entry.required_work_group;
        info.sub_group_size = entry.sub_group_size;
        info
    });
    Ok(Description {
        format_version: Some(module.version()),
        aspects: module.aspects(),
        kernels: kernels.collect(),
        undefined: module.imports().to_vec(),
    })
}

/// Describes a PTX module.
///
/// # Errors
/// Those of [`Ptx::parse`].
pub fn ptx(bytes: &[u8]) -> Result<Description, Error> {
    let module = Ptx::parse(bytes)?;
    let kernels = module.kernels().iter().map(|kernel| {
        let mut info = KernelInfo::new(kernel.name.to_string());
        info.args = Some(kernel.parameters.iter().map(ptx_argument).collect());
        info.required_work_group = kernel.required_work_group;
        info.max_work_group = kernel.max_threads.and_then(product);
        info
    });
    Ok(Description {
        format_version: Some(module.version().word()),
        aspects: Aspects::default(),
        kernels: kernels.collect(),
        undefined: module.unresolved().map(str::to_string).collect(),
    })
}

/// Without `.ptr`, which nvcc does not write, eight bytes are a pointer or a number.
fn ptx_argument(parameter: &Parameter<'_>) -> ArgInfo {
    let kind = match parameter.pointer {
        Some(StateSpace::Shared) => ArgKind::Local,
        Some(StateSpace::Const) => ArgKind::Constant,
        Some(_) => ArgKind::Global,
        None => sized_kind(parameter.size),
    };
    let size = parameter.size.filter(|_| kind == ArgKind::Value);
    ArgInfo::new(kind).with_size(size.and_then(small))
}

/// Describes a cubin.
///
/// # Errors
/// Those of [`cubin::info`].
pub fn cubin(bytes: &[u8]) -> Result<Description, Error> {
    let cubin = cubin::info(bytes)?;
    let kernels = cubin.kernels.iter().map(|kernel| {
        let mut info = KernelInfo::new(kernel.name.clone());
        if let Some(parameters) = &kernel.parameters {
            info.args = Some(parameters.iter().map(|parameter| sized_argument(parameter.size)).collect());
        }
        info.required_work_group = kernel.required_work_group;
        info.max_work_group = kernel.max_threads.and_then(product);
        info.registers = kernel.registers;
        info.local_memory = Some(kernel.shared_memory);
        info.private_memory = kernel.stack_frame;
        info
    });
    Ok(Description {
        format_version: Some(cubin.abi_version.into()),
        aspects: Aspects::default(),
        kernels: kernels.collect(),
        undefined: cubin.unresolved().map(str::to_string).collect(),
    })
}

/// An argument of which only the size is known.
fn sized_argument(size: u64) -> ArgInfo {
    let kind = sized_kind(Some(size));
    let size = if kind == ArgKind::Value { small(size) } else { None };
    ArgInfo::new(kind).with_size(size)
}

/// Eight bytes may be a pointer or a number: an unknown kind, which a launch does not check.
fn sized_kind(size: Option<u64>) -> ArgKind {
    if size == Some(8) { ArgKind::Unknown(u16::MAX) } else { ArgKind::Value }
}

/// Describes an AMD code object.
///
/// # Errors
/// Those of [`code_object::info`].
pub fn code_object(bytes: &[u8]) -> Result<Description, Error> {
    let object = code_object::info(bytes)?;
    let kernels = object.kernels.iter().map(|kernel| {
        let mut info = KernelInfo::new(kernel.name.clone());
        info.args = Some(kernel.args.iter().filter_map(amd_argument).collect());
        info.required_work_group = kernel.reqd_workgroup_size;
        info.sub_group_size = kernel.wavefront_size;
        info.registers = kernel.vgpr_count;
        info.scalar_registers = kernel.sgpr_count;
        info.accumulator_registers = kernel.agpr_count;
        info.local_memory = kernel.group_segment_fixed_size;
        info.private_memory = kernel.private_segment_fixed_size;
        // Four bytes a register. Scalar registers spill to vector registers, which count if they spill themselves.
        info.spilled = kernel.vgpr_spill_count.map(|count| u64::from(count).saturating_mul(4));
        info.max_work_group = kernel.max_flat_workgroup_size;
        info
    });
    let generic = u32::from(object.generic_version.unwrap_or(0));
    Ok(Description {
        format_version: Some(u32::from(object.version) | generic << 8),
        kernels: kernels.collect(),
        undefined: object.undefined.clone(),
        ..Description::default()
    })
}

fn amd_argument(argument: &code_object::Argument) -> Option<ArgInfo> {
    let constant = argument.address_space == Some(AddressSpace::Constant);
    let kind = match argument.value_kind {
        ValueKind::ByValue => ArgKind::Value,
        ValueKind::GlobalBuffer if constant => ArgKind::Constant,
        ValueKind::GlobalBuffer => ArgKind::Global,
        ValueKind::DynamicSharedPointer => ArgKind::Local,
        ValueKind::Image => ArgKind::Image,
        ValueKind::Sampler => ArgKind::Sampler,
        // Hidden arguments, which the driver sets.
        _ => return None,
    };
    let size = if kind == ArgKind::Value { small(argument.size) } else { None };
    let name = argument.name.clone().unwrap_or_default();
    let type_name = argument.type_name.clone().unwrap_or_default();
    Some(ArgInfo::new(kind).named(name, type_name).with_size(size))
}

/// Describes a native image of Intel's ocloc.
///
/// # Errors
/// Those of [`zebin::info`].
pub fn zebin(bytes: &[u8]) -> Result<Description, Error> {
    let kernels = zebin::info(bytes)?.into_iter().map(|kernel| {
        let mut info = KernelInfo::new(kernel.name);
        info.required_work_group = kernel.required_work_group;
        info.sub_group_size = kernel.simd_size;
        info.registers = kernel.grf_count;
        info.local_memory = kernel.slm_size;
        info.private_memory = kernel.private_size;
        info.spilled = kernel.spill_size;
        info
    });
    Ok(Description { kernels: kernels.collect(), ..Description::default() })
}

fn product([x, y, z]: [u32; 3]) -> Option<u32> {
    x.checked_mul(y)?.checked_mul(z)
}

fn small(size: u64) -> Option<u32> {
    u32::try_from(size).ok()
}
