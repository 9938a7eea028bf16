//! Packs in the compile cache, which programs of development builds name instead of carrying them.
//!
//! Such a program is no larger for its images and is linked as fast as one without. What it carries is a pack without
//! images that names the file as [`Sidecar`](super::Sidecar), and under [`CACHE`] the release of the cache.

use crate::Hash128;
use crate::variable::{CACHE_DIR, HOME, LOCALAPPDATA, XDG_CACHE_HOME};

/// Key of the metadata whose value is the directory, within the compile cache, of the release that has the files.
pub const CACHE: &str = "cache";
/// Key of the metadata whose value is spaces, in whose place a changed program names its sidecars and what was removed.
pub const SPARE: &str = "spare";

/// Where the compile cache is if [`CACHE_DIR`] is not set: below the directory that the first of these variables names.
const USUAL: &[(&str, &str)] = if cfg!(windows) {
    &[(LOCALAPPDATA, "cargo-offload")]
} else if cfg!(target_os = "macos") {
    &[(HOME, "Library/Caches/cargo-offload")]
} else {
    &[(XDG_CACHE_HOME, "cargo-offload"), (HOME, ".cache/cargo-offload")]
};

/// The compile cache of a user, for builds and for programs: the directory that [`CACHE_DIR`] names, or else the usual one
/// of the system.
///
/// `var` gives the path in an environment variable, if there is one; of other variables than [`CACHE_DIR`] only an
/// absolute one. `join` gives a path below a directory. Both are the caller's, because nothing here reads the environment.
///
/// ```
/// use std::path::PathBuf;
///
/// let var = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
/// let dir = offload_format::pack::cache_dir(var, |dir: PathBuf, below| dir.join(below));
/// assert!(dir.is_none_or(|dir| dir.is_absolute()));
/// ```
pub fn cache_dir<P>(var: impl Fn(&str) -> Option<P>, join: impl Fn(P, &str) -> P) -> Option<P> {
    let usual = || USUAL.iter().find_map(|(name, below)| Some(join(var(name)?, below)));
    var(CACHE_DIR).or_else(usual)
}

/// The name of the file of the pack `id`.
pub fn cached_name(id: Hash128) -> String {
    format!("{id}.pack")
}

/// Where the file of the pack `id` is in the directory of a release.
///
/// ```
/// use offload_format::{Hash128, pack::cached_file};
/// assert_eq!(cached_file(Hash128::of(b"")), "af/af1349b9f5f9a1a6a0404dea36dcc949.pack");
/// ```
pub fn cached_file(id: Hash128) -> String {
    let name = cached_name(id);
    let shard: String = name.chars().take(2).collect();
    format!("{shard}/{name}")
}
