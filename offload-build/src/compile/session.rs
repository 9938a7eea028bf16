//! What compiling needs: what all modules of a build script share, and the module at hand.

use std::path::PathBuf;

use super::files::ReadyFiles;
use crate::cache::{Blob, Cache, Key};
use crate::config::UseVendored;
use crate::context::Context;
use crate::env::CargoEnv;
use crate::memo::Memo;
use crate::module::Sources;
use crate::progress::Progress;
use crate::toolchain::Tools;
use crate::vendor::VendoredPackage;

/// Everything that modules share.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(super) tools: &'a Tools<'a>,
    pub(super) progress: Progress,
    pub(super) vendored: VendoredPackage,
    /// The front ends that this build has run or found: targets that share one see the same files, whoever edits them
    /// meanwhile, and look at them once.
    pub(super) front_ends: Memo<Key, FrontEndResult>,
    pub(super) files: ReadyFiles,
}

/// What is known of a front end's run, also of one in an earlier build.
#[derive(Clone, Debug)]
pub(super) struct FrontEndResult {
    pub(super) output: Blob,
    /// What the compiler printed.
    pub(super) said: String,
    /// The files that it read, as it named them.
    pub(super) read: Vec<PathBuf>,
}

/// The compilation of one module in one variant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) sources: &'a Sources,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(tools: &'a Tools<'a>, vendored: UseVendored) -> Shared<'a> {
        Shared {
            tools,
            progress: Progress::of(&tools.context.env),
            vendored: VendoredPackage::new(vendored),
            front_ends: Memo::default(),
            files: ReadyFiles::default(),
        }
    }
}

impl<'a> Session<'a> {
    pub(super) fn tools(&self) -> &'a Tools<'a> {
        self.shared.tools
    }

    pub(super) fn context(&self) -> &'a Context {
        self.shared.tools.context
    }

    pub(super) fn env(&self) -> &'a CargoEnv {
        &self.context().env
    }

    pub(super) fn cache(&self) -> &'a Cache {
        &self.context().cache
    }
}
