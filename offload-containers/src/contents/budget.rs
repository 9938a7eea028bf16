//! The budget of a walk through containers.

use super::image::Image;
use offload_format::limits::Budget;
use offload_format::{Error, ErrorKind, Limits};

/// Bounds the list of images and the bytes inflated for it: many records may refer to the same bytes.
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

    /// Charges the memory of `image` in the list, which is copied while it grows, and in the list of its container.
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

    /// The budget for a stream of `size` inflated bytes: a separate list with the same allowance for inflation.
    pub(super) fn inner(&self, size: u64, limits: &Limits) -> WalkBudget {
        WalkBudget { inflated: self.inflated, limit: self.limit, ..WalkBudget::new(size, limits) }
    }

    /// Charges the bytes that `inner` has inflated.
    pub(super) fn after(&mut self, inner: &WalkBudget) {
        self.inflated = inner.inflated;
    }
}
