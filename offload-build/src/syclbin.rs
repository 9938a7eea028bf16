//! SYCLBIN files in `OUT_DIR`: the images of a kernel module for programs that use SYCL.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use offload_containers::syclbin::{
    BundleState, Consequence, ImageKindNumber, KERNEL_PREFIX, ModuleImages, NativeTarget, NewModule, Problem,
    hazards, native_target, parse, write,
};
use offload_format::{ImageKind, Limits};

use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::fs;
use crate::module::DeviceImage;

/// What is to be written of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyclbinOptions<'a> {
    pub(crate) state: BundleState,
    /// SPIR-V files that become modules of their own, relative to the manifest.
    pub(crate) libraries: &'a [PathBuf],
}

/// Writes the files of the module `name` to `OUT_DIR`.
pub(crate) fn write_files(
    env: &CargoEnv,
    name: &str,
    options: &SyclbinOptions<'_>,
    images: &[DeviceImage],
) -> Result<()> {
    let libraries = options.libraries.iter().map(|path| library(env, path)).collect::<Result<Vec<_>>>()?;
    let files = Files::from_images(images)?;
    if !files.unreachable.is_empty() {
        env.warn(&format!(
            "{name}.syclbin goes without the images for {}: SYCL finds no kernel whose name in the source does not start \
             with `{KERNEL_PREFIX}`",
            files.unreachable.join(", ")
        ));
    }
    let own: Vec<&ModuleImages> = files.portable.values().chain(&libraries).collect();
    if own.is_empty() {
        return Err(Error::new(format!(
            "`{name}.syclbin` would hold nothing: no image of the module is SPIR-V"
        ))
        .with_hint("add the target `spirv64`"));
    }
    publish(env, name, options.state, &own)?;
    if options.state == BundleState::Executable {
        for (arch, forms) in &files.others {
            let forms: Vec<&ModuleImages> = forms.iter().collect();
            publish(env, &format!("{name}-{arch}"), BundleState::Executable, &forms)?;
        }
    }
    Ok(())
}

/// Writes a file without modules, so that `include_bytes!` finds one where nothing is compiled.
pub(crate) fn write_empty(env: &CargoEnv, name: &str, state: BundleState) -> Result<()> {
    publish(env, name, state, &[])
}

/// The images of a module by the file that they go into.
#[derive(Default)]
struct Files {
    /// SPIR-V with one native image for each triple, by variant and part.
    portable: BTreeMap<ModuleKey, ModuleImages>,
    /// Native images that do not fit there, by architecture.
    others: BTreeMap<String, Vec<ModuleImages>>,
    /// Targets whose kernels SYCL cannot find.
    unreachable: Vec<String>,
}

impl Files {
    /// The SPIR-V first, whatever the order of the targets: native images go with it.
    fn from_images(images: &[DeviceImage]) -> Result<Files> {
        let (mut spirv, native): (Vec<&DeviceImage>, Vec<&DeviceImage>) =
            images.iter().partition(|image| image.record.target.image_kind() == ImageKind::SpirV);
        // Of several versions the lowest: every device takes it.
        spirv.sort_by_key(|image| image.record.format_version);
        let mut files = Files::default();
        for image in spirv {
            if let Entry::Vacant(first) = files.portable.entry(ModuleKey::for_image(image)) {
                first.insert(ModuleImages::default().with_spirv(&image.bytes.read()?)?);
            }
        }
        native.into_iter().try_for_each(|image| files.add(image))?;
        Ok(files)
    }

    /// Adds a native image, unless SYCL has no word for its target or would find no kernel in it.
    fn add(&mut self, image: &DeviceImage) -> Result<()> {
        let Some(target) = native_target(&image.record.target) else { return Ok(()) };
        let kernels: Vec<String> = image.record.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        if kernels.iter().any(|name| !name.starts_with(KERNEL_PREFIX)) {
            self.unreachable.push(image.record.target.to_string());
            return Ok(());
        }
        let native = Native { target, kernels, bytes: image.bytes.read()? };
        self.add_native(&ModuleKey::for_image(image), native);
        Ok(())
    }

    fn add_native(&mut self, key: &ModuleKey, Native { target, kernels, bytes }: Native) {
        match self.portable.get_mut(key).filter(|forms| !forms.has_native(target.triple)) {
            Some(forms) => forms.add_native(target, &kernels, bytes),
            None => {
                let mut forms = ModuleImages::default();
                let arch = target.arch.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-");
                forms.add_native(target, &kernels, bytes);
                self.others.entry(arch).or_default().push(forms);
            }
        }
    }
}

/// A native image with the kernels that SYCL finds in it.
struct Native {
    target: NativeTarget,
    kernels: Vec<String>,
    bytes: Vec<u8>,
}

/// What has a module of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct ModuleKey {
    variant: String,
    part: String,
}

impl ModuleKey {
    fn for_image(image: &DeviceImage) -> ModuleKey {
        ModuleKey { variant: image.record.variant.clone(), part: image.record.part.clone() }
    }
}

fn library(env: &CargoEnv, path: &Path) -> Result<ModuleImages> {
    let path = env.manifest_dir.join(path);
    env.depends_on(&path);
    let bytes = std::fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
    let forms = ModuleImages::default().with_spirv(&bytes);
    forms.map_err(|error| Error::from(error).context(format!("`{}`", path.display())))
}

fn publish(env: &CargoEnv, name: &str, state: BundleState, forms: &[&ModuleImages]) -> Result<()> {
    let modules = forms
        .iter()
        .map(|forms| forms.module(state))
        .collect::<std::result::Result<Vec<NewModule<'_>>, _>>()?;
    let bytes = write(state, &modules, ImageKindNumber::default())?;
    tell_hazards(env, name, &bytes)?;
    fs::publish_if_changed(&env.out_dir.join(format!("{name}.syclbin")), &bytes)
}

/// What a runtime would do wrong with the file.
fn tell_hazards(env: &CargoEnv, name: &str, bytes: &[u8]) -> Result<()> {
    let file = parse(bytes, &Limits::default())?;
    for hazard in hazards(&file) {
        // An import may be another file's export, and a file without modules is one that was not to be built.
        if matches!(hazard.problem, Problem::NotExported(_) | Problem::NoModules) {
            continue;
        }
        if hazard.problem.consequence() != Consequence::Restricts {
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
        let kernels = vec!["__sycl_kernel_saxpy".to_string()];
        let native = Native { target: native, kernels, bytes: target.as_bytes().to_vec() };
        files.add_native(&ModuleKey::default(), native);
    }

    #[test]
    fn one_native_image_for_each_triple_is_with_the_spirv() {
        let mut files = Files::default();
        let spirv = include_bytes!("../../tests/data/saxpy-reduce.spv");
        files.portable.insert(ModuleKey::default(), ModuleImages::default().with_spirv(spirv).unwrap());
        ["intel:pvc", "intel:bmg-g21", "cubin:sm_90", "amdgcn:gfx90a:xnack+", "amdgcn:gfx90a:xnack-"]
            .into_iter()
            .for_each(|target| add(&mut files, target));
        let module = files.portable[&ModuleKey::default()].module(BundleState::Executable).unwrap();
        let native: Vec<&[u8]> = module.native.iter().map(|payload| payload.bytes).collect();
        assert_eq!(native, [&b"intel:pvc"[..], b"cubin:sm_90", b"amdgcn:gfx90a:xnack+"]);
        let others: Vec<&str> = files.others.keys().map(String::as_str).collect();
        assert_eq!(others, ["gfx90a-xnack-", "intel_gpu_bmg_g21"]);
        let alone = files.others["intel_gpu_bmg_g21"][0].module(BundleState::Executable).unwrap();
        assert_eq!((alone.ir.len(), alone.native.len()), (0, 1));
        assert!(alone.metadata.get("SYCL/device requirements", "compile_target").is_some());
    }
}
