//! The use of a file, as far as it is known: runtime and link.

use std::collections::BTreeSet;
use std::fmt;

use crate::syclbin::{Envelope, ImageKindNumber};

/// A release of the SYCL runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Release {
    /// oneAPI 2025.3, the first release that reads SYCLBIN.
    Oneapi2025_3,
    /// oneAPI 2026.2.
    Oneapi2026_2,
}

impl Release {
    /// Whether it reads the envelope.
    pub(super) fn reads(self, envelope: &Envelope) -> bool {
        match self {
            Release::Oneapi2025_3 => {
                envelope.version == 1 && envelope.image_kind == ImageKindNumber::ONEAPI_2025_3
            }
            Release::Oneapi2026_2 => {
                envelope.version <= 2 && envelope.image_kind == ImageKindNumber::ONEAPI_2026
            }
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Release::Oneapi2025_3 => "oneAPI 2025.3",
            Release::Oneapi2026_2 => "oneAPI 2026.2",
        })
    }
}

/// The known use of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The runtime that reads it; `None` for any.
    pub release: Option<Release>,
    /// The exports of the other files of the link; `None` if they are unknown.
    pub linked_with: Option<BTreeSet<String>>,
}

impl Usage {
    /// Sets the runtime.
    #[must_use]
    pub fn for_release(self, release: Release) -> Usage {
        Usage { release: Some(release), ..self }
    }

    /// Adds exports of the other files of the link.
    #[must_use]
    pub fn linked_with(self, symbols: impl IntoIterator<Item = String>) -> Usage {
        let mut linked_with = self.linked_with.unwrap_or_default();
        linked_with.extend(symbols);
        Usage { linked_with: Some(linked_with), ..self }
    }
}
