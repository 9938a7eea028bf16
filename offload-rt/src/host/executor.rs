//! The scheduler of work-groups: static partitions with work stealing.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::bind::{BoundArgs, ThreadArgs};
use super::block::out_of_memory;
use super::checks::{self, Sanitizer};
use super::image::{self, ASSERTION_FAILED, DIVERGED, Group, HostCode, Printer, Run};
use super::memory::HostMemory;
use super::threads;
use crate::cpu_properties;
use crate::error::Problem;
use crate::range::{NdRange, widened};
use crate::text::escape;

/// The least number of work-items for which threads are woken at once.
const MIN_PARALLEL_ITEMS: u64 = 512;
/// The time after which a smaller launch wakes threads too, about the cost of waking them. The cost of a work-item is not
/// known in advance: it may have millions of steps.
const SERIAL_TIME: Duration = Duration::from_micros(20);
/// Capacity for the message of a failed assertion.
const MESSAGE_SIZE: usize = 1024;
/// The number of chunks in which a thread takes its partition.
const CHUNKS_PER_THREAD: u64 = 16;

/// One launch.
pub(super) struct Launch<'a> {
    pub(super) code: HostCode,
    pub(super) range: &'a NdRange,
    pub(super) args: &'a BoundArgs,
    pub(super) print: Printer<'a>,
    /// The checker of an instrumented launch, whose groups all run in this thread.
    pub(super) sanitizer: Option<&'a Sanitizer>,
}

/// Runs every group.
///
/// # Safety
/// `args` holds the arguments of the kernel whose code it is, and the kernel may run on them over `range`.
pub(super) unsafe fn run(launch: &Launch<'_>) -> Result<(), Problem> {
    let mut groups = 0..launch.range.group_count() as u64;
    if groups.end.saturating_mul(launch.range.group_size() as u64) < MIN_PARALLEL_ITEMS {
        let queue = Queue::new(&groups, 1);
        work(launch, &queue, &WorkerSlot { part: 0, groups: 1, until: Some(Instant::now() + SERIAL_TIME) });
        groups.start = queue.conclude()?;
    }
    let left = groups.end.saturating_sub(groups.start);
    if left > 0 {
        let others = if launch.sanitizer.is_some() { 0 } else { other_threads(left) };
        let queue = Queue::new(&groups, others.saturating_add(1));
        let groups = chunk_size(left, others);
        threads::run_with(others, &|part| work(launch, &queue, &WorkerSlot { part, groups, until: None }));
        queue.conclude()?;
    }
    Ok(())
}

/// The groups of a launch, partitioned over the threads: a thread runs the same groups in each launch, so that it finds
/// their data in its cache. A thread with an empty partition steals from the others.
struct Queue {
    parts: Vec<WorkQueue>,
    failed: Mutex<Option<Problem>>,
}

/// A partition. Each has a pair of cache lines of its own, since processors prefetch lines in pairs.
#[repr(align(128))]
struct WorkQueue {
    next: AtomicU64,
    end: u64,
}

impl Queue {
    fn new(groups: &Range<u64>, parts: usize) -> Queue {
        let size = groups.end.saturating_sub(groups.start).div_ceil(parts.max(1) as u64);
        let mut queues = Vec::with_capacity(parts);
        let mut start = groups.start;
        for _ in 0..parts {
            let end = start.saturating_add(size).min(groups.end);
            queues.push(WorkQueue { next: AtomicU64::new(start), end });
            start = end;
        }
        Queue { parts: queues, failed: Mutex::new(None) }
    }

    /// Takes a chunk of the worker's own partition, or steals one from the next partition that has groups.
    fn take(&self, slot: &WorkerSlot) -> Option<Range<u64>> {
        let (others, own) = self.parts.split_at_checked(slot.part)?;
        own.iter().chain(others).find_map(|part| part.take(slot.groups))
    }

    fn fail(&self, problem: Problem) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(problem);
        self.parts.iter().for_each(|part| part.next.store(part.end, Ordering::Relaxed));
    }

    /// The first group that has not run, or the first failure.
    fn conclude(self) -> Result<u64, Problem> {
        let left = self.parts.iter().map(|part| part.next.load(Ordering::Relaxed)).min();
        let failed = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(left.unwrap_or(0)), Err)
    }
}

impl WorkQueue {
    fn take(&self, groups: u64) -> Option<Range<u64>> {
        // Read first: all threads look at an empty partition, and writes would move its cache line between them.
        if self.next.load(Ordering::Relaxed) >= self.end {
            return None;
        }
        let next = self.next.fetch_add(groups, Ordering::Relaxed);
        (next < self.end).then(|| next..next.saturating_add(groups).min(self.end))
    }
}

/// A thread's position in a queue.
struct WorkerSlot {
    /// Its own partition.
    part: usize,
    /// The size of a chunk.
    groups: u64,
    until: Option<Instant>,
}

/// The size of a chunk: small enough that all threads end at about the same time, large enough that they seldom contend.
fn chunk_size(groups: u64, other_threads: usize) -> u64 {
    let threads = (other_threads as u64).saturating_add(1);
    (groups / threads.saturating_mul(CHUNKS_PER_THREAD)).max(1)
}

/// The number of threads beside this one that can run `groups`.
fn other_threads(groups: u64) -> usize {
    cpus().min(usize::try_from(groups).unwrap_or(usize::MAX)).saturating_sub(1)
}

/// The number of threads that run at a time.
pub(super) fn cpus() -> usize {
    /// Cached, since the query takes longer than many kernels: on Linux the standard library reads files of the control
    /// groups.
    static CPUS: OnceLock<usize> = OnceLock::new();
    *CPUS.get_or_init(|| cpu_properties::threads().unwrap_or(1))
}

/// Runs groups until the queue is empty, or the slot's time is over.
fn work(launch: &Launch<'_>, queue: &Queue, slot: &WorkerSlot) {
    if let Err(problem) = run_groups(launch, queue, slot) {
        queue.fail(problem);
    }
}

fn run_groups(launch: &Launch<'_>, queue: &Queue, slot: &WorkerSlot) -> Result<(), Problem> {
    let args = launch.args.for_thread()?;
    let _watching = launch.sanitizer.map(|sanitizer| checks::in_this_thread(sanitizer, args.local()));
    let frame = frame(launch)?;
    let mut group = group(launch, &frame);
    while let Some(groups) = queue.take(slot) {
        for index in groups {
            group.group_id = position(index, widened(launch.range.groups()));
            group.local_size = launch.range.local_at(group.group_id);
            if let Some(sanitizer) = launch.sanitizer {
                sanitizer.begin(index, group.local_size);
            }
            let ran = run_group(launch, &group, &args);
            if let Some(sanitizer) = launch.sanitizer {
                sanitizer.end();
            }
            ran?;
        }
        if slot.until.is_some_and(|until| Instant::now() > until) {
            return Ok(());
        }
    }
    Ok(())
}

fn run_group(launch: &Launch<'_>, group: &Group, args: &ThreadArgs) -> Result<(), Problem> {
    let first = [0; 3];
    let last = group.local_size;
    let args = args.pointers();
    let first = first.as_ptr();
    let last = last.as_ptr();
    // SAFETY: the contract of `run` in this module; the pointers are valid for the call.
    let result = unsafe {
        match launch.code.run {
            Run::Direct(run) => run(group, args, first, last),
            Run::Guarded(guard, run) => {
                let mut message = [0u8; MESSAGE_SIZE];
                let size = MESSAGE_SIZE as u64;
                let text = message.as_mut_ptr().cast();
                match guard(run, group, args, first, last, text, size) {
                    ASSERTION_FAILED => return Err(failed(&message)),
                    result => result,
                }
            }
        }
    };
    if result == 0 {
        return Ok(());
    }
    if let Some(sanitizer) = launch.sanitizer {
        sanitizer.report_divergence();
    }
    Err(divergence(result))
}

/// A failed assertion.
fn failed(message: &[u8]) -> Problem {
    let text = message.split(|byte| *byte == 0).next().unwrap_or_default();
    escape(&String::from_utf8_lossy(text)).into()
}

/// Memory for the values of one group that are live across a barrier.
fn frame(launch: &Launch<'_>) -> Result<HostMemory, Problem> {
    let items = launch.range.group_size();
    let each = launch.code.frame;
    let size = usize::try_from(each).ok().and_then(|each| items.checked_mul(each));
    size.ok_or_else(out_of_memory).and_then(HostMemory::zeroed).map_err(|problem| {
        problem.during(&format!("{each} bytes for each of {items} work-items that wait for each other"))
    })
}

fn group(launch: &Launch<'_>, frame: &HostMemory) -> Group {
    Group {
        global_offset: widened(launch.range.offset()),
        global_size: widened(launch.range.global()),
        local_size: widened(launch.range.local()),
        num_groups: widened(launch.range.groups()),
        group_id: [0; 3],
        work_dim: launch.range.dimensions().into(),
        print: image::print,
        print_data: (&raw const launch.print).cast_mut().cast(),
        frame: frame.address().cast(),
        enqueued_local_size: widened(launch.range.local()),
    }
}

/// The problem of a group whose work-items diverged at a barrier.
fn divergence(result: u32) -> Problem {
    let line = result & !DIVERGED;
    let barrier = match line {
        0 => "a barrier".to_string(),
        line => format!("the barrier in line {line}"),
    };
    Problem::from(format!("{barrier} was not reached by all work-items of a group"))
}

/// The position number `index` in a box of `size`, the first dimension fastest.
fn position(index: u64, [x, y, _]: [u64; 3]) -> [u64; 3] {
    let rest = index.checked_div(x).unwrap_or(0);
    let first = index.checked_rem(x).unwrap_or(0);
    let second = rest.checked_rem(y).unwrap_or(0);
    let third = rest.checked_div(y).unwrap_or(0);
    [first, second, third]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_every_group_once() {
        for (groups, parts) in [(0..1, 4), (3..3, 2), (5..64, 3), (0..1000, 7)] {
            let queue = Queue::new(&groups, parts);
            let slot = WorkerSlot { part: parts - 1, groups: 3, until: None };
            let mut taken: Vec<u64> = std::iter::from_fn(|| queue.take(&slot)).flatten().collect();
            let first = taken.first().copied();
            taken.sort_unstable();
            assert_eq!(taken, groups.clone().collect::<Vec<_>>());
            if groups.end - groups.start > parts as u64 {
                assert!(first > Some(groups.start), "the last thread begins with its own part");
            }
        }
    }

    #[test]
    fn threads_take_every_group_once() {
        let queue = Queue::new(&(0..200), 3);
        let taken: Vec<AtomicU64> = (0..200).map(|_| AtomicU64::new(0)).collect();
        threads::run_with(2, &|part| {
            let slot = WorkerSlot { part, groups: 3, until: None };
            while let Some(groups) = queue.take(&slot) {
                for group in groups {
                    taken[group as usize].fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        assert!(taken.iter().all(|times| times.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn nothing_is_taken_after_a_failure() {
        let queue = Queue::new(&(0..100), 2);
        let slot = WorkerSlot { part: 1, groups: 5, until: None };
        assert_eq!(queue.take(&slot), Some(50..55));
        queue.fail(Problem::from("first".to_string()));
        queue.fail(Problem::from("second".to_string()));
        assert_eq!(queue.take(&slot), None);
        assert!(format!("{:?}", queue.conclude().unwrap_err()).contains("first"));
    }

    #[test]
    fn what_is_left_begins_after_what_was_taken() {
        let queue = Queue::new(&(0..10), 1);
        let slot = WorkerSlot { part: 0, groups: 1, until: None };
        assert_eq!(queue.take(&slot), Some(0..1));
        assert_eq!(queue.take(&slot), Some(1..2));
        assert_eq!(queue.conclude().unwrap(), 2);
    }
}
