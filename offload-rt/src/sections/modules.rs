//! The modules that the loader has mapped, with the parts of their memory that may be read; the own module's table.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A loaded executable or shared library, valid while the loader's lock is held.
pub(super) struct LoadedModule<'a> {
    main: bool,
    readable: Vec<Range<u64>>,
    notes: Vec<Range<u64>>,
    elf_header: Option<u64>,
    /// As the loader was asked for it; it is valid as long as the lock is held.
    name: &'a CStr,
}

impl<'a> LoadedModule<'a> {
    /// Whether it is the program itself.
    pub(super) fn is_main(&self) -> bool {
        self.main
    }

    /// The directory of its file, if that is known.
    pub(super) fn directory(&self) -> Option<PathBuf> {
        let file = if self.main {
            // Its name is empty with glibc.
            std::fs::read_link("/proc/self/exe").ok()?
        } else {
            Path::new(OsStr::from_bytes(self.name.to_bytes())).canonicalize().ok()?
        };
        file.parent().map(Path::to_path_buf)
    }

    /// Where the ELF header lies, if it is mapped.
    pub(super) fn elf_header(&self) -> Option<u64> {
        self.elf_header
    }

    /// The note segments.
    pub(super) fn notes(&self) -> impl Iterator<Item = (u64, &'a [u8])> + '_ {
        self.notes.iter().filter_map(|range| {
            let bytes = self.bytes(range.start, range.end.checked_sub(range.start)?)?;
            Some((range.start, bytes))
        })
    }

    pub(super) fn contains(&self, address: u64) -> bool {
        self.readable.iter().any(|range| range.contains(&address))
    }

    /// Memory of the module, if `address` and `size` are inside one segment of it.
    pub(super) fn bytes(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        let segment = self.readable.iter().find(|range| range.contains(&address))?;
        if address.checked_add(size)? > segment.end || size > isize::MAX as u64 {
            return None;
        }
        // SAFETY: the range is inside a loaded segment that is readable; the loader's lock, which `'a` stands for, keeps
        // the module mapped. The segment may be writable, because GNU ld puts the read-only `.lrodata` beside data, but
        // nothing writes to the sections that are looked for here.
        Some(unsafe { std::slice::from_raw_parts(address as *const u8, usize::try_from(size).ok()?) })
    }

    /// The same for a module that is not unloaded before the caller's own code.
    ///
    /// # Safety
    /// The module is the main program or the one that the caller's code is linked into.
    pub(super) unsafe fn lasting_bytes(&self, address: u64, size: u64) -> Option<&'static [u8]> {
        let bytes = self.bytes(address, size)?;
        // SAFETY: by the contract, the memory stays mapped as long as code can run that uses it.
        Some(unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) })
    }
}

/// Calls `visit` for each loaded module, the main program first.
pub(super) fn for_each(visit: &mut dyn FnMut(&LoadedModule<'_>)) {
    let mut state = VisitState { visit, first: true };
    // SAFETY: `visitor` has the callback's type and gets the pointer to `state`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visitor), (&raw mut state).cast()) };
}

struct VisitState<'v> {
    visit: &'v mut dyn FnMut(&LoadedModule<'_>),
    first: bool,
}

unsafe extern "C" fn visitor(info: *mut libc::dl_phdr_info, _size: usize, state: *mut c_void) -> c_int {
    // SAFETY: `for_each` passes a pointer to its `VisitState` and uses it nowhere else during the call.
    let state = unsafe { &mut *state.cast::<VisitState<'_>>() };
    // SAFETY: the loader passes a description that is valid during this call.
    let module = unsafe { read(&*info, state.first) };
    // glibc calls back for the main program first, and musl too; its name is empty with one and not with the other.
    state.first = false;
    (state.visit)(&module);
    0
}

/// # Safety
/// `info` comes from the loader, whose lock is held for `'a`.
unsafe fn read<'a>(info: &libc::dl_phdr_info, main: bool) -> LoadedModule<'a> {
    // SAFETY: by the contract, the name is a string of the loader's; `'a` is as long as the lock.
    let name = if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } };
    let mut module = LoadedModule { main, readable: Vec::new(), notes: Vec::new(), elf_header: None, name };
    if info.dlpi_phdr.is_null() {
        return module;
    }
    // SAFETY: by the contract, the pointer is to that many program headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    #[allow(clippy::useless_conversion, reason = "the fields are u32 on 32-bit systems")]
    for header in headers {
        let start = u64::from(info.dlpi_addr).wrapping_add(u64::from(header.p_vaddr));
        let range = start..start.saturating_add(u64::from(header.p_memsz));
        let readable = header.p_flags & libc::PF_R != 0;
        match header.p_type {
            libc::PT_LOAD if readable => {
                if header.p_offset == 0 {
                    module.elf_header = Some(start);
                }
                module.readable.push(range);
            }
            libc::PT_NOTE => module.notes.push(range),
            _ => {}
        }
    }
    module
}

/// Makes sure that every module with this code has the section: only then do linkers define its bounds.
#[used]
#[unsafe(link_section = "offload_tab")]
static EMPTY: [u8; 0] = [];

/// The addresses of the table of the module that this code is linked into.
///
/// Read through Rust statics, each bound would cost an entry in the global offset table and with it a relocation
/// that the loader has to apply. A linker that collects sections does not count the use of a bound as a use of
/// the section; the use of `EMPTY` is one.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn own_table() -> Range<u64> {
    let (start, stop): (u64, u64);
    // SAFETY: the code computes three addresses and touches neither memory nor flags.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            ".hidden __start_offload_tab",
            ".hidden __stop_offload_tab",
            "lea {start}, [rip + {empty}]",
            "lea {start}, [rip + __start_offload_tab]",
            "lea {stop}, [rip + __stop_offload_tab]",
            start = out(reg) start,
            stop = out(reg) stop,
            empty = sym EMPTY,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!(
            ".hidden __start_offload_tab",
            ".hidden __stop_offload_tab",
            "adrp {start}, {empty}",
            "adrp {start}, __start_offload_tab",
            "add {start}, {start}, :lo12:__start_offload_tab",
            "adrp {stop}, __stop_offload_tab",
            "add {stop}, {stop}, :lo12:__stop_offload_tab",
            start = out(reg) start,
            stop = out(reg) stop,
            empty = sym EMPTY,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    start..stop
}

/// The same on architectures without a form of their own above.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn own_table() -> Range<u64> {
    unsafe extern "C" {
        static __start_offload_tab: u8;
        static __stop_offload_tab: u8;
    }
    std::hint::black_box(&EMPTY);
    (&raw const __start_offload_tab) as u64..(&raw const __stop_offload_tab) as u64
}
