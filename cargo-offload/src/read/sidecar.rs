//! Where the files are that a program's packs name.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::env;
use std::path::{Path, PathBuf};

use offload_format::pack::{CACHE, Pack, Sidecar, cache_dir, cached_file};

/// The file with the images of `pack`, which lies in the program at `path`: beside it, or for a development build in the
/// compile cache.
pub(crate) fn sidecar_path(path: &Path, pack: &Pack<'_>, sidecar: &Sidecar) -> PathBuf {
    let sidecar_file = path.with_file_name(sidecar.file());
    let var = |name: &str| env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let cached = || {
        let release = pack.meta(CACHE).filter(|name| Sidecar::new(name, sidecar.id()).is_some())?;
        let cache = cache_dir(var, |dir: PathBuf, below| dir.join(below))?;
        Some(cache.join(release).join(cached_file(sidecar.id())))
    };
    if sidecar_file.exists() { sidecar_file } else { cached().unwrap_or(sidecar_file) }
}
