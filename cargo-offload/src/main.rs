//! `cargo offload`; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_offload::run(std::env::args_os())
}
