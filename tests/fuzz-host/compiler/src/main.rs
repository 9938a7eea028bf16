//! A build script without a package: the harness of the fuzzer sets the variables that cargo would. It is a program of its
//! own, so that one with a fault in offload-build can take its place.

use std::env;
use std::process::ExitCode;

use offload_build::Build;

fn main() -> ExitCode {
    let sources = env::args_os().skip(1);
    match Build::new().files(sources).try_compile("fuzz") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
