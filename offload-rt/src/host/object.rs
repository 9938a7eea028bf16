//! Shared objects in memory, which the dynamic loader maps.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use offload_format::Hash128;

use crate::error::Problem;

/// The version of the interface between a program and its images.
const VERSION: u32 = 2;
/// The symbol that holds an image's version.
const VERSION_SYMBOL: &str = "__offload_host_abi";

/// A shared object that the loader has mapped.
pub(super) struct LoadedObject {
    pub(super) library: Library,
    /// The C library's mathematics.
    pub(super) libm: Option<Library>,
    /// Kept open because debuggers open the path that the loader reports.
    pub(super) file: Option<File>,
}

/// Loads the shared object `bytes`.
pub(super) fn open(bytes: &[u8]) -> Result<LoadedObject, Problem> {
    // Images are linked without libraries, but compilers make calls of built-ins such as fmaf. Loading has to go on
    // without libm where the system's C library has another name for it.
    // SAFETY: the C library's own mathematics has no constructors that could do harm.
    let libm = unsafe { Library::open(Some("libm.so.6"), RTLD_NOW | RTLD_GLOBAL) }.ok();
    let memory_problem = match from_memory(bytes) {
        Ok((library, file)) => return Ok(LoadedObject { library, libm, file: Some(file) }),
        Err(problem) => problem,
    };
    match from_temporary(bytes) {
        Ok(library) => Ok(LoadedObject { library, libm, file: None }),
        Err(problem) => Err(neither(&format!("{memory_problem}; then {problem}"))),
    }
}

/// The problem of an image that could be loaded neither from memory nor from a file.
fn neither(text: &str) -> Problem {
    if cfg!(target_os = "linux") && !Path::new(DESCRIPTORS).exists() {
        let hint = "/proc is not mounted: mount it, or set TMPDIR to a folder that allows files to be written and executed";
        return Problem::with_hint(text.to_string(), hint);
    }
    text.to_string().into()
}

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

/// Where the loader finds files that are open and have no name.
const DESCRIPTORS: &str = "/proc/self/fd";

fn from_memory(bytes: &[u8]) -> Result<(Library, File), String> {
    let file = in_memory(bytes).map_err(|error| format!("memfd_create: {error}"))?;
    // By process id and not as `self`, so that another process, such as a debugger, can open it.
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    Ok((dlopen(Path::new(&path))?, file))
}

#[cfg(target_os = "linux")]
fn in_memory(bytes: &[u8]) -> io::Result<File> {
    // Linux 6.3 warns about a file without MFD_EXEC or MFD_NOEXEC_SEAL, and can be configured to refuse it; older
    // kernels do not know the flag (https://docs.kernel.org/userspace-api/mfd_noexec.html).
    use std::os::fd::FromRawFd;
    const NAME: &std::ffi::CStr = c"offload-host";
    const MFD_EXEC: libc::c_uint = 0x10;
    fn create(flags: libc::c_uint) -> io::Result<File> {
        // SAFETY: the name is a C string.
        match unsafe { libc::memfd_create(NAME.as_ptr(), flags) } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: the descriptor is new, and no other value owns it.
            fd => Ok(unsafe { File::from_raw_fd(fd) }),
        }
    }
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
    let removed = RemoveOnDrop(&path);
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
    let directory = std::env::temp_dir();
    for number in 0..TRIES {
        let name = format!("offload-host-{}-{}-{number}.so", std::process::id(), Hash128::digest(bytes));
        let path = directory.join(name);
        // `create_new` fails on any existing file, also on a dangling symbolic link.
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    Err(format!("{}: {TRIES} names are taken", directory.display()))
}

struct RemoveOnDrop<'a>(&'a PathBuf);

impl Drop for RemoveOnDrop<'_> {
    fn drop(&mut self) {
        // The system cleans its directory for temporary files.
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
