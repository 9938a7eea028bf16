//! Options of build script and settings together, and what they mean for a kernel, a target and a variant.

use std::collections::BTreeSet;
use std::ffi::OsString;

use offload_format::{SpecConstant, Target, Variant};

use super::{OpenClStd, Options, TargetKind, spec};
use crate::error::{Error, Result};

impl Options {
    /// These options with those of `later` on top: single values are replaced, lists grow.
    pub(crate) fn with(mut self, later: &Options) -> Options {
        if !later.only.is_empty() {
            self.only.clone_from(&later.only);
        }
        self.compiler = later.compiler.or(self.compiler);
        self.split = later.split.or(self.split);
        self.cuda_sdk = later.cuda_sdk.or(self.cuda_sdk);
        self.cuda_arch = later.cuda_arch.or(self.cuda_arch);
        self.launchers = later.launchers.or(self.launchers);
        self.strip = later.strip.or(self.strip);
        self.max_registers = later.max_registers.or(self.max_registers);
        self.std = later.std.or(self.std);
        self.link = later.link.or(self.link);
        self.grf = later.grf.or(self.grf);
        self.max_spills = later.max_spills.or(self.max_spills);
        self.syclbin = later.syclbin.or(self.syclbin);
        self.syclbin_libraries.extend(later.syclbin_libraries.iter().cloned());
        self.imports.extend(later.imports.iter().cloned());
        self.includes.extend(later.includes.iter().cloned());
        self.defines.extend(later.defines.iter().cloned());
        self.flags.extend(later.flags.iter().cloned());
        self.variants.extend(later.variants.iter().map(|(name, values)| (name.clone(), values.clone())));
        self.spec.extend(later.spec.iter().map(|(name, value)| (name.clone(), *value)));
        for (name, later) in &later.kernels {
            let kernel = self.kernels.entry(name.clone()).or_default();
            kernel.max_registers = later.max_registers.or(kernel.max_registers);
            if !later.targets.is_empty() {
                kernel.targets.clone_from(&later.targets);
            }
            if !later.bounds.is_empty() {
                kernel.bounds.clone_from(&later.bounds);
            }
        }
        self
    }

    /// Refuses values that mean nothing, before anything is compiled.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, values) in &self.variants {
            let mut different = BTreeSet::new();
            different.extend(values);
            if values.is_empty() || different.len() != values.len() {
                let error = Error::new(format!("the variants `{name} = {values:?}` are not distinct"));
                return Err(error.with_hint("give at least one value, and each once"));
            }
        }
        if let Some(arch) = self.cuda_arch.filter(|arch| !(300..2000).contains(arch) || arch % 10 != 0) {
            let error = Error::new(format!("`cuda-arch = {arch}` is no value of `__CUDA_ARCH__`"));
            return Err(error.with_hint("compute capability 8.0 is 800"));
        }
        let mut definitions = BTreeSet::new();
        definitions.extend(self.defines.iter().map(|definition| definition.name.as_str()));
        spec::check(&self.spec, &spec::Others { definitions, variants: &self.variants })?;
        self.combinations().map(drop)
    }

    /// The register limit of `kernel`.
    pub(crate) fn registers_of(&self, kernel: &str) -> Option<u32> {
        self.kernels.get(kernel).and_then(|options| options.max_registers).or(self.max_registers)
    }

    /// The kinds of targets that `kernel` is kept to, if they leave `target` out.
    pub(crate) fn left_out_of(&self, kernel: &str, target: &Target) -> Option<&[TargetKind]> {
        let kinds = self.kernels.get(kernel)?.targets.as_slice();
        let is_of_kind = TargetKind::for_target(target).is_some_and(|kind| kinds.contains(&kind));
        (!kinds.is_empty() && !is_of_kind).then_some(kinds)
    }

    /// Whether a kernel is kept to some kinds of targets.
    pub(crate) fn has_kernel_targets(&self) -> bool {
        self.kernels.values().any(|kernel| !kernel.targets.is_empty())
    }

    /// What clang's front end is given for `variant`: include directories, definitions, flags.
    pub(crate) fn compiler_flags(&self, variant: &Variant) -> Vec<OsString> {
        // Specialisation constants are defined in another form for each kind of target.
        let values = variant.iter().filter(|(name, _)| !self.spec.contains_key(*name));
        let mut flags = Vec::new();
        for dir in &self.includes {
            let mut flag = OsString::from("-I");
            flag.push(dir);
            flags.push(flag);
        }
        flags.extend(values.map(|(name, value)| format!("-D{name}={value}").into()));
        flags.extend(self.defines.iter().map(|macro_| format!("-D{}={}", macro_.name, macro_.value).into()));
        flags.extend_from_slice(&self.flags);
        flags
    }

    /// The specialisation constants of `variant`.
    pub(crate) fn constants(&self, variant: &Variant) -> Result<Vec<SpecConstant>> {
        spec::for_variant(&self.spec, variant)
    }

    /// Every combination of the variants' values. One without any for no variants.
    pub(crate) fn combinations(&self) -> Result<Vec<Variant>> {
        let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
        for (name, values) in &self.variants {
            let mut longer = Vec::new();
            for start in all {
                for value in values {
                    let mut definitions = start.clone();
                    definitions.push((name.clone(), value.clone()));
                    longer.push(definitions);
                }
            }
            all = longer;
        }
        all.into_iter()
            .map(|definitions| Variant::new(definitions).map_err(|error| Error::new(error.to_string())))
            .collect()
    }
}

impl OpenClStd {
    /// The version with this name.
    pub(crate) fn named(name: &str) -> Result<OpenClStd> {
        let found = OpenClStd::NAMES.iter().find(|(known, _)| *known == name).map(|(_, std)| *std);
        found.ok_or_else(|| {
            Error::new(format!("`{name}` is not a version of OpenCL C that this release knows"))
        })
    }

    /// As clang's `-cl-std=` takes it.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            OpenClStd::C12 => "CL1.2",
            OpenClStd::C20 => "CL2.0",
            OpenClStd::C30 => "CL3.0",
        }
    }
}

impl TargetKind {
    /// The kind of `target`; `None` for one that this release does not know.
    pub(crate) fn for_target(target: &Target) -> Option<TargetKind> {
        match target {
            Target::Host(_) => Some(TargetKind::Host),
            Target::Spirv64(_) => Some(TargetKind::Spirv64),
            Target::OpenClC => Some(TargetKind::OpenClC),
            Target::Intel(_) => Some(TargetKind::Intel),
            Target::Nvptx(_) => Some(TargetKind::Nvptx),
            Target::Cubin(_) => Some(TargetKind::Cubin),
            Target::Amdgcn(_) => Some(TargetKind::Amdgcn),
            _ => None,
        }
    }

    /// A target of the kind.
    pub(crate) fn example(self) -> &'static str {
        match self {
            TargetKind::Host => "host",
            TargetKind::Spirv64 => "spirv64",
            TargetKind::OpenClC => "opencl-c",
            TargetKind::Intel => "intel:pvc",
            TargetKind::Nvptx => "nvptx:sm_75",
            TargetKind::Cubin => "cubin:sm_75",
            TargetKind::Amdgcn => "amdgcn:gfx90a",
        }
    }
}
