//! `hecbench`: the CUDA programs of HeCBench as they are, compiled without a toolkit for NVIDIA, AMD and the CPU.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use offload_tests::FIGURE;
use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Toolkit};
use offload_tests::table::Table;
use offload_tests::workspace::Workspace;

use crate::file_package::FilePackage;

pub(crate) const HELP: &str = "hecbench CHECKOUT [TARGET] [PREFIX]  compile the CUDA programs of a checkout of HeCBench

CHECKOUT is a clone of https://github.com/zjin-lcf/HeCBench. Of each folder `src/NAME-cuda` whose name begins with PREFIX
(all by default), main.cu is compiled for TARGET (nvptx:sm_80 by default) with the headers of offload-build and the
definitions and folders of its Makefile. Host functions are checked and left out. The table counts first errors; a folder
is not counted that includes what the checkout lacks, as libraries of others.";

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
    let (checkout, target, prefix) = match args {
        [checkout] => (checkout, TARGET, ""),
        [checkout, target] => (checkout, target.as_str(), ""),
        [checkout, target, prefix] => (checkout, target.as_str(), prefix.as_str()),
        _ => {
            let error = Error::new("`hecbench` takes a checkout of HeCBench, a target and a prefix of names");
            return Err(error.hint("git clone --depth 1 https://github.com/zjin-lcf/HeCBench"));
        }
    };
    setup::ensure(workspace, &[setup::BUILD])?;
    let survey = Survey::new(workspace, Path::new(checkout), target)?;
    let mut compiled = 0u32;
    let mut left_out = 0u32;
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in survey.folders(prefix)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match survey.compile(&folder)? {
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
    println!("{FIGURE}{target}: {compiled} compiled, {count} refused, {left_out} left out");
    Ok(if compiled > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Survey {
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
        Ok(Survey { package, sources, ptxas })
    }

    /// The folders of programs, by name.
    fn folders(&self, prefix: &str) -> Result<Vec<PathBuf>> {
        let mut folders = Vec::new();
        for entry in fs::read_dir(&self.sources)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with("-cuda") && name.starts_with(prefix) && entry.path().join("main.cu").is_file() {
                folders.push(entry.path());
            }
        }
        folders.sort();
        Ok(folders)
    }

    fn compile(&self, folder: &Path) -> Result<Outcome> {
        let mut cargo = self.package.run(&self.ptxas);
        let output = cargo
            // No headers of NVIDIA's.
            .env("OFFLOAD_CUDA_SDK", &self.package.package)
            .env("HECBENCH_FILE", folder.join("main.cu"))
            .env("HECBENCH_FLAGS", self.flags(folder)?.join("\n"))
            .output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            return Ok(Outcome::Compiled);
        }
        if stderr.contains("file not found") || stderr.contains("has no kernel") {
            return Ok(Outcome::LeftOut);
        }
        let errors = stderr.lines().filter_map(|line| line.split_once(": error: "));
        let first = errors.map(|(_, error)| error).next().or(stderr.lines().next_back());
        let text = first.unwrap_or("no message");
        Ok(Outcome::Refused(text.chars().take(100).collect()))
    }

    /// The definitions and the folders of headers in the folder's Makefile.
    fn flags(&self, folder: &Path) -> Result<Vec<String>> {
        let mut flags = vec![format!("-I{}", folder.display()), "-w".to_string()];
        let makefile = fs::read_to_string(folder.join("Makefile")).unwrap_or_default();
        for word in makefile.split_whitespace().filter(|word| !word.contains('$')) {
            if word.starts_with("-D") && word.len() > 2 {
                flags.push(word.to_string());
            } else if let Some(directory) = word.strip_prefix("-I").filter(|rest| !rest.is_empty()) {
                flags.push(format!("-I{}", folder.join(directory).display()));
            }
        }
        flags.push(format!("-I{}", self.sources.join("include").display()));
        Ok(flags)
    }
}
