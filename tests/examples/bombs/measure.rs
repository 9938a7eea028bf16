//! Time and memory of a program: a process of its own waits for it, so that the system's count is of that one alone.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

/// What a program took.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) time: Duration,
    /// The most memory at a time, in bytes.
    pub(crate) memory: u64,
}

impl Taken {
    pub(crate) fn within(&self, limit: &Taken) -> bool {
        self.time <= limit.time && self.memory <= limit.memory
    }
}

/// Runs `program`, which is ended after `patience`.
pub(crate) fn run(program: &Path, args: &[PathBuf], patience: Duration) -> Result<Taken, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--measure").arg(patience.as_secs().to_string()).arg(program).args(args);
    let said = command.stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8(said.stdout)?;
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    let mut next = || numbers.next().ok_or("the child said nothing")?.map_err(Box::<dyn Error>::from);
    Ok(Taken { time: Duration::from_micros(next()?), memory: next()? << 10 })
}

/// Runs `program` and prints its microseconds and kibibytes.
pub(crate) fn child(seconds: &str, program: &str, args: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let (patience, start) = (Duration::from_secs(seconds.parse()?), Instant::now());
    let mut command = Command::new(program);
    // In a project `verify` asks cargo what is in it.
    command.current_dir("/");
    // Drivers take memory and time of their own.
    command.env("OCL_ICD_VENDORS", "/nonexistent").env("OCL_ICD_FILENAMES", "");
    let mut child =
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    while child.try_wait()?.is_none() {
        if start.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("{} {}", start.elapsed().as_micros(), getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss());
    Ok(ExitCode::SUCCESS)
}
