//! Builds of one package with several compilers, and their numbers.

mod combination;
mod missing;

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use offload_format::Limits;
use offload_protocol::variable;

use cargo_metadata::Metadata;

use self::combination::Combination;
use self::missing::{MissingByBuild, MissingImage};
use super::comparison::{self, MeasuredBuild};
use super::html::Page;
use crate::cargo::artifact::{self, Project};
use crate::cargo::graph::{self, Depth};
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, IoContext, Result};
use crate::print::output::Output;
use crate::read::input::Input;
use crate::read::records::{ImageRecord, Kernels, Selection};

/// Target directory of these builds, apart from the user's own. All share it, because cargo builds the
/// dependencies once then, and results of compilers are kept by the compiler.
const DIRECTORY: &str = "offload-matrix";

pub(super) fn run(output: &Output, args: &cli::Report) -> Result<ExitStatus> {
    refuse(args)?;
    let wanted = Selection::parse(&args.select)?;
    let combinations = combination::all(&args.matrix)?;
    let labels = combinations.iter().map(|combination| combination.label.as_str());
    let others = comparison::others(args, &wanted, output.limits(), labels)?;
    let MatrixResult { program, mut builds, missing } = all(output, args, &wanted, &combinations)?;
    let nothing = builds.iter().all(|build| build.rows.is_empty());
    builds.extend(others);
    comparison::print(output, args.format, &builds)?;
    missing.print(output, args.format, combinations.len())?;
    Page { path: &program, builds: &builds, missing: missing.sentences() }.write(output, args)?;
    Ok(if nothing { ExitStatus::CheckFailed } else { ExitStatus::Success })
}

/// Results of all combinations.
struct MatrixResult {
    /// Path of the last program.
    program: PathBuf,
    builds: Vec<MeasuredBuild>,
    missing: MissingByBuild,
}

fn all(
    output: &Output,
    args: &cli::Report,
    wanted: &Selection,
    combinations: &[Combination],
) -> Result<MatrixResult> {
    let metadata = graph::metadata(&args.cargo.package.project, Depth::Members)?;
    let mut options = args.cargo.clone();
    options.package.target_dir = Some(target_dir(&args.cargo, &metadata));
    let mut all =
        MatrixResult { program: PathBuf::new(), builds: Vec::new(), missing: MissingByBuild::default() };
    for combination in combinations {
        output.status(&format!("building with {}", combination.label));
        let project = Project { options: &options, metadata: &metadata };
        let images = match build_with(output, project, combination)? {
            Ok(path) => {
                all.program = path;
                measure(&all.program, wanted, &combination.label, &mut all.missing)?
            }
            Err(reason) => {
                all.missing.add(&combination.label, MissingImage::for_all_images(reason));
                Vec::new()
            }
        };
        all.builds.push(MeasuredBuild::new(&combination.label, images));
    }
    Ok(all)
}

/// Rejects options that have no meaning for several builds.
fn refuse(args: &cli::Report) -> Result<()> {
    if let Some(path) = &args.path {
        let text = format!("--matrix builds the package and does not read `{}`", path.display());
        return Err(Error::usage(text).hint("use `--beside LABEL=FILE` to compare a file with the builds"));
    }
    if args.baseline.is_some() {
        let error = Error::usage("a baseline applies to one build, but --matrix makes several");
        return Err(error.hint(
            "use one baseline per compiler: `OFFLOAD_CLANG=clang-22 cargo offload report --baseline FILE`",
        ));
    }
    Ok(())
}

fn target_dir(options: &cli::Cargo, metadata: &Metadata) -> PathBuf {
    let own = metadata.target_directory.as_std_path();
    options.package.target_dir.as_deref().unwrap_or(own).join(DIRECTORY)
}

/// The program that a build with these compilers makes, or why there is none.
fn build_with(
    output: &Output,
    project: Project<'_>,
    combination: &Combination,
) -> Result<std::result::Result<PathBuf, String>> {
    let mut log = tempfile::tempfile().io_context("write", "a temporary file")?;
    let errors = log.try_clone().io_context("write", "a temporary file")?;
    let built = artifact::built(output, project, |cargo| {
        let settings = [
            // What one compiler cannot build is for the others to show.
            (variable::OPTIONAL, "1"),
            (variable::VENDORED, "never"),
            (variable::EMBED, "always"),
        ];
        let cargo = settings.into_iter().fold(cargo, |cargo, (name, value)| cargo.env(name, value));
        let programs = combination.programs.iter();
        programs.fold(cargo, |cargo, (tool, path)| cargo.env(tool.variable(), path)).errors_to(errors)
    });
    match built {
        Ok(path) => Ok(Ok(path)),
        Err(error) if error.status() == ExitStatus::CargoFailed => {
            let mut text = Vec::new();
            log.rewind().and_then(|()| log.read_to_end(&mut text)).io_context("write", "a temporary file")?;
            Ok(Err(missing::reason(&String::from_utf8_lossy(&text))))
        }
        Err(error) => Err(error),
    }
}

fn measure(
    program: &Path,
    wanted: &Selection,
    label: &str,
    missing: &mut MissingByBuild,
) -> Result<Vec<ImageRecord>> {
    let input = Input::open(program, &Limits::trusting())?;
    let contents = input.contents()?;
    missing::from_contents(&contents)?.into_iter().for_each(|one| missing.add(label, one));
    wanted.any_of(&contents, Kernels::Measured)
}
