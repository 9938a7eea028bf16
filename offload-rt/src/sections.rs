//! The packs in the memory of this process: where linkers and the loader have put them.

#[cfg(target_os = "linux")]
mod bounds;
#[cfg(target_os = "linux")]
mod modules;
mod pack;
#[cfg(target_os = "linux")]
mod scan;
mod sidecar;

#[cfg(target_os = "linux")]
pub(crate) use self::linux::{at, own, process};
#[cfg(not(target_os = "linux"))]
pub(crate) use self::other::{at, own, process};
pub(crate) use self::pack::{Found, FoundPack, PackBytes};
pub(crate) use self::sidecar::{open as open_sidecar, open_cached};

#[cfg(target_os = "linux")]
mod linux {
    use super::bounds;
    use super::modules::{self, Module};
    use super::pack::Found;
    use super::scan::{self, Keep};

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
    use super::pack::Found;

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
