//! The packs in the memory of this process: where linkers and the loader have put them.

mod beside;
#[cfg(target_os = "linux")]
mod bounds;
#[cfg(target_os = "linux")]
mod modules;
#[cfg(target_os = "linux")]
mod scan;

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use self::beside::MappedPack;
pub(crate) use self::beside::{open as open_beside, open_cached};

#[cfg(target_os = "linux")]
pub(crate) use self::linux::{at, own, process};
#[cfg(not(target_os = "linux"))]
pub(crate) use self::other::{at, own, process};

/// The bytes of a pack.
#[derive(Clone)]
pub(crate) enum PackBytes {
    /// In a module that stays as long as the code that asks.
    Static(&'static [u8]),
    /// Copied, because the module they came from may be unloaded.
    Owned(Arc<[u8]>),
    /// In a file beside the program.
    Mapped(MappedPack),
}

impl Deref for PackBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            PackBytes::Static(bytes) => bytes,
            PackBytes::Owned(bytes) => bytes,
            PackBytes::Mapped(pack) => pack.bytes(),
        }
    }
}

/// A pack and, if its images lie elsewhere, the directory of the program or library that it was found in.
pub(crate) struct FoundPack {
    pub(crate) bytes: PackBytes,
    pub(crate) home: Option<PathBuf>,
}

/// What a search found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) packs: Vec<FoundPack>,
    /// Descriptors that lead to no pack, and why.
    pub(crate) skipped: Vec<String>,
}

#[cfg(target_os = "linux")]
mod linux {
    use super::modules::{self, Module};
    use super::scan::{self, Keep};
    use super::{Found, bounds};

    /// The packs of the executable or shared library that this code is linked into.
    pub(crate) fn own() -> Found {
        let table = bounds::table();
        let mut found = Found::default();
        modules::for_each(|module: &Module<'_>| {
            if module.contains(table.start) {
                found = scan::table(module, table.clone(), Keep::Borrow);
            }
        });
        found
    }

    /// The packs of all modules that are loaded now.
    pub(crate) fn process() -> Found {
        let mut found = Found::default();
        modules::for_each(|module: &Module<'_>| {
            // The main program is never unloaded.
            let keep = if module.is_main() { Keep::Borrow } else { Keep::Copy };
            scan::notes(module, keep, &mut found);
        });
        found
    }

    /// The pack of the descriptor at `descriptor`, an address in the module that asks.
    pub(crate) fn at(descriptor: *const u8) -> Found {
        let mut found = Found::default();
        modules::for_each(|module: &Module<'_>| {
            if module.contains(descriptor as u64) {
                scan::descriptor(module, descriptor as u64, Keep::Borrow).add_to(&mut found);
            }
        });
        found
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use super::Found;

    pub(crate) fn own() -> Found {
        Found::default()
    }

    pub(crate) fn process() -> Found {
        Found::default()
    }

    pub(crate) fn at(_descriptor: *const u8) -> Found {
        Found::default()
    }
}
