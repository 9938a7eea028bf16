//! `--require` and `--device`: whether programs, libraries, wheels and other files support the devices of a release.
//! The tables of containers suffice: no image is decoded, except for `--device`.

mod exceptions;
mod for_link;
mod known_devices;
mod kpack;
mod missing;
mod modes;
mod modules;
mod requirement;
mod verdict;

use std::path::{Path, PathBuf};

use self::exceptions::{Exceptions, UnreadMessage};
use self::kpack::Kpacks;
use self::modules::Module;
use self::requirement::Requirements;
use self::verdict::{Summary, Verdicts};
use crate::cargo::artifact;
use crate::cli;
use crate::error::{Error, ExitStatus, Result};
use crate::print::output::Output;
use crate::read::files::{self, VisitedFile};
use crate::read::input::Input;
use crate::read::registry::{self, Detail};
use crate::settings::offload_toml::{ConfigFile, Required};

/// Judges `paths`, which are files, directories and archives, or what the build of the package makes if there are none.
pub(super) fn run(output: &Output, args: &cli::Verify, paths: &[PathBuf]) -> Result<ExitStatus> {
    let required = required(&args.gate)?;
    let demands = match &args.gate.settings {
        Some(_) => Requirements::parse(&args.gate)?.with(&required)?,
        None => Requirements::parse(&args.gate)?,
    };
    if demands.texts().is_empty() {
        let file = args.gate.settings.as_deref().unwrap_or(Path::new("offload.toml"));
        let error = Error::usage(format!("`{}` has no requirements", file.display()));
        return Err(error.hint("add `require = [\"sm_90\"]` to it, or use `--require`"));
    }
    let exceptions = Exceptions::parse(&args.gate)?.with(&required);
    let built = match paths {
        [] => vec![artifact::path(output, None, &args.cargo)?],
        _ => Vec::new(),
    };
    let paths = if paths.is_empty() { &built } else { paths };
    let known = if args.gate.device.is_empty() { Detail::Target } else { Detail::Needs };
    demands.print_notes(output)?;
    let gate = Gate { output, args, demands, exceptions, known };
    let mut verdict = GateVerdict::default();
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
    let gate = Gate {
        output,
        args,
        demands: Requirements::parse_config(required)?,
        exceptions,
        known: Detail::Target,
    };
    let mut verdict = GateVerdict::default();
    gate.judge(&path.display().to_string(), path, &mut verdict)?;
    gate.judge_kpacks(&mut verdict)?;
    verdict.summary.finish(output, &[path.to_path_buf()])
}

/// Results of the files so far.
#[derive(Default)]
struct GateVerdict {
    summary: Summary,
    /// kpack files, which are judged with their libraries after all other files.
    kpacks: Kpacks,
}

/// Containers whose tables are in memory together.
const TOGETHER: usize = 1024;

struct Gate<'g> {
    output: &'g Output,
    args: &'g cli::Verify,
    demands: Requirements,
    exceptions: Exceptions,
    known: Detail,
}

impl Gate<'_> {
    /// Judges a file. Unreadable files are problems, because they may lack any image.
    fn visit(&self, name: &str, visited: VisitedFile<'_>, verdict: &mut GateVerdict) -> Result<()> {
        let judged = match visited {
            VisitedFile::Unread(why) => {
                let unread = UnreadMessage { file: name, why: &why };
                return self.exceptions.print_unread(self.output, &unread, &mut verdict.summary);
            }
            VisitedFile::Wrong(error) => Err(error),
            VisitedFile::File(file) => self.judge(name, file, verdict),
        };
        match judged {
            Err(error) if error.status() == ExitStatus::CheckFailed => {
                verdict.summary.add_problem(self.output, name, &error.to_string())
            }
            judged => judged,
        }
    }

    /// Judges all modules of the file, which people see as `name`. Most files in a directory or an archive have none.
    fn judge(&self, name: &str, file: &Path, verdict: &mut GateVerdict) -> Result<()> {
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
            let registries = registry::read(contents, self.known)?;
            self.add_modules(name, modules::from_registries(contents, &registries), &mut verdicts);
            Ok(())
        })?;
        for_link.print(self.output, name)?;
        verdict.summary.add_for_link(for_link.count());
        self.add_verdicts(name, verdicts, &mut verdict.summary)
    }

    /// Judges what libraries have in kpacks, and kpacks that are there without their library.
    fn judge_kpacks(&self, verdict: &mut GateVerdict) -> Result<()> {
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
            self.add_modules(&one.name, modules::from_registry(registry), &mut verdicts);
            self.add_verdicts(&one.name, verdicts, &mut verdict.summary)?;
        }
        Ok(())
    }

    fn add_modules(&self, name: &str, modules: Vec<Module<'_>>, verdicts: &mut Verdicts<'_>) {
        for module in modules {
            let excepted = self.exceptions.for_module(&module.name, name);
            verdicts.add(&module.with_exceptions(excepted));
        }
    }

    fn add_verdicts(&self, name: &str, verdicts: Verdicts<'_>, summary: &mut Summary) -> Result<()> {
        summary.add_file(verdicts.modules());
        verdicts.finish().iter().try_for_each(|judged| summary.add(self.output, name, judged))
    }

    /// The number of containers that are judged at a time. If images are decoded, all share one decoding budget.
    fn part_size(&self) -> usize {
        if self.known == Detail::Needs { usize::MAX } else { TOGETHER }
    }
}
