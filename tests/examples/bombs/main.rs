//! Small files that claim to be large, and what each command of `cargo-offload` takes for them.
//!
//! `bombs CARGO_OFFLOAD [--quick]` prints a table of time and memory, and fails where a figure is above its limit.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "it makes its own files, and stops at the first surprise"
)]

mod edge;
mod foreign;
mod measure;
mod own;
mod pack;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use measure::Limit;

/// A file, and what it is called in the table.
pub(crate) struct Bomb {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// Whether all of it is within limits and as it should be.
    pub(crate) sound: bool,
}

impl Bomb {
    pub(crate) fn new(name: &'static str, bytes: Vec<u8>) -> Bomb {
        Bomb { name, bytes, sound: false }
    }
}

/// What is run on each: `FILE` is the bomb, `OUT` a path where nothing is.
const COMMANDS: [(&str, &[&str]); 13] = [
    ("inspect", &["inspect", "--kernels", "FILE"]),
    ("verify", &["verify", "FILE"]),
    ("size", &["size", "FILE"]),
    ("alone", &["size", "--alone", "FILE"]),
    ("report", &["report", "FILE"]),
    ("devices", &["devices", "FILE"]),
    ("asm", &["asm", "FILE"]),
    ("extract", &["extract", "--output", "OUT", "FILE"]),
    ("prune", &["prune", "FILE", "--drop", "intel:pvc", "--output", "OUT"]),
    ("repack", &["repack", "--compression", "archive", "FILE", "--output", "OUT"]),
    ("export", &["export", "FILE", "--format", "raw", "--output", "OUT"]),
    ("compression", &["compression", "--on", "FILE"]),
    ("json", &["inspect", "--json", "FILE"]),
];
/// Those that compress what a file decodes to. That takes as long as it takes, so that `SECURITY.md` promises it for what is
/// refused, or repeats itself; of files that are sound and full of images there is no measure of theirs here.
const COMPRESSING: [&str; 3] = ["alone", "repack", "compression"];
/// Those that open and decode everything.
const QUICK: [&str; 3] = ["inspect", "verify", "prune"];

/// Whatever the file: what the program takes to start, and to look at something.
const LEAST: Limit = Limit { time: Duration::from_millis(50), memory: 32 << 20 };
/// What a mebibyte of a file may take on top of that.
const EACH_MIB: Limit = Limit { time: Duration::from_millis(400), memory: 64 << 20 };

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--measure", seconds, program, ..] => measure::child(seconds, program, &args[3..]),
        [program] => all(Path::new(program), &COMMANDS.map(|(name, _)| name)),
        [program, "--quick"] => all(Path::new(program), &QUICK),
        _ => Err("usage: bombs CARGO_OFFLOAD [--quick]".into()),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn all(program: &Path, commands: &[&str]) -> Result<ExitCode, Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    // A debug build hashes and parses ten times slower; memory is the same.
    let slower = if is_debug(program) { 10 } else { 1 };
    let mut over = 0;
    let mut files = 0;
    println!("{:24} {:>9}  {:12} {:>8} {:>8} {:>10}", "bomb", "bytes", "command", "ms", "cpu ms", "KiB");
    for bomb in own::bombs()?.into_iter().chain(foreign::bombs()?).chain(edge::bombs()?) {
        let file = directory.path().join(bomb.name);
        std::fs::write(&file, &bomb.bytes)?;
        files += 1;
        let limit = limit(bomb.bytes.len() as u64, slower);
        for (name, args) in COMMANDS {
            if !commands.contains(&name) || bomb.sound && COMPRESSING.contains(&name) {
                continue;
            }
            let out = directory.path().join("out");
            let args: Vec<PathBuf> = args.iter().map(|arg| argument(arg, &file, &out)).collect();
            let taken = measure::run_within(program, &args, &limit, &|| remove(&out))?;
            if std::env::var_os("BOMBS_SHOW").is_some() {
                remove(&out);
                let output = std::process::Command::new(program).args(&args).output()?;
                let text = String::from_utf8_lossy(&output.stderr).into_owned()
                    + &String::from_utf8_lossy(&output.stdout);
                println!("    {}", text.chars().take(200).collect::<String>().replace('\n', " | "));
            }
            let mark = if taken.within(&limit) { "" } else { "  ABOVE" };
            over += u32::from(!mark.is_empty());
            let millis = taken.time.as_millis();
            let busy = taken.busy.as_millis();
            let kib = taken.memory >> 10;
            let size = bomb.bytes.len();
            println!("{:24} {size:>9}  {name:12} {millis:>8} {busy:>8} {kib:>10}{mark}", bomb.name);
            remove(&out);
        }
    }
    offload_tests::figure(
        format!("{files} files, {} commands", commands.len()),
        format!("{over} above their limits"),
    );
    Ok(if over == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn argument(arg: &str, file: &Path, out: &Path) -> PathBuf {
    match arg {
        "FILE" => file.to_path_buf(),
        "OUT" => out.to_path_buf(),
        other => other.into(),
    }
}

fn is_debug(program: &Path) -> bool {
    program.components().any(|part| part.as_os_str() == "debug")
}

fn limit(size: u64, slower: u32) -> Limit {
    let time = LEAST.time + Duration::from_micros(share(size, EACH_MIB.time.as_micros() as u64));
    Limit { time: time * slower, memory: LEAST.memory + share(size, EACH_MIB.memory) }
}

/// The part of what each MiB may take that so many bytes may.
fn share(size: u64, per_mib: u64) -> u64 {
    ((u128::from(per_mib) * u128::from(size)) >> 20) as u64
}

/// Removes a file or a directory, if it is there.
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir_all(path));
}
