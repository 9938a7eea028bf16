//! What compiling needs: the tools, found once for a build script, and the module at hand.

use std::sync::OnceLock;

use super::Sources;
use super::action::Done;
use super::ready::Files;
use crate::cache::Cache;
use crate::config;
use crate::env::CargoEnv;
use crate::error::Result;
use crate::flight::Flights;
use crate::jobs::Jobs;
use crate::progress::Progress;
use crate::tool::{Runner, Tool};
use crate::toolchain::{Finder, Llvm};
use crate::vendor::Shelf;

/// Everything that modules share.
#[derive(Debug)]
pub(crate) struct Workshop<'a> {
    pub(crate) env: &'a CargoEnv,
    pub(crate) cache: &'a Cache,
    pub(crate) jobs: &'a Jobs,
    pub(crate) runner: &'a Runner<'a>,
    pub(crate) finder: &'a Finder<'a>,
    pub(crate) flights: &'a Flights,
    pub(crate) progress: Progress,
    /// When vendored images are used.
    pub(crate) vendored: config::Vendored,
    /// What the package brings along.
    pub(super) shelf: Shelf,
    pub(super) front_ends: Done,
    llvm: OnceLock<Llvm>,
    spirv_val: OnceLock<Option<Tool>>,
    pub(super) files: Files,
}

/// The compilation of one module in one variant.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) workshop: &'a Workshop<'a>,
    pub(crate) env: &'a CargoEnv,
    pub(crate) cache: &'a Cache,
    pub(crate) runner: &'a Runner<'a>,
    pub(crate) finder: &'a Finder<'a>,
    pub(crate) flights: &'a Flights,
    pub(crate) sources: &'a Sources,
}

impl<'a> Workshop<'a> {
    pub(crate) fn new(finder: &'a Finder<'a>, jobs: &'a Jobs, vendored: config::Vendored) -> Workshop<'a> {
        let &Finder { env, cache, runner, flights, .. } = finder;
        Workshop {
            env,
            cache,
            jobs,
            runner,
            finder,
            flights,
            progress: Progress::of(env),
            vendored,
            shelf: Shelf::default(),
            front_ends: Done::default(),
            llvm: OnceLock::new(),
            spirv_val: OnceLock::new(),
            files: Files::default(),
        }
    }
}

impl<'a> Session<'a> {
    pub(crate) fn new(workshop: &'a Workshop<'a>, sources: &'a Sources) -> Session<'a> {
        let Workshop { env, cache, runner, finder, flights, .. } = *workshop;
        Session { workshop, env, cache, runner, finder, flights, sources }
    }

    /// LLVM, which not every module needs.
    pub(crate) fn llvm(&self) -> Result<&'a Llvm> {
        if let Some(llvm) = self.workshop.llvm.get() {
            return Ok(llvm);
        }
        let llvm = self.finder.llvm()?;
        Ok(self.workshop.llvm.get_or_init(|| llvm))
    }

    /// The validator of SPIR-V, where it is installed.
    pub(crate) fn spirv_val(&self) -> Option<&'a Tool> {
        self.workshop.spirv_val.get_or_init(|| self.finder.spirv_val().ok()).as_ref()
    }
}
