//! `dev`: runs a program, and recompiles kernels as they are saved. The program loads them at its next launch.
//!
//! Neither cargo, rustc nor a linker runs. The compiled build script runs again by the recipe in its `OUT_DIR`, and
//! writes packs to a directory that the program watches. So kernels are compiled by the same code, with the same
//! settings and cache, as in a build.

mod folder;
mod script;
mod stamp;

use std::ffi::OsString;
use std::thread;
use std::time::{Duration, SystemTime};

use offload_build::shared::recipe::Recipe;
use offload_protocol::variable;

use self::folder::Folder;
use self::script::Script;
use crate::cargo::graph::{self, Depth};
use crate::cargo::process::Cargo;
use crate::cargo::{artifact, progress};
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::print::output::Output;

/// Polling interval of the files and of the program. A poll is cheap: there are few files, whose times are cached.
const TICK: Duration = Duration::from_millis(20);

pub(super) fn run(output: &Output, args: &cli::Run) -> Result<ExitStatus> {
    let begin = SystemTime::now();
    progress::run(output, graph::cargo("build", &args.cargo)?.messages_as(output))?;
    let metadata = graph::metadata(&args.cargo.package.project, Depth::Members)?;
    let folder = Folder::new(metadata.target_directory.as_std_path())?;
    let mut scripts = scripts(graph::cargo("build", &args.cargo)?.args(["--quiet"]), &folder)?;
    for script in &mut scripts {
        script.learn(output, begin)?;
    }
    // The build has printed its own messages.
    let quiet = ["--quiet", "--color", output.color_argument()].map(OsString::from);
    let program = graph::cargo("run", &args.cargo)?.args(quiet).args(["--"]).args(&args.rest);
    let mut program = program.env(variable::RELOAD_DIR, folder.packs()).start()?;
    loop {
        if let Some(code) = program.ended()? {
            return Ok(ExitStatus::Program(code));
        }
        let in_use = folder.in_use();
        for script in &mut scripts {
            script.follow(output, &in_use)?;
        }
        thread::sleep(TICK);
    }
}

/// The build scripts with kernels of what `cargo` builds.
fn scripts(cargo: Cargo, folder: &Folder) -> Result<Vec<Script>> {
    let mut scripts = Vec::new();
    for out_dir in artifact::out_dirs(cargo)? {
        if let Some(recipe) = Recipe::read(&out_dir).map_err(Error::from_build)? {
            let scratch = folder.scratch(scripts.len())?;
            scripts.push(Script::new(recipe, scratch, folder.packs()));
        }
    }
    if scripts.is_empty() {
        let error = Error::usage("no package of this build has kernels");
        return Err(error.hint("run `cargo offload init` to add kernels to a package"));
    }
    Ok(scripts)
}
