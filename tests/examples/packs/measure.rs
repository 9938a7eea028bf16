//! Seconds and peak memory of a command. A small process of its own: what a child starts with counts as the child's.

use std::process::Command;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

pub fn run(command: &[&str]) {
    let (program, args) = command.split_first().expect("a command");
    let start = Instant::now();
    let status = Command::new(program).args(args).status().unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert!(status.success(), "{program}: {status}");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    println!("seconds {seconds:.6}");
    // Linux and FreeBSD count kibibytes (<https://man7.org/linux/man-pages/man2/getrusage.2.html>).
    println!("kibibytes {}", usage.max_rss());
}
