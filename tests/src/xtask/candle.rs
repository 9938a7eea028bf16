//! `candle`: the CUDA C++ of candle's kernels, as the crate registry has it, by clang with NVIDIA's headers and without, for
//! NVIDIA, for AMD and for the CPU.

mod builds;
mod crates;
mod files;
mod programs;
mod results;
mod speed;

use std::path::PathBuf;
use std::process::ExitCode;

use offload_tests::FIGURE;
use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Toolkit};
use offload_tests::table::Table;
use offload_tests::workspace::Workspace;

use self::crates::Crates;
use self::files::{FILES, File};
use crate::file_package::FilePackage;

pub(crate) const HELP: &str =
    "candle [TARGET] [NAME]...  compile the CUDA C++ of the crate candle-kernels, with NVIDIA's headers and with those of offload-build

Cargo fetches the crate below the target directory. Each file becomes machine code for cubin:sm_80, or for TARGET, as
amdgcn:gfx1100 or host: for others than NVIDIA with the headers of offload-build alone, and with the macro or the value of
__CUDA_ARCH__ that a file needs there. The table shows the number of kernels, or the first error. Fails if a file does not compile that did, or if
one compiles of which the list has that it does not (`tests/src/xtask/candle/files.rs`). With names, those files alone.

candle results [host|cuda]  run the kernels of 11 files on the CPU, or on NVIDIA GPUs, and compare with plain Rust

For each file, the program prints how many kernels and values were compared, and the largest error in units in the last
place (`tests/fixtures/candle`). Fails if a result is further away than CUDA or the kernel's arithmetic allows.

candle programs [--targets LIST] [--folder DIR] [--run-here]  build candle as it is and with its kernels by offload-build

candle-core's CUDA tests and a model of generated weights (`tests/fixtures/candle-core`) become programs of both: with
nvcc's PTX, and with the images that offload-rt selects, by a patch of candle-core and candle-kernels. The folder DIR
stands alone: a machine with NVIDIA's driver runs `./run.sh candle` there, which compares the model's outputs with each
other and with the CPU's, and prints passed tests, the programs' sizes and the times to the first result; candle.json has
the figures. Stand-ins multiply matrices and make random numbers in place of cuBLAS and cuRAND. LIST is cubin:sm_90 where
it is not given, and --run-here runs the script on this machine.

candle speed [--folder DIR] [--run-here]  time the kernels of 12 files by nvcc and by clang on an NVIDIA GPU

Each kernel of a file is launched from three images for sm_90, in turns: by nvcc -O3, by clang with NVIDIA's headers, and
by clang with those of offload-build. The shapes are those of a model of seven billion parameters. The folder DIR stands
alone: a machine with NVIDIA's driver runs `./run.sh` there, which prints for each kernel the median times, nvcc's over
the others', and how far the results are apart, and writes every sample to speed.json.

candle build [NAME]...  build the kernels of all files but one, or of these, by nvcc and by offload-build, one after the other

nvcc makes fatbins for three architectures of NVIDIA, as many at a time as there are processors; offload-build makes images
for these and for three of AMD, into an empty cache. The table shows the seconds, also of a build without a change and of one
with a changed header, and the bytes of the images for NVIDIA: of nvcc's fatbins with --compress-mode=size, and of the
archives by `balanced` and by `archive`.";

const CRATE: &str = "candle-kernels";
const VERSION: &str = "0.11.1";
const TARGET: &str = "cubin:sm_80";
/// Targets whose licence allows NVIDIA's headers.
const NVIDIA: [&str; 2] = ["cubin:", "nvptx:"];

/// Whose headers clang has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Headers {
    Nvidia,
    Own,
}

/// The number of kernels, or the first error.
type Outcome = std::result::Result<usize, String>;

pub(crate) use self::results::KERNELS_VAR;

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    if let [first, rest @ ..] = args
        && first == "results"
    {
        return results::run(workspace, rest);
    }
    if let [first, rest @ ..] = args
        && first == "programs"
    {
        return programs::run(workspace, rest);
    }
    if let [first, rest @ ..] = args
        && first == "speed"
    {
        return speed::run(workspace, rest);
    }
    if let [first, rest @ ..] = args
        && first == "build"
    {
        return builds::run(workspace, rest);
    }
    let (target, names) = match args {
        [first, names @ ..] if first.contains(':') || first == "host" => (first.as_str(), names),
        names => (TARGET, names),
    };
    let wanted = wanted(names)?;
    setup::ensure(workspace, &[setup::BUILD])?;
    let survey = Survey::new(workspace, target)?;
    let mut table = Table::new(["file", "NVIDIA's headers", "own headers"]);
    let mut notes = Vec::new();
    let mut sum = Sum::default();
    for file in wanted {
        let mut cells = vec![file.name.to_string()];
        for headers in [Headers::Nvidia, Headers::Own] {
            if headers == Headers::Nvidia && !survey.is_nvidia() {
                cells.push("-".to_string());
                continue;
            }
            let outcome = survey.compile(file, headers)?;
            cells.push(sum.add(file, file.reason(headers, target), outcome, &mut notes));
        }
        println!("{}", cells.join("  "));
        let cells: [String; 3] =
            cells.try_into().map_err(|_| Error::new("a row has as many cells as the heading"))?;
        table.row(cells);
    }
    println!("\n{table}");
    notes.iter().for_each(|note| println!("{note}"));
    let Sum { compiled, kernels, known, unexpected } = sum;
    println!(
        "{FIGURE}{compiled} compiled, {kernels} kernels; {known} known not to compile, {unexpected} unexpected"
    );
    Ok(if unexpected == 0 && compiled > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn wanted(args: &[String]) -> Result<Vec<&'static File>> {
    if args.is_empty() {
        return Ok(FILES.iter().collect());
    }
    let mut wanted = Vec::new();
    for arg in args {
        let Some(file) = FILES.iter().find(|file| file.name == arg) else {
            let names: Vec<&str> = FILES.iter().map(|file| file.name).collect();
            let error = Error::new(format!("{CRATE} {VERSION} has no file `{}`", arg.escape_debug()));
            return Err(error.hint(format!("its files are {}", names.join(", "))));
        };
        wanted.push(file);
    }
    Ok(wanted)
}

#[derive(Debug, Default)]
struct Sum {
    compiled: usize,
    kernels: usize,
    known: usize,
    unexpected: usize,
}

impl Sum {
    /// Counts an outcome, and says it in a word. `reason` is why the file is known not to compile.
    fn add(
        &mut self,
        file: &File,
        reason: Option<&'static str>,
        outcome: Outcome,
        notes: &mut Vec<String>,
    ) -> String {
        let number = notes.len() + 1;
        match (outcome, reason) {
            (Ok(kernels), None) => {
                self.compiled += 1;
                self.kernels += kernels;
                format!("ok {kernels}")
            }
            (Ok(kernels), Some(_)) => {
                self.unexpected += 1;
                notes.push(format!("[{number}] {}: it compiles: remove the reason from the list", file.name));
                format!("ok {kernels} [{number}]")
            }
            (Err(_), Some(reason)) => {
                self.known += 1;
                notes.push(format!("[{number}] {}: {reason}", file.name));
                format!("known [{number}]")
            }
            (Err(error), None) => {
                self.unexpected += 1;
                notes.push(format!("[{number}] {}: {error}", file.name));
                format!("error [{number}]")
            }
        }
    }
}

struct Survey<'a> {
    package: FilePackage,
    /// The sources.
    root: PathBuf,
    ptxas: PathBuf,
    headers: PathBuf,
    target: &'a str,
}

const BUILD: &str = r#"fn main() {
    for name in ["CANDLE_FILE", "CANDLE_HEADERS", "CANDLE_DEFINE", "CANDLE_ARCH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let mut build = offload_build::Build::new();
    build.file(std::env::var("CANDLE_FILE").unwrap());
    if std::env::var("CANDLE_HEADERS").unwrap() == "nvidia" {
        build.cuda_sdk();
    }
    if let Ok(define) = std::env::var("CANDLE_DEFINE") {
        build.define(&define, "1");
    }
    if let Ok(arch) = std::env::var("CANDLE_ARCH") {
        build.cuda_arch(arch.parse().unwrap());
    }
    build.compile("kernels");
}
"#;

impl<'a> Survey<'a> {
    fn new(workspace: &Workspace, target: &'a str) -> Result<Survey<'a>> {
        let package = FilePackage::create(workspace, workspace.target_dir.join("candle"), BUILD, target)?;
        let root = sources(workspace)?;
        let ptxas = setup::ensure_cuda(workspace, Toolkit::Ptxas)?;
        let headers = setup::ensure_cuda(workspace, Toolkit::Headers)?;
        Ok(Survey { package, root, ptxas, headers, target })
    }

    fn is_nvidia(&self) -> bool {
        NVIDIA.iter().any(|prefix| self.target.starts_with(prefix))
    }

    fn compile(&self, file: &File, headers: Headers) -> Result<Outcome> {
        // Where the headers are not asked for, they must not be found.
        let sdk = if headers == Headers::Nvidia { &self.headers } else { &self.package.package };
        let mut cargo = self.package.run(&self.ptxas);
        cargo
            .env("OFFLOAD_CUDA_SDK", sdk)
            .env("CANDLE_FILE", self.root.join(file.path))
            .env("CANDLE_HEADERS", if headers == Headers::Nvidia { "nvidia" } else { "own" });
        if let Some(define) = file.define_elsewhere.filter(|_| !self.is_nvidia()) {
            cargo.env("CANDLE_DEFINE", define);
        }
        if let Some(arch) = file.arch_elsewhere.filter(|_| !self.is_nvidia()) {
            cargo.env("CANDLE_ARCH", arch);
        }
        let output = cargo.output()?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        if output.status.success()
            && let Ok(kernels) = stdout.trim().parse()
        {
            return Ok(Ok(kernels));
        }
        Ok(Err(first_error(&String::from_utf8_lossy(&output.stderr))))
    }
}

/// The line of the compiler, or else the first of cargo's.
fn first_error(stderr: &str) -> String {
    let mut errors = stderr.lines().map(str::trim).filter(|line| line.contains("error"));
    let of_cargo = "error: failed to run custom build command";
    let text = errors.find(|line| !line.starts_with(of_cargo) && !line.starts_with("error: cannot compile"));
    text.or(stderr.lines().next()).unwrap_or("no message").chars().take(300).collect()
}

/// The folder of the crate's sources, which cargo fetches.
pub(crate) fn sources(workspace: &Workspace) -> Result<PathBuf> {
    let crates = Crates::fetch(workspace, "candle/sources", &format!("{CRATE} = \"={VERSION}\""))?;
    Ok(crates.directory(CRATE)?.join("src"))
}

#[cfg(test)]
mod tests {
    use super::files::file;
    use super::*;

    #[test]
    fn an_outcome_that_the_list_does_not_have_is_unexpected() {
        let file = File { lacks: Some("thrust"), ..file("a", "a.cu") };
        let mut sum = Sum::default();
        let mut notes = Vec::new();
        assert_eq!(sum.add(&file, file.reason(Headers::Nvidia, TARGET), Ok(3), &mut notes), "ok 3");
        assert_eq!(
            sum.add(&file, file.reason(Headers::Own, TARGET), Err("no".to_string()), &mut notes),
            "known [1]"
        );
        assert_eq!((sum.compiled, sum.known, sum.unexpected), (1, 1, 0));
        assert_eq!(
            sum.add(&file, file.reason(Headers::Nvidia, TARGET), Err("no".to_string()), &mut notes),
            "error [2]"
        );
        assert_eq!(sum.add(&file, file.reason(Headers::Own, TARGET), Ok(1), &mut notes), "ok 1 [3]");
        assert_eq!(sum.unexpected, 2);
    }

    #[test]
    fn errors_are_those_of_the_compiler() {
        let stderr = "error: failed to run custom build command\n  error: cannot compile kernel module `candle`\n  a.cu:1:2: error: no\n";
        assert_eq!(first_error(stderr), "a.cu:1:2: error: no");
        assert_eq!(first_error("x\ny"), "x");
    }
}
