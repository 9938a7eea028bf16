//! Work-groups over threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use offload_format::pack::KernelInfo;

use super::bind::Bound;
use super::coroutine::{self, GroupError, Stacks};
use super::image::{self, Group, Printer, Run};
use crate::error::Problem;
use crate::range::NdRange;

/// Fewer work-items than this are not worth the start of threads.
const LITTLE_WORK: u64 = 2048;
/// The most stacks that a launch maps: each takes two of the 65,530 mappings that Linux gives a process.
const MOST_STACKS: u64 = 8192;

/// One launch.
pub(super) struct Job<'a> {
    pub(super) run: Run,
    pub(super) info: &'a KernelInfo,
    pub(super) range: &'a NdRange,
    pub(super) bound: &'a Bound,
    pub(super) print: Printer<'a>,
}

/// Runs every group.
///
/// # Safety
/// `run` is the entry of the kernel that `info` describes, `bound` holds its arguments, and the kernel may run on
/// them over `range`.
pub(super) unsafe fn run(job: &Job<'_>) -> Result<(), Problem> {
    let queue = Queue { next: AtomicU64::new(0), end: job.range.group_count(), failed: Mutex::new(None) };
    match thread_count(job)? {
        1 => work(job, &queue),
        count => std::thread::scope(|scope| {
            // This thread is one of them; a thread that the system refuses only makes the others work longer.
            for _ in 1..count {
                let _ = std::thread::Builder::new().spawn_scoped(scope, || work(job, &queue));
            }
            work(job, &queue);
        }),
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

fn thread_count(job: &Job<'_>) -> Result<u64, Problem> {
    let (groups, size) = (job.range.group_count(), job.range.group_size());
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let stacks = if job.info.has_barrier { MOST_STACKS.checked_div(size).unwrap_or(0) } else { u64::MAX };
    if stacks == 0 {
        return Err(Problem::with_hint(
            format!("a work-group of {size} work-items is too large for a kernel with a barrier"),
            format!("at most {MOST_STACKS} can wait for each other"),
        ));
    }
    if groups.saturating_mul(size) < LITTLE_WORK {
        return Ok(1);
    }
    Ok(cpus.min(groups).min(stacks).max(1))
}

fn work(job: &Job<'_>, queue: &Queue) {
    let args = match job.bound.for_thread() {
        Ok(args) => args,
        Err(problem) => return queue.fail(problem),
    };
    let mut stacks = job.info.has_barrier.then(|| Stacks::new(job.info.private_memory));
    let mut group = group(job, stacks.as_ref());
    while let Some(index) = queue.take() {
        group.group_id = position(index, job.range.groups());
        let ran = run_group(&Call { job, group: &group, args: args.pointers() }, stacks.as_mut());
        if let Err(error) = ran {
            return queue.fail(error.to_string().into());
        }
    }
}

fn group(job: &Job<'_>, stacks: Option<&Stacks>) -> Group {
    Group {
        global_offset: job.range.offset(),
        global_size: job.range.global(),
        local_size: job.range.local(),
        num_groups: job.range.groups(),
        group_id: [0; 3],
        work_dim: job.range.dimensions().into(),
        barrier: if stacks.is_some() { coroutine::barrier } else { image::no_barrier },
        barrier_data: stacks.map_or(std::ptr::null_mut(), Stacks::barrier_data),
        print: image::print,
        print_data: (&raw const job.print).cast_mut().cast(),
    }
}

/// What a thread calls the kernel with, for one group.
struct Call<'a> {
    job: &'a Job<'a>,
    group: &'a Group,
    args: *const *mut std::ffi::c_void,
}

fn run_group(call: &Call<'_>, stacks: Option<&mut Stacks>) -> Result<(), GroupError> {
    let Call { job, group, args } = *call;
    let run = |first: [u64; 3], last: [u64; 3]| {
        // SAFETY: the contract of `run` in this module; the pointers are valid for the call.
        unsafe { (job.run)(group, args, first.as_ptr(), last.as_ptr()) }
    };
    let size = job.range.local();
    match stacks {
        None => {
            run([0; 3], size);
            Ok(())
        }
        Some(stacks) => {
            let ids = (0..job.range.group_size()).map(|index| position(index, size));
            stacks.run_group(ids, &|first| run(first, first.map(|id| id.saturating_add(1))))
        }
    }
}

/// The position number `index` in a box of `size`, the first dimension fastest.
fn position(index: u64, [x, y, _]: [u64; 3]) -> [u64; 3] {
    let div = |value: u64, by: u64| (value.checked_div(by).unwrap_or(0), value.checked_rem(by).unwrap_or(0));
    let (rest, first) = div(index, x);
    let (third, second) = div(rest, y);
    [first, second, third]
}

impl std::fmt::Display for GroupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GroupError::Stack(error) => write!(f, "no memory for the stacks of work-items: {error}"),
            GroupError::Divergent => f.write_str("a barrier was not reached by all work-items of a group"),
        }
    }
}
