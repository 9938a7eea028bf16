//! A `host` image: its interface, and the shared object in memory that the dynamic loader maps.

use std::ffi::{c_char, c_void};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use offload_format::Hash128;
use offload_format::pack::KernelInfo;
use offload_format::section::RUN_PREFIX;

/// The version whose functions tell whether a group ran to its end.
const VERSION: u32 = 2;
/// The version before it, in which work-items called back to wait.
const OLD_VERSION: u32 = 1;
/// What follows is a kernel whose frame's size the symbol holds.
const FRAME_PREFIX: &str = "__offload_frame_";
/// The symbol that holds an image's version.
const VERSION_SYMBOL: &str = "__offload_host_abi";

/// Runs a box of work-items of one group.
#[derive(Clone, Copy, Debug)]
pub(super) enum Run {
    /// Gives 0, or [`PARTED`] with a line.
    Checked(
        unsafe extern "C" fn(
            group: *const Group,
            args: *const *mut c_void,
            first: *const u64,
            last: *const u64,
        ) -> u32,
    ),
    /// Of an image of version 1, in which no work-item waits.
    Old(
        unsafe extern "C" fn(
            group: *const Group,
            args: *const *mut c_void,
            first: *const u64,
            last: *const u64,
        ),
    ),
}

/// Set in what a function returns where some work-items did not come to a barrier; the rest is the barrier's line.
pub(super) const PARTED: u32 = 1 << 31;

/// `struct offload_group`.
#[repr(C)]
pub(super) struct Group {
    pub(super) global_offset: [u64; 3],
    pub(super) global_size: [u64; 3],
    pub(super) local_size: [u64; 3],
    pub(super) num_groups: [u64; 3],
    pub(super) group_id: [u64; 3],
    pub(super) work_dim: u64,
    /// What images of version 1 copy, and do not use without a barrier.
    pub(super) unused: [*mut c_void; 2],
    pub(super) print: unsafe extern "C" fn(*mut c_void, *const c_char, u64),
    pub(super) print_data: *mut c_void,
    /// Memory for what work-items keep over a barrier.
    pub(super) frame: *mut c_void,
}

/// What receives a kernel's printed text.
pub(super) type Printer<'a> = &'a (dyn Fn(&[u8]) + Sync);

/// `print` of a group whose `print_data` points to a [`Printer`].
pub(super) unsafe extern "C" fn print(data: *mut c_void, text: *const c_char, size: u64) {
    // SAFETY: `print_data` points to a `Printer` that outlives the launch.
    let printer = unsafe { &*data.cast::<Printer<'_>>() };
    let size = usize::try_from(size).unwrap_or(0);
    if !text.is_null() && size != 0 {
        // SAFETY: the image passes `size` bytes of its own.
        printer(unsafe { std::slice::from_raw_parts(text.cast(), size) });
    }
}

/// A loaded `host` image. Fields are dropped in this order: code before the file that holds it.
pub(super) struct HostImage {
    runs: Vec<Entry>,
    _library: Library,
    _libm: Option<Library>,
    /// Kept open because debuggers open the path that the loader reports.
    _file: Option<File>,
}

/// A kernel of an image.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostCode {
    pub(super) run: Run,
    /// Bytes of the frame for each work-item.
    pub(super) frame: u64,
}

/// Where a kernel starts.
struct Entry {
    kernel: String,
    code: HostCode,
}

impl HostImage {
    /// Loads the shared object `bytes` and looks up `kernels`.
    pub(super) fn load(bytes: &[u8], kernels: &[KernelInfo]) -> Result<HostImage, String> {
        // Images are linked without libraries, but compilers make calls of built-ins such as fmaf. Loading has to
        // go on without libm where the system's C library has another name for it.
        // SAFETY: the C library's own mathematics has no constructors that could do harm.
        let libm = unsafe { Library::open(Some("libm.so.6"), RTLD_NOW | RTLD_GLOBAL) }.ok();
        let (library, file) = open(bytes)?;
        let version = version(&library)?;
        let waiting = kernels.iter().find(|kernel| kernel.has_barrier);
        if let (OLD_VERSION, Some(kernel)) = (version, waiting) {
            return Err(format!(
                "it has interface version {OLD_VERSION}, in which work-items of kernel `{}` call back to wait; this program calls version {VERSION}: build it with one release of offload-build and offload-rt",
                kernel.name
            ));
        }
        let entry = |kernel: &KernelInfo| {
            let code = code(&library, version, &kernel.name)?;
            Ok(Entry { kernel: kernel.name.clone(), code })
        };
        let runs = kernels.iter().map(entry).collect::<Result<_, String>>()?;
        Ok(HostImage { runs, _library: library, _libm: libm, _file: file })
    }

    /// The code of `kernel`.
    pub(super) fn code(&self, kernel: &str) -> Option<HostCode> {
        self.runs.iter().find(|entry| entry.kernel == kernel).map(|entry| entry.code)
    }
}

impl std::fmt::Debug for HostImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kernels: Vec<&str> = self.runs.iter().map(|entry| entry.kernel.as_str()).collect();
        f.debug_struct("HostImage").field("kernels", &kernels).finish_non_exhaustive()
    }
}

fn version(library: &Library) -> Result<u32, String> {
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

fn code(library: &Library, version: u32, kernel: &str) -> Result<HostCode, String> {
    let symbol = format!("{RUN_PREFIX}{kernel}");
    let missing = |error: &libloading::Error| format!("it does not export {symbol}: {}", loader_error(error));
    if version == OLD_VERSION {
        // SAFETY: a symbol with the prefix has this type in every image of this version.
        let run = unsafe { library.get(&symbol) }.map_err(|error| missing(&error))?;
        return Ok(HostCode { run: Run::Old(*run), frame: 0 });
    }
    // SAFETY: as above.
    let run = unsafe { library.get(&symbol) }.map_err(|error| missing(&error))?;
    let name = format!("{FRAME_PREFIX}{kernel}");
    // SAFETY: the symbol is a `const uint64_t`; it is read while the library is loaded.
    let frame = unsafe { library.get::<*const u64>(&name).map(|symbol| symbol.as_ref().copied()) };
    let frame = frame.ok().flatten().ok_or_else(|| format!("it has no symbol {name}"))?;
    Ok(HostCode { run: Run::Checked(*run), frame })
}

fn open(bytes: &[u8]) -> Result<(Library, Option<File>), String> {
    let from_memory = in_memory(bytes).map_err(|error| format!("memfd_create: {error}")).and_then(|file| {
        // By process id and not as `self`, so that another process, such as a debugger, can open it.
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        Ok((dlopen(Path::new(&path))?, Some(file)))
    });
    from_memory.or_else(|first| {
        let library = from_temporary(bytes).map_err(|second| format!("{first}; then {second}"))?;
        Ok((library, None))
    })
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
        let name = format!("offload-host-{}-{}-{number}.so", std::process::id(), Hash128::of(bytes));
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
fn loader_error(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
