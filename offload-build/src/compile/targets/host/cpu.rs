//! The CPU as a target, and the runs of clang on its IR.

use std::path::PathBuf;

use offload_format::{HostLevel, Target};
use offload_ir::CodeTarget;
use offload_workgroup::ir::declared_functions;

use crate::cache::Blob;
use crate::compile::Session;
use crate::compile::front_end::opencl_features;
use crate::compile::front_end::reading::FrontEnd;
use crate::compile::steps::action::{Arg, Step, texts};
use crate::compile::steps::check;
use crate::env::CargoEnv;
use crate::error::Result;
use crate::toolchain::{Pocl, instruction_set};

/// The system that an image is loaded on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    /// Code is generated for it from IR for Linux: see [`super::windows`].
    Windows,
    /// The same: see [`super::macos`].
    MacOs,
}

/// How a level of the instruction set is called by clang and by PoCL.
#[derive(Debug)]
pub(crate) struct Cpu {
    pub(super) system: System,
    pub(super) is_aarch64: bool,
    triple: String,
    march: &'static [&'static str],
    pub(super) opencl: &'static [&'static str],
    /// Macros of OpenCL C's extensions.
    pub(super) features: Vec<String>,
    pub(super) vector_bits: u32,
    pub(super) pocl: Pocl,
}

/// Why programs for this system have no image for `target`, if it is one for `host` that they could have elsewhere.
pub(crate) fn refusal(env: &CargoEnv, target: &Target) -> Option<String> {
    let Target::Host(level) = target else { return None };
    let cfg = &env.cfg;
    let is_known = match cfg.os.as_str() {
        "linux" | "macos" => instruction_set(&cfg.arch, HostLevel::Baseline).is_ok(),
        "windows" => cfg.arch == "x86_64",
        _ => false,
    };
    if !is_known || cfg.pointer_width != "64" {
        return Some(format!(
            "images for the CPU are made for Linux and macOS on x86-64 and AArch64 and for Windows on x86-64, and the program is for {}",
            env.target
        ));
    }
    instruction_set(&cfg.arch, *level).is_err().then(|| format!("{} has no such level", cfg.arch))
}

pub(crate) fn cpu(session: &Session<'_>, level: HostLevel) -> Result<Cpu> {
    let cfg = &session.env().cfg;
    let arch = cfg.arch.as_str();
    let set = instruction_set(arch, level)?;
    let triple = format!("--target={arch}-pc-linux-gnu");
    let mut features = opencl_features::for_host(arch, level);
    features.extend(session.tools().llvm()?.header_flags().iter().map(|flag| flag.to_string()));
    let system = match cfg.os.as_str() {
        "windows" => System::Windows,
        "macos" => System::MacOs,
        _ => System::Linux,
    };
    Ok(Cpu {
        system,
        is_aarch64: arch == "aarch64",
        triple,
        march: set.march,
        opencl: set.opencl,
        features,
        vector_bits: set.vector_bits,
        pocl: session.tools().pocl(level)?,
    })
}

impl Cpu {
    /// Whether all CPUs of this level have fused multiply-add.
    pub(super) fn has_fma(&self) -> bool {
        self.is_aarch64 || self.vector_bits >= 256
    }

    pub(super) fn flags(&self) -> impl Iterator<Item = Arg> {
        texts([self.triple.as_str()]).chain(texts(self.march.iter().copied()))
    }

    /// The flags for what the kernels' code calls.
    pub(super) fn codegen_flags(&self) -> impl Iterator<Item = Arg> {
        // Of the architectures, Linux alone has functions for atomics in a library.
        let march = self.march.iter().copied();
        let march = march.filter(|flag| self.system == System::Linux || *flag != "-moutline-atomics");
        texts([self.target_flag()]).chain(texts(march))
    }

    /// The object of freestanding C that kernels' code calls, with further `flags`.
    pub(super) fn c_object(
        &self,
        session: &Session<'_>,
        name: &'static str,
        flags: &[&str],
        source: &str,
    ) -> Result<Blob> {
        let language = ["-ffreestanding", "-x", "c", "-std=c11", "-O2"];
        let output = ["-ffunction-sections", "-c", "-MD", "-MT", "out", "-MF"];
        session.front_end(&FrontEnd {
            name,
            tool: &session.tools().llvm()?.clang,
            args: self
                .codegen_flags()
                .chain(texts(flags.iter().copied()))
                .chain(texts(language))
                .chain(texts(output))
                .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output, Arg::Text("-".into())])
                .collect(),
            input: Some(source.to_string()),
        })
    }

    /// What code is generated for, if it is another system than the one of the front ends and passes.
    pub(super) fn code_target(&self) -> Option<CodeTarget> {
        match self.system {
            System::Linux => None,
            System::Windows => Some(CodeTarget::WINDOWS),
            System::MacOs if self.is_aarch64 => Some(CodeTarget::MACOS_AARCH64),
            System::MacOs => Some(CodeTarget::MACOS_X86_64),
        }
    }

    fn target_flag(&self) -> String {
        self.code_target().map_or_else(|| self.triple.clone(), CodeTarget::flag)
    }

    /// The arguments of clang for IR, with `library` at hand.
    fn ir_args(&self, args: &[&str], library: Option<&PathBuf>) -> Vec<Arg> {
        let library = library.map(|library| {
            ["-Xclang".into(), "-mlink-builtin-bitcode".into(), "-Xclang".into(), library.clone()]
        });
        self.flags()
            .chain(texts(["-fPIC", "-fvisibility=hidden", "-x", "ir"]))
            // clang gives the library's functions no table of names otherwise. Passes then give one name to two values,
            // and the text that is written is not read again.
            .chain(texts(["-fno-discard-value-names"]))
            .chain(texts(args.iter().copied()))
            .chain(texts(library.into_iter().flatten().map(PathBuf::into_os_string)))
            // A loop that the source wants unrolled may have been before it was cut.
            .chain(texts(["-Wno-linker-warnings", "-Wno-pass-failed", "-o"]))
            .chain([Arg::Output, Arg::Input(0)])
            .collect()
    }

    /// A run of clang on IR.
    pub(super) fn ir_step<'a>(
        &self,
        session: &Session<'a>,
        name: &'static str,
        args: &[&str],
        module: &'a Blob,
    ) -> Result<Step<'a>> {
        // clang takes as long to read the library as to compile ten small kernels.
        let library = calls_library(&module.read_text()?).then_some(&self.pocl.library);
        Ok(Step {
            name,
            tool: &session.tools().llvm()?.clang,
            args: self.ir_args(args, library),
            inputs: vec![(module, ".ll")],
            files: library.cloned().into_iter().collect(),
        })
    }

    /// Runs clang on IR for more IR.
    pub(super) fn step(
        &self,
        session: &Session<'_>,
        name: &'static str,
        args: &[&str],
        module: &Blob,
    ) -> Result<Blob> {
        let args = [args, &["-S", "-emit-llvm"]].concat();
        session.step(&self.ir_step(session, name, &args, module)?, check::ir_text)
    }
}

/// Whether IR calls a function that neither LLVM nor the runtime has.
fn calls_library(module: &str) -> bool {
    declared_functions(module).iter().any(|name| !name.starts_with("__offload_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_for_what_others_lack() {
        assert!(!calls_library("declare void @llvm.assume(i1)\ndeclare void @__offload_wait()\n"));
        assert!(calls_library("declare void @__offload_wait()\ndeclare float @_Z7_cl_sinf(float)\n"));
    }
}
