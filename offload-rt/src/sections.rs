//! The packs in the memory of this process: where linkers and the loader have put them.

#[cfg(target_os = "linux")]
mod modules;
mod pack;
#[cfg(target_os = "linux")]
mod scan;
mod sidecar;

#[cfg(not(target_os = "linux"))]
pub(crate) use self::other::{at, own, process};
pub(crate) use self::pack::{PackBytes, PackSource, PackSources};
#[cfg(target_os = "linux")]
pub(crate) use self::scan::{at, own, process};
pub(crate) use self::sidecar::{open as open_sidecar, open_cached};

#[cfg(not(target_os = "linux"))]
mod other {
    use super::pack::PackSources;

    pub(crate) fn own() -> PackSources {
        PackSources::default()
    }

    pub(crate) fn process() -> PackSources {
        PackSources::default()
    }

    pub(crate) fn at(_descriptor: *const u8) -> PackSources {
        PackSources::default()
    }
}
