//! How a kernel module is compiled, apart from its files: from build.rs and from the configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

use offload_format::Variant;
use serde::Deserialize;
use toml::Value;

use crate::error::{Error, Result};

/// Which compiler makes code from C++.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub enum OpenClStd {
    /// OpenCL C 1.2, which every device takes.
    #[default]
    #[serde(rename = "1.2")]
    C12,
    /// OpenCL C 2.0.
    #[serde(rename = "2.0")]
    C20,
    /// OpenCL C 3.0.
    #[serde(rename = "3.0")]
    C30,
}

/// The registers of a hardware thread on Intel GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
#[non_exhaustive]
pub enum SpillBudget {
    /// Every spill is a warning.
    #[default]
    Warn,
    /// More bytes than this are an error.
    AtMost(u64),
    /// More bytes than this are a warning.
    WarnAbove(u64),
    /// Nothing is said.
    Any,
}

/// What is said of one kernel module.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Options {
    pub(crate) compiler: Option<Compiler>,
    pub(crate) split: Option<Split>,
    /// CUDA C++ sees the headers of the CUDA toolkit.
    pub(crate) cuda_sdk: Option<bool>,
    /// Images for AMD lose their symbol table and comments.
    pub(crate) strip: Option<bool>,
    pub(crate) std: Option<OpenClStd>,
    /// Relative to the manifest's directory.
    pub(crate) includes: Vec<PathBuf>,
    #[serde(deserialize_with = "defines")]
    pub(crate) defines: Vec<Definition>,
    #[serde(deserialize_with = "flags")]
    pub(crate) flags: Vec<OsString>,
    #[serde(deserialize_with = "variants")]
    pub(crate) variants: BTreeMap<String, Vec<String>>,
    pub(crate) max_registers: Option<u32>,
    pub(crate) grf: Option<Grf>,
    pub(crate) max_spills: Option<SpillBudget>,
    pub(crate) kernels: BTreeMap<String, KernelOptions>,
}

/// A macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// What is said of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct KernelOptions {
    pub(crate) max_registers: Option<u32>,
}

impl Options {
    /// These options with those of `later` on top: single values are replaced, lists grow.
    pub(crate) fn with(mut self, later: &Options) -> Options {
        self.compiler = later.compiler.or(self.compiler);
        self.split = later.split.or(self.split);
        self.cuda_sdk = later.cuda_sdk.or(self.cuda_sdk);
        self.strip = later.strip.or(self.strip);
        self.max_registers = later.max_registers.or(self.max_registers);
        self.std = later.std.or(self.std);
        self.grf = later.grf.or(self.grf);
        self.max_spills = later.max_spills.or(self.max_spills);
        self.includes.extend(later.includes.iter().cloned());
        self.defines.extend(later.defines.iter().cloned());
        self.flags.extend(later.flags.iter().cloned());
        self.variants.extend(later.variants.iter().map(|(name, values)| (name.clone(), values.clone())));
        self.kernels.extend(later.kernels.iter().map(|(name, options)| (name.clone(), options.clone())));
        self
    }

    /// Refuses values that mean nothing, before anything is compiled.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, values) in &self.variants {
            let different: BTreeSet<&String> = values.iter().collect();
            if values.is_empty() || different.len() != values.len() {
                let error = Error::new(format!("the variants `{name} = {values:?}` cannot be told apart"));
                return Err(error.with_hint("give at least one value, and each once"));
            }
        }
        self.combinations().map(drop)
    }

    /// The register limit of `kernel`.
    pub(crate) fn registers_of(&self, kernel: &str) -> Option<u32> {
        self.kernels.get(kernel).and_then(|options| options.max_registers).or(self.max_registers)
    }

    /// What clang's front end is given for `variant`: include directories, definitions, flags.
    pub(crate) fn compiler_flags(&self, variant: &Variant) -> Vec<OsString> {
        let include = |dir: &PathBuf| {
            let mut flag = OsString::from("-I");
            flag.push(dir);
            flag
        };
        let values = variant.iter().map(|(name, value)| format!("-D{name}={value}").into());
        let define = |macro_: &Definition| format!("-D{}={}", macro_.name, macro_.value).into();
        let includes = self.includes.iter().map(include);
        includes.chain(values).chain(self.defines.iter().map(define)).chain(self.flags.clone()).collect()
    }

    /// Every combination of the variants' values. One without any for no variants.
    pub(crate) fn combinations(&self) -> Result<Vec<Variant>> {
        let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
        for (name, values) in &self.variants {
            let longer = |start: Vec<(String, String)>| {
                values.iter().map(move |value| {
                    let mut definitions = start.clone();
                    definitions.push((name.clone(), value.clone()));
                    definitions
                })
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        let variant = |definitions| Variant::new(definitions).map_err(|error| Error::new(error.to_string()));
        all.into_iter().map(variant).collect()
    }
}

impl OpenClStd {
    /// As clang's `-cl-std=` takes it.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            OpenClStd::C12 => "CL1.2",
            OpenClStd::C20 => "CL2.0",
            OpenClStd::C30 => "CL3.0",
        }
    }
}

/// `"auto"`, `"default"`, `"large"`.
impl TryFrom<Value> for Grf {
    type Error = Error;

    fn try_from(value: Value) -> Result<Grf> {
        match value.as_str() {
            Some("auto") => Ok(Grf::Auto),
            Some("default") => Ok(Grf::Default),
            Some("large") => Ok(Grf::Large),
            _ => Err(Error::new(format!("`grf = {value}` is not understood"))
                .with_hint("write \"auto\", \"default\" or \"large\"")),
        }
    }
}

/// `0`, `"any"`, `{ warn = 1024 }`.
impl TryFrom<Value> for SpillBudget {
    type Error = Error;

    fn try_from(value: Value) -> Result<SpillBudget> {
        let bytes = |value: &Value| value.as_integer().and_then(|bytes| u64::try_from(bytes).ok());
        let warn = value.get("warn").and_then(bytes);
        match (bytes(&value), warn, value.as_str()) {
            (Some(bytes), ..) => Ok(SpillBudget::AtMost(bytes)),
            (_, Some(bytes), _) => Ok(SpillBudget::WarnAbove(bytes)),
            (.., Some("any")) => Ok(SpillBudget::Any),
            _ => Err(Error::new(format!("`max-spills = {value}` is not understood"))
                .with_hint("write a number of bytes (more is an error), { warn = BYTES }, or \"any\"")),
        }
    }
}

fn flags<'de, D: serde::Deserializer<'de>>(input: D) -> std::result::Result<Vec<OsString>, D::Error> {
    Ok(Vec::<String>::deserialize(input)?.into_iter().map(OsString::from).collect())
}

fn defines<'de, D: serde::Deserializer<'de>>(input: D) -> std::result::Result<Vec<Definition>, D::Error> {
    let table = BTreeMap::<String, Value>::deserialize(input)?;
    Ok(table.into_iter().map(|(name, value)| Definition { name, value: text(&value) }).collect())
}

/// Values may be numbers, booleans or texts.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn variants<'de, D: serde::Deserializer<'de>>(
    input: D,
) -> std::result::Result<BTreeMap<String, Vec<String>>, D::Error> {
    let table = BTreeMap::<String, Vec<Value>>::deserialize(input)?;
    Ok(table.into_iter().map(|(name, values)| (name, values.iter().map(text).collect())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Options {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn variants_are_combined_in_order() {
        let options = parse("variants = { T = [\"half\", \"float\"], HEAD_DIM = [64, 128] }");
        let texts: Vec<String> = options.combinations().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            ["HEAD_DIM=64,T=half", "HEAD_DIM=64,T=float", "HEAD_DIM=128,T=half", "HEAD_DIM=128,T=float"]
        );
        assert_eq!(Options::default().combinations().unwrap(), [Variant::default()]);
    }

    #[test]
    fn variants_that_cannot_be_told_apart_are_refused() {
        for text in [
            "variants = { T = [] }",
            "variants = { T = [1, 1] }",
            "variants = { T = [\"a,b\"] }",
            "variants = { \"A=B\" = [1] }",
        ] {
            assert!(parse(text).check().is_err(), "{text}");
        }
        assert!(parse("variants = { T = [\"half\", 1, true] }").check().is_ok());
    }

    #[test]
    fn budgets_have_three_forms() {
        let budget = |text: &str| {
            toml::from_str::<Options>(text).map(|options| options.max_spills.unwrap_or_default())
        };
        assert_eq!(budget("").unwrap(), SpillBudget::Warn);
        assert_eq!(budget("max-spills = 0").unwrap(), SpillBudget::AtMost(0));
        assert_eq!(budget("max-spills = { warn = 64 }").unwrap(), SpillBudget::WarnAbove(64));
        assert_eq!(budget("max-spills = \"any\"").unwrap(), SpillBudget::Any);
        assert!(budget("max-spills = -1").unwrap_err().to_string().contains("hint:"));
    }

    #[test]
    fn what_the_builder_says_the_file_can_say() {
        let options = parse(
            "std = \"3.0\"\nincludes = [\"inc\"]\ndefines = { TILE = 16, T = \"half\" }\nflags = [\"-O1\"]\ngrf = \"large\"",
        );
        assert_eq!((options.std, options.grf), (Some(OpenClStd::C30), Some(Grf::Large)));
        let flags = options.compiler_flags(&Variant::default());
        assert_eq!(flags, ["-Iinc", "-DT=half", "-DTILE=16", "-O1"].map(OsString::from));
    }

    #[test]
    fn later_options_win_kernel_by_kernel() {
        let early = parse("max-registers = 64\nsplit = \"kernel\"\n[kernels.k]\nmax-registers = 32");
        let options = early.with(&parse("max-registers = 128\ncompiler = \"nvcc\""));
        assert_eq!((options.registers_of("k"), options.registers_of("other")), (Some(32), Some(128)));
        assert_eq!((options.split, options.compiler), (Some(Split::Kernel), Some(Compiler::Nvcc)));
    }
}
