//! The packs in the memory of this process: where linkers and the loader have put them.

pub(crate) mod included;
pub(crate) mod included_list;
#[cfg(any(windows, target_vendor = "apple"))]
mod module_file;
#[cfg(target_os = "linux")]
mod modules;
mod pack;
#[cfg(target_os = "linux")]
mod scan;
mod sidecar;

#[cfg(not(target_os = "linux"))]
use self::other as scan;
pub(crate) use self::pack::{PackBytes, PackSource, PackSources};
pub(crate) use self::scan::at;
pub(crate) use self::sidecar::{open as open_sidecar, open_cached};

/// The packs of the executable or shared library that this code is linked into.
pub(crate) fn own() -> PackSources {
    with_included(scan::own())
}

/// The packs of all modules that are loaded now, but for those that the Rust of other modules includes.
pub(crate) fn process() -> PackSources {
    with_included(scan::process())
}

fn with_included(mut found: PackSources) -> PackSources {
    found.packs.extend(included_list::packs());
    found
}

/// Systems whose linked programs no command changes: none of their packs has sidecars.
#[cfg(not(any(windows, target_vendor = "apple")))]
mod module_file {
    use std::ffi::c_void;
    use std::path::PathBuf;

    pub(super) fn directory(_: *const c_void) -> Option<PathBuf> {
        None
    }
}

/// Systems for which no object is written: all packs are included.
#[cfg(not(target_os = "linux"))]
mod other {
    use super::pack::PackSources;

    pub(super) fn own() -> PackSources {
        PackSources::default()
    }

    pub(super) fn process() -> PackSources {
        PackSources::default()
    }

    pub(crate) fn at(_descriptor: *const u8) -> PackSources {
        PackSources::default()
    }
}
