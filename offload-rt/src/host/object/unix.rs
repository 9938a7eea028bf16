//! Shared objects in memory, which the dynamic loader of Unix maps.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use libloading::os::unix::{RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

use super::temporary_file::{TemporaryFile, loader_error};
use crate::error::Problem;

pub(in crate::host) use libloading::os::unix::Library;

/// A shared object that the loader has mapped. Fields are dropped in this order: code before the file that holds it.
pub(in crate::host) struct LoadedObject {
    pub(in crate::host) library: Library,
    pub(in crate::host) kept: Kept,
}

/// What an object needs while it is loaded.
pub(in crate::host) struct Kept {
    /// The C library's mathematics.
    _libm: Option<Library>,
    /// Kept open because debuggers open the path that the loader reports.
    _file: Option<File>,
}

/// Loads the shared object `bytes`.
pub(in crate::host) fn open(bytes: &[u8]) -> Result<LoadedObject, Problem> {
    // Images are linked without libraries, but compilers make calls of built-ins such as fmaf. Loading has to go on
    // without libm where the system's C library has another name for it.
    // SAFETY: the C library's own mathematics has no constructors that could do harm.
    let libm = unsafe { Library::open(Some("libm.so.6"), RTLD_NOW | RTLD_GLOBAL) }.ok();
    let memory_problem = match from_memory(bytes) {
        Ok((library, file)) => {
            return Ok(LoadedObject { library, kept: Kept { _libm: libm, _file: Some(file) } });
        }
        Err(problem) => problem,
    };
    match from_temporary(bytes) {
        Ok(library) => Ok(LoadedObject { library, kept: Kept { _libm: libm, _file: None } }),
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
    use std::io::Write;
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

pub(in crate::host) fn from_temporary(bytes: &[u8]) -> Result<Library, String> {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    let file = TemporaryFile::with_content(bytes, "so", options)?;
    // The file goes at once, and not when the program is dropped: a process that is killed leaves nothing behind.
    dlopen(file.path())
}

fn dlopen(path: &Path) -> Result<Library, String> {
    // SAFETY: the bytes are an image of this program, verified against its hash; images have no constructors.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| loader_error(&error))
}
