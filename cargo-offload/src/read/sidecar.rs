//! Paths of the sidecars that a program's packs reference.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::env;
use std::path::{Path, PathBuf};

use offload_format::pack::{CACHE, Pack, Sidecar, cache_dir, cached_file};

/// The file with the images of `pack`, which lies in the program at `path`: beside it, or for a development build in the
/// compile cache.
pub(crate) fn sidecar_path(path: &Path, pack: &Pack<'_>, sidecar: &Sidecar) -> PathBuf {
    let sidecar_file = path.with_file_name(sidecar.file());
    if sidecar_file.exists() { sidecar_file } else { cache_path(pack, sidecar).unwrap_or(sidecar_file) }
}

/// The file of a development build's pack in the compile cache.
fn cache_path(pack: &Pack<'_>, sidecar: &Sidecar) -> Option<PathBuf> {
    let release = pack.meta(CACHE).filter(|name| Sidecar::new(name, sidecar.id()).is_some())?;
    let cache = cache_dir(
        |name| env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute()),
        |dir: PathBuf, below| dir.join(below),
    )?;
    Some(cache.join(release).join(cached_file(sidecar.id())))
}
