//! Metadata of a pack.

use offload_format::pack::{MissingKind, Pack, Sidecar};

use crate::error::Result;

/// An image that a pack says is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingRecord {
    pub(crate) kind: MissingKind,
    pub(crate) module: String,
    pub(crate) target: String,
    pub(crate) reason: String,
}

/// Metadata of a pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackMetadata {
    pub(crate) package: String,
    pub(crate) version: String,
    pub(crate) sidecars: Vec<Sidecar>,
    pub(crate) missing: Vec<MissingRecord>,
}

impl PackMetadata {
    /// The metadata of `pack`, without its sidecars and the records of images there.
    pub(crate) fn from_pack(pack: &Pack<'_>) -> Result<PackMetadata> {
        let mut metadata = PackMetadata::without_missing(pack);
        for missing in pack.missing() {
            let missing = missing?;
            let [module, target, reason] =
                [missing.module, missing.target, missing.reason].map(str::to_string);
            metadata.missing.push(MissingRecord { kind: missing.kind, module, target, reason });
        }
        metadata.missing.retain(|missing| missing.kind != MissingKind::Sidecar);
        Ok(metadata)
    }

    /// The package that `pack` was built for.
    pub(crate) fn without_missing(pack: &Pack<'_>) -> PackMetadata {
        PackMetadata {
            package: pack.meta("package").unwrap_or_default().to_string(),
            version: pack.meta("version").unwrap_or_default().to_string(),
            ..PackMetadata::default()
        }
    }

    /// The package alone.
    pub(crate) fn package_alone(&self) -> PackMetadata {
        PackMetadata {
            package: self.package.clone(),
            version: self.version.clone(),
            ..PackMetadata::default()
        }
    }
}
