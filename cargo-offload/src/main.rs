//! `cargo offload`. The library contains everything.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_offload::run(std::env::args_os())
}
