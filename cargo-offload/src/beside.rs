//! Where the files are that a program's packs name.

use std::env;
use std::path::{Path, PathBuf};

use offload_format::pack::{CACHE, CACHE_VAR, Elsewhere, Pack, cache_dir, cached_path};

/// The file with the images of `pack`, which lies in the program at `path`: beside it, or for a development build in the
/// compile cache.
pub(crate) fn file(path: &Path, pack: &Pack<'_>, there: &Elsewhere) -> PathBuf {
    let beside = path.with_file_name(there.file());
    let var = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let cached = || {
        let release = pack.meta(CACHE).filter(|name| Elsewhere::new(name, there.id()).is_some())?;
        let cache = var(CACHE_VAR).map(PathBuf::from).or_else(|| cache_dir(var))?;
        Some(cached_path(&cache.join(release), there.id()))
    };
    if beside.exists() { beside } else { cached().unwrap_or(beside) }
}
