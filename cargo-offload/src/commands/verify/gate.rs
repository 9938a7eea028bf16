//! `--require` and `--device`: whether programs, libraries, wheels and anything else with images have what a release has to
//! run on. Tables of containers tell it: no image is decoded, but for `--device`.

mod demand;
mod judged;
mod known_devices;
mod modules;

use std::path::{Path, PathBuf};

use self::demand::Demands;
use self::judged::Summary;
use crate::cargo::artifact;
use crate::cli;
use crate::error::{ExitStatus, Result};
use crate::print::output::Output;
use crate::read::files;
use crate::read::input::Input;
use crate::read::registry::{self, Known};
use crate::settings::offload_toml::Required;

/// Judges `paths`, which are files, directories and archives, or what the build of the package makes if there are none.
pub(super) fn run(output: &Output, args: &cli::Verify, paths: &[PathBuf]) -> Result<ExitStatus> {
    let demands = Demands::parse(&args.gate)?;
    let built = match paths {
        [] => vec![artifact::path(output, None, &args.cargo)?],
        _ => Vec::new(),
    };
    let paths = if paths.is_empty() { &built } else { paths };
    let known = if args.gate.device.is_empty() { Known::Target } else { Known::Needs };
    let gate = Gate { output, args, demands, known };
    let mut summary = Summary::default();
    for path in paths {
        files::each(path, output.limits(), &mut |name, file| match file
            .and_then(|file| gate.judge(name, file, &mut summary))
        {
            Err(error) if error.status() == ExitStatus::CheckFailed => {
                summary.add_problem(output, name, &error.to_string())
            }
            result => result,
        })?;
    }
    summary.finish(output, paths)
}

/// Whether the program at `path`, which was built here, has what is `required`.
pub(super) fn run_configured(
    output: &Output,
    args: &cli::Verify,
    required: &Required,
    path: &Path,
) -> Result<ExitStatus> {
    let gate = Gate { output, args, demands: Demands::of(required)?, known: Known::Target };
    let mut summary = Summary::default();
    gate.judge(&path.display().to_string(), path, &mut summary)?;
    summary.finish(output, &[path.to_path_buf()])
}

struct Gate<'g> {
    output: &'g Output,
    args: &'g cli::Verify,
    demands: Demands,
    known: Known,
}

impl Gate<'_> {
    /// Judges all modules of the file, which people see as `name`. Most files in a directory or an archive have none.
    fn judge(&self, name: &str, file: &Path, summary: &mut Summary) -> Result<()> {
        let own_name = name.rsplit(": ").next().unwrap_or(name);
        let input = Input::open(file, self.output.limits())?.called(own_name);
        let input = input.searched(self.args.deep.search());
        let Some(contents) = input.contents_if_any()? else { return Ok(()) };
        for problem in contents.problems() {
            summary.add_problem(self.output, name, &problem)?;
        }
        let registries = registry::of(&contents, self.known)?;
        let modules = modules::of(&contents, &registries);
        let judged = self.demands.judge(&modules);
        summary.add_file(modules.len());
        judged.iter().try_for_each(|judged| summary.add(self.output, name, judged))
    }
}
