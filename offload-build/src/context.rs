//! What every step of a build uses: cargo's environment, the compile cache, the right to run processes.

use std::path::Path;

use crate::cache::Cache;
use crate::env::CargoEnv;
use crate::error::Result;
use crate::jobs::Jobs;

/// Made once for a build script.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) env: CargoEnv,
    pub(crate) cache: Cache,
    pub(crate) jobs: Jobs,
}

impl Context {
    /// That of this build script.
    pub(crate) fn of_build_script() -> Result<Context> {
        let jobs = Jobs::from_env();
        let env = CargoEnv::read()?;
        let cache = Cache::open(&env)?;
        Ok(Context { env, cache, jobs })
    }

    /// That of a program that is no build script, see [`CargoEnv::of_machine`].
    pub(crate) fn of_machine(directory: &Path, scratch: &Path) -> Result<Context> {
        let env = CargoEnv::of_machine(directory, scratch);
        let cache = Cache::open(&env)?;
        Ok(Context { env, cache, jobs: Jobs::alone() })
    }
}
