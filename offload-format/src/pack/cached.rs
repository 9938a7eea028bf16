//! Packs in the compile cache, to which programs of development builds refer instead of embedding them.
//!
//! Linking such a program is as fast as linking one without images. It embeds a pack without images that names the file as
//! a [`Sidecar`](super::Sidecar), and the release of the cache under [`CACHE`].

use crate::Hash128;

/// The variable with the directory of the compile cache.
const CACHE_DIR: &str = "OFFLOAD_CACHE_DIR";
const HOME: &str = "HOME";
const LOCALAPPDATA: &str = "LOCALAPPDATA";
const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";

/// Metadata key of the directory, within the compile cache, of the release that wrote the files.
pub const CACHE: &str = "cache";
/// Metadata key of padding: spaces that a rewritten program replaces by the names of its sidecars and the images removed.
pub const SPARE: &str = "spare";

/// The default locations of the compile cache: a variable that names a directory, and the path below it.
const DEFAULT_DIRS: &[(&str, &str)] = if cfg!(windows) {
    &[(LOCALAPPDATA, "cargo-offload")]
} else if cfg!(target_os = "macos") {
    &[(HOME, "Library/Caches/cargo-offload")]
} else {
    &[(XDG_CACHE_HOME, "cargo-offload"), (HOME, ".cache/cargo-offload")]
};

/// The compile cache of a user, for builds and for programs: the directory in `OFFLOAD_CACHE_DIR`, or the system's default.
///
/// `var` reads a path from an environment variable; of other variables than `OFFLOAD_CACHE_DIR` only an absolute one. `join`
/// appends to a path. The caller provides both, because this crate does not read the environment.
///
/// ```
/// use std::path::PathBuf;
///
/// fn var(name: &str) -> Option<PathBuf> {
///     std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
/// }
///
/// let dir = offload_format::pack::cache_dir(var, |dir: PathBuf, below| dir.join(below));
/// assert!(dir.is_none_or(|dir| dir.is_absolute()));
/// ```
pub fn cache_dir<P>(var: impl Fn(&str) -> Option<P>, join: impl Fn(P, &str) -> P) -> Option<P> {
    if let Some(dir) = var(CACHE_DIR) {
        return Some(dir);
    }
    for (name, below) in DEFAULT_DIRS {
        if let Some(dir) = var(name) {
            return Some(join(dir, below));
        }
    }
    None
}

/// The file name of the pack `id`.
pub fn cached_name(id: Hash128) -> String {
    format!("{id}.pack")
}

/// The path of the pack `id` within the directory of a release.
///
/// ```
/// use offload_format::{Hash128, pack::cached_file};
/// assert_eq!(cached_file(Hash128::digest(b"")), "af/af1349b9f5f9a1a6a0404dea36dcc949.pack");
/// ```
pub fn cached_file(id: Hash128) -> String {
    let name = cached_name(id);
    let shard: String = name.chars().take(2).collect();
    format!("{shard}/{name}")
}
