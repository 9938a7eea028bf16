//! Device libraries for the host CPU, and the resolution of the imports of images against them.
//!
//! No symbol of a library is visible to other code of the process: an image lists its imports in a table, and the loader
//! of this crate stores the addresses.

use std::ffi::{CStr, c_char, c_void};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use offload_format::section::{EXPORT_PREFIX, IMPORT_PREFIX, IMPORTS};
use offload_format::{Hash128, ImageKind};

use super::object::{self, Library, LoadedObject};
use crate::entry::Entry;
use crate::error::{Error, Problem};
use crate::text::escape;

/// A library that is loaded into this process, once for all images that import it.
pub(super) struct HostLibrary {
    object: LoadedObject,
    name: String,
}

/// The libraries in use, by the hash of the image.
static LOADED: Mutex<Vec<(Hash128, Weak<HostLibrary>)>> = Mutex::new(Vec::new());

impl HostLibrary {
    /// The library of `entry`, decoded and loaded unless it is in use.
    pub(super) fn for_entry(entry: &Entry) -> Result<Arc<HostLibrary>, Error> {
        // The lock is held while the library is loaded, so that other threads wait instead of loading it again.
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|(_, library)| library.strong_count() > 0);
        let known =
            loaded.iter().find(|(hash, _)| *hash == entry.hash()).and_then(|(_, library)| library.upgrade());
        if let Some(library) = known {
            return Ok(library);
        }
        let library = HostLibrary::load(entry)?;
        loaded.push((entry.hash(), Arc::downgrade(&library)));
        Ok(library)
    }

    fn load(entry: &Entry) -> Result<Arc<HostLibrary>, Error> {
        if entry.image_kind() != ImageKind::HostObject {
            return Err(load_error(entry, format!("it is of kind {}", entry.image_kind()).into()));
        }
        let image = entry.load()?;
        image.check_structure().map_err(|problem| load_error(entry, problem.into()))?;
        let object = object::open(image.bytes()).map_err(|problem| load_error(entry, problem))?;
        object::check_version(&object.library).map_err(|problem| load_error(entry, problem.into()))?;
        Ok(Arc::new(HostLibrary { object, name: escape(entry.module()) }))
    }

    fn function(&self, name: &str) -> Option<*mut c_void> {
        // SAFETY: a symbol with the prefix is a function; only its address is taken.
        let symbol = unsafe { self.object.library.get::<*mut c_void>(&format!("{EXPORT_PREFIX}{name}")) };
        symbol.ok().map(|symbol| symbol.as_raw_ptr()).filter(|address| !address.is_null())
    }
}

impl std::fmt::Debug for HostLibrary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostLibrary").field("name", &self.name).finish_non_exhaustive()
    }
}

fn load_error(library: &Entry, problem: Problem) -> Error {
    Error::from_device("host CPU", problem.during(&format!("cannot load the device library {library}")))
}

/// Resolves the imports of `image` to functions of `libraries`.
pub(super) fn bind(image: &Library, libraries: &[Arc<HostLibrary>]) -> Result<(), String> {
    for name in imported(image) {
        let address = libraries.iter().find_map(|library| library.function(&name));
        let address = address.ok_or_else(|| missing(&name, libraries))?;
        let symbol = format!("{IMPORT_PREFIX}{name}");
        // SAFETY: a symbol with the prefix is a pointer in writable memory of the image, which no code uses yet.
        let place = unsafe { image.get::<*mut c_void>(&symbol) };
        let place =
            place.map_err(|_| format!("it has no symbol {symbol}"))?.as_raw_ptr().cast::<*mut c_void>();
        // SAFETY: as above.
        unsafe { place.write(address) };
    }
    Ok(())
}

/// The names in the table of `image`; none if it imports nothing.
fn imported(image: &Library) -> Vec<String> {
    // SAFETY: the symbol is a table of C strings that a null pointer ends.
    let table = unsafe { image.get::<*const *const c_char>(IMPORTS) };
    let Ok(table) = table else { return Vec::new() };
    let mut next = table.as_raw_ptr().cast::<*const c_char>().cast_const();
    let mut names = Vec::new();
    // SAFETY: as above; the image was compared with its hash, so that the table is what a build made.
    while let Some(name) = unsafe { next.as_ref() }.filter(|name| !name.is_null()) {
        // SAFETY: as above.
        names.push(unsafe { CStr::from_ptr(*name) }.to_string_lossy().into_owned());
        // SAFETY: this was not the end.
        next = unsafe { next.add(1) };
    }
    names
}

fn missing(name: &str, libraries: &[Arc<HostLibrary>]) -> String {
    let names: Vec<&str> = libraries.iter().map(|library| library.name.as_str()).collect();
    match names.as_slice() {
        [] => format!("it imports the function `{}`, and names no library that has it", escape(name)),
        names => format!("it imports the function `{}`, which {} lacks", escape(name), names.join(", ")),
    }
}

#[cfg(test)]
mod tests;
