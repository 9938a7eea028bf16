//! Compile options of a kernel module, from build.rs and from the configuration.

pub(crate) mod spec;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

use offload_containers::syclbin::BundleState as SyclState;
use offload_format::{SpecConstant, SpecValue, Target, Variant};

use crate::error::{Error, Result};
use crate::settings::{Table, Value};

pub(crate) use self::spec::SpecForm;

/// Which compiler makes code from C++.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compiler {
    /// LLVM's clang.
    #[default]
    Clang,
    /// NVIDIA's nvcc, for CUDA C++.
    Nvcc,
    /// AMD's hipcc, for HIP C++.
    Hipcc,
    /// Intel's DPC++, for SYCL C++ in `.cpp` files. Only its command lines are tested, not what it writes.
    Icpx,
}

/// Into which images a module is cut for a target. Helper functions are in every image that uses them.
///
/// A driver loads only the images whose kernels a program asks for. Targets `host` and `opencl-c` are never cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Split {
    /// One image with all kernels.
    #[default]
    None,
    /// An image for each kernel.
    Kernel,
    /// An image for each file.
    Source,
    /// Kernels that need the same of the device (fp64, fp16, 64-bit atomics) are together, so that one kernel with
    /// `double` does not make the whole module unusable on a device without it.
    Aspect,
}

/// A version of OpenCL C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenClStd {
    /// OpenCL C 1.2, which every device takes.
    #[default]
    C12,
    /// OpenCL C 2.0.
    C20,
    /// OpenCL C 3.0.
    C30,
}

/// The registers of a hardware thread on Intel GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grf {
    /// The default number; a kernel that spills is compiled for the larger one too, and the better result is kept.
    #[default]
    Auto,
    /// As the compiler decides.
    Default,
    /// The larger number.
    Large,
}

/// How many bytes a kernel may spill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpillBudget {
    /// Every spill is a warning.
    #[default]
    Warn,
    /// More bytes than this are an error.
    AtMost(u64),
    /// More bytes than this are a warning.
    WarnAbove(u64),
    /// Neither a warning nor an error.
    Any,
}

/// When device libraries are linked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Link {
    /// When the importing module is compiled, as LLVM's bitcode: each image has what it calls, and nothing else.
    #[default]
    Build,
    /// When an image is loaded, for the targets `host` and `spirv64`: images have their own kernels alone, and share one
    /// image of the library. For all other targets as [`Link::Build`].
    Load,
}

/// A kind of targets: the part of a target's name before the colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetKind {
    /// `host`
    Host,
    /// `spirv64`
    Spirv64,
    /// `opencl-c`
    OpenClC,
    /// `intel:...`
    Intel,
    /// `nvptx:...`
    Nvptx,
    /// `cubin:...`
    Cubin,
    /// `amdgcn:...`
    Amdgcn,
}

/// Options of one kernel module.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options {
    /// The kinds of targets that it is compiled for; none for all.
    pub(crate) only: Vec<TargetKind>,
    pub(crate) compiler: Option<Compiler>,
    pub(crate) split: Option<Split>,
    /// CUDA C++ sees the headers of the CUDA toolkit.
    pub(crate) cuda_sdk: Option<bool>,
    /// What `__CUDA_ARCH__` is where no GPU of NVIDIA is the target.
    pub(crate) cuda_arch: Option<u32>,
    /// Host functions of CUDA C++ become part of the program.
    pub(crate) launchers: Option<bool>,
    /// Images for AMD lose their symbol table and comments.
    pub(crate) strip: Option<bool>,
    pub(crate) std: Option<OpenClStd>,
    /// Device libraries of other packages.
    pub(crate) imports: Vec<String>,
    /// When those are linked; of an exported library, whether it has images for that.
    pub(crate) link: Option<Link>,
    /// Relative to the manifest's directory.
    pub(crate) includes: Vec<PathBuf>,
    pub(crate) defines: Vec<Definition>,
    pub(crate) flags: Vec<OsString>,
    pub(crate) variants: BTreeMap<String, Vec<String>>,
    /// Specialisation constants with their defaults.
    pub(crate) spec: BTreeMap<String, SpecValue>,
    pub(crate) max_registers: Option<u32>,
    pub(crate) grf: Option<Grf>,
    pub(crate) max_spills: Option<SpillBudget>,
    pub(crate) kernels: BTreeMap<String, KernelOptions>,
    /// Whether the module is written as a SYCLBIN too.
    pub(crate) syclbin: Option<SyclState>,
    /// SPIR-V files that become modules of it, relative to the manifest's directory.
    pub(crate) syclbin_libraries: Vec<PathBuf>,
}

/// A macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Options of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelOptions {
    pub(crate) max_registers: Option<u32>,
    /// The kinds of targets that have it; none for all.
    pub(crate) targets: Vec<TargetKind>,
}

impl Options {
    pub(crate) const KEYS: [&str; 22] = [
        "only",
        "compiler",
        "split",
        "cuda-sdk",
        "cuda-arch",
        "launchers",
        "strip",
        "std",
        "imports",
        "link",
        "includes",
        "defines",
        "flags",
        "variants",
        "spec",
        "max-registers",
        "grf",
        "max-spills",
        "kernels",
        "syclbin",
        "syclbin-libraries",
        "require",
    ];

    /// What a table says.
    pub(crate) fn read(value: Value<'_>) -> Result<Options> {
        let table = value.table()?;
        table.only(&Options::KEYS)?;
        table.optional("require", |value| value.each(Value::string))?;
        let only = table.optional("only", |value| value.each(|kind| kind.choice(&TargetKind::NAMES)))?;
        Ok(Options {
            only: only.unwrap_or_default(),
            compiler: table.optional("compiler", |value| value.choice(&Compiler::NAMES))?,
            split: table.optional("split", |value| value.choice(&Split::NAMES))?,
            cuda_sdk: table.optional("cuda-sdk", Value::bool)?,
            cuda_arch: table.optional("cuda-arch", Value::number)?,
            launchers: table.optional("launchers", Value::bool)?,
            strip: table.optional("strip", Value::bool)?,
            std: table.optional("std", |value| value.choice(&OpenClStd::NAMES))?,
            imports: texts(table, "imports")?.into_iter().map(str::to_string).collect(),
            link: table.optional("link", |value| value.choice(&Link::NAMES))?,
            includes: texts(table, "includes")?.into_iter().map(PathBuf::from).collect(),
            defines: table.optional("defines", defines)?.unwrap_or_default(),
            flags: texts(table, "flags")?.into_iter().map(OsString::from).collect(),
            variants: table.optional("variants", variants)?.unwrap_or_default(),
            spec: table.optional("spec", spec::read)?.unwrap_or_default(),
            max_registers: table.optional("max-registers", Value::number)?,
            grf: table.optional("grf", Grf::read)?,
            max_spills: table.optional("max-spills", SpillBudget::read)?,
            kernels: table
                .optional("kernels", |value| value.table()?.collect(KernelOptions::read))?
                .unwrap_or_default(),
            syclbin: table.optional("syclbin", |value| value.choice(&SYCL_STATES))?,
            syclbin_libraries: texts(table, "syclbin-libraries")?.into_iter().map(PathBuf::from).collect(),
        })
    }

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
    const NAMES: [(&str, OpenClStd); 3] =
        [("1.2", OpenClStd::C12), ("2.0", OpenClStd::C20), ("3.0", OpenClStd::C30)];

    /// As settings have it.
    pub(crate) fn name(self) -> &'static str {
        OpenClStd::NAMES.iter().find(|(_, std)| *std == self).map(|(name, _)| *name).unwrap_or_default()
    }

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

const SYCL_STATES: [(&str, SyclState); 3] =
    [("input", SyclState::Input), ("object", SyclState::Object), ("executable", SyclState::Executable)];

impl Compiler {
    const NAMES: [(&str, Compiler); 4] = [
        ("clang", Compiler::Clang),
        ("nvcc", Compiler::Nvcc),
        ("hipcc", Compiler::Hipcc),
        ("icpx", Compiler::Icpx),
    ];
}

impl TargetKind {
    const NAMES: [(&str, TargetKind); 7] = [
        ("host", TargetKind::Host),
        ("spirv64", TargetKind::Spirv64),
        ("opencl-c", TargetKind::OpenClC),
        ("intel", TargetKind::Intel),
        ("nvptx", TargetKind::Nvptx),
        ("cubin", TargetKind::Cubin),
        ("amdgcn", TargetKind::Amdgcn),
    ];

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

    fn name(self) -> &'static str {
        TargetKind::NAMES.iter().find(|(_, kind)| *kind == self).map(|(name, _)| *name).unwrap_or_default()
    }
}

impl std::fmt::Display for TargetKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Link {
    const NAMES: [(&str, Link); 2] = [("build", Link::Build), ("load", Link::Load)];
}

impl Split {
    const NAMES: [(&str, Split); 4] = [
        ("none", Split::None),
        ("kernel", Split::Kernel),
        ("source", Split::Source),
        ("aspect", Split::Aspect),
    ];
}

impl Grf {
    /// `"auto"`, `"default"`, `"large"`.
    fn read(value: Value<'_>) -> Result<Grf> {
        match value.as_str() {
            Some("auto") => Ok(Grf::Auto),
            Some("default") => Ok(Grf::Default),
            Some("large") => Ok(Grf::Large),
            _ => {
                let error = Error::new(format!("`grf = {value}` is not understood"));
                Err(value.refuse(error.with_hint("write \"auto\", \"default\" or \"large\"")))
            }
        }
    }
}

impl SpillBudget {
    /// `0`, `"any"`, `{ warn = 1024 }`.
    fn read(value: Value<'_>) -> Result<SpillBudget> {
        let [limit, warn] = [Some(value), value.get("warn")]
            .map(|value| value?.as_integer().and_then(|bytes| u64::try_from(bytes).ok()));
        match (limit, warn, value.as_str()) {
            (Some(bytes), ..) => Ok(SpillBudget::AtMost(bytes)),
            (_, Some(bytes), _) => Ok(SpillBudget::WarnAbove(bytes)),
            (.., Some("any")) => Ok(SpillBudget::Any),
            _ => {
                let hint = "write a number of bytes (more is an error), { warn = BYTES }, or \"any\"";
                let error = Error::new(format!("`max-spills = {value}` is not understood"));
                Err(value.refuse(error.with_hint(hint)))
            }
        }
    }
}

impl KernelOptions {
    fn read(value: Value<'_>) -> Result<KernelOptions> {
        let table = value.table()?;
        table.only(&["max-registers", "targets"])?;
        let targets =
            table.optional("targets", |value| value.each(|kind| kind.choice(&TargetKind::NAMES)))?;
        Ok(KernelOptions {
            max_registers: table.optional("max-registers", Value::number)?,
            targets: targets.unwrap_or_default(),
        })
    }
}

fn texts<'a>(table: Table<'a>, key: &str) -> Result<Vec<&'a str>> {
    Ok(table.optional(key, |value| value.each(Value::str))?.unwrap_or_default())
}

fn defines(value: Value<'_>) -> Result<Vec<Definition>> {
    let mut definitions = Vec::new();
    for (name, value) in value.table()?.entries() {
        definitions.push(Definition { name: name.to_string(), value: text(value) });
    }
    Ok(definitions)
}

fn variants(value: Value<'_>) -> Result<BTreeMap<String, Vec<String>>> {
    value.table()?.collect(|values| values.each(|value| Ok(text(value))))
}

/// Values may be numbers, booleans or texts.
fn text(value: Value<'_>) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

#[cfg(test)]
mod tests;
