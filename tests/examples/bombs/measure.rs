//! Time and memory of a program: a process of its own waits for it, so that the system's count is of that one alone.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

/// What a program took.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    /// By the clock: what a user waits for on a machine that does nothing else.
    pub(crate) time: Duration,
    /// Of all processors together: what it takes on any machine.
    pub(crate) busy: Duration,
    /// The most memory at a time, in bytes.
    pub(crate) memory: u64,
}

/// What a program may take.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    /// By the clock, and of the processors.
    pub(crate) time: Duration,
    pub(crate) memory: u64,
}

impl Taken {
    pub(crate) fn within(&self, limit: &Limit) -> bool {
        self.time <= limit.time && self.only_the_clock(limit)
    }

    /// Whether nothing but the clock may be above the limit.
    fn only_the_clock(&self, limit: &Limit) -> bool {
        self.busy <= limit.time && self.memory <= limit.memory
    }
}

/// How often a program is run before the clock is believed.
const TIMES: usize = 5;

/// Runs `program` as [`run`] does. It has to be within `limit` by the clock and by the processors, both: four threads may
/// not hide what one would take, nor a command that waits for something that it is idle.
///
/// A machine that does other things besides makes the clock tell of those as well. So what the kernel counts as ready to
/// run without a processor is taken off the clock's time ([`without_processor`]), and nothing else: waiting for a disk, a
/// lock, another thread or a sleep stays in it. Where the clock alone is above the limit then, the program is run again, and
/// its least time counts: what it waits for by itself, it waits for each time. Of processors and memory the most of all
/// runs counts.
pub(crate) fn run_within(
    program: &Path,
    args: &[PathBuf],
    limit: &Limit,
    between: &dyn Fn(),
) -> Result<Taken, Box<dyn Error>> {
    let mut taken = run(program, args)?;
    for _ in 1..TIMES {
        if taken.within(limit) || !taken.only_the_clock(limit) {
            break;
        }
        between();
        let again = run(program, args)?;
        taken = Taken {
            time: taken.time.min(again.time),
            busy: taken.busy.max(again.busy),
            memory: taken.memory.max(again.memory),
        };
    }
    Ok(taken)
}

/// How long a command may run before it is ended: what it took by then is above its limit anyway.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs `program` once; it is ended after some seconds.
fn run(program: &Path, args: &[PathBuf]) -> Result<Taken, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--measure").arg(PATIENCE.as_secs().to_string()).arg(program).args(args);
    let output = command.stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [time, busy, kib] = numbers[..] else { return Err("the child printed no measurement".into()) };
    Ok(Taken { time: Duration::from_micros(time), busy: Duration::from_micros(busy), memory: kib << 10 })
}

/// Runs `program` and prints its microseconds by the clock and of the processors, and its kibibytes.
pub(crate) fn child(seconds: &str, program: &str, args: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let patience = Duration::from_secs(seconds.parse()?);
    let start = Instant::now();
    let mut command = Command::new(program);
    // In a project `verify` asks cargo what is in it.
    command.current_dir("/");
    // Drivers take memory and time of their own.
    command.env("OCL_ICD_VENDORS", "/nonexistent").env("OCL_ICD_FILENAMES", "");
    let mut child =
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut others = Duration::ZERO;
    loop {
        // Before it is asked for its end: then nothing is left of it.
        others = without_processor(child.id()).max(others);
        if child.try_wait()?.is_some() {
            break;
        }
        if start.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let elapsed = start.elapsed().saturating_sub(others);
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let busy = micros(usage.user_time()) + micros(usage.system_time());
    println!("{} {busy} {}", elapsed.as_micros(), usage.max_rss());
    Ok(ExitCode::SUCCESS)
}

fn micros(time: TimeVal) -> u64 {
    u64::try_from(time.num_microseconds()).unwrap_or(0)
}

/// How long the first thread of a process was ready to run while others had the processors
/// (<https://docs.kernel.org/scheduler/sched-stats.html>). Nothing where the kernel does not count it.
fn without_processor(process: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap_or_default();
    let nanos = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}
