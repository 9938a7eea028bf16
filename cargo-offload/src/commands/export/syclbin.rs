//! SYCLBIN: for each module its SPIR-V, and beside it at most one native image for each kind of device.
//!
//! A runtime takes the first native image whose triple fits, whatever its architecture; with one for each triple the
//! extension's own rules and a runtime's agree on what is chosen.

use std::collections::BTreeSet;

use offload_format::syclbin::{
    self, ImageKindNumber, KERNEL_PREFIX, Module, Native, NativeTarget, Requirements, State, native_target,
};
use offload_format::{ImageKind, Limits, spirv};

use super::{Candidate, Exported, named, only};
use crate::carrier::Carrier;
use crate::cli::{self, SyclRuntime, SyclState};
use crate::error::{Error, Result};

/// The images of one module of kernels, decoded.
struct Form {
    name: String,
    targets: Vec<String>,
    /// With the names of kernels that a SYCL runtime looks for.
    spirv: Option<Vec<u8>>,
    natives: Vec<(NativeTarget, Vec<u8>)>,
    /// Of the native images.
    kernels: Vec<String>,
}

pub(super) fn export(carrier: &Carrier, all: &[Candidate<'_>], args: &cli::Export) -> Result<Exported> {
    let forms = modules(all, args)?
        .into_iter()
        .map(|module| form(carrier, all, args, module))
        .collect::<Result<Vec<_>>>()?;
    let modules = forms.iter().map(|form| module(form, args.state)).collect::<Result<Vec<_>>>()?;
    let content = syclbin::write(state(args.state), &modules, image_kind(args.runtime)).map_err(failed)?;
    let file = syclbin::parse(&content, &Limits::default()).map_err(failed)?;
    let asked_for = |hazard: &syclbin::Hazard| {
        hazard.problem == syclbin::Problem::ImageKind(ImageKindNumber::ONEAPI_2025_3.0)
    };
    let hazards = syclbin::hazards(&file).into_iter().filter(|hazard| !asked_for(hazard));
    let hazards = hazards.map(|hazard| hazard.to_string()).collect();
    Ok(Exported {
        targets: forms.iter().flat_map(|form| form.targets.iter().cloned()).collect(),
        modules: forms.into_iter().map(|form| form.name).collect(),
        content,
        ending: "syclbin",
        hazards,
    })
}

/// The modules that are named, or the only one.
fn modules<'a>(all: &[Candidate<'a>], args: &cli::Export) -> Result<Vec<&'a str>> {
    let there: BTreeSet<&str> = all.iter().map(|candidate| candidate.image.module).collect();
    let named: Vec<&str> = match args.module.is_empty() {
        true => there.iter().copied().collect(),
        false => there.iter().copied().filter(|module| named(&args.module, module)).collect(),
    };
    let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
    if let Some(missing) = args.module.iter().find(|module| !there.contains(module.as_str())) {
        let error = Error::usage(format!("there is no module `{missing}` in `{}`", args.path.display()));
        return Err(error.hint(format!("it has {}", list(&there))));
    }
    if args.module.is_empty() && named.len() > 1 {
        let error = Error::usage("several modules fit");
        return Err(error.hint(format!("choose with --module among {}", list(&there))));
    }
    Ok(named)
}

/// Chooses and decodes the images of `module`.
fn form(carrier: &Carrier, all: &[Candidate<'_>], args: &cli::Export, module: &str) -> Result<Form> {
    let of_module = |candidate: &Candidate<'_>| candidate.image.module == module;
    let wanted = |candidate: &Candidate<'_>| named(&args.target, candidate.image.target_text);
    for target in &args.target {
        only(all, &format!("image for `{target}`"), args, |candidate| {
            of_module(candidate) && candidate.image.target_text == target
        })?;
    }
    let chosen: Vec<_> = all.iter().filter(|candidate| of_module(candidate) && wanted(candidate)).collect();
    let (ir, native): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|candidate| candidate.image.image_kind == ImageKind::SpirV);
    // Native images that were asked for go beside the module's SPIR-V, unless it has none.
    let spirv_there = all.iter().any(|it| of_module(it) && it.image.image_kind == ImageKind::SpirV);
    let ir = match ir.first() {
        None if native.is_empty() || spirv_there => {
            let spirv = |it: &Candidate<'_>| of_module(it) && it.image.image_kind == ImageKind::SpirV;
            Some(only(all, "SPIR-V image", args, spirv)?)
        }
        first => first.copied(),
    };
    let mut form = Form {
        name: module.to_string(),
        targets: ir.iter().chain(&native).map(|candidate| candidate.image.target_text.to_string()).collect(),
        spirv: ir.map(|ir| renamed(carrier, ir)).transpose()?,
        natives: Vec::new(),
        kernels: Vec::new(),
    };
    native.into_iter().try_for_each(|candidate| form.add(carrier, candidate))?;
    Ok(form)
}

/// A SYCL runtime finds a kernel only under a prefixed name.
fn renamed(carrier: &Carrier, candidate: &Candidate<'_>) -> Result<Vec<u8>> {
    let raw = carrier.decode(candidate.found, &candidate.pack, &candidate.image)?;
    spirv::with_prefixed_kernels(&raw, KERNEL_PREFIX).map_err(failed)
}

impl Form {
    fn add(&mut self, carrier: &Carrier, candidate: &Candidate<'_>) -> Result<()> {
        let text = candidate.image.target_text;
        let target = candidate.image.target().ok().and_then(|target| native_target(&target));
        let target = target.ok_or_else(|| {
            let error = Error::usage(format!("an image for `{text}` is no native image of a SYCLBIN"));
            error.hint("name targets of Intel, NVIDIA (cubin) and AMD GPUs")
        })?;
        if self.natives.iter().any(|(other, _)| other.triple == target.triple) {
            let error =
                Error::usage(format!("a second image for {} beside that for `{text}`", target.triple));
            return Err(error.hint("a runtime takes the first one on every device; write a file for each"));
        }
        for kernel in candidate.pack.kernels(&candidate.image) {
            let name = kernel.map_err(failed)?.name;
            if !name.starts_with(KERNEL_PREFIX) {
                let error = Error::usage(format!(
                    "kernel `{name}` of the image for `{text}` cannot be found by SYCL"
                ));
                return Err(error.hint(format!(
                    "call it `{KERNEL_PREFIX}{name}` in the source: only SPIR-V is renamed, and a runtime that takes \
                     the native image does not fall back to it"
                )));
            }
            if !self.kernels.contains(&name) {
                self.kernels.push(name);
            }
        }
        let raw = carrier.decode(candidate.found, &candidate.pack, &candidate.image)?;
        self.natives.push((target, raw));
        Ok(())
    }
}

fn module(form: &Form, state: SyclState) -> Result<Module<'_>> {
    let (mut module, mut needs) = (Module::default(), Requirements::default());
    match &form.spirv {
        Some(spirv) => {
            let parsed = spirv::Module::parse(spirv, &Limits::default()).map_err(failed)?;
            needs = requirements(&parsed);
            module =
                module.with_kernels(parsed.kernels().iter().map(|kernel| &kernel.name)).map_err(failed)?;
            module = symbols(module, &parsed, state).map_err(failed)?.with_spirv(spirv).map_err(failed)?;
        }
        None => module = module.with_kernels(&form.kernels).map_err(failed)?,
    }
    // The name of a device holds for the SPIR-V as well, which is for every device.
    if let (None, [(target, _)]) = (&form.spirv, form.natives.as_slice()) {
        needs.compile_target = target.compile_target.clone();
    }
    module = module.with_requirements(&needs).map_err(failed)?;
    for (target, image) in &form.natives {
        let native = Native { target: target.triple, arch: &target.arch, image };
        module = module.with_native(native).map_err(failed)?;
    }
    Ok(module)
}

/// What links modules; a file that is not linked any more needs no names for it.
fn symbols<'a>(
    module: Module<'a>,
    parsed: &spirv::Module<'_>,
    state: SyclState,
) -> std::result::Result<Module<'a>, offload_format::Error> {
    if state == SyclState::Executable {
        return Ok(module);
    }
    // Clang exports a copy of each kernel's body, and some writers each kernel.
    let kernel = |name: &str| parsed.kernels().iter().any(|kernel| kernel.name == name);
    let exports =
        parsed.exports().iter().filter(|name| !name.starts_with("__clang_ocl_kern_imp_") && !kernel(name));
    let module = module.with_exported(exports)?;
    module.with_imported(parsed.imports())
}

fn requirements(parsed: &spirv::Module<'_>) -> Requirements {
    let sub_groups: BTreeSet<Option<u32>> =
        parsed.kernels().iter().map(|kernel| kernel.sub_group_size).collect();
    let work_groups = parsed.kernels().iter().filter_map(|kernel| kernel.required_work_group);
    let volume = |size: &[u32; 3]| size.iter().map(|length| u64::from(*length)).product::<u64>();
    Requirements {
        aspects: parsed.capabilities().iter().filter_map(|capability| aspect(*capability)).collect(),
        // The requirement is the module's: kernels that differ have none in common.
        sub_group_size: sub_groups.first().copied().flatten().filter(|_| sub_groups.len() == 1),
        // A device that takes the largest takes them all.
        work_group_size: work_groups.max_by_key(volume).map(|size| size.map(u64::from).to_vec()),
        compile_target: None,
    }
}

/// The SYCL aspect that a SPIR-V capability asks for
/// (<https://github.com/intel/llvm/blob/sycl/sycl/include/sycl/info/aspects.def>).
fn aspect(capability: u32) -> Option<u32> {
    match capability {
        // Float16, Float64, Int64Atomics.
        9 => Some(5),
        10 => Some(6),
        12 => Some(28),
        _ => None,
    }
}

fn state(state: SyclState) -> State {
    match state {
        SyclState::Input => State::Input,
        SyclState::Object => State::Object,
        SyclState::Executable => State::Executable,
    }
}

fn image_kind(runtime: SyclRuntime) -> ImageKindNumber {
    match runtime {
        SyclRuntime::Oneapi2026 => ImageKindNumber::default(),
        SyclRuntime::Oneapi2025_3 => ImageKindNumber::ONEAPI_2025_3,
    }
}

fn failed(error: offload_format::Error) -> Error {
    Error::check(format!("the image cannot be exported: {error}"))
}
