//! Device libraries that a driver has compiled for a context, once for all programs that are linked with them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use offload_format::Hash128;

use super::api::Program;
use crate::entry::{Entry, LoadedImage};
use crate::error::Error;

/// What somebody uses, by the hash of the image.
#[derive(Default)]
pub(super) struct CompiledLibraries {
    compiled: Mutex<Vec<(Hash128, Weak<Program>)>>,
}

impl CompiledLibraries {
    /// The library of `entry`, decoded and compiled by `compile` if nobody has it.
    pub(super) fn compiled(
        &self,
        entry: &Entry,
        compile: impl FnOnce(&LoadedImage) -> Result<Program, Error>,
    ) -> Result<Arc<Program>, Error> {
        // Locked meanwhile, so that others wait for it and do not compile it again.
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        compiled.retain(|(_, program)| program.strong_count() > 0);
        let known = compiled
            .iter()
            .find(|(hash, _)| *hash == entry.hash())
            .and_then(|(_, program)| program.upgrade());
        if let Some(program) = known {
            return Ok(program);
        }
        let program = Arc::new(compile(&entry.load()?)?);
        compiled.push((entry.hash(), Arc::downgrade(&program)));
        Ok(program)
    }
}

impl fmt::Debug for CompiledLibraries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledLibraries").finish_non_exhaustive()
    }
}
