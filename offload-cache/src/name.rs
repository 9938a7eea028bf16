//! Keys of the cache, and the file names of its entries.

use std::path::{Path, PathBuf};

use offload_format::Hash128;

use crate::revision::REVISION;

/// Entries have passed the checks of the release that made them; another release has other checks.
pub(crate) const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// What an entry with a header of ours is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What an action made.
    Blob,
    /// What an action has read.
    Dependencies,
}

impl Kind {
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Kind::Blob => "blob",
            Kind::Dependencies => "deps",
        }
    }

    pub(crate) fn magic(self) -> [u8; 8] {
        match self {
            Kind::Blob => *b"OFLDBLOB",
            Kind::Dependencies => *b"OFLDDEPS",
        }
    }
}

/// The identity of an action or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(Hash128);

/// Collects what a result depends on. Every part is length-prefixed, so that no two lists are alike.
#[derive(Debug)]
pub struct KeyBuilder(blake3::Hasher);

impl KeyBuilder {
    /// The key of `action` at the current revision of everything that is computed.
    pub fn new(action: &str) -> KeyBuilder {
        KeyBuilder(blake3::Hasher::new()).part(&REVISION.to_le_bytes()).part(action.as_bytes())
    }

    /// Adds what the result depends on.
    #[must_use]
    pub fn part(mut self, bytes: &[u8]) -> KeyBuilder {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// The key of all parts.
    pub fn finish(self) -> Key {
        let mut out = [0; 16];
        self.0.finalize_xof().fill(&mut out);
        Key(Hash128(out))
    }
}

impl Key {
    /// The hash as bytes.
    pub fn bytes(self) -> [u8; 16] {
        self.0.0
    }

    /// The hash.
    pub fn hash(self) -> Hash128 {
        self.0
    }

    /// The name of its files: 32 hexadecimal digits.
    pub(crate) fn name(self) -> String {
        self.0.to_string()
    }
}

/// Where an entry is, and which one it is. A file names its entry itself: one that got another's name is found out.
#[derive(Debug)]
pub(crate) struct EntryFile {
    pub(crate) path: PathBuf,
    pub(crate) key: Key,
    pub(crate) kind: Kind,
}

/// What the name of a file tells.
#[derive(Debug)]
pub(crate) enum CachedFile {
    Entry(EntryFile),
    /// A pack, which programs read as it is.
    Pack,
}

impl CachedFile {
    /// `None` for the name of something else.
    pub(crate) fn from_path(path: &Path) -> Option<CachedFile> {
        let name = path.file_stem()?.to_str()?;
        let key = Key(name.parse().ok()?);
        let extension = path.extension()?.to_str()?;
        let kind = [Kind::Blob, Kind::Dependencies].into_iter().find(|kind| kind.extension() == extension);
        let named = match kind {
            Some(kind) => CachedFile::Entry(EntryFile { path: path.to_path_buf(), key, kind }),
            None if extension == "pack" => CachedFile::Pack,
            None => return None,
        };
        // Another spelling of the digits is not ours.
        (key.name() == name).then_some(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_entries_and_packs_are_known() {
        let key = KeyBuilder::new("a").finish();
        for kind in [Kind::Blob, Kind::Dependencies] {
            let path = PathBuf::from(format!("cache/ab/{}.{}", key.name(), kind.extension()));
            let Some(CachedFile::Entry(entry)) = CachedFile::from_path(&path) else {
                panic!("{}", path.display())
            };
            assert_eq!((entry.path, entry.key, entry.kind), (path, key, kind));
        }
        let pack = offload_format::pack::cached_file(Hash128([0xab; 16]));
        assert!(matches!(CachedFile::from_path(Path::new(&pack)), Some(CachedFile::Pack)));
    }

    #[test]
    fn other_names_are_of_others() {
        let digits = "0123456789abcdef0123456789abcdef";
        assert!(CachedFile::from_path(&PathBuf::from(format!("{digits}.blob"))).is_some());
        for name in [
            digits.to_string(),
            format!("{digits}.txt"),
            format!("{digits}0.blob"),
            format!("{}.blob", digits.to_uppercase()),
            format!("+{}.blob", &digits[1..]),
            ".blob".to_string(),
        ] {
            assert!(CachedFile::from_path(Path::new(&name)).is_none(), "{name}");
        }
    }
}
