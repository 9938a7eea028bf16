//! Compressing on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use offload_format::packer::Workers;

/// A thread for each core, for as long as there is work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threads;

impl Workers for Threads {
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        let threads = thread::available_parallelism().map_or(1, |cores| cores.get()).min(count);
        let next = AtomicUsize::new(0);
        let run = || {
            while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < count) {
                work(at);
            }
        };
        thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(run))));
    }
}
