//! Device images on their way from a compiler into a pack.

use offload_format::Target;
use offload_format::pack::NewImage;

use crate::cache::Blob;
use crate::config::WantedTarget;
use crate::error::Result;

/// What the pack will say of an image, and where its bytes are.
#[derive(Clone, Debug)]
pub(crate) struct DeviceImage {
    pub(crate) record: NewImage,
    pub(crate) bytes: Blob,
}

/// What becomes of a module for one target.
#[derive(Debug)]
pub(crate) struct TargetImages {
    pub(crate) target: WantedTarget,
    pub(crate) images: Result<Vec<DeviceImage>>,
}

/// The images of a kernel module for all targets.
#[derive(Debug, Default)]
pub(crate) struct ModuleImages {
    pub(crate) images: Vec<DeviceImage>,
    pub(crate) missing: Vec<MissingTarget>,
}

/// A target for which a module has no image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MissingTarget {
    pub(crate) target: Target,
    pub(crate) reason: String,
}

impl ModuleImages {
    /// Those of another variant of the module as well.
    pub(crate) fn extend(&mut self, other: ModuleImages) {
        self.images.extend(other.images);
        self.missing.extend(other.missing);
    }
}
