//! A value made once for all threads, also across `fork`.
//!
//! `std::sync::Once` and its kin block for ever in a forked child whose parent was initialising the value in another
//! thread (<https://github.com/rust-lang/rust/issues/43448>). Here the claim holds the owner's process id, so that a
//! child sees that the owner is not there and takes over.

use std::marker::PhantomData;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::time::Duration;

const UNCLAIMED: u32 = 0;
const FIRST_WAIT: Duration = Duration::from_micros(20);
const LONGEST_WAIT: Duration = Duration::from_millis(2);

/// A cell that is filled once.
#[derive(Debug)]
pub(crate) struct ForkOnce<T> {
    claim: AtomicU32,
    value: AtomicPtr<T>,
    /// Shared between threads under the same conditions as the cell of the standard library.
    owned: PhantomData<OnceLock<T>>,
}

impl<T> ForkOnce<T> {
    pub(crate) fn new() -> ForkOnce<T> {
        ForkOnce {
            claim: AtomicU32::new(UNCLAIMED),
            value: AtomicPtr::new(ptr::null_mut()),
            owned: PhantomData,
        }
    }

    /// The value, made by `make` in one thread while the others wait.
    pub(crate) fn get_or_make(&self, make: impl Fn() -> T) -> &T {
        let mut wait = FIRST_WAIT;
        loop {
            if let Some(value) = self.get() {
                return value;
            }
            match self.try_claim() {
                Some(_claim) => self.fill(&make),
                None => {
                    std::thread::sleep(wait);
                    wait = LONGEST_WAIT.min(wait.saturating_mul(2));
                }
            }
        }
    }

    /// The value, if it was made.
    pub(crate) fn get(&self) -> Option<&T> {
        let value = self.value.load(Ordering::Acquire);
        // SAFETY: the pointer is null or comes from `Box::into_raw` in `fill`, and is freed in `drop` alone.
        unsafe { value.as_ref() }
    }

    fn try_claim(&self) -> Option<Claim<'_>> {
        let here = std::process::id();
        let seen = self.claim.load(Ordering::Acquire);
        // Another process's claim came here by `fork`: its owner does not run in this process.
        let won = seen != here
            && self.claim.compare_exchange(seen, here, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        won.then(|| Claim(&self.claim))
    }

    fn fill(&self, make: impl Fn() -> T) {
        // Between the look and the claim another thread can have filled the cell and given its claim back.
        if self.get().is_none() {
            self.value.store(Box::into_raw(Box::new(make())), Ordering::Release);
        }
    }
}

impl<T> Drop for ForkOnce<T> {
    fn drop(&mut self) {
        let value = *self.value.get_mut();
        if !value.is_null() {
            // SAFETY: the pointer comes from `Box::into_raw` in `fill`; nobody else can have it any more.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

/// Gives the claim back, also when making the value panics.
struct Claim<'a>(&'a AtomicU32);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.0.store(UNCLAIMED, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn sixty_four_threads_make_one_value() {
        let (cell, made, start) = (ForkOnce::new(), AtomicUsize::new(0), Barrier::new(64));
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    start.wait();
                    let value = cell.get_or_make(|| {
                        std::thread::sleep(Duration::from_millis(20));
                        made.fetch_add(1, Ordering::Relaxed)
                    });
                    assert_eq!(*value, 0);
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn a_panic_gives_the_claim_back() {
        let cell = ForkOnce::new();
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            cell.get_or_make(|| -> u32 { panic!("the first maker fails") });
        }));
        assert!(failed.is_err());
        assert_eq!(*cell.get_or_make(|| 7), 7);
    }

    #[test]
    #[cfg(unix)]
    fn a_forked_child_takes_a_held_claim_over() {
        let (cell, claimed, release) = (ForkOnce::new(), Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                cell.get_or_make(|| {
                    claimed.wait();
                    release.wait();
                    1
                });
            });
            claimed.wait();
            // SAFETY: the child calls only code that neither allocates behind a lock that another thread may hold
            // (glibc resets malloc's locks in `fork`) nor returns from this block.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let value = *cell.get_or_make(|| 2);
                // SAFETY: ends the child without running anything of the test harness.
                unsafe { libc::_exit(value) };
            }
            release.wait();
            let mut status = 0;
            // SAFETY: `status` outlives the call.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 2, "status {status:#x}");
        });
        assert_eq!(*cell.get_or_make(|| 3), 1);
    }
}
