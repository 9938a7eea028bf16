//! How much going through containers may take.

use super::image::Image;
use offload_format::limits::Budget;
use offload_format::{Error, ErrorKind, Limits};

/// What the list of images, and what has to be inflated for it, may still take: records may refer to the same bytes
/// again and again.
#[derive(Debug)]
pub(super) struct WalkBudget {
    list: Budget,
    pub(super) walked: Budget,
    inflated: u64,
    limit: u64,
}

impl WalkBudget {
    pub(super) fn new(size: u64, limits: &Limits) -> WalkBudget {
        let list = Budget::for_file("the list of device images", size);
        let walked = Budget::for_file("containers in containers", size);
        WalkBudget { list, walked, inflated: limits.raw_bytes, limit: limits.raw_bytes }
    }

    /// Takes what `image` takes in the list: this is copied while it grows, and the container's own list lies beside it.
    pub(super) fn list(&mut self, image: &Image<'_>) -> Result<(), Error> {
        let texts = image.label.len().saturating_add(image.name.len()).saturating_add(image.containers.len());
        self.list.spend(texts.saturating_add(4 * size_of::<Image<'_>>()) as u64)
    }

    pub(super) fn inflate(&mut self, size: u64) -> Result<(), Error> {
        const WHAT: &str = "what is inflated to list the device images";
        let left = self.inflated.checked_sub(size);
        self.inflated = left.ok_or(ErrorKind::TooLarge { what: WHAT, size, limit: self.limit })?;
        Ok(())
    }

    /// For what was inflated to `size` bytes: a list of its own, but no more to be inflated.
    pub(super) fn inner(&self, size: u64, limits: &Limits) -> WalkBudget {
        WalkBudget { inflated: self.inflated, limit: self.limit, ..WalkBudget::new(size, limits) }
    }

    /// Takes what `inner` has inflated.
    pub(super) fn after(&mut self, inner: &WalkBudget) {
        self.inflated = inner.inflated;
    }
}
