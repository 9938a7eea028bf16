//! What an image says about itself: its kernels, their arguments and resources.

use offload_format::code_object::{self, AddressSpace, ValueKind};
use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};
use offload_format::ptx::{Ptx, StateSpace};
use offload_format::{Aspects, Limits, Target, cubin, spirv, zebin};

use super::check;
use crate::error::{Error, Result};

/// The record of an image, as far as its bytes tell it.
#[derive(Debug, Default)]
pub(super) struct Described {
    pub(super) format_version: u32,
    pub(super) aspects: Aspects,
    pub(super) kernels: Vec<KernelInfo>,
}

/// Reads an image for `target`; one with undefined functions or without kernels is refused.
pub(super) fn image(target: &Target, bytes: &[u8]) -> Result<Described> {
    let described = match target {
        Target::Spirv64(_) => of_spirv(bytes)?,
        Target::Nvptx(_) => of_ptx(bytes)?,
        Target::Cubin(_) => of_cubin(bytes)?,
        Target::Amdgcn(_) => of_code_object(bytes)?,
        Target::Intel(_) => of_zebin(bytes)?,
        other => return Err(Error::new(format!("images of `{other}` cannot be read"))),
    };
    if described.kernels.is_empty() {
        return Err(Error::new("the image has no kernel"));
    }
    Ok(described)
}

fn of_spirv(bytes: &[u8]) -> Result<Described> {
    let module = spirv::Module::parse(bytes, &Limits::default())?;
    refuse_unresolved(module.imports().iter().map(String::as_str).next(), "the SPIR-V module")?;
    let named = |entry: &spirv::EntryPoint| KernelInfo {
        name: entry.name.clone(),
        args_unknown: true,
        ..KernelInfo::default()
    };
    Ok(Described {
        format_version: module.version(),
        aspects: check::spirv_aspects(bytes)?,
        kernels: module.kernels().iter().map(named).collect(),
    })
}

fn of_ptx(bytes: &[u8]) -> Result<Described> {
    let module = Ptx::parse(bytes)?;
    refuse_unresolved(module.unresolved().next(), "the PTX module")?;
    let kernels = module.entries().iter().map(|entry| KernelInfo {
        name: entry.name.to_string(),
        args: entry.parameters.iter().map(ptx_argument).collect(),
        required_work_group: entry.required_work_group.unwrap_or_default(),
        max_work_group: entry.max_threads.and_then(product),
        ..KernelInfo::default()
    });
    Ok(Described {
        format_version: module.version_word(),
        kernels: kernels.collect(),
        ..Described::default()
    })
}

/// A pointer is eight bytes: CUDA's own compiler does not tell it from a number.
fn ptx_argument(parameter: &offload_format::ptx::Parameter<'_>) -> ArgInfo {
    let kind = match parameter.pointer {
        Some(StateSpace::Shared) => ArgKind::Local,
        Some(StateSpace::Const) => ArgKind::Constant,
        Some(_) => ArgKind::Global,
        None => sized_kind(parameter.size),
    };
    let size = parameter.size.filter(|_| kind == ArgKind::Value);
    ArgInfo { name: String::new(), type_name: String::new(), kind, size: size.and_then(small) }
}

fn of_cubin(bytes: &[u8]) -> Result<Described> {
    let cubin = cubin::info(bytes)?;
    refuse_unresolved(cubin.unresolved().next(), "the cubin")?;
    if cubin.relocatable {
        return Err(Error::new("the cubin is not linked").hint("compile it without `-c` or `-rdc=true`"));
    }
    let kernels = cubin.kernels.iter().map(|kernel| KernelInfo {
        name: kernel.name.clone(),
        args: kernel.parameters.iter().flatten().map(|parameter| value(Some(parameter.size))).collect(),
        args_unknown: kernel.parameters.is_none(),
        required_work_group: kernel.required_work_group.unwrap_or_default(),
        max_work_group: kernel.max_threads.and_then(product),
        ..cubin_resources(kernel)
    });
    let format_version = cubin.abi_version.into();
    Ok(Described { format_version, kernels: kernels.collect(), ..Described::default() })
}

/// What a cubin tells of a kernel's registers and memory.
pub(super) fn cubin_resources(kernel: &cubin::KernelInfo) -> KernelInfo {
    KernelInfo {
        registers: kernel.registers,
        local_memory: Some(kernel.shared_memory),
        private_memory: kernel.stack_frame,
        ..KernelInfo::default()
    }
}

/// By size alone, eight bytes may be a pointer or a number: the launch takes either.
fn value(size: Option<u64>) -> ArgInfo {
    let kind = sized_kind(size);
    let size = size.filter(|_| kind == ArgKind::Value).and_then(small);
    ArgInfo { name: String::new(), type_name: String::new(), kind, size }
}

/// An argument of a kind that no release knows is not compared with what a launch gives.
fn sized_kind(size: Option<u64>) -> ArgKind {
    if size == Some(8) { ArgKind::Unknown(u16::MAX) } else { ArgKind::Value }
}

fn of_code_object(bytes: &[u8]) -> Result<Described> {
    let object = code_object::info(bytes)?;
    refuse_unresolved(object.undefined.first().map(String::as_str), "the code object")?;
    let kernels = object.kernels.iter().map(|kernel| KernelInfo {
        args: kernel.args.iter().filter_map(amd_argument).collect(),
        ..code_object_resources(kernel)
    });
    Ok(Described { kernels: kernels.collect(), ..Described::default() })
}

/// What a code object tells of a kernel's registers and memory.
pub(super) fn code_object_resources(kernel: &code_object::KernelInfo) -> KernelInfo {
    KernelInfo {
        name: kernel.name.clone(),
        required_work_group: kernel.reqd_workgroup_size.unwrap_or_default(),
        sub_group_size: kernel.wavefront_size,
        registers: kernel.vgpr_count,
        scalar_registers: kernel.sgpr_count,
        accumulator_registers: kernel.agpr_count,
        local_memory: kernel.group_segment_fixed_size,
        private_memory: kernel.private_segment_fixed_size,
        // Four bytes a register. Scalar registers go to vector registers first, and those count when they spill.
        spilled: kernel.vgpr_spill_count.map(|count| u64::from(count).saturating_mul(4)),
        max_work_group: kernel.max_flat_workgroup_size,
        ..KernelInfo::default()
    }
}

/// `kernel`, as the source describes it, with what an image tells of registers and memory.
pub(super) fn with_resources(kernel: &KernelInfo, resources: KernelInfo) -> KernelInfo {
    KernelInfo {
        name: kernel.name.clone(),
        args: kernel.args.clone(),
        required_work_group: kernel.required_work_group,
        has_barrier: kernel.has_barrier,
        ..resources
    }
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
        // The rest is hidden: the driver fills it in.
        _ => return None,
    };
    let size = (kind == ArgKind::Value).then_some(argument.size).and_then(small);
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Some(ArgInfo { name: text(&argument.name), type_name: text(&argument.type_name), kind, size })
}

fn of_zebin(bytes: &[u8]) -> Result<Described> {
    let kernels = zebin::info(bytes)?.into_iter().map(|kernel| KernelInfo {
        name: kernel.name,
        args_unknown: true,
        required_work_group: kernel.required_work_group.unwrap_or_default(),
        sub_group_size: kernel.simd_size,
        registers: kernel.grf_count,
        local_memory: kernel.slm_size,
        private_memory: kernel.private_size,
        spilled: kernel.spill_size,
        ..KernelInfo::default()
    });
    Ok(Described { kernels: kernels.collect(), ..Described::default() })
}

fn refuse_unresolved(name: Option<&str>, what: &str) -> Result<()> {
    match name {
        None => Ok(()),
        Some(name) => Err(Error::new(format!("{what} leaves the function `{name}` undefined"))),
    }
}

fn product([x, y, z]: [u32; 3]) -> Option<u32> {
    x.checked_mul(y)?.checked_mul(z)
}

fn small(size: u64) -> Option<u32> {
    u32::try_from(size).ok()
}
