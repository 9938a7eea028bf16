//! `--require` and `--device`: whether programs, libraries, wheels and anything else with images have what a release has to
//! run on. Tables of containers tell it: no image is decoded, but for `--device`.

mod demand;
mod exceptions;
mod for_link;
mod judged;
mod known_devices;
mod kpack;
mod lack;
mod modes;
mod modules;

use std::path::{Path, PathBuf};

use self::demand::Demands;
use self::exceptions::{Exceptions, NotRead};
use self::judged::{Summary, Verdicts};
use self::kpack::Kpacks;
use self::modules::Module;
use crate::cargo::artifact;
use crate::cli;
use crate::error::{Error, ExitStatus, Result};
use crate::print::output::Output;
use crate::read::files::{self, Visited};
use crate::read::input::Input;
use crate::read::registry::{self, Known};
use crate::settings::offload_toml::{ConfigFile, Required};

/// Judges `paths`, which are files, directories and archives, or what the build of the package makes if there are none.
pub(super) fn run(output: &Output, args: &cli::Verify, paths: &[PathBuf]) -> Result<ExitStatus> {
    let required = required(&args.gate)?;
    let demands = match &args.gate.settings {
        Some(_) => Demands::parse(&args.gate)?.with(&required)?,
        None => Demands::parse(&args.gate)?,
    };
    if demands.texts().is_empty() {
        let file = args.gate.settings.as_deref().unwrap_or(Path::new("offload.toml"));
        let error = Error::usage(format!("`{}` requires nothing", file.display()));
        return Err(
            error.hint("write `require = [\"sm_90\"]` into it, or name what is required with `--require`")
        );
    }
    let exceptions = Exceptions::parse(&args.gate)?.with(&required);
    let built = match paths {
        [] => vec![artifact::path(output, None, &args.cargo)?],
        _ => Vec::new(),
    };
    let paths = if paths.is_empty() { &built } else { paths };
    let known = if args.gate.device.is_empty() { Known::Target } else { Known::Needs };
    demands.tell_notes(output)?;
    let gate = Gate { output, args, demands, exceptions, known };
    let mut verdict = Verdict::default();
    for path in paths {
        files::each(path, output.limits(), &mut |name, visited| gate.visit(name, visited, &mut verdict))?;
    }
    gate.judge_kpacks(&mut verdict)?;
    verdict.summary.finish(output, paths)
}

/// The lists of the file that is named; of the nearest offload.toml what may pass, whatever has to be there.
fn required(gate: &cli::Gate) -> Result<Required> {
    let Some(path) = ConfigFile::find(gate.settings.as_deref()) else { return Ok(Required::default()) };
    ConfigFile::open(Some(&path))?.required()
}

/// Whether the program at `path`, which was built here, has what is `required`.
pub(super) fn run_configured(
    output: &Output,
    args: &cli::Verify,
    required: &Required,
    path: &Path,
) -> Result<ExitStatus> {
    let exceptions = Exceptions::parse(&args.gate)?.with(required);
    let gate = Gate { output, args, demands: Demands::of(required)?, exceptions, known: Known::Target };
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

/// Containers whose tables are in memory together.
const TOGETHER: usize = 1024;

struct Gate<'g> {
    output: &'g Output,
    args: &'g cli::Verify,
    demands: Demands,
    exceptions: Exceptions,
    known: Known,
}

impl Gate<'_> {
    /// What cannot be read may lack anything.
    fn visit(&self, name: &str, visited: Visited<'_>, verdict: &mut Verdict) -> Result<()> {
        let judged = match visited {
            Visited::Unread(why) => {
                let unread = NotRead { file: name, why: &why };
                return self.exceptions.tell_unread(self.output, &unread, &mut verdict.summary);
            }
            Visited::Wrong(error) => Err(error),
            Visited::File(file) => self.judge(name, file, verdict),
        };
        match judged {
            Err(error) if error.status() == ExitStatus::CheckFailed => {
                verdict.summary.add_problem(self.output, name, &error.to_string())
            }
            judged => judged,
        }
    }

    /// Judges all modules of the file, which people see as `name`. Most files in a directory or an archive have none.
    fn judge(&self, name: &str, file: &Path, verdict: &mut Verdict) -> Result<()> {
        let own_name = name.rsplit(": ").next().unwrap_or(name);
        let input = Input::open(file, self.output.limits())?.called(own_name);
        let input = input.searched(self.args.deep.search());
        let mut verdicts = self.demands.verdicts();
        let mut for_link = for_link::Formats::default();
        input.each_part(self.part_size(), &mut |contents| {
            for problem in contents.problems() {
                verdict.summary.add_problem(self.output, name, &problem)?;
            }
            if let Err(problem) = verdict.kpacks.add_library(name, file, contents) {
                verdict.summary.add_problem(self.output, name, &problem)?;
            }
            if verdict.kpacks.add_kpack(name, contents, self.known) {
                return Ok(());
            }
            for_link.add(contents);
            let registries = registry::of(contents, self.known)?;
            self.add_modules(name, modules::of(contents, &registries), &mut verdicts);
            Ok(())
        })?;
        for_link.print(self.output, name)?;
        verdict.summary.add_for_link(for_link.count());
        self.add_verdicts(name, verdicts, &mut verdict.summary)
    }

    /// Judges what libraries have in kpacks, and kpacks that are there without their library.
    fn judge_kpacks(&self, verdict: &mut Verdict) -> Result<()> {
        let mut kpacks = std::mem::take(&mut verdict.kpacks);
        let mut judgable = kpacks.libraries(self.output.limits(), self.known)?;
        judgable.extend(kpacks.others()?);
        for one in &judgable {
            let registry = match &one.registry {
                Ok(registry) => registry,
                Err(problem) => {
                    verdict.summary.add_problem(self.output, &one.name, problem)?;
                    continue;
                }
            };
            let mut verdicts = self.demands.verdicts();
            self.add_modules(&one.name, modules::of_registry(registry), &mut verdicts);
            self.add_verdicts(&one.name, verdicts, &mut verdict.summary)?;
        }
        Ok(())
    }

    fn add_modules(&self, name: &str, modules: Vec<Module<'_>>, verdicts: &mut Verdicts<'_>) {
        for module in modules {
            let excepted = self.exceptions.of_module(&module.name, name);
            verdicts.add(&module.with_exceptions(excepted));
        }
    }

    fn add_verdicts(&self, name: &str, verdicts: Verdicts<'_>, summary: &mut Summary) -> Result<()> {
        summary.add_file(verdicts.modules());
        verdicts.finish().iter().try_for_each(|judged| summary.add(self.output, name, judged))
    }

    /// How many containers are judged at a time: those whose images are decoded share what they may take.
    fn part_size(&self) -> usize {
        if self.known == Known::Needs { usize::MAX } else { TOGETHER }
    }
}
