//! Packs in the compile cache, which programs of development builds name instead of carrying them.
//!
//! Such a program is no larger for its images and is linked as fast as one without. What it carries is a pack without
//! images that names the file as [`Elsewhere`](super::Elsewhere), and under [`CACHE`] the release of the cache.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Hash128;

/// Key of the metadata whose value is the directory, within the compile cache, of the release that has the files.
pub const CACHE: &str = "cache";
/// The variable that names the compile cache, for builds and for programs.
pub const CACHE_VAR: &str = "OFFLOAD_CACHE_DIR";

/// Where the compile cache of a user is by the usual rules of the system; `var` gives variables of the environment.
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// let var = |name: &str| (name == "HOME").then(|| "/home/u".into());
/// let dir = offload_format::pack::cache_dir(var).unwrap();
/// assert_eq!(dir, std::path::Path::new("/home/u/.cache/cargo-offload"));
/// # }
/// ```
pub fn cache_dir(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let dir = |name| var(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let user = if cfg!(windows) {
        dir("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        dir("HOME").map(|home| home.join("Library/Caches"))
    } else {
        dir("XDG_CACHE_HOME").or_else(|| dir("HOME").map(|home| home.join(".cache")))
    };
    user.map(|dir| dir.join("cargo-offload"))
}

/// The name of the file of the pack `id`.
pub fn cached_name(id: Hash128) -> String {
    format!("{id}.pack")
}

/// The path of the pack `id`, in the directory of a release in the cache.
pub fn cached_path(release: &Path, id: Hash128) -> PathBuf {
    let name = cached_name(id);
    let shard: String = name.chars().take(2).collect();
    release.join(shard).join(name)
}
