//! `bench`: measurements against what users would do otherwise.

mod pack;
mod read;
mod rebuild;
mod start;

use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::workspace::Workspace;

pub(crate) const HELP: &str = "bench rebuild [--quick] [--tuned]  time builds of 8 kernel files for 22 AMD targets, with ninja beside

Both sides use the same clang, files, targets and number of jobs. Measured are a full build from an empty cache, one
file of 8 changed, nothing changed, and a new profile with a warm cache; device compilers are counted by tracing every
process; every image is read back. Raw samples go to bench/rebuild.json in the target directory.
--quick takes 2 files, 4 targets and fewer runs; --tuned optimises build scripts, as new projects do.

bench pack [--quick] [--json FILE] [--wheel NAME==VERSION ...] [--set NAME ...]  size, time and memory of packs, with peers beside

Images of Python packages, own kernels and generated ones are packed here, by clang's bundler and packager, and one by
one as nvcc, icpx and kpack do; every image is read back. It fails if a limit is missed. Each --wheel adds a package's
images (without one: dpnp and cupy), --set takes only the sets whose names start so. Samples go to bench/pack.json in
the target directory. --quick takes small sets.

bench read [--json FILE]  time and memory of listing and extracting device images, with LLVM's tools beside

The images of a real HIP library in every container that LLVM's tools read. It fails if a limit is missed.

bench start [--quick] [--json]  what 5,000 images cost the start of a program, and how soon the first result is there

The registry of a program with 5,000 images beside that of one without: relocations, time, memory written to. Then from
the start of a process to the first right result: the native image of 25, the same with a compressed bundle of the images
decoded first, and the source as PoCL compiles it, with its cache empty and full. --quick takes 500 images and fewer runs;
--json prints samples too. Fails if a limit is passed; a busy machine adds to times.";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    match args.split_first() {
        Some((what, rest)) if what == "rebuild" => rebuild::run(workspace, rest),
        Some((what, rest)) if what == "pack" => pack::run(workspace, rest),
        Some((what, rest)) if what == "read" => read::run(workspace, rest),
        Some((what, rest)) if what == "start" => start::run(workspace, rest),
        _ => Err(Error::new("`bench` takes the name of a measurement")
            .hint("cargo xtask bench rebuild, pack, read or start")),
    }
}

/// The middle one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
