//! Parallel work on all cores.

use std::thread;

use offload_packer::Workers;

/// A thread for each core, this one among them, for as long as there is work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads;

impl Workers for Threads {
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        each_beside(0, count, work);
    }
}

/// As [`Threads`], while `busy` cores have other work.
pub(crate) fn each_beside(busy: usize, count: usize, work: &(dyn Fn(usize) + Sync)) {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let others = cores.saturating_sub(busy).min(count).saturating_sub(1);
    offload_jobs::each_beside(others, count, work);
}
