//! Work-groups over threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::bind::{Bound, ThreadArgs};
use super::checks::{self, Watch};
use super::image::{self, FAILED, Group, HostCode, PARTED, Printer, Run};
use super::memory::HostMemory;
use super::threads;
use crate::error::Problem;
use crate::range::NdRange;
use crate::text::escape;

/// So many work-items are worth waking threads at once.
const MUCH_WORK: u64 = 512;
/// Fewer are if they take longer than this, which is about what waking takes. It is not known before: a work-item may have
/// millions of steps.
const MOMENT: Duration = Duration::from_micros(20);
/// Room for the message of a failed assertion.
const MESSAGE: usize = 1024;
/// Each thread takes its part of the groups in so many portions.
const PORTIONS: u64 = 16;

/// One launch.
pub(super) struct Job<'a> {
    pub(super) code: HostCode,
    pub(super) range: &'a NdRange,
    pub(super) bound: &'a Bound,
    pub(super) print: Printer<'a>,
    /// What is told of the kernel, if somebody wants to know. All groups run in this thread then.
    pub(super) watch: Option<&'a Watch>,
}

/// Runs every group.
///
/// # Safety
/// `bound` holds the arguments of the kernel whose code it is, and the kernel may run on them over `range`.
pub(super) unsafe fn run(job: &Job<'_>) -> Result<(), Problem> {
    let mut groups = 0..job.range.group_count();
    if groups.end.saturating_mul(job.range.group_size()) < MUCH_WORK {
        let queue = Queue::new(&groups, 1);
        work(job, &queue, &Share { part: 0, groups: 1, until: Some(Instant::now() + MOMENT) });
        groups.start = queue.conclude()?;
    }
    let left = groups.end.saturating_sub(groups.start);
    if left > 0 {
        let others = if job.watch.is_some() { 0 } else { other_threads(left) };
        let queue = Queue::new(&groups, others.saturating_add(1));
        let groups = portion(left, others);
        threads::run_with(others, &|part| work(job, &queue, &Share { part, groups, until: None }));
        queue.conclude()?;
    }
    Ok(())
}

/// Groups that are still to run, a part for each thread: the same thread has the same groups in the next launch, and
/// finds their data in its cache. Who has no more takes from the others' parts.
struct Queue {
    parts: Vec<Part>,
    failed: Mutex<Option<Problem>>,
}

/// Each in a cache line of its own, and in another pair of lines, which processors fetch together.
#[repr(align(128))]
struct Part {
    next: AtomicU64,
    end: u64,
}

impl Queue {
    fn new(groups: &Range<u64>, parts: usize) -> Queue {
        let size = groups.end.saturating_sub(groups.start).div_ceil(parts.max(1) as u64);
        let start =
            |part: usize| groups.start.saturating_add(size.saturating_mul(part as u64)).min(groups.end);
        let part =
            |part: usize| Part { next: AtomicU64::new(start(part)), end: start(part.saturating_add(1)) };
        Queue { parts: (0..parts).map(part).collect(), failed: Mutex::new(None) }
    }

    /// Up to so many groups of the share's own part, or of the next that has some.
    fn take(&self, share: &Share) -> Option<Range<u64>> {
        let (others, own) = self.parts.split_at_checked(share.part)?;
        own.iter().chain(others).find_map(|part| part.take(share.groups))
    }

    fn fail(&self, problem: Problem) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(problem);
        self.parts.iter().for_each(|part| part.next.store(part.end, Ordering::Relaxed));
    }

    /// The first group that is left, or what failed.
    fn conclude(self) -> Result<u64, Problem> {
        let left = self.parts.iter().map(|part| part.next.load(Ordering::Relaxed)).min();
        let failed = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(left.unwrap_or(0)), Err)
    }
}

impl Part {
    fn take(&self, groups: u64) -> Option<Range<u64>> {
        // Read first: a part without groups is seen by everybody, and must not be written to by everybody.
        if self.next.load(Ordering::Relaxed) >= self.end {
            return None;
        }
        let next = self.next.fetch_add(groups, Ordering::Relaxed);
        (next < self.end).then(|| next..next.saturating_add(groups).min(self.end))
    }
}

/// What a thread takes of a queue.
struct Share {
    /// The part that it begins with.
    part: usize,
    /// So many groups at once.
    groups: u64,
    until: Option<Instant>,
}

/// How many groups a thread takes at once: so few that all end at about the same time, so many that they seldom meet.
fn portion(groups: u64, other_threads: usize) -> u64 {
    let threads = (other_threads as u64).saturating_add(1);
    (groups / threads.saturating_mul(PORTIONS)).max(1)
}

/// How many threads beside this one can share `groups`.
fn other_threads(groups: u64) -> usize {
    /// Asking takes longer than many kernels: on Linux the standard library reads files of the control groups.
    static CPUS: OnceLock<usize> = OnceLock::new();
    let cpus = *CPUS.get_or_init(|| std::thread::available_parallelism().map_or(1, |count| count.get()));
    cpus.min(usize::try_from(groups).unwrap_or(usize::MAX)).saturating_sub(1)
}

/// Runs groups until there are no more, or the share's time is over.
fn work(job: &Job<'_>, queue: &Queue, share: &Share) {
    if let Err(problem) = work_through(job, queue, share) {
        queue.fail(problem);
    }
}

fn work_through(job: &Job<'_>, queue: &Queue, share: &Share) -> Result<(), Problem> {
    let args = job.bound.for_thread()?;
    let _watching = job.watch.map(|watch| checks::in_this_thread(watch, args.local()));
    let frame = frame(job)?;
    let mut group = group(job, &frame);
    while let Some(groups) = queue.take(share) {
        for index in groups {
            group.group_id = position(index, job.range.groups());
            if let Some(watch) = job.watch {
                watch.begin(index);
            }
            let ran = run_group(job, &group, &args);
            if let Some(watch) = job.watch {
                watch.end();
            }
            ran?;
        }
        if share.until.is_some_and(|until| Instant::now() > until) {
            return Ok(());
        }
    }
    Ok(())
}

fn run_group(job: &Job<'_>, group: &Group, args: &ThreadArgs) -> Result<(), Problem> {
    let (first, last) = ([0; 3], job.range.local());
    let (args, first, last) = (args.pointers(), first.as_ptr(), last.as_ptr());
    // SAFETY: the contract of `run` in this module; the pointers are valid for the call.
    let result = unsafe {
        match job.code.run {
            Run::Checked(run) => run(group, args, first, last),
            Run::Guarded(guard, run) => {
                let (mut message, size) = ([0u8; MESSAGE], MESSAGE as u64);
                let text = message.as_mut_ptr().cast();
                match guard(run, group, args, first, last, text, size) {
                    FAILED => return Err(failed(&message)),
                    result => result,
                }
            }
            Run::Old(run) => {
                run(group, args, first, last);
                0
            }
        }
    };
    if result == 0 {
        return Ok(());
    }
    if let Some(watch) = job.watch {
        watch.parted();
    }
    Err(parted(result))
}

/// A failed assertion.
fn failed(message: &[u8]) -> Problem {
    let text = message.split(|byte| *byte == 0).next().unwrap_or_default();
    escape(&String::from_utf8_lossy(text)).into()
}

/// Memory for what the work-items of one group keep over a barrier.
fn frame(job: &Job<'_>) -> Result<HostMemory, Problem> {
    let (items, each) = (job.range.group_size(), job.code.frame);
    let size = items.checked_mul(each).and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| Problem::from("there is not so much memory".to_string()))
        .and_then(HostMemory::zeroed)
        .map_err(|problem| {
            problem.during(&format!("{each} bytes for each of {items} work-items that wait for each other"))
        })
}

fn group(job: &Job<'_>, frame: &HostMemory) -> Group {
    Group {
        global_offset: job.range.offset(),
        global_size: job.range.global(),
        local_size: job.range.local(),
        num_groups: job.range.groups(),
        group_id: [0; 3],
        work_dim: job.range.dimensions().into(),
        unused: [std::ptr::null_mut(); 2],
        print: image::print,
        print_data: (&raw const job.print).cast_mut().cast(),
        frame: frame.address().cast(),
    }
}

/// What an image says of work-items that went different ways.
fn parted(result: u32) -> Problem {
    let line = result & !PARTED;
    let barrier = match line {
        0 => "a barrier".to_string(),
        line => format!("the barrier in line {line}"),
    };
    Problem::from(format!("{barrier} was not reached by all work-items of a group"))
}

/// The position number `index` in a box of `size`, the first dimension fastest.
fn position(index: u64, [x, y, _]: [u64; 3]) -> [u64; 3] {
    let div = |value: u64, by: u64| (value.checked_div(by).unwrap_or(0), value.checked_rem(by).unwrap_or(0));
    let (rest, first) = div(index, x);
    let (third, second) = div(rest, y);
    [first, second, third]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_every_group_once() {
        for (groups, parts) in [(0..1, 4), (3..3, 2), (5..64, 3), (0..1000, 7)] {
            let queue = Queue::new(&groups, parts);
            let share = Share { part: parts - 1, groups: 3, until: None };
            let mut taken: Vec<u64> = std::iter::from_fn(|| queue.take(&share)).flatten().collect();
            let first = taken.first().copied();
            taken.sort_unstable();
            assert_eq!(taken, groups.clone().collect::<Vec<_>>());
            if groups.end - groups.start > parts as u64 {
                assert!(first > Some(groups.start), "the last thread begins with its own part");
            }
        }
    }

    #[test]
    fn nothing_is_taken_after_a_failure() {
        let queue = Queue::new(&(0..100), 2);
        let share = Share { part: 1, groups: 5, until: None };
        assert_eq!(queue.take(&share), Some(50..55));
        queue.fail(Problem::from("first".to_string()));
        queue.fail(Problem::from("second".to_string()));
        assert_eq!(queue.take(&share), None);
        assert!(format!("{:?}", queue.conclude().unwrap_err()).contains("first"));
    }

    #[test]
    fn what_is_left_begins_after_what_was_taken() {
        let queue = Queue::new(&(0..10), 1);
        let share = Share { part: 0, groups: 1, until: None };
        assert_eq!(queue.take(&share), Some(0..1));
        assert_eq!(queue.take(&share), Some(1..2));
        assert_eq!(queue.conclude().unwrap(), 2);
    }
}
