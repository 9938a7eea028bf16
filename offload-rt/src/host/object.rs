//! Shared objects in memory, which the dynamic loader maps.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use offload_format::Hash128;

/// The version whose functions tell whether a group ran to its end.
pub(super) const VERSION: u32 = 2;
/// The version before it, in which work-items called back to wait.
pub(super) const OLD_VERSION: u32 = 1;
/// The symbol that holds an image's version.
const VERSION_SYMBOL: &str = "__offload_host_abi";

/// A shared object that the loader has mapped.
pub(super) struct Opened {
    pub(super) library: Library,
    /// The C library's mathematics.
    pub(super) libm: Option<Library>,
    /// Kept open because debuggers open the path that the loader reports.
    pub(super) file: Option<File>,
}

/// Has the loader map the shared object `bytes`.
pub(super) fn open(bytes: &[u8]) -> Result<Opened, String> {
    // Images are linked without libraries, but compilers make calls of built-ins such as fmaf. Loading has to go on
    // without libm where the system's C library has another name for it.
    // SAFETY: the C library's own mathematics has no constructors that could do harm.
    let libm = unsafe { Library::open(Some("libm.so.6"), RTLD_NOW | RTLD_GLOBAL) }.ok();
    let from_memory = in_memory(bytes).map_err(|error| format!("memfd_create: {error}")).and_then(|file| {
        // By process id and not as `self`, so that another process, such as a debugger, can open it.
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        Ok((dlopen(Path::new(&path))?, Some(file)))
    });
    let opened = from_memory.or_else(|first| {
        let library = from_temporary(bytes).map_err(|second| format!("{first}; then {second}"))?;
        Ok::<_, String>((library, None))
    });
    let (library, file) = opened?;
    Ok(Opened { library, libm, file })
}

/// The version of the interface of an image.
pub(super) fn version(library: &Library) -> Result<u32, String> {
    // SAFETY: the symbol is a `const uint32_t`; it is read while the library is loaded.
    let found = unsafe { library.get::<*const u32>(VERSION_SYMBOL).map(|symbol| symbol.as_ref().copied()) };
    match found {
        Ok(Some(found @ (OLD_VERSION | VERSION))) => Ok(found),
        Ok(Some(found)) => Err(format!(
            "it has interface version {found}, this program calls version {VERSION}: use one release of offload-build and offload-rt"
        )),
        _ => Err(format!("it has no symbol {VERSION_SYMBOL}")),
    }
}

#[cfg(target_os = "linux")]
fn in_memory(bytes: &[u8]) -> io::Result<File> {
    // Linux 6.3 warns, and may be told to refuse, unless a mapping is said to be executable; older ones know no such
    // flag (https://docs.kernel.org/userspace-api/mfd_noexec.html).
    use std::os::fd::FromRawFd;
    const NAME: &std::ffi::CStr = c"offload-host";
    const MFD_EXEC: libc::c_uint = 0x10;
    let create = |flags| {
        // SAFETY: the name is a C string.
        match unsafe { libc::memfd_create(NAME.as_ptr(), flags) } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: the descriptor is new and nobody else's.
            fd => Ok(unsafe { File::from_raw_fd(fd) }),
        }
    };
    let mut file = match create(libc::MFD_CLOEXEC | MFD_EXEC) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => create(libc::MFD_CLOEXEC)?,
        other => other?,
    };
    file.write_all(bytes)?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn in_memory(_bytes: &[u8]) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn from_temporary(bytes: &[u8]) -> Result<Library, String> {
    let (mut file, path) = new_file(bytes)?;
    let removed = Removed(&path);
    file.write_all(bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    drop(file);
    let library = dlopen(&path);
    // At once, and not when the program is dropped: a process that is killed leaves nothing behind.
    drop(removed);
    library
}

/// A file of this thread's own: others may load the same image at the same time, or may have been killed doing so.
fn new_file(bytes: &[u8]) -> Result<(File, PathBuf), String> {
    const TRIES: u32 = 1000;
    let mut tries = (0..TRIES).map(|number| {
        let name = format!("offload-host-{}-{}-{number}.so", std::process::id(), Hash128::digest(bytes));
        let path = std::env::temp_dir().join(name);
        // `create_new` fails on whatever is there already, also on a dangling symbolic link.
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => Some(Ok((file, path))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            Err(error) => Some(Err(format!("{}: {error}", path.display()))),
        }
    });
    let taken = || Err(format!("{}: {TRIES} names are taken", std::env::temp_dir().display()));
    tries.find_map(|tried| tried).unwrap_or_else(taken)
}

struct Removed<'a>(&'a PathBuf);

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        // What cannot be removed is in a directory that somebody else cleans up.
        let _ = std::fs::remove_file(self.0);
    }
}

fn dlopen(path: &Path) -> Result<Library, String> {
    // SAFETY: the bytes are an image of this program, verified against its hash; images have no constructors.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| loader_error(&error))
}

/// The loader's own words, which libloading keeps as the source of its error.
pub(super) fn loader_error(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
