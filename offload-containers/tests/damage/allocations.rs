//! Counts what a thread allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a count for each thread.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn add(bytes: isize) {
    // A thread that ends frees memory when its counters are gone already.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
}

// SAFETY: every call goes to the system's allocator as it came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may be there at once.
        add(size as isize);
        // SAFETY: the caller keeps the contract of `realloc`.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        add(-(layout.size() as isize));
        moved
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What `run` returns, and what it allocates at most at any moment, in bytes, beyond what there was before.
pub fn peak<T>(run: impl FnOnce() -> T) -> (T, u64) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = run();
    (result, u64::try_from(PEAK.get() - before).unwrap_or(0))
}
