//! Packs in the cache, as programs of development builds read them: bytes without a header of ours.
//!
//! Cargo runs the build script again when such a file is gone. It compares times too: the file has to seem older than the
//! run of the build script that wrote it, or cargo would run that twice.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use offload_format::Hash128;
use offload_format::pack::cached_path;

use super::{Cache, DAY, VERSION};
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
        (id, size): (Hash128, u64),
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<PathBuf> {
        let path = cached_path(&self.dir, id);
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
