//! What LLVM's code generators for NVIDIA and AMD have in common: from files to one module of machine code.

use std::collections::BTreeMap;
use std::path::PathBuf;

use offload_format::pack::KernelInfo;

use super::action::{Arg, FrontEnd, Step, texts};
use super::{Scanned, Session, check, scan, spirv};
use crate::cache::{Blob, KeyBuilder};
use crate::error::Result;
use crate::ir::{self, LocalArguments, Wanted};

/// How LLVM makes code for a processor.
#[derive(Debug)]
pub(super) struct Backend {
    /// As `nvptx`; part of cache keys and messages.
    pub(super) name: &'static str,
    /// Target, processor and its features, for the front end and the code generator alike.
    pub(super) machine: Vec<String>,
    /// OpenCL C that is linked before the libraries, because theirs is missing or wrong.
    pub(super) shim: &'static str,
    /// Flags of its own for the shim.
    pub(super) shim_flags: Vec<String>,
    /// Bitcode with OpenCL C's functions, in the order in which they are linked.
    pub(super) libraries: Vec<PathBuf>,
    pub(super) local_arguments: LocalArguments,
    /// Function attributes by kernel.
    pub(super) attributes: BTreeMap<String, String>,
}

impl Backend {
    /// The files as one module of IR that shows nothing but the kernels.
    pub(super) fn module(&self, session: &Session<'_>, scanned: &[Scanned]) -> Result<Blob> {
        let files = scanned.iter().map(|file| self.front_end(session, file)).collect::<Result<Vec<_>>>()?;
        let linked = link(session, files)?;
        let kernels = super::kernel_names(scanned);
        let attributes = self.attributes.iter().map(|(kernel, text)| (kernel.as_str(), text.clone()));
        let wanted = Wanted {
            kernels: &kernels,
            attributes: attributes.collect(),
            local_arguments: self.local_arguments,
        };
        let key = KeyBuilder::new("prepared 1").part(&linked.hash.0).part(format!("{wanted:?}").as_bytes());
        session.cache.get_or(key.finish(), || Ok(ir::prepare(&linked.read_text()?, &wanted).into_bytes()))
    }

    /// Code for `module`; `output` are the arguments that say which kind.
    pub(super) fn codegen(
        &self,
        session: &Session<'_>,
        (module, output): (&Blob, &[&str]),
        check: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<Blob> {
        let shim = self.shim_bitcode(session)?;
        let step = Step {
            name: self.name,
            tool: &session.llvm.clang,
            args: self.codegen_args(output),
            inputs: vec![(module, ".ll"), (&shim, ".bc")],
            files: self.libraries.clone(),
        };
        session.step(&step, check)
    }

    fn front_end(&self, session: &Session<'_>, file: &Scanned) -> Result<Blob> {
        session.front_end(&FrontEnd {
            name: self.name,
            tool: &session.llvm.clang,
            args: texts(self.machine.clone())
                .chain(texts(["-Wno-unknown-assumption"]))
                .chain(scan::language(session.sources))
                .chain(scan::front_end_output())
                .chain(texts([&file.file]))
                .collect(),
            input: None,
        })
    }

    /// The shim does not depend on the processor: it has none, so that its functions fit every one.
    fn shim_bitcode(&self, session: &Session<'_>) -> Result<Blob> {
        let target = self.machine.first().cloned().unwrap_or_default();
        let fixed =
            ["-x", "cl", "-cl-std=CL1.2", "-nogpulib", "-O2", "-emit-llvm", "-c", "-MD", "-MT", "out", "-MF"];
        session.front_end(&FrontEnd {
            name: "shim",
            tool: &session.llvm.clang,
            args: texts([target])
                .chain(texts(self.shim_flags.clone()))
                .chain(texts(fixed))
                .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output, Arg::Text("-".into())])
                .collect(),
            input: Some(self.shim.to_string()),
        })
    }

    fn codegen_args(&self, output: &[&str]) -> Vec<Arg> {
        let builtin = |file: Arg| {
            texts(["-Xclang", "-mlink-builtin-bitcode", "-Xclang"]).chain([file]).collect::<Vec<_>>()
        };
        let libraries = self.libraries.iter().map(|path| Arg::Text(path.clone().into()));
        texts(self.machine.clone())
            .chain(texts(["-x", "ir", "-Wno-linker-warnings", "-Wno-override-module", "-nogpulib"]))
            .chain([Arg::Input(1)].into_iter().chain(libraries).flat_map(builtin))
            .chain(texts(output.iter().copied()))
            .chain([Arg::Text("-o".into()), Arg::Output, Arg::Input(0)])
            .collect()
    }
}

fn link(session: &Session<'_>, mut files: Vec<Blob>) -> Result<Blob> {
    if files.len() == 1
        && let Some(only) = files.pop()
    {
        return Ok(only);
    }
    let tool = session.finder.paired(&session.llvm, "llvm-link", "OFFLOAD_LLVM_LINK")?;
    let inputs: Vec<_> = files.iter().map(|file| (file, ".ll")).collect();
    let args = texts(["-S"]).chain(spirv::link_args(inputs.len())).collect();
    session.step(&Step { name: "link", tool: &tool, args, inputs, files: vec![] }, check::ir_text)
}

/// The records of all kernels.
pub(super) fn records(scanned: &[Scanned]) -> Vec<KernelInfo> {
    scanned.iter().flat_map(|file| &file.kernels).map(|kernel| kernel.record()).collect()
}
