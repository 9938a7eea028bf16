//! `--require` and `--device`: whether programs, libraries, wheels and anything else with images have what a release has to
//! run on. Tables of containers tell it: no image is decoded, but for `--device`.

mod demand;
mod for_link;
mod judged;
mod known_devices;
mod kpack;
mod lack;
mod modes;
mod modules;

use std::path::{Path, PathBuf};

use offload_rt::Registry;

use self::demand::Demands;
use self::judged::Summary;
use self::kpack::Kpacks;
use self::modules::Module;
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
    demands.tell_notes(output)?;
    let gate = Gate { output, args, demands, known };
    let mut verdict = Verdict::default();
    for path in paths {
        files::each(path, output.limits(), &mut |name, file| match file
            .and_then(|file| gate.judge(name, file, &mut verdict))
        {
            Err(error) if error.status() == ExitStatus::CheckFailed => {
                verdict.summary.add_problem(output, name, &error.to_string())
            }
            result => result,
        })?;
    }
    gate.judge_kpacks(&mut verdict)?;
    verdict.summary.finish(output, paths)
}

/// Whether the program at `path`, which was built here, has what is `required`.
pub(super) fn run_configured(
    output: &Output,
    args: &cli::Verify,
    required: &Required,
    path: &Path,
) -> Result<ExitStatus> {
    let gate = Gate { output, args, demands: Demands::of(required)?, known: Known::Target };
    let mut verdict = Verdict::default();
    gate.judge(&path.display().to_string(), path, &mut verdict)?;
    gate.judge_kpacks(&mut verdict)?;
    verdict.summary.finish(output, &[path.to_path_buf()])
}

/// What came of the files so far.
#[derive(Default)]
struct Verdict {
    summary: Summary,
    /// What is judged after all files, with its library.
    kpacks: Kpacks,
}

struct Gate<'g> {
    output: &'g Output,
    args: &'g cli::Verify,
    demands: Demands,
    known: Known,
}

impl Gate<'_> {
    /// Judges all modules of the file, which people see as `name`. Most files in a directory or an archive have none.
    fn judge(&self, name: &str, file: &Path, verdict: &mut Verdict) -> Result<()> {
        let own_name = name.rsplit(": ").next().unwrap_or(name);
        let input = Input::open(file, self.output.limits())?.called(own_name);
        let input = input.searched(self.args.deep.search());
        let Some(contents) = input.contents_if_any()? else { return Ok(()) };
        for problem in contents.problems() {
            verdict.summary.add_problem(self.output, name, &problem)?;
        }
        if let Err(problem) = verdict.kpacks.add_library(name, file, &contents) {
            verdict.summary.add_problem(self.output, name, &problem)?;
        }
        if verdict.kpacks.add_kpack(name, &contents, self.known) {
            return Ok(());
        }
        let for_link = for_link::tell(self.output, name, &contents)?;
        verdict.summary.add_for_link(for_link);
        let registries = registry::of(&contents, self.known)?;
        self.judge_modules(name, &modules::of(&contents, &registries), &mut verdict.summary)
    }

    /// Judges what libraries have in kpacks, and kpacks that are there without their library.
    fn judge_kpacks(&self, verdict: &mut Verdict) -> Result<()> {
        let mut kpacks = std::mem::take(&mut verdict.kpacks);
        let mut judgable = kpacks.libraries(self.output.limits(), self.known)?;
        judgable.extend(kpacks.others()?);
        for one in &judgable {
            match &one.registry {
                Ok(registry) => self.judge_registry(&one.name, registry, &mut verdict.summary)?,
                Err(problem) => verdict.summary.add_problem(self.output, &one.name, problem)?,
            }
        }
        Ok(())
    }

    fn judge_registry(&self, name: &str, registry: &Registry, summary: &mut Summary) -> Result<()> {
        self.judge_modules(name, &modules::of_registry(registry), summary)
    }

    fn judge_modules(&self, name: &str, modules: &[Module<'_>], summary: &mut Summary) -> Result<()> {
        let judged = self.demands.judge(modules);
        summary.add_file(modules.len());
        judged.iter().try_for_each(|judged| summary.add(self.output, name, judged))
    }
}
