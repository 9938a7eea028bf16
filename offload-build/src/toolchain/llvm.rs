//! A release of LLVM, and which releases will do.

use std::path::PathBuf;

use super::remedy;
use crate::error::{Error, Result};
use crate::tool::Tool;

/// The first LLVM whose clang makes SPIR-V itself.
pub(super) const MIN_LLVM: u32 = 22;
/// The oldest LLVM that is taken where a variable names its clang: all but SPIR-V is compared with it.
pub(super) const OLDEST_LLVM: u32 = 19;
/// The newest LLVM that is looked for by name.
pub(super) const MAX_LLVM: u32 = 30;

/// The tools of one LLVM release.
#[derive(Clone, Debug)]
pub(crate) struct Llvm {
    pub(crate) clang: Tool,
    /// Where clang's own headers lie.
    pub(crate) resource_dir: PathBuf,
    /// Where the clang behind all links lies, and its siblings with it.
    pub(super) bin_dir: PathBuf,
    pub(super) major: u32,
}

impl Llvm {
    /// Whether it is a release that is only taken where it is named.
    pub(crate) fn is_old(&self) -> bool {
        self.major < MIN_LLVM
    }

    /// Refuses a release whose clang makes no SPIR-V itself.
    pub(crate) fn makes_spirv(&self) -> Result<()> {
        if !self.is_old() {
            return Ok(());
        }
        let text = format!("LLVM {} makes no valid SPIR-V; LLVM {MIN_LLVM} and later do", self.major);
        Err(Error::missing_tool(text).with_hint(remedy::llvm()))
    }
}
