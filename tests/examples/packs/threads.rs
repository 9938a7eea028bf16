//! As many threads as there are processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use offload_packer::Workers;

pub struct Threads;

impl Workers for Threads {
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(count);
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(index) =
                        Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < count)
                    {
                        work(index);
                    }
                });
            }
        });
    }
}
