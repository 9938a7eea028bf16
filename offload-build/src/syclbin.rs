//! SYCLBIN files beside the pack: the images of a kernel module for programs that use SYCL.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use offload_containers::syclbin::{
    Consequence, Forms, ImageKindNumber, KERNEL_PREFIX, Module, NativeTarget, Problem, State, hazards,
    native_target, parse, write,
};
use offload_format::{ImageKind, Limits};

use crate::compile::Compiled;
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::fs;

/// What is to be written of a module.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) state: State,
    /// SPIR-V files that become modules of their own, relative to the manifest.
    pub(crate) libraries: Vec<PathBuf>,
}

/// Writes the files of the module `name` to `OUT_DIR`.
pub(crate) fn write_files(
    env: &CargoEnv,
    name: &str,
    (wanted, images): (&Wanted, &[Compiled]),
) -> Result<()> {
    let libraries = wanted.libraries.iter().map(|path| library(env, path)).collect::<Result<Vec<_>>>()?;
    let files = Files::of(images)?;
    if !files.unreachable.is_empty() {
        env.warn(&format!(
            "{name}.syclbin goes without the images for {}: SYCL finds no kernel whose name in the source does not start \
             with `{KERNEL_PREFIX}`",
            files.unreachable.join(", ")
        ));
    }
    let own: Vec<&Forms> = files.portable.values().chain(&libraries).collect();
    if own.is_empty() {
        return Err(Error::new(format!(
            "`{name}.syclbin` would hold nothing: no image of the module is SPIR-V"
        ))
        .with_hint("add the target `spirv64`"));
    }
    publish(env, name, (wanted.state, &own))?;
    if wanted.state == State::Executable {
        for (arch, forms) in &files.others {
            publish(env, &format!("{name}-{arch}"), (State::Executable, &forms.iter().collect::<Vec<_>>()))?;
        }
    }
    Ok(())
}

/// Writes a file without modules, so that `include_bytes!` finds one where nothing is compiled.
pub(crate) fn write_empty(env: &CargoEnv, name: &str, wanted: &Wanted) -> Result<()> {
    publish(env, name, (wanted.state, &[]))
}

/// The images of a module by the file that they go into.
#[derive(Default)]
struct Files {
    /// SPIR-V with one native image for each triple, by variant and part.
    portable: BTreeMap<(String, String), Forms>,
    /// Native images that have no room there, by architecture.
    others: BTreeMap<String, Vec<Forms>>,
    /// Targets whose kernels SYCL cannot find.
    unreachable: Vec<String>,
}

impl Files {
    /// The SPIR-V first, whatever the order of the targets: native images go beside it.
    fn of(images: &[Compiled]) -> Result<Files> {
        let is_spirv = |compiled: &&Compiled| compiled.image.target.image_kind() == ImageKind::SpirV;
        let (mut spirv, native): (Vec<&Compiled>, Vec<&Compiled>) = images.iter().partition(is_spirv);
        // Of several versions the lowest: every device takes it.
        spirv.sort_by_key(|compiled| compiled.image.format_version);
        let mut files = Files::default();
        for compiled in spirv {
            if let Entry::Vacant(first) = files.portable.entry(key(compiled)) {
                first.insert(Forms::default().with_spirv(&compiled.raw.read()?)?);
            }
        }
        native.into_iter().try_for_each(|compiled| files.add(compiled))?;
        Ok(files)
    }

    /// Adds a native image, unless SYCL has no word for its target or would find no kernel in it.
    fn add(&mut self, compiled: &Compiled) -> Result<()> {
        let image = &compiled.image;
        let Some(target) = native_target(&image.target) else { return Ok(()) };
        let kernels: Vec<String> = image.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        if kernels.iter().any(|name| !name.starts_with(KERNEL_PREFIX)) {
            self.unreachable.push(image.target.to_string());
            return Ok(());
        }
        self.add_native(&key(compiled), (target, &kernels), compiled.raw.read()?);
        Ok(())
    }

    fn add_native(
        &mut self,
        key: &(String, String),
        (target, kernels): (NativeTarget, &[String]),
        bytes: Vec<u8>,
    ) {
        match self.portable.get_mut(key).filter(|forms| !forms.has_native(target.triple)) {
            Some(forms) => forms.add_native(target, kernels, bytes),
            None => {
                let mut forms = Forms::default();
                let arch = target.arch.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-");
                forms.add_native(target, kernels, bytes);
                self.others.entry(arch).or_default().push(forms);
            }
        }
    }
}

/// What has a module of its own: a variant and part.
fn key(compiled: &Compiled) -> (String, String) {
    (compiled.image.variant.to_string(), compiled.image.part.clone())
}

fn library(env: &CargoEnv, path: &Path) -> Result<Forms> {
    let path = env.manifest_dir.join(path);
    env.depends_on(&path);
    let bytes = std::fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
    let forms = Forms::default().with_spirv(&bytes);
    forms.map_err(|error| Error::from(error).context(format!("`{}`", path.display())))
}

fn publish(env: &CargoEnv, name: &str, (state, forms): (State, &[&Forms])) -> Result<()> {
    let modules =
        forms.iter().map(|forms| forms.module(state)).collect::<std::result::Result<Vec<Module<'_>>, _>>()?;
    let bytes = write(state, &modules, ImageKindNumber::default())?;
    tell_hazards(env, name, &bytes)?;
    fs::publish_if_changed(&env.out_dir.join(format!("{name}.syclbin")), &bytes)
}

/// What a runtime would do wrong with the file.
fn tell_hazards(env: &CargoEnv, name: &str, bytes: &[u8]) -> Result<()> {
    let file = parse(bytes, &Limits::default())?;
    // An import may be another file's export, and a file without modules is one that was not to be built.
    let meant = |problem: &Problem| matches!(problem, Problem::NotExported(_) | Problem::NoModules);
    for hazard in hazards(&file) {
        if hazard.problem.consequence() != Consequence::Restricts && !meant(&hazard.problem) {
            env.warn(&format!("{name}.syclbin: {hazard}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(files: &mut Files, target: &str) {
        let native = native_target(&target.parse().unwrap()).unwrap();
        let kernels = ["__sycl_kernel_saxpy".to_string()];
        files.add_native(&Default::default(), (native, &kernels), target.as_bytes().to_vec());
    }

    #[test]
    fn one_native_image_for_each_triple_is_beside_the_spirv() {
        let mut files = Files::default();
        let spirv = include_bytes!("../../tests/data/saxpy-reduce.spv");
        files.portable.insert(Default::default(), Forms::default().with_spirv(spirv).unwrap());
        ["intel:pvc", "intel:bmg-g21", "cubin:sm_90", "amdgcn:gfx90a:xnack+", "amdgcn:gfx90a:xnack-"]
            .into_iter()
            .for_each(|target| add(&mut files, target));
        let module = files.portable[&Default::default()].module(State::Executable).unwrap();
        let beside: Vec<&[u8]> = module.native.iter().map(|(_, bytes)| *bytes).collect();
        assert_eq!(beside, [&b"intel:pvc"[..], b"cubin:sm_90", b"amdgcn:gfx90a:xnack+"]);
        let others: Vec<&str> = files.others.keys().map(String::as_str).collect();
        assert_eq!(others, ["gfx90a-xnack-", "intel_gpu_bmg_g21"]);
        let alone = files.others["intel_gpu_bmg_g21"][0].module(State::Executable).unwrap();
        assert_eq!((alone.ir.len(), alone.native.len()), (0, 1));
        assert!(alone.metadata.get("SYCL/device requirements", "compile_target").is_some());
    }
}
