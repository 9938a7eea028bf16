//! Packs in sidecars (files beside the program) or in the compile cache.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::variable::{CACHE_DIR, HOME, PACK_DIR};
use offload_format::pack::{Pack, Pages, Sidecar, cache_dir, cached_file};
use offload_format::{Hash128, bytes};

use memmap2::Mmap;

use super::pack::{MappedPack, PackBytes};

/// Opens the pack that `sidecar` names, for a program or library in the directory `home`.
///
/// # Errors
/// For people: where it was looked for, and what was there.
pub(crate) fn open(sidecar: &Sidecar, home: Option<&Path>) -> Result<PackBytes, String> {
    let given = std::env::var_os(PACK_DIR).filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let directories = given.iter().map(PathBuf::as_path).chain(home);
    let mut problems = Vec::new();
    for directory in directories {
        match open_in(directory, sidecar) {
            Ok(pack) => return Ok(pack),
            Err(problem) => problems.push(format!("`{}` {problem}", directory.display())),
        }
    }
    if given.is_none() {
        problems.push(format!("{PACK_DIR} is not set"));
    }
    Err(format!("pack file `{}`: {}", sidecar.file(), problems.join(", ")))
}

/// Opens the pack that `sidecar` names in the compile cache of `release`, for a program of a development build.
///
/// # Errors
/// For people: where it should be, and how it gets there.
pub(crate) fn open_cached(sidecar: &Sidecar, release: &str) -> Result<PackBytes, String> {
    let cache = cache_dir(directory_variable, |dir: PathBuf, below| dir.join(below));
    let cache = cache.ok_or_else(|| cache_error(sidecar, &format!("{CACHE_DIR} and {HOME} are not set")))?;
    // A name from a file leads nowhere else.
    let plain = Sidecar::new(release, sidecar.id()).is_some();
    let path = if plain { cache.join(release).join(cached_file(sidecar.id())) } else { PathBuf::new() };
    let directory = path.parent().unwrap_or(&cache);
    open_in(directory, sidecar).map_err(|problem| {
        let problem = format!(
            "`{}` {problem} (what was unused for long leaves it); `cargo build` recreates it",
            directory.display()
        );
        cache_error(sidecar, &problem)
    })
}

/// The directory in the environment variable `name`.
fn directory_variable(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os(name).filter(|dir| !dir.is_empty()).map(PathBuf::from);
    path.filter(|dir| name == CACHE_DIR || dir.is_absolute())
}

fn cache_error(sidecar: &Sidecar, problem: &str) -> String {
    format!(
        "this is a development build, whose pack `{}` is in the compile cache; {problem}; {CACHE_DIR} has to be the same \
         for the build and the program; release builds carry their packs, and `embed = \"always\"` puts them into all",
        sidecar.file(),
    )
}

fn open_in(directory: &Path, sidecar: &Sidecar) -> Result<PackBytes, String> {
    let file = map(&directory.join(sidecar.file())).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "does not have it".to_string(),
        _ => format!("has one that cannot be read: {error}"),
    })?;
    let (offset, size) = find(&file, sidecar.id()).ok_or("has one of another build")?;
    Ok(PackBytes::Mapped(MappedPack { file: Arc::new(file), offset, size }))
}

/// The file in memory; the system reads the pages that are touched.
fn map(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    // SAFETY: nothing of this program writes to the file. Who shortens it while it is mapped ends the program, as with
    // the program's own file.
    unsafe { Mmap::map(&file) }
}

/// Where the pack `id` lies among those in `file`.
fn find(file: &[u8], id: Hash128) -> Option<(u64, u64)> {
    let mut at = 0u64;
    loop {
        let rest = bytes::range(file, at, (file.len() as u64).checked_sub(at)?, "packs").ok()?;
        let pages = Pages::default();
        let pack = Pack::parse(rest, &pages).ok()?;
        // The caller compares the index with this hash.
        if pack.id().ok()? == id {
            return Some((at, pack.size()));
        }
        at = at.checked_add(pack.next())?;
    }
}

#[cfg(test)]
mod tests {
    use offload_format::pack::{Missing, MissingKind, PackBuilder};

    use super::*;

    /// A pack that says `text`, and its identity.
    fn pack(text: &str) -> (Vec<u8>, Hash128) {
        let mut builder = PackBuilder::new("p", "1.0.0");
        builder.missing(Missing::new(MissingKind::Build, "").with_reason(text));
        let layout = builder.finish().unwrap();
        (layout.index, layout.id)
    }

    #[test]
    fn a_pack_is_found_among_others_by_its_identity() {
        let (first, one) = pack("one");
        let (second, two) = pack("another");
        let file = [first.as_slice(), &second].concat();
        assert_eq!(find(&file, one), Some((0, first.len() as u64)));
        assert_eq!(find(&file, two), Some((first.len() as u64, second.len() as u64)));
        assert_eq!(find(&file, Hash128::digest(b"third")), None);
        assert_eq!(find(&file[..file.len() - 1], two), None);
    }

    #[test]
    fn what_is_missing_is_told_with_where_it_was_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        let (bytes, id) = pack("text");
        let sidecar = Sidecar::new("app.offload", id).unwrap();
        let error = open(&sidecar, Some(dir.path())).err().unwrap();
        for part in ["does not have it", "`app.offload`", "OFFLOAD_PACK_DIR"] {
            assert!(error.contains(part), "{error}");
        }
        std::fs::write(dir.path().join("app.offload"), pack("other").0).unwrap();
        let error = open(&sidecar, Some(dir.path())).err().unwrap();
        assert!(error.contains("another build"), "{error}");
        std::fs::write(dir.path().join("app.offload"), &bytes).unwrap();
        assert!(*open(&sidecar, Some(dir.path())).unwrap() == bytes);
    }
}
