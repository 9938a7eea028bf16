//! A pack of a registry, whose index is checked when it is first asked for.

use std::fmt;
use std::sync::OnceLock;

use offload_format::pack::{Pack, Pages};

use crate::sections::PackBytes;

/// A pack, checked when it is first asked for.
pub(crate) struct PackInfo {
    bytes: PackBytes,
    checked: OnceLock<Result<(), offload_format::Error>>,
    pages: Pages,
}

impl PackInfo {
    pub(crate) fn new(bytes: PackBytes) -> PackInfo {
        PackInfo { bytes, checked: OnceLock::new(), pages: Pages::default() }
    }

    /// The pack, whose index is undamaged.
    pub(crate) fn pack(&self) -> Result<Pack<'_>, offload_format::Error> {
        let pack = Pack::parse(&self.bytes, &self.pages)?;
        self.checked.get_or_init(|| pack.verify_index()).clone()?;
        Ok(pack)
    }

    /// The name of the crate that the pack was built for.
    pub(crate) fn package(&self) -> &str {
        self.meta("package")
    }

    /// The metadata `key` of the pack, empty if it has none.
    pub(crate) fn meta(&self, key: &str) -> &str {
        Pack::parse(&self.bytes, &self.pages).ok().and_then(|pack| pack.meta(key)).unwrap_or_default()
    }
}

impl fmt::Debug for PackInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackInfo").field("package", &self.package()).finish_non_exhaustive()
    }
}
