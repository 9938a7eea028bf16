//! Work-groups over threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::bind::Bound;
use super::image::{self, Group, HostCode, PARTED, Printer, Run};
use super::memory::HostMemory;
use super::threads;
use crate::error::Problem;
use crate::range::NdRange;

/// So many work-items are worth waking threads at once.
const MUCH_WORK: u64 = 512;
/// Fewer are if they take longer than this, which is about what waking takes. It is not known before: a work-item may have
/// millions of steps.
const MOMENT: Duration = Duration::from_micros(20);

/// One launch.
pub(super) struct Job<'a> {
    pub(super) code: HostCode,
    pub(super) range: &'a NdRange,
    pub(super) bound: &'a Bound,
    pub(super) print: Printer<'a>,
}

/// Runs every group.
///
/// # Safety
/// `bound` holds the arguments of the kernel whose code it is, and the kernel may run on them over `range`.
pub(super) unsafe fn run(job: &Job<'_>) -> Result<(), Problem> {
    let queue = Queue { next: AtomicU64::new(0), end: job.range.group_count(), failed: Mutex::new(None) };
    if queue.end.saturating_mul(job.range.group_size()) < MUCH_WORK {
        work(job, &queue, Some(Instant::now()));
    }
    let left = queue.end.saturating_sub(queue.next.load(Ordering::Relaxed));
    if left > 0 {
        threads::run_with(other_threads(left), &|| work(job, &queue, None));
    }
    let failed = queue.failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    failed.map_or(Ok(()), Err)
}

struct Queue {
    next: AtomicU64,
    end: u64,
    failed: Mutex<Option<Problem>>,
}

impl Queue {
    fn take(&self) -> Option<u64> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        (next < self.end).then_some(next)
    }

    fn fail(&self, problem: Problem) {
        self.failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(problem);
        self.next.store(self.end, Ordering::Relaxed);
    }
}

/// How many threads beside this one can share `groups`.
fn other_threads(groups: u64) -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get());
    cpus.min(usize::try_from(groups).unwrap_or(usize::MAX)).saturating_sub(1)
}

/// Runs groups until there are no more; for a [`MOMENT`] if it tells when that began.
fn work(job: &Job<'_>, queue: &Queue, began: Option<Instant>) {
    if let Err(problem) = work_through(job, queue, began) {
        queue.fail(problem);
    }
}

fn work_through(job: &Job<'_>, queue: &Queue, began: Option<Instant>) -> Result<(), Problem> {
    let args = job.bound.for_thread()?;
    let frame = frame(job)?;
    let mut group = group(job, &frame);
    let (first, last) = ([0; 3], job.range.local());
    while let Some(index) = queue.take() {
        group.group_id = position(index, job.range.groups());
        // SAFETY: the contract of `run` in this module; the pointers are valid for the call.
        let result = unsafe {
            match job.code.run {
                Run::Checked(run) => run(&group, args.pointers(), first.as_ptr(), last.as_ptr()),
                Run::Old(run) => {
                    run(&group, args.pointers(), first.as_ptr(), last.as_ptr());
                    0
                }
            }
        };
        if result != 0 {
            return Err(parted(result));
        }
        if began.is_some_and(|began| began.elapsed() > MOMENT) {
            return Ok(());
        }
    }
    Ok(())
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
