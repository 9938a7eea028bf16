//! Finding the tools that show machine code.

use std::path::PathBuf;

use super::remedy;
use super::search::Candidates;
use crate::env::CargoEnv;
use crate::error::Result;

/// A tool that shows machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disassembler {
    /// LLVM's, for AMD GPUs and CPUs.
    Objdump,
    /// NVIDIA's.
    Nvdisasm,
    /// That of the SPIR-V tools.
    SpirvDis,
    /// Intel's offline compiler, which has one.
    Ocloc,
}

impl Disassembler {
    /// Where it is.
    ///
    /// # Errors
    /// It is not installed; the message says where it was looked for, and how to install it.
    pub(crate) fn find(self, env: &CargoEnv) -> Result<PathBuf> {
        let (name, candidates, remedy): (_, _, fn() -> String) = match self {
            Disassembler::Objdump => ("llvm-objdump", Candidates::objdump(env), remedy::llvm),
            Disassembler::Nvdisasm => {
                let candidates = Candidates::cuda(env, "OFFLOAD_NVDISASM", &["bin/nvdisasm"]);
                ("nvdisasm", candidates, remedy::nvdisasm)
            }
            Disassembler::SpirvDis => {
                let candidates = Candidates::named(env, "spirv-dis", "OFFLOAD_SPIRV_DIS");
                ("spirv-dis", candidates, remedy::spirv_tools)
            }
            Disassembler::Ocloc => ("ocloc", Candidates::named(env, "ocloc", "OFFLOAD_OCLOC"), remedy::ocloc),
        };
        let found = candidates.first().map(PathBuf::from);
        found.ok_or_else(|| candidates.error(name, &[]).hint(remedy()))
    }
}
