//! SYCLBIN export: the SPIR-V of each module, and at most one native image per device triple.
//!
//! A runtime loads the first native image whose triple matches, whatever its architecture. With one image per triple,
//! the extension's rules and those of a runtime agree on the choice.

use std::collections::BTreeSet;

use offload_containers::syclbin::{
    self, BundleState, ImageKindNumber, KERNEL_PREFIX, ModuleImages, native_target,
};
use offload_format::{ImageKind, Limits};

use super::request::{ExportedFile, PackedImage, Request, named, only};
use crate::cli::{SyclRuntime, SyclState};
use crate::error::{Error, Result};
use crate::print::text::escaped;

/// The images of one module of kernels, decoded.
struct Form {
    name: String,
    targets: Vec<String>,
    forms: ModuleImages,
}

pub(super) fn export(all: &[PackedImage<'_>], request: &Request<'_>) -> Result<ExportedFile> {
    let forms = modules(all, request)?
        .into_iter()
        .map(|module| form(all, request, module))
        .collect::<Result<Vec<_>>>()?;
    let state = state(request.args.state);
    let modules = forms.iter().map(|form| form.forms.module(state).map_err(write_error));
    let modules = modules.collect::<Result<Vec<_>>>()?;
    let content = syclbin::write(state, &modules, image_kind(request.args.runtime)).map_err(write_error)?;
    let file = syclbin::parse(&content, &Limits::default()).map_err(write_error)?;
    let requested = syclbin::Problem::ImageKind(ImageKindNumber::ONEAPI_2025_3.0);
    let hazards = syclbin::hazards(&file).into_iter().filter(|hazard| hazard.problem != requested);
    let hazards = hazards.map(|hazard| hazard.to_string()).collect();
    Ok(ExportedFile {
        targets: forms.iter().flat_map(|form| form.targets.iter().cloned()).collect(),
        modules: forms.into_iter().map(|form| form.name).collect(),
        content,
        ending: "syclbin",
        hazards,
    })
}

/// The modules that are named, or the only one.
fn modules<'a>(all: &[PackedImage<'a>], request: &Request<'_>) -> Result<Vec<&'a str>> {
    let there: BTreeSet<&str> = all.iter().map(|packed| packed.image.module).collect();
    let named: Vec<&str> = if request.args.module.is_empty() {
        there.iter().copied().collect()
    } else {
        there.iter().copied().filter(|module| named(&request.args.module, module)).collect()
    };
    if let Some(missing) = request.args.module.iter().find(|module| !there.contains(module.as_str())) {
        let error = Error::usage(format!("no module `{missing}` in `{}`", request.path.display()));
        return Err(error.hint(format!("it has {}", list(&there))));
    }
    if request.args.module.is_empty() && named.len() > 1 {
        let error = Error::usage("several modules match");
        return Err(error.hint(format!("choose some with --module: {}", list(&there))));
    }
    Ok(named)
}

/// Chooses and decodes the images of `module`.
fn form(all: &[PackedImage<'_>], request: &Request<'_>, module: &str) -> Result<Form> {
    for target in &request.args.target {
        only(all, &format!("image for `{target}`"), request, |packed| {
            packed.image.module == module && packed.image.target_text == target
        })?;
    }
    let in_module: Vec<_> = all.iter().filter(|packed| packed.image.module == module).collect();
    let chosen =
        in_module.iter().copied().filter(|packed| named(&request.args.target, packed.image.target_text));
    let (ir, native): (Vec<_>, Vec<_>) =
        chosen.partition(|packed| packed.image.image_kind == ImageKind::SpirV);
    // Native images that were asked for go beside the module's SPIR-V, unless it has none.
    let spirv_there = in_module.iter().any(|packed| packed.image.image_kind == ImageKind::SpirV);
    let ir = match ir.first() {
        None if native.is_empty() || spirv_there => Some(only(all, "SPIR-V image", request, |it| {
            it.image.module == module && it.image.image_kind == ImageKind::SpirV
        })?),
        first => first.copied(),
    };
    let mut form = Form {
        name: module.to_string(),
        targets: ir.iter().chain(&native).map(|packed| packed.image.target_text.to_string()).collect(),
        forms: ModuleImages::default(),
    };
    if let Some(ir) = ir {
        let raw = ir.source.decode(&ir.image)?;
        form.forms = form.forms.with_spirv(&raw).map_err(write_error)?;
    }
    native.into_iter().try_for_each(|packed| form.add(packed))?;
    Ok(form)
}

impl Form {
    fn add(&mut self, packed: &PackedImage<'_>) -> Result<()> {
        let text = packed.image.target_text;
        let target = packed.image.target().ok().and_then(|target| native_target(&target));
        let target = target.ok_or_else(|| {
            let error = Error::usage(format!("an image for `{text}` is not a native image of a SYCLBIN"));
            error.hint("choose targets of Intel, NVIDIA (cubin) and AMD GPUs")
        })?;
        if self.forms.has_native(target.triple) {
            let error = Error::usage(format!(
                "a second image for {} in addition to that for `{text}`",
                target.triple
            ));
            return Err(error.hint("a runtime loads the first one on every device; write one file per image"));
        }
        let mut kernels = Vec::new();
        for kernel in packed.source.pack.kernels(&packed.image) {
            kernels.push(kernel.map_err(write_error)?.name);
        }
        if let Some(name) = kernels.iter().find(|name| !name.starts_with(KERNEL_PREFIX)) {
            let problem = format!("kernel `{name}` of the image for `{text}` is not visible to SYCL");
            return Err(Error::usage(problem).hint(format!(
                "call it `{KERNEL_PREFIX}{name}` in the source: only SPIR-V is renamed, and a runtime that takes \
                 the native image does not fall back to it"
            )));
        }
        let raw = packed.source.decode(&packed.image)?;
        self.forms.add_native(target, &kernels, raw);
        Ok(())
    }
}

fn state(state: SyclState) -> BundleState {
    match state {
        SyclState::Input => BundleState::Input,
        SyclState::Object => BundleState::Object,
        SyclState::Executable => BundleState::Executable,
    }
}

fn image_kind(runtime: SyclRuntime) -> ImageKindNumber {
    match runtime {
        SyclRuntime::Oneapi2026 => ImageKindNumber::default(),
        SyclRuntime::Oneapi2025_3 => ImageKindNumber::ONEAPI_2025_3,
    }
}

fn write_error(error: offload_format::Error) -> Error {
    Error::check(format!("the image cannot be exported: {error}"))
}

fn list(names: &BTreeSet<&str>) -> String {
    escaped(&names.iter().copied().collect::<Vec<_>>().join(", "))
}
