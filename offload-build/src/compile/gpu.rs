//! What LLVM's code generators for GPUs have in common: from files to one module of machine code.

use std::collections::BTreeMap;
use std::path::PathBuf;

use offload_format::pack::ArgKind;

use super::action::{Arg, FrontEnd, Step, texts};
use super::unit::Unit;
use super::{Session, check, language, library, llvm_ir, processor, scan};
use crate::cache::{Blob, KeyBuilder};
use crate::error::Result;
use crate::ir::{self, LocalArguments, Wanted};
use crate::source::{Language, SourceFile};

/// How LLVM makes code for a processor.
#[derive(Debug)]
pub(super) struct Backend {
    /// As `nvptx`; part of cache keys and messages.
    pub(super) name: &'static str,
    /// Target, processor and its features for the front ends of portable languages.
    pub(super) front_end: Vec<String>,
    /// The front end for OpenCL C that does for many processors what `front_end` does for one.
    pub(super) common: Option<Vec<String>>,
    /// The same for CUDA C++ or HIP C++.
    pub(super) vendor: Vendor,
    /// The same for the code generator.
    pub(super) machine: Vec<String>,
    /// OpenCL C that is linked before the libraries, because theirs is missing or wrong; and flags for it.
    pub(super) shim: (&'static str, Vec<String>),
    /// Bitcode with the languages' functions, in the order in which it is linked.
    pub(super) libraries: Vec<PathBuf>,
    pub(super) local_arguments: LocalArguments,
    /// Function attributes by kernel.
    pub(super) attributes: BTreeMap<String, String>,
}

/// How a vendor's own language is compiled.
#[derive(Debug, Default)]
pub(super) struct Vendor {
    pub(super) flags: Vec<String>,
    /// Goes before each file, in place of the vendor's headers.
    pub(super) header: &'static str,
}

impl Backend {
    /// The unit as one module of IR that shows nothing but its kernels.
    pub(super) fn module(&self, session: &Session<'_>, unit: &Unit<'_>) -> Result<Blob> {
        let files = unit.files.iter().map(|file| self.front_end(session, &file.file));
        let linked = link(session, files.collect::<Result<Vec<_>>>()?)?;
        let kernels = unit.names();
        let wanted = Wanted {
            kernels: &kernels,
            attributes: self.attributes.iter().map(|(name, text)| (name.as_str(), text.clone())).collect(),
            local_arguments: self.local_arguments,
        };
        let constants = self.local_arguments == LocalArguments::Offsets && has_constant_argument(unit);
        let name = if constants { "prepared 1, constants in global memory" } else { "prepared 1" };
        let key = KeyBuilder::new(name).part(&linked.hash.0).part(format!("{wanted:?}").as_bytes());
        session.cache.get_or(key.finish(), || {
            let text = ir::prepare(&linked.read_text()?, &wanted);
            Ok(if constants { ir::in_global_memory(&text) } else { text }.into_bytes())
        })
    }

    /// Code for `module`; `output` are the arguments that say which kind.
    pub(super) fn codegen(
        &self,
        session: &Session<'_>,
        (module, output): (&Blob, &[&str]),
        check: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<Blob> {
        let shim = self.shim_bitcode(session)?;
        let library = match self.libraries.as_slice() {
            [] => shim,
            libraries => library::needed(session, module, (&shim, libraries))?,
        };
        let step = Step {
            name: self.name,
            tool: &session.llvm()?.clang,
            args: self.codegen_args(output),
            inputs: vec![(module, ".ll"), (&library, ".bc")],
            files: vec![],
        };
        session.step(&step, check)
    }

    /// Unoptimised IR of one file.
    pub(super) fn front_end(&self, session: &Session<'_>, file: &SourceFile) -> Result<Blob> {
        if file.language == Language::LlvmIr {
            return llvm_ir::text(session, file);
        }
        if let Some(machine) = self.common.as_ref().filter(|_| file.language == Language::OpenClC) {
            let done = session.front_end_done(&self.front_end_action(session, (machine, file))?)?;
            if let Some(ir) = processor::without(session, &done)? {
                session.env.warn(&done.said);
                return Ok(ir);
            }
        }
        let vendor = matches!(file.language, Language::Cuda | Language::Hip);
        let machine = if vendor { &self.vendor.flags } else { &self.front_end };
        let ir = session.front_end(&self.front_end_action(session, (machine, file))?)?;
        if file.language == Language::Cuda && session.llvm()?.is_old() {
            let key = KeyBuilder::new("kernels by convention 1").part(&ir.hash.0).finish();
            return session.cache.get_or(key, || Ok(ir::with_conventions(&ir.read_text()?).into_bytes()));
        }
        Ok(ir)
    }

    fn front_end_action<'a>(
        &self,
        session: &Session<'a>,
        (machine, file): (&[String], &SourceFile),
    ) -> Result<FrontEnd<'a>> {
        let with_header =
            matches!(file.language, Language::Cuda | Language::Hip) && !self.vendor.header.is_empty();
        let input = match with_header {
            true => Some(format!(
                "{}#include \"{}\"\n",
                self.vendor.header,
                super::opencl_c::quotable(&file.path)?
            )),
            false => None,
        };
        let last = if with_header { Arg::Text("-".into()) } else { Arg::Text(file.path.clone().into()) };
        Ok(FrontEnd {
            name: self.name,
            tool: &session.llvm()?.clang,
            args: self.front_end_args(session, (machine, file.language)).chain([last]).collect(),
            input,
        })
    }

    fn front_end_args(
        &self,
        session: &Session<'_>,
        (machine, language): (&[String], Language),
    ) -> impl Iterator<Item = Arg> {
        let output: Vec<Arg> = match language {
            Language::Hip => scan::front_end_output_of_hip().collect(),
            _ => scan::front_end_output().collect(),
        };
        texts(machine.to_vec())
            .chain(language::flags(session.sources, language))
            .chain(self.debug_args(session))
            .chain(output)
    }

    /// Line tables for debuggers and profilers, with relative paths; they change no code. AMD's are always made: where
    /// the profile has no debug information the linker drops them, and nothing is compiled again. In PTX they are
    /// text that would have to be cut out, so there they follow the profile. LLVM writes none into SPIR-V.
    fn debug_args(&self, session: &Session<'_>) -> impl Iterator<Item = Arg> {
        let wanted = self.name == "amdgcn" || (self.name == "nvptx" && session.env.profile.debug_info);
        let args: &[&str] = if wanted { &["-gline-tables-only", "-fdebug-compilation-dir=."] } else { &[] };
        texts(args.iter().copied())
    }

    fn shim_bitcode(&self, session: &Session<'_>) -> Result<Blob> {
        let (source, flags) = &self.shim;
        let target = self.front_end.first().cloned().unwrap_or_default();
        let fixed =
            ["-x", "cl", "-cl-std=CL1.2", "-nogpulib", "-O2", "-emit-llvm", "-c", "-MD", "-MT", "out", "-MF"];
        session.front_end(&FrontEnd {
            name: "shim",
            tool: &session.llvm()?.clang,
            args: texts([target])
                .chain(texts(flags.clone()))
                .chain(texts(fixed))
                .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output, Arg::Text("-".into())])
                .collect(),
            input: Some((*source).to_string()),
        })
    }

    fn codegen_args(&self, output: &[&str]) -> Vec<Arg> {
        let library = ["-Xclang", "-mlink-builtin-bitcode", "-Xclang"];
        texts(self.machine.clone())
            .chain(texts(["-x", "ir", "-Wno-linker-warnings", "-Wno-override-module", "-nogpulib"]))
            .chain(texts(library))
            .chain([Arg::Input(1)])
            .chain(texts(output.iter().copied()))
            .chain([Arg::Text("-o".into()), Arg::Output, Arg::Input(0)])
            .collect()
    }
}

fn has_constant_argument(unit: &Unit<'_>) -> bool {
    unit.kernels.iter().any(|kernel| kernel.args.iter().any(|arg| arg.kind == ArgKind::Constant))
}

fn link(session: &Session<'_>, mut files: Vec<Blob>) -> Result<Blob> {
    if files.len() == 1
        && let Some(only) = files.pop()
    {
        return Ok(only);
    }
    let tool = session.finder.paired(session.llvm()?, "llvm-link", "OFFLOAD_LLVM_LINK")?;
    let inputs: Vec<_> = files.iter().map(|file| (file, ".ll")).collect();
    let args = link_args(inputs.len());
    session.step(&Step { name: "link", tool: &tool, args, inputs, files: vec![] }, check::ir_text)
}

/// To text, which is rewritten afterwards.
pub(super) fn link_args(inputs: usize) -> Vec<Arg> {
    texts(["-S", "-o"]).chain([Arg::Output]).chain((0..inputs).map(Arg::Input)).collect()
}
