//! The compile cache of a build script: its place and its limits, by environment variables.

mod limits;

use std::path::{Path, PathBuf};

use offload_protocol::variable;

pub(crate) use offload_cache::{Blob, Cache, Key, KeyBuilder, Memo};
use offload_cache::{CompileCache, Limits};

use crate::env::{CargoEnv, Runner};
use crate::error::{Error, ErrorKind, Result};
use crate::fs;

const UNUSABLE: &str = "set OFFLOAD_CACHE_DIR to a directory that can be written, or unset it";

/// The user's cache, or one in `OUT_DIR` where there is none, it cannot be written, or others may write to it.
pub(crate) fn open(env: &CargoEnv) -> Result<Cache> {
    let limits = limits::for_environment(env)?;
    match shared(env, limits) {
        Err(error) if env.var(variable::CACHE_DIR).is_some() => Err(match error.hint() {
            Some(_) => error,
            None => error.with_hint(UNUSABLE),
        }),
        Err(error) => {
            if error.kind() == ErrorKind::UntrustedCache {
                env.warn(error.summary());
            }
            private(env, limits)
        }
        cache => cache,
    }
}

/// The caches that a build script of a package in `directory` would use.
///
/// # Errors
/// If this user has no directory for caches, or a variable about the cache is not understood.
pub fn compile_cache(directory: &Path) -> Result<CompileCache> {
    let env = CargoEnv::for_machine(directory, directory);
    Ok(CompileCache::new(directory_of_all(&env)?, limits::for_environment(&env)?))
}

fn shared(env: &CargoEnv, limits: Limits) -> Result<Cache> {
    Ok(Cache::for_release(&directory_of_all(env)?, limits)?)
}

/// Where the caches of all releases are.
fn directory_of_all(env: &CargoEnv) -> Result<PathBuf> {
    env.cache_dir()
        .ok_or_else(|| Error::new("this user has no directory for caches").with_hint("set OFFLOAD_CACHE_DIR"))
}

/// The cache of a user who has none: one that the next run finds, where there is one in the same `OUT_DIR`.
fn private(env: &CargoEnv, limits: Limits) -> Result<Cache> {
    Ok(match env.runner {
        Runner::Cargo => Cache::for_out_dir(&env.out_dir, limits)?,
        Runner::Other => Cache::for_run(fs::scratch(&env.out_dir)?, limits)?,
    })
}

/// The texts of all `blobs`.
pub(crate) fn read_texts<'b>(blobs: impl IntoIterator<Item = &'b Blob>) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for blob in blobs {
        texts.push(blob.read_text()?);
    }
    Ok(texts)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn unlimited() -> (tempfile::TempDir, Cache) {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::for_release(dir.path(), Limits::NONE).unwrap();
        (dir, cache)
    }

    pub(crate) fn key(text: &str) -> Key {
        KeyBuilder::new("test").part(text.as_bytes()).finish()
    }
}
