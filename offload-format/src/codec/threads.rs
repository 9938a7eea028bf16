//! The number of threads that decode one image.

use std::num::NonZeroUsize;

/// A number of threads.
///
/// ```
/// use offload_format::codec::Threads;
/// assert_eq!(Threads::new(0).get(), 1);
/// assert!(Threads::available().get() >= 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads(NonZeroUsize);

impl Threads {
    /// The calling thread alone.
    pub const ONE: Threads = Threads(NonZeroUsize::MIN);

    /// This number of threads, the calling one among them; at least one.
    pub fn new(count: usize) -> Threads {
        Threads(NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN))
    }

    /// As many as processors that the process may use ([`std::thread::available_parallelism`]).
    pub fn available() -> Threads {
        Threads(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }

    /// The number.
    pub fn get(self) -> usize {
        self.0.get()
    }
}
