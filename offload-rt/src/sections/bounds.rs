//! The bounds of the own module's table, without a relocation.

use std::ops::Range;

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
pub(super) fn table() -> Range<u64> {
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
pub(super) fn table() -> Range<u64> {
    unsafe extern "C" {
        static __start_offload_tab: u8;
        static __stop_offload_tab: u8;
    }
    std::hint::black_box(&EMPTY);
    (&raw const __start_offload_tab) as u64..(&raw const __stop_offload_tab) as u64
}
