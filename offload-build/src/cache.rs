//! The content-addressed cache of compiled things, shared by profiles, features, editors and projects.
//!
//! ```text
//! <cache>/VERSION/ab/<key>.blob       magic, length, hash, then the bytes that some action made
//! <cache>/VERSION/ab/<key>.deps       for actions that read headers: what they read, and the key of the result
//! ```
//!
//! A key is the hash of everything that the result depends on. Entries appear by rename, so concurrent builds need
//! no lock. Every read checks the hash; a damaged entry counts as missing and is written anew.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use offload_format::{Hash128, bytes};

use crate::env::CargoEnv;
use crate::error::Result;
use crate::fs;

const MAGIC: [u8; 8] = *b"OFLDBLOB";
const HEADER: u64 = 32;
/// Entries have passed the checks of the release that made them; another release has other checks.
const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// The cache's directory.
#[derive(Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
}

/// The identity of an action or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(Hash128);

/// Collects what a result depends on. Every part is length-prefixed, so that no two lists are alike.
#[derive(Debug)]
pub(crate) struct KeyBuilder(blake3::Hasher);

/// An entry that was there, and undamaged, when it was looked up.
#[derive(Clone, Debug)]
pub(crate) struct Blob {
    pub(crate) path: PathBuf,
    pub(crate) hash: Hash128,
    pub(crate) size: u64,
}

impl KeyBuilder {
    pub(crate) fn new(action: &str) -> KeyBuilder {
        KeyBuilder(blake3::Hasher::new()).part(action.as_bytes())
    }

    pub(crate) fn part(mut self, bytes: &[u8]) -> KeyBuilder {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    pub(crate) fn finish(self) -> Key {
        let mut out = [0; 16];
        self.0.finalize_xof().fill(&mut out);
        Key(Hash128(out))
    }
}

impl Key {
    pub(crate) fn bytes(self) -> [u8; 16] {
        self.0.0
    }
}

impl Cache {
    /// The user's cache, or one in `OUT_DIR` where there is none or it cannot be written.
    pub(crate) fn open(env: &CargoEnv) -> Result<Cache> {
        if let Some(dir) = env.var("OFFLOAD_CACHE_DIR") {
            return Cache::at(env.manifest_dir.join(dir).join(VERSION));
        }
        let shared = env.user_cache_dir().map(|dir| Cache::at(dir.join("cargo-offload").join(VERSION)));
        match shared {
            Some(Ok(cache)) => Ok(cache),
            _ => Cache::at(env.out_dir.join("offload-cache")),
        }
    }

    fn at(dir: PathBuf) -> Result<Cache> {
        fs::create_dir_all(&dir)?;
        private(&dir)?;
        // A directory that exists but cannot be written (another user's, read-only) is found out here.
        tempfile::NamedTempFile::new_in(&dir).map_err(|error| crate::Error::io("write to", &dir, error))?;
        Ok(Cache { dir })
    }

    /// The undamaged bytes under `key`, if they are there.
    pub(crate) fn get(&self, key: Key) -> Option<Blob> {
        let blob = Blob::open(self.path(key, "blob"))?;
        blob.read().ok().map(|_| blob)
    }

    /// Stores `content` under `key`.
    pub(crate) fn put(&self, key: Key, content: &[u8]) -> Result<Blob> {
        let path = self.path(key, "blob");
        let hash = Hash128::of(content);
        let size = content.len() as u64;
        self.publish(&path, &[&MAGIC, &size.to_le_bytes(), &hash.0, content])?;
        Ok(Blob { path, hash, size })
    }

    /// The bytes under `key`, made by `make` if they are not there.
    pub(crate) fn get_or(&self, key: Key, make: impl FnOnce() -> Result<Vec<u8>>) -> Result<Blob> {
        match self.get(key) {
            Some(blob) => Ok(blob),
            None => self.put(key, &make()?),
        }
    }

    /// The recorded dependency sets of an action that reads headers.
    pub(crate) fn dependencies(&self, key: Key) -> Option<String> {
        std::fs::read_to_string(self.path(key, "deps")).ok()
    }

    pub(crate) fn put_dependencies(&self, key: Key, text: &str) -> Result<()> {
        self.publish(&self.path(key, "deps"), &[text.as_bytes()])
    }

    fn publish(&self, path: &Path, parts: &[&[u8]]) -> Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(&self.dir))?;
        fs::publish(path, |out| parts.iter().try_for_each(|part| out.write_all(part)))
    }

    fn path(&self, key: Key, extension: &str) -> PathBuf {
        let name = key.0.to_string();
        let shard = name.get(..2).unwrap_or_default();
        self.dir.join(shard).join(format!("{name}.{extension}"))
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Blob {
    fn open(path: PathBuf) -> Option<Blob> {
        let mut head = [0; HEADER as usize];
        let mut file = std::fs::File::open(&path).ok()?;
        file.read_exact(&mut head).ok()?;
        let size = bytes::u64_at(&head, 8, "blob").ok()?;
        let hash = Hash128(bytes::array(&head, 16, "blob").ok()?);
        let whole = file.metadata().ok()?.len() == size.checked_add(HEADER)?;
        (head.starts_with(&MAGIC) && whole).then_some(Blob { path, hash, size })
    }

    /// The bytes, checked.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let mut content = fs::read(&self.path)?;
        content.drain(..content.len().min(HEADER as usize));
        if Hash128::of(&content) != self.hash {
            let error = crate::Error::new(format!("the cache entry `{}` is damaged", self.path.display()));
            return Err(error.hint("delete it and build again"));
        }
        Ok(content)
    }

    pub(crate) fn read_text(&self) -> Result<String> {
        String::from_utf8(self.read()?)
            .map_err(|_| crate::Error::new(format!("`{}` is not UTF-8", self.path.display())))
    }

    /// Copies the bytes to `out` without holding them in memory.
    pub(crate) fn copy_to(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let mut file = std::fs::File::open(&self.path)?;
        file.read_exact(&mut [0; HEADER as usize])?;
        let copied = std::io::copy(&mut file, out)?;
        if copied == self.size { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// What others could write, others could make this user run.
#[cfg(unix)]
fn private(dir: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))
        .map_err(|error| crate::Error::io("restrict access to", dir, error))
}

#[cfg(not(unix))]
fn private(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path().join("c")).unwrap();
        (dir, cache)
    }

    #[test]
    fn an_entry_is_made_once() {
        let (_dir, cache) = cache();
        let key = KeyBuilder::new("x").part(b"a").finish();
        cache.get_or(key, || Ok(b"made".to_vec())).unwrap();
        let blob = cache.get_or(key, || panic!("made again")).unwrap();
        assert_eq!(blob.read().unwrap(), b"made");
    }

    #[test]
    fn every_damage_counts_as_missing() {
        let (_dir, cache) = cache();
        let key = KeyBuilder::new("x").finish();
        let good = std::fs::read(cache.put(key, b"some bytes").unwrap().path).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            std::fs::write(cache.path(key, "blob"), &bad).unwrap();
            assert!(cache.get(key).is_none(), "byte {at}");
            std::fs::write(cache.path(key, "blob"), &good[..at]).unwrap();
            assert!(cache.get(key).is_none(), "cut at {at}");
        }
    }

    #[test]
    fn parts_do_not_run_together() {
        let one = KeyBuilder::new("x").part(b"ab").part(b"c").finish();
        let two = KeyBuilder::new("x").part(b"a").part(b"bc").finish();
        assert_ne!(one, two);
    }
}
