//! Packs in the cache, as programs of development builds read them: bytes without a header of ours.
//!
//! Cargo runs the build script again when such a file is gone. It compares times too: the file has to seem older than the
//! run of the build script that wrote it, or cargo would run that twice.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use offload_format::Hash128;
use offload_format::pack::cached_file;

use super::Cache;
use super::entry::{DAY, VERSION};
use crate::error::{Error, Result};
use crate::fs;

/// Longer than any build takes, and short beside the time after which entries go.
const BEFORE: Duration = Duration::from_secs(24 * 60 * 60);

impl Cache {
    /// The name of this release's directory, if programs can find the cache: one in `OUT_DIR` is out of their sight.
    pub(crate) fn release(&self) -> Option<&'static str> {
        self.dir.ends_with(VERSION).then_some(VERSION)
    }

    /// Puts the pack `id` of `size` bytes into the cache, unless it is there.
    pub(crate) fn put_pack(
        &self,
        id: Hash128,
        size: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<PathBuf> {
        let path = self.dir.join(cached_file(id));
        let failed = |error| Error::io("write", &path, error);
        let kept = File::open(&path).and_then(|file| file.metadata()).ok();
        let used = kept.filter(|data| data.len() == size).and_then(|data| data.modified().ok());
        let now = SystemTime::now();
        if used.is_none() {
            fs::create_dir_all(path.parent().unwrap_or(&self.dir))?;
            fs::publish(&path, write)?;
        }
        if used.and_then(|used| now.duration_since(used).ok()).is_none_or(|ago| ago > BEFORE + DAY) {
            let file = File::options().append(true).open(&path).map_err(failed)?;
            file.set_modified(now.checked_sub(BEFORE).unwrap_or(now)).map_err(failed)?;
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{UNLIMITED, age, cache};
    use super::*;

    fn unused(path: &std::path::Path) -> Duration {
        path.metadata().unwrap().modified().unwrap().elapsed().unwrap()
    }

    #[test]
    fn a_pack_is_written_once_and_seems_older_than_the_build() {
        let (_dir, cache) = cache(UNLIMITED);
        let id = Hash128::of(b"pack");
        let path = cache.put_pack(id, 4, |out| out.write_all(b"pack")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"pack");
        assert!(path.ends_with(format!("{}/{id}.pack", &id.to_string()[..2])));
        assert!(unused(&path) >= BEFORE);
        cache.put_pack(id, 4, |_| panic!("it is there")).unwrap();
        // A build that uses it after days says so, without making it new.
        age(&path, BEFORE + DAY * 3);
        cache.put_pack(id, 4, |_| panic!("it is there")).unwrap();
        assert!((BEFORE..BEFORE + DAY).contains(&unused(&path)));
        // One that was cut is made anew.
        std::fs::write(&path, b"pa").unwrap();
        cache.put_pack(id, 4, |out| out.write_all(b"pack")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"pack");
    }
}
