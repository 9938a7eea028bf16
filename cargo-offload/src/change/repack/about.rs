//! What a pack says beside its images.

use offload_format::pack::{Elsewhere, NoticeKind, Pack};

use crate::error::Result;

/// Something that a pack says is missing: its kind, then module, target and reason.
pub(crate) type Missing = (NoticeKind, [String; 3]);

/// What a pack says beside its images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) package: String,
    pub(crate) version: String,
    pub(crate) elsewhere: Vec<Elsewhere>,
    pub(crate) missing: Vec<Missing>,
}

impl About {
    /// What `pack` says, but for what lies elsewhere.
    pub(crate) fn of(pack: &Pack<'_>) -> Result<About> {
        let mut about = About::of_package(pack);
        for notice in pack.notices() {
            let notice = notice?;
            let texts = [notice.module, notice.target, notice.reason].map(str::to_string);
            about.missing.push((notice.kind, texts));
        }
        about.missing.retain(|(kind, _)| *kind != NoticeKind::Elsewhere);
        Ok(about)
    }

    /// The package that `pack` was built for.
    pub(crate) fn of_package(pack: &Pack<'_>) -> About {
        let meta = |key| pack.meta(key).unwrap_or_default().to_string();
        About { package: meta("package"), version: meta("version"), ..About::default() }
    }

    /// The package alone.
    pub(crate) fn package_of(&self) -> About {
        About { package: self.package.clone(), version: self.version.clone(), ..About::default() }
    }
}
