//! The numbers of one package, built with several compilers one after another.

mod combination;
mod gap;

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use self::combination::Combination;
use self::gap::{Gap, Gaps};
use super::beside;
use super::row::{self, Row};
use crate::artifact;
use crate::cargo::Cargo;
use crate::cli;
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::graph::{self, Depth};
use crate::ledger::{Kernels, Wanted};
use crate::output::Output;
use crate::subject::Subject;

/// What these builds may overwrite: the user's own files stay as they are. All share it, because cargo builds the
/// dependencies once then, and results of compilers are kept by the compiler.
const DIRECTORY: &str = "offload-matrix";

pub(super) fn run(output: &Output, args: &cli::Report) -> Result<ExitStatus> {
    let wanted = Wanted::parse(&args.select)?;
    let combinations = combination::all(&args.matrix)?;
    let mut options = args.cargo.clone();
    options.package.target_dir = Some(target_dir(&args.cargo)?);
    let (mut builds, mut gaps) = (Vec::new(), Gaps::default());
    for combination in &combinations {
        output.status(&format!("building with {}", combination.label));
        let rows = match built(output, &options, combination)? {
            Ok(program) => measured(&program, (&wanted, combination), &mut gaps)?,
            Err(reason) => {
                gaps.add(&combination.label, Gap::of_everything(reason));
                Vec::new()
            }
        };
        builds.push((combination.label.clone(), rows));
    }
    beside::print(output, &builds)?;
    gaps.print(output, combinations.len())?;
    let nothing = builds.iter().all(|(_, rows)| rows.is_empty());
    Ok(if nothing { ExitStatus::CheckFailed } else { ExitStatus::Success })
}

fn target_dir(options: &cli::Cargo) -> Result<PathBuf> {
    match &options.package.target_dir {
        Some(dir) => Ok(dir.join(DIRECTORY)),
        None => {
            let metadata = graph::metadata(&options.package.project, Depth::Members)?;
            Ok(metadata.target_directory.join(DIRECTORY).into())
        }
    }
}

/// The program that a build with these compilers makes, or why there is none.
fn built(
    output: &Output,
    options: &cli::Cargo,
    combination: &Combination,
) -> Result<std::result::Result<PathBuf, String>> {
    let failed = |error: std::io::Error| Error::io("write", Path::new("a temporary file"), &error);
    let mut said = tempfile::tempfile().map_err(failed)?;
    let errors = said.try_clone().map_err(failed)?;
    let prepare = |cargo: Cargo| {
        let settings = [
            // What one compiler cannot build is for the others to show.
            ("OFFLOAD_OPTIONAL", "1"),
            ("OFFLOAD_VENDORED", "never"),
            ("OFFLOAD_EMBED", "always"),
        ];
        let cargo = settings.into_iter().fold(cargo, |cargo, (name, value)| cargo.env(name, value));
        let programs = combination.programs.iter();
        programs.fold(cargo, |cargo, (tool, path)| cargo.env(tool.variable(), path)).errors_to(errors)
    };
    match artifact::built(output, options, prepare) {
        Ok(path) => Ok(Ok(path)),
        Err(error) if error.status() == ExitStatus::CargoFailed => {
            let mut text = Vec::new();
            said.rewind().and_then(|()| said.read_to_end(&mut text)).map_err(failed)?;
            Ok(Err(gap::reason(&String::from_utf8_lossy(&text))))
        }
        Err(error) => Err(error),
    }
}

fn measured(
    program: &Path,
    (wanted, combination): (&Wanted, &Combination),
    gaps: &mut Gaps,
) -> Result<Vec<Row>> {
    let subject = Subject::open(program)?;
    let carried = subject.carried()?;
    gap::told(&carried)?.into_iter().for_each(|gap| gaps.add(&combination.label, gap));
    Ok(row::rows(&wanted.any_of(&carried, Kernels::Measured)?))
}
