//! Work on all processors.

use std::iter::StepBy;
use std::ops::Range;
use std::thread;

/// What `work` makes of the numbers below `count`: a thread for each processor takes its share of them.
pub fn on_all_processors<R: Send>(count: u64, work: impl Fn(StepBy<Range<u64>>) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let work = &work;
    thread::scope(|scope| {
        let shares: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || work((first..count).step_by(threads as usize))))
            .collect();
        shares.into_iter().map(|share| share.join().unwrap()).collect()
    })
}
