//! `hecbench`: the CUDA programs of HeCBench as they are, compiled without a toolkit for NVIDIA, AMD and the CPU.

mod makefile;
mod programs;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use offload_tests::FIGURE;
use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Toolkit};
use offload_tests::table::Table;
use offload_tests::workspace::Workspace;

use self::makefile::Makefile;
use self::programs::Builder;
use crate::file_package::FilePackage;

pub(crate) const HELP: &str = "hecbench CHECKOUT [TARGET] [PREFIX] [FOLDER]  compile the CUDA programs of a checkout of HeCBench

CHECKOUT is a clone of https://github.com/zjin-lcf/HeCBench. Of each folder `src/NAME-cuda` whose name begins with PREFIX
(all by default), main.cu, or the first .cu file that its Makefile names, is compiled for TARGET (nvptx:sm_80 by default) with the headers of offload-build and the
definitions and folders of its Makefile. Host functions are checked and left out. The table counts first errors; a folder
is not counted that includes what the checkout lacks, as libraries of others.

With FOLDER, whole programs are built into it, whose host functions are linked as launchers, with a script `run.sh` that
runs each with the arguments of its Makefile and prints its own verdict. For `host` the script runs at once, with small
sizes and one repetition where they are known.";

const TARGET: &str = "nvptx:sm_80";

const BUILD: &str = r#"fn main() {
    println!("cargo::rerun-if-env-changed=HECBENCH_FILE");
    println!("cargo::rerun-if-env-changed=HECBENCH_FLAGS");
    let mut build = offload_build::Build::new();
    for flag in std::env::var("HECBENCH_FLAGS").unwrap().lines() {
        build.flag(flag);
    }
    build.file(std::env::var("HECBENCH_FILE").unwrap()).compile("kernels");
}
"#;

/// What came of a program.
enum Outcome {
    Compiled,
    /// It has no kernel, or includes what is not there.
    LeftOut,
    /// The first error.
    Refused(String),
}

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let (checkout, target, prefix, folder) = match args {
        [checkout] => (checkout, TARGET, "", None),
        [checkout, target] => (checkout, target.as_str(), "", None),
        [checkout, target, prefix] => (checkout, target.as_str(), prefix.as_str(), None),
        [checkout, target, prefix, folder] => (checkout, target.as_str(), prefix.as_str(), Some(folder)),
        _ => {
            let error = Error::new("`hecbench` takes a checkout of HeCBench, a target and a prefix of names");
            return Err(error.hint("git clone --depth 1 https://github.com/zjin-lcf/HeCBench"));
        }
    };
    setup::ensure(workspace, &[setup::BUILD])?;
    let survey = Survey::new(workspace, Path::new(checkout), target)?;
    let Some(folder) = folder else {
        return survey.report(prefix, |program| survey.compile(program));
    };
    let builder = Builder::new(workspace, target, Path::new(folder), &survey.ptxas)?;
    let code = survey.report(prefix, |program| builder.build(program, &survey.flags(program)))?;
    if target == "host" {
        let mut script = Command::new("sh");
        script.arg(Path::new(folder).join("run.sh"));
        script.env("HECBENCH_ON_CPU", "1").env("SHORT", "1").env("HECBENCH_SOURCES", &survey.sources);
        script.status()?;
    }
    Ok(code)
}

impl Outcome {
    /// What cargo's output says.
    fn from_output(output: &Output) -> Outcome {
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            return Outcome::Compiled;
        }
        if stderr.contains("file not found")
            || stderr.contains("No such file")
            || stderr.contains("has no kernel")
        {
            return Outcome::LeftOut;
        }
        let found = |mark: &str| stderr.lines().find_map(|line| Some(line.split_once(mark)?.1.to_string()));
        let text = found(": error: ").or_else(|| found("  error: ")).or_else(|| found("error: "));
        let text = text.unwrap_or_else(|| "no message".to_string());
        Outcome::Refused(text.chars().take(100).collect())
    }
}

struct Survey {
    target: String,
    package: FilePackage,
    sources: PathBuf,
    ptxas: PathBuf,
}

impl Survey {
    fn new(workspace: &Workspace, checkout: &Path, target: &str) -> Result<Survey> {
        let sources = checkout.join("src");
        if !sources.is_dir() {
            let error = Error::new(format!("`{}` is no checkout of HeCBench", checkout.display()));
            return Err(error.hint("git clone --depth 1 https://github.com/zjin-lcf/HeCBench"));
        }
        let sources = fs::canonicalize(sources)?;
        let directory = workspace.target_dir.join("hecbench");
        let package = FilePackage::create(workspace, directory, BUILD, target)?;
        let ptxas = setup::ensure_cuda(workspace, Toolkit::Ptxas)?;
        Ok(Survey { target: target.to_string(), package, sources, ptxas })
    }

    /// The folders of programs, by name.
    fn folders(&self, prefix: &str) -> Result<Vec<PathBuf>> {
        let mut folders = Vec::new();
        for entry in fs::read_dir(&self.sources)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with("-cuda") && name.starts_with(prefix) && main_file(&entry.path()).is_some() {
                folders.push(entry.path());
            }
        }
        folders.sort();
        Ok(folders)
    }

    /// Compiles the programs whose names begin with `prefix`, and prints the table of errors.
    fn report(&self, prefix: &str, compile: impl Fn(&Path) -> Result<Outcome>) -> Result<ExitCode> {
        let mut compiled = 0u32;
        let mut left_out = 0u32;
        let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for folder in self.folders(prefix)? {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match compile(&folder)? {
                Outcome::Compiled => compiled = compiled.saturating_add(1),
                Outcome::LeftOut => left_out = left_out.saturating_add(1),
                Outcome::Refused(why) => refused.entry(why).or_default().push(name),
            }
        }
        let mut table = Table::new(["error", "programs"]);
        let mut count = 0usize;
        for (why, names) in &refused {
            count = count.saturating_add(names.len());
            table.row([why.clone(), names.join(", ")]);
        }
        println!("{table}");
        let target = &self.target;
        println!("{FIGURE}{target}: {compiled} compiled, {count} refused, {left_out} left out");
        Ok(if compiled > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn compile(&self, folder: &Path) -> Result<Outcome> {
        let mut cargo = self.package.run(&self.ptxas);
        let output = cargo
            // No headers of NVIDIA's.
            .env("OFFLOAD_CUDA_SDK", &self.package.package)
            .env("HECBENCH_FILE", main_file(folder).unwrap_or_default())
            .env("HECBENCH_FLAGS", self.flags(folder).join("\n"))
            .output()?;
        Ok(Outcome::from_output(&output))
    }

    /// The definitions and the folders of headers of a program.
    fn flags(&self, folder: &Path) -> Vec<String> {
        let mut flags = Makefile::read(folder).flags();
        flags.push(format!("-I{}", self.sources.join("include").display()));
        flags
    }
}

/// main.cu, or the first file of CUDA C++ that the program is made of.
fn main_file(folder: &Path) -> Option<PathBuf> {
    let main = folder.join("main.cu");
    if main.is_file() {
        return Some(main);
    }
    let sources = Makefile::read(folder).sources();
    sources.into_iter().find(|file| file.extension().is_some_and(|extension| extension == "cu"))
}
