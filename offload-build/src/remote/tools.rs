//! Cache of tool identities within a build: hundreds of actions use the same tools.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offload_format::Hash128;

/// The identity of a tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ToolIdentity {
    pub(super) hash: Hash128,
    /// The executable and its libraries, by canonical path.
    pub(super) files: Vec<PathBuf>,
}

/// Tool identities by path.
#[derive(Debug, Default)]
pub(super) struct ToolCache(Mutex<BTreeMap<PathBuf, Arc<ToolIdentity>>>);

impl ToolCache {
    pub(super) fn get(&self, tool: &Path) -> Option<Arc<ToolIdentity>> {
        self.lock().get(tool).cloned()
    }

    pub(super) fn put(&self, tool: &Path, found: ToolIdentity) -> Arc<ToolIdentity> {
        Arc::clone(self.lock().entry(tool.to_path_buf()).or_insert_with(|| Arc::new(found)))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<ToolIdentity>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
