//! The executor: what a kernel does by the rules of OpenCL, found out by running one work-item after the other.
//!
//! clang compiles kernels plainly for the CPU, without optimisation; `runtime.c` runs each work-item as a coroutine up to its
//! next barrier. It shares no pass and no library of functions with the work-group compiler or with PoCL. Each case runs
//! three times, with work-items and groups in another order: where results differ, the case has a race.

mod batch;
mod results;
mod wrappers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use offload_tests::error::{Error, Result};

use crate::bisection::{Compiled, bisect};
use crate::case::{Case, Language};
use crate::compare::Run;
use crate::process::{self, Watch};

const RUNTIME: &str = include_str!("executor/runtime.c");
const BUILTINS: &str = include_str!("executor/builtins.cl");
const GPUINTRIN: &str = include_str!("executor/gpuintrin.h");

/// clang has so long for a batch.
const COMPILE_LIMIT: Duration = Duration::from_secs(120);
/// A case has so long; the runtime itself ends it after ten seconds.
const CASE_LIMIT: Duration = Duration::from_secs(30);

/// Call chains are walked by frame pointers, and their ends are in frames of their own.
const COMMON_FLAGS: [&str; 4] =
    ["-w", "-fno-builtin", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"];

/// What the executor makes of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has one result.
    Valid(Run),
    /// Its result depends on the order of work-items, or on memory that nothing has written.
    Racy,
    /// It breaks a rule, or does not compile.
    Invalid(String),
    /// The executor found no result: the case crashed, or took too long.
    Failed(String),
}

/// clang, and the parts of the executor that are the same for all batches.
#[derive(Debug)]
pub(crate) struct Executor {
    clang: PathBuf,
    folder: PathBuf,
}

impl Executor {
    /// Compiles the runtime into `folder`.
    pub(crate) fn new(clang: PathBuf, folder: &Path) -> Result<Executor> {
        let executor = Executor { clang, folder: folder.into() };
        fs::write(folder.join("runtime.c"), RUNTIME)?;
        fs::write(folder.join("builtins.cl"), BUILTINS)?;
        fs::write(folder.join("gpuintrin.h"), GPUINTRIN)?;
        for end in ["start", "end"] {
            fs::write(folder.join(format!("{end}.c")), format!("char executor_locals_{end}[64];\n"))?;
            let mut marker = executor.compiler();
            marker.arg("-c").arg(format!("{end}.c"));
            executor.compile(&mut marker, folder)?.map_err(Error::new)?;
        }
        let mut runtime = executor.compiler();
        runtime.args(["-O1", "-c", "runtime.c", "-o", "runtime.o"]);
        executor.compile(&mut runtime, folder)?.map_err(Error::new)?;
        let mut builtins = executor.compiler();
        builtins.args(OPENCL_FLAGS).args(["-c", "builtins.cl", "-o", "builtins.o"]);
        executor.compile(&mut builtins, folder)?.map_err(Error::new)?;
        Ok(executor)
    }

    /// Runs every case of a batch; files go into `folder`.
    pub(crate) fn run(&self, folder: &Path, cases: &[Case]) -> Result<Vec<Verdict>> {
        let indices: Vec<usize> = (0..cases.len()).collect();
        let mut attempts = 0;
        let bisection = bisect(&indices, &mut |part| {
            attempts += 1;
            let part_folder = folder.join(format!("executor-{attempts}"));
            fs::create_dir(&part_folder)?;
            let part: Vec<&Case> = part.iter().filter_map(|index| cases.get(*index)).collect();
            let program = self.build(&part_folder, &part)?;
            Ok(program.map(|()| part_folder))
        })?;
        let mut verdicts = vec![Verdict::Failed("it was not run".into()); cases.len()];
        for (index, text) in bisection.refused {
            place(&mut verdicts, index, Verdict::Invalid(text));
        }
        for (part, part_folder) in bisection.groups {
            let part_cases: Vec<&Case> = part.iter().filter_map(|index| cases.get(*index)).collect();
            let found = self.launch(&part_folder, &part_cases)?;
            for (index, verdict) in part.into_iter().zip(found) {
                place(&mut verdicts, index, verdict);
            }
        }
        Ok(verdicts)
    }

    /// Makes the program of a batch, or says what clang has against it.
    fn build(&self, folder: &Path, cases: &[&Case]) -> Result<Compiled<()>> {
        let mut objects = vec![self.folder.join("start.o")];
        for language in [Language::OpenClC, Language::Cpp] {
            let source = match wrappers::source(cases, language) {
                Ok(None) => continue,
                Ok(Some(source)) => source,
                Err(text) => return Ok(Err(text)),
            };
            let (file, flags) = match language {
                Language::OpenClC => ("batch.cl", &OPENCL_FLAGS[..]),
                Language::Cpp => ("batch.cpp", &CPP_FLAGS[..]),
            };
            fs::write(folder.join(file), source)?;
            let object = folder.join(file).with_extension(format!("{language:?}.o"));
            let mut command = self.compiler();
            command.args(flags).arg("-I").arg(&self.folder).args(["-c", file, "-o"]).arg(&object);
            if let Err(text) = self.compile(&mut command, folder)? {
                return Ok(Err(text));
            }
            objects.push(object);
        }
        objects.extend(["end.o", "runtime.o", "builtins.o"].map(|name| self.folder.join(name)));
        fs::write(folder.join("table.c"), wrappers::table(cases.len()))?;
        let mut link = self.compiler();
        link.args(objects).args(["table.c", "-lm", "-o", "executor"]);
        self.compile(&mut link, folder)
    }

    /// Runs the program of a batch.
    fn launch(&self, folder: &Path, cases: &[&Case]) -> Result<Vec<Verdict>> {
        let results = folder.join("results");
        fs::write(folder.join("batch"), batch::text(cases))?;
        fs::write(&results, "")?;
        let mut command = Command::new(folder.join("executor"));
        command.arg(folder.join("batch")).arg(&results);
        let watch = Watch {
            errors: &folder.join("errors"),
            output: &folder.join("output"),
            progress: Some(&results),
            patience: CASE_LIMIT,
        };
        process::run(&mut command, watch)?;
        let text = String::from_utf8_lossy(&fs::read(&results)?).into_owned();
        let mut verdicts = results::read(&text);
        verdicts.resize(cases.len(), Verdict::Failed("the executor ended before it".into()));
        Ok(verdicts)
    }

    fn compiler(&self) -> Command {
        let mut command = Command::new(&self.clang);
        command.args(COMMON_FLAGS);
        command
    }

    /// Runs `command` in `folder`; the inner error is what it says.
    fn compile(&self, command: &mut Command, folder: &Path) -> Result<Compiled<()>> {
        let errors = folder.join("errors");
        let watch = Watch {
            errors: &errors,
            output: &folder.join("output"),
            progress: None,
            patience: COMPILE_LIMIT,
        };
        let ending = process::run(command.current_dir(folder), watch)?;
        if ending.is_success() {
            Ok(Ok(()))
        } else {
            Ok(Err(String::from_utf8_lossy(&fs::read(&errors)?).into_owned()))
        }
    }
}

const OPENCL_FLAGS: [&str; 4] = ["-x", "cl", "-cl-std=CL3.0", "-O0"];
const CPP_FLAGS: [&str; 6] = ["-x", "c++", "-std=c++17", "-O0", "-fno-exceptions", "-fno-rtti"];

fn place(verdicts: &mut [Verdict], index: usize, verdict: Verdict) {
    if let Some(place) = verdicts.get_mut(index) {
        *place = verdict;
    }
}
