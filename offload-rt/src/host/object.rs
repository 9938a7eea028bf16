//! Shared objects in memory, which the system's loader maps.

mod temporary_file;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use self::unix as system;
#[cfg(windows)]
use self::windows as system;

#[cfg(test)]
pub(super) use self::system::from_temporary;
pub(super) use self::system::{Kept, Library, LoadedObject, open};
pub(super) use self::temporary_file::loader_error;

/// The version of the interface between a program and its images.
const VERSION: u32 = 2;
/// The symbol that holds an image's version.
const VERSION_SYMBOL: &str = "__offload_host_abi";

/// Compares the interface version of an image with [`VERSION`].
pub(super) fn check_version(library: &Library) -> Result<(), String> {
    // SAFETY: the symbol is a `const uint32_t`; it is read while the library is loaded.
    let found = unsafe { library.get::<*const u32>(VERSION_SYMBOL).map(|symbol| symbol.as_ref().copied()) };
    match found {
        Ok(Some(VERSION)) => Ok(()),
        Ok(Some(found)) => Err(format!(
            "it has interface version {found}, this program calls version {VERSION}: use one release of offload-build and offload-rt"
        )),
        _ => Err(format!("it has no symbol {VERSION_SYMBOL}")),
    }
}
