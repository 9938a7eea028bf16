//! Tools whose content is known: hundreds of actions of a build use the same ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offload_format::Hash128;

/// A tool by its content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Identified {
    pub(super) hash: Hash128,
    /// Its own file and those of its libraries, without links.
    pub(super) files: Vec<PathBuf>,
}

/// Tools by path.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<BTreeMap<PathBuf, Arc<Identified>>>);

impl Known {
    pub(super) fn get(&self, tool: &Path) -> Option<Arc<Identified>> {
        self.lock().get(tool).cloned()
    }

    pub(super) fn put(&self, tool: &Path, found: Identified) -> Arc<Identified> {
        Arc::clone(self.lock().entry(tool.to_path_buf()).or_insert_with(|| Arc::new(found)))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<Identified>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
