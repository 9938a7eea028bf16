//! Kernel modules: the request of a build script, the sources of a variant, and the resulting images.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offload_format::pack::{KernelInfo, NewImage};
use offload_format::{Import, SpecConstant, Target, Variant};
use offload_signatures::{Declared, Dialect};

use crate::cache::Blob;
use crate::error::{Error, Result};
use crate::options::{Link, Options};
use crate::request::KernelModule;
use crate::targets::WantedTarget;

/// The sources of one kernel module, in one variant, and how to read them.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    pub(crate) module: String,
    /// Empty for a module without variants.
    pub(crate) variant: Variant,
    pub(crate) files: Vec<SourceFile>,
    /// Include directories, definitions and flags as clang takes them, in this order.
    pub(crate) flags: Vec<OsString>,
    /// Specialisation constants, none of which has a number yet.
    pub(crate) spec: Vec<SpecConstant>,
    pub(crate) options: Options,
    pub(crate) origin: Origin,
}

/// Where sources are, and whose functions they call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// The directory that their paths are relative to: that of a package's manifest.
    pub(crate) root: PathBuf,
    pub(crate) imports: Vec<Arc<Library>>,
}

impl KernelModule<'_> {
    /// The sources once for each variant, with `options` of build script and configuration.
    ///
    /// They have no origin yet.
    pub(crate) fn variants(&self, options: &Options) -> Result<Vec<Sources>> {
        let name = self.name;
        if name.is_empty()
            || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
            || name.starts_with(|c: char| c.is_ascii_digit())
        {
            return Err(Error::new(format!("`{}` cannot name a kernel module", name.escape_default()))
                .with_hint("use letters, digits, `_` and `-`, with a letter first"));
        }
        if self.files.is_empty() {
            return Err(Error::new(format!("the kernel module `{name}` has no files"))
                .with_hint("add `.file(\"kernel.cl\")`"));
        }
        options.check()?;
        let files = self.files.iter().map(|path| SourceFile::new(path)).collect::<Result<Vec<_>>>()?;
        let mut sources = Vec::new();
        for variant in options.combinations()? {
            sources.push(Sources {
                module: name.to_string(),
                files: files.clone(),
                flags: options.compiler_flags(&variant),
                spec: options.constants(&variant)?,
                options: options.clone(),
                variant,
                origin: Origin::default(),
            });
        }
        Ok(sources)
    }
}

/// A device library: functions that a package exports for kernels of other packages.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) package: String,
    pub(crate) version: String,
    /// Whether programs have images of it, to be linked when they are loaded.
    pub(crate) has_images: bool,
    /// Where importers find its headers.
    pub(crate) include: PathBuf,
    /// All files there.
    pub(crate) headers: Vec<PathBuf>,
    /// What its package has recorded of it.
    pub(crate) record: PathBuf,
    pub(crate) sources: Sources,
}

impl Library {
    pub(crate) fn name(&self) -> &str {
        &self.sources.module
    }

    /// What an image says that needs it when it is loaded.
    pub(crate) fn import(&self) -> Import {
        Import::new(self.name(), &self.package, &self.version)
    }

    /// The package as messages have it: "crate `bf16` 0.1.0".
    pub(crate) fn provider(&self) -> String {
        format!("crate `{}` {}", self.package, self.version)
    }

    /// Where its package is.
    pub(crate) fn root(&self) -> &Path {
        &self.sources.origin.root
    }

    /// Whether both are one: cargo has two versions of a package in a build, but not with the same `links`.
    pub(crate) fn is(&self, other: &Library) -> bool {
        self.name() == other.name() && self.root() == other.root()
    }
}

impl Sources {
    /// The libraries that they import, directly or not, each before what it imports: the order in which LLVM's linker
    /// takes what the modules so far need.
    pub(crate) fn libraries(&self) -> Vec<&Library> {
        let mut order = Vec::new();
        self.origin.imports.iter().rev().for_each(|library| visit(library, &mut order));
        order.reverse();
        order
    }

    /// The declarations in the files and their headers, as far as no compiler is needed. Files are relative to `root`.
    pub(crate) fn declared(&self, root: &Path) -> Declared {
        let mut files = Vec::new();
        for file in self.files.iter().filter(|file| file.language.is_source()) {
            files.push(file.path.clone());
        }
        let mut flags = Vec::new();
        for flag in self.flags.iter().chain(&self.import_flags()) {
            flags.extend(flag.to_str().map(str::to_string));
        }
        let dialect = self.files.first().map_or(Dialect::OpenCl, |file| file.language.dialect());
        offload_signatures::read(&offload_signatures::Sources { root, dialect, files, flags })
    }

    /// The file of a module that has one.
    pub(crate) fn only_file(&self) -> Option<&Path> {
        match self.files.as_slice() {
            [only] => Some(&only.path),
            _ => None,
        }
    }

    /// Whether the host part of its files becomes part of the program.
    pub(crate) fn has_launchers(&self) -> bool {
        self.options.launchers == Some(true)
    }

    /// Whether what C++ keeps to a file has a name of its own in each: only launchers need no name of a kernel.
    pub(crate) fn has_distinct_names(&self) -> bool {
        self.has_launchers() && self.files.len() > 1
    }

    /// Whether what they import is left to the loader, for targets where that is possible.
    pub(crate) fn link_at_load(&self) -> bool {
        self.options.link == Some(Link::Load) && !self.origin.imports.is_empty()
    }

    /// What a front end is given so that it finds the headers of the libraries.
    pub(crate) fn import_flags(&self) -> Vec<OsString> {
        self.libraries()
            .into_iter()
            .map(|library| {
                let mut flag = OsString::from("-I");
                flag.push(&library.include);
                flag
            })
            .collect()
    }

    /// Whether the functions of OpenCL C belong to the language of any file, libraries included.
    pub(crate) fn has_opencl_functions(&self) -> bool {
        let libraries = self.libraries().into_iter().map(|library| &library.sources);
        libraries
            .chain([self])
            .any(|sources| sources.files.iter().any(|file| file.language.has_opencl_functions()))
    }

    /// Whether any file is CUDA C++ or HIP C++, libraries included.
    pub(crate) fn has_cuda(&self) -> bool {
        self.has_language(Language::Cuda) || self.has_language(Language::Hip)
    }

    /// Whether any file is in `language`, libraries included.
    pub(crate) fn has_language(&self, language: Language) -> bool {
        let libraries = self.libraries().into_iter().map(|library| &library.sources);
        let mut files = libraries.chain([self]).flat_map(|sources| &sources.files);
        files.any(|file| file.language == language)
    }

    /// The module and the values of its variant.
    pub(crate) fn name(&self) -> String {
        let values = self.variant.iter().map(|(name, value)| format!(" {name}={value}"));
        std::iter::once(self.module.clone()).chain(values).collect()
    }
}

/// Adds `library` behind all that it imports.
fn visit<'a>(library: &'a Library, order: &mut Vec<&'a Library>) {
    if order.iter().any(|known| known.is(library)) {
        return;
    }
    library.sources.origin.imports.iter().rev().for_each(|import| visit(import, order));
    order.push(library);
}

/// A file of a kernel module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceFile {
    /// Relative to the manifest's directory.
    pub(crate) path: PathBuf,
    pub(crate) language: Language,
}

/// What a file is written in, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Language {
    OpenClC,
    OpenClCpp,
    C,
    Cpp,
    Cuda,
    Hip,
    /// LLVM IR, as bitcode or text.
    LlvmIr,
    Spirv,
    Ptx,
    Cubin,
    AmdCodeObject,
    /// What ocloc writes: an image, or an archive of images for several devices.
    Ocloc,
    /// A SYCLBIN with one module of SPIR-V.
    Syclbin,
}

/// Languages whose files can be in one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LanguageFamily {
    /// Compiles for every GPU.
    Portable,
    /// NVIDIA's own language, which compiles for AMD as well.
    Cuda,
    /// AMD's own language, which compiles for NVIDIA as well.
    Hip,
    /// Compiled already, by others.
    ReadyMade,
}

const EXTENSIONS: [(&str, Language); 20] = [
    ("cl", Language::OpenClC),
    ("clcpp", Language::OpenClCpp),
    ("c", Language::C),
    ("cc", Language::Cpp),
    ("cpp", Language::Cpp),
    ("cxx", Language::Cpp),
    ("cu", Language::Cuda),
    ("hip", Language::Hip),
    ("bc", Language::LlvmIr),
    ("ll", Language::LlvmIr),
    ("spv", Language::Spirv),
    ("spirv", Language::Spirv),
    ("ptx", Language::Ptx),
    ("cubin", Language::Cubin),
    ("hsaco", Language::AmdCodeObject),
    ("co", Language::AmdCodeObject),
    ("ar", Language::Ocloc),
    ("bin", Language::Ocloc),
    ("zebin", Language::Ocloc),
    ("syclbin", Language::Syclbin),
];

impl SourceFile {
    /// The file with the language of its extension.
    pub(crate) fn new(path: &Path) -> Result<SourceFile> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let found = EXTENSIONS.iter().find(|(name, _)| *name == extension);
        let language = found.map(|(_, language)| *language).ok_or_else(|| {
            let known: Vec<String> = EXTENSIONS.iter().map(|(name, _)| format!(".{name}")).collect();
            Error::new(format!("unknown language of `{}`", path.display()))
                .with_hint(format!("the file's extension selects the language: {}", known.join(", ")))
        })?;
        Ok(SourceFile { path: path.to_path_buf(), language })
    }
}

impl Language {
    pub(crate) fn family(self) -> LanguageFamily {
        match self {
            Language::OpenClC | Language::OpenClCpp | Language::C | Language::Cpp => LanguageFamily::Portable,
            Language::Cuda => LanguageFamily::Cuda,
            Language::Hip => LanguageFamily::Hip,
            _ => LanguageFamily::ReadyMade,
        }
    }

    /// Whether code for `target` can be made from it.
    pub(crate) fn serves(self, target: &Target) -> bool {
        match (self, target) {
            (Language::OpenClC, _) => true,
            (_, Target::OpenClC) => false,
            (Language::Cuda | Language::Hip, Target::Host(_)) => true,
            (_, Target::Host(_)) => self.is_portable(),
            (Language::Cuda | Language::Hip | Language::Ptx, Target::Nvptx(_) | Target::Cubin(_)) => true,
            (Language::Cuda | Language::Hip | Language::AmdCodeObject, Target::Amdgcn(_)) => true,
            (Language::Cubin, Target::Cubin(_)) | (Language::Ocloc, Target::Intel(_)) => true,
            (Language::Spirv | Language::Syclbin, Target::Spirv64(_) | Target::Intel(_)) => true,
            (Language::OpenClCpp | Language::C | Language::Cpp | Language::LlvmIr, _) => true,
            _ => false,
        }
    }

    /// Whether it compiles for the GPUs of all vendors.
    pub(crate) fn is_portable(self) -> bool {
        self.family() == LanguageFamily::Portable
    }

    /// The form of kernel declarations; files without any are not read.
    fn dialect(self) -> Dialect {
        match self {
            Language::C | Language::Cpp => Dialect::C,
            Language::Cuda | Language::Hip => Dialect::Cuda,
            _ => Dialect::OpenCl,
        }
    }

    /// Whether files of it are text in which kernels are declared.
    pub(crate) fn is_source(self) -> bool {
        self.family() != LanguageFamily::ReadyMade
    }

    /// Whether the functions of OpenCL C belong to the language.
    pub(crate) fn has_opencl_functions(self) -> bool {
        matches!(self, Language::OpenClC | Language::OpenClCpp)
    }
}

/// The family of all `files`.
pub(crate) fn family(files: &[SourceFile]) -> Result<LanguageFamily> {
    let Some(first) = files.first() else { return Ok(LanguageFamily::Portable) };
    let family = first.language.family();
    match files.iter().find(|file| file.language.family() != family) {
        None => Ok(family),
        Some(other) => Err(Error::new(format!(
            "`{}` and `{}` cannot be in one kernel module: {} and {family}",
            first.path.display(),
            other.path.display(),
            other.language.family(),
        ))
        .with_hint("compile them as two modules, each with a name of its own")),
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Language::OpenClC => "OpenCL C",
            Language::OpenClCpp => "C++ for OpenCL",
            Language::C => "C",
            Language::Cpp => "C++",
            Language::Cuda => "CUDA C++",
            Language::Hip => "HIP C++",
            Language::LlvmIr => "LLVM IR",
            Language::Spirv => "SPIR-V",
            Language::Ptx => "PTX",
            Language::Cubin => "a cubin",
            Language::AmdCodeObject => "an AMD code object",
            Language::Ocloc => "an image of ocloc",
            Language::Syclbin => "a SYCLBIN",
        })
    }
}

impl fmt::Display for LanguageFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            LanguageFamily::Portable => "portable source",
            LanguageFamily::Cuda => "CUDA C++",
            LanguageFamily::Hip => "HIP C++",
            LanguageFamily::ReadyMade => "ready-made code",
        })
    }
}

/// What the pack will say of an image, and where its bytes are.
#[derive(Clone, Debug)]
pub(crate) struct DeviceImage {
    pub(crate) record: NewImage,
    pub(crate) bytes: Blob,
}

/// What becomes of a module for one target.
#[derive(Debug)]
pub(crate) struct TargetImages {
    pub(crate) target: WantedTarget,
    pub(crate) images: Result<Vec<DeviceImage>>,
}

/// What the kernels of a module take, by variant; nothing for a variant of which that is not known.
pub(crate) type ModuleKernels = Vec<Vec<KernelInfo>>;

/// The images of a kernel module for all targets.
#[derive(Debug, Default)]
pub(crate) struct ModuleImages {
    pub(crate) images: Vec<DeviceImage>,
    pub(crate) missing: Vec<MissingTarget>,
    pub(crate) left_out: Vec<LeftOutKernel>,
    pub(crate) kernels: ModuleKernels,
    /// The host part of its files, if the module has launchers.
    pub(crate) launchers: Vec<LauncherObject>,
}

/// The host part of a file of CUDA C++, for the program.
#[derive(Clone, Debug)]
pub(crate) struct LauncherObject {
    pub(crate) object: Blob,
    /// The functions that others may call.
    pub(crate) symbols: Vec<String>,
    /// Whether the program has to link the library of C++.
    pub(crate) needs_cpp_library: bool,
}

/// A target for which a module has no image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MissingTarget {
    pub(crate) target: Target,
    pub(crate) reason: String,
}

/// A kernel that the images for a target are without.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LeftOutKernel {
    pub(crate) target: Target,
    pub(crate) kernel: String,
    /// The settings leave it out; otherwise there is no code for it.
    pub(crate) is_by_settings: bool,
    pub(crate) reason: String,
}

impl ModuleImages {
    /// Those of another variant of the module as well.
    pub(crate) fn extend(&mut self, other: ModuleImages) {
        self.images.extend(other.images);
        self.missing.extend(other.missing);
        self.left_out.extend(other.left_out);
        self.kernels.extend(other.kernels);
        self.launchers.extend(other.launchers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source_file(path: &str) -> SourceFile {
        SourceFile::new(Path::new(path)).unwrap()
    }

    #[test]
    fn extensions_tell_the_language() {
        assert_eq!(source_file("a/k.clcpp").language, Language::OpenClCpp);
        assert_eq!(source_file("k.cu").language, Language::Cuda);
        let error = SourceFile::new(Path::new("k.metal")).unwrap_err().to_string();
        assert!(error.contains("`k.metal`") && error.contains(".cl, .clcpp"), "{error}");
    }

    #[test]
    fn families_do_not_mix() {
        assert_eq!(family(&["a.cl", "b.c"].map(source_file)).unwrap(), LanguageFamily::Portable);
        let error = family(&["a.cl", "b.cu"].map(source_file)).unwrap_err().to_string();
        assert!(
            error.contains("`a.cl`") && error.contains("`b.cu`") && error.contains("two modules"),
            "{error}"
        );
    }
}
