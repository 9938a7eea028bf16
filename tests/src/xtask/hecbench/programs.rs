//! Programs of HeCBench with their host parts as they are: Rust programs whose `main` is that of the C++ sources, and a
//! script that runs them and prints each one's own verdict.

use std::fs;
use std::path::{Path, PathBuf};

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

use super::Outcome;
use super::makefile::Makefile;
use crate::file_package::FilePackage;

const BUILD: &str = r#"use std::path::Path;

fn main() {
    for name in ["HECBENCH_FILES", "HECBENCH_FLAGS"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let flags = std::env::var("HECBENCH_FLAGS").unwrap();
    let files = std::env::var("HECBENCH_FILES").unwrap();
    let (kernels, others): (Vec<&str>, Vec<&str>) =
        files.lines().partition(|file| Path::new(file).extension().is_some_and(|extension| extension == "cu"));
    let mut build = offload_build::Build::new();
    for flag in flags.lines() {
        build.flag(flag);
    }
    build.files(kernels).launchers().compile("kernels");
    if !others.is_empty() {
        let mut host = cc::Build::new();
        for flag in flags.lines() {
            host.flag(flag);
        }
        host.cpp(true).warnings(false).files(others).compile("others");
    }
}
"#;

const MAIN: &str = r#"#![no_main]
//! `main` is that of the sources in C++.
use offload_rt::{Device, launchers};

offload_rt::include_kernels!("kernels");

#[used]
#[unsafe(link_section = ".init_array")]
static SELECT_DEVICE: extern "C" fn() = select_device;

extern "C" fn select_device() {
    if std::env::var_os("HECBENCH_ON_CPU").is_some() {
        launchers::set_device(&Device::host()).unwrap();
    }
}
"#;

/// Runs every program with the arguments of its Makefile, and prints what came of it. A program says itself whether its
/// results are right; many say nothing.
const SCRIPT: &str = r#"#!/bin/sh
# [LIMIT=SECONDS] [SHORT=1] [HECBENCH_ON_CPU=1] sh run.sh [PROGRAM...]
# SHORT=1 takes small sizes and one repetition where they are known. The last argument of most programs is a number of
# repetitions, of which it makes 1 for the others.
here=$(cd "$(dirname "$0")" && pwd)
cd "$here" || exit 1
[ $# -gt 0 ] || set -- *.args
passed=0 finished=0 failed=0 slow=0
for name in "$@"; do
  name=${name%.args}
  read -r arguments < "$name.args"
  if [ -n "$SHORT" ] && [ -e "$name.small" ]; then
    read -r arguments < "$name.small"
  elif [ -n "$SHORT" ]; then
    arguments=$(echo "$arguments" | sed -E 's/(^| )10{1,4}$/\11/')
  fi
  folder=$here
  [ -d "$HECBENCH_SOURCES/$name" ] && folder=$HECBENCH_SOURCES/$name
  (cd "$folder" && eval "timeout -k 5 ${LIMIT:-60} \"$here/$name\" $arguments") > "$name.output" 2>&1
  code=$?
  if [ $code = 124 ] || [ $code = 137 ]; then
    verdict=slow slow=$((slow + 1))
  elif [ $code != 0 ] || grep -qiE '\b(fail|failed|failure|mismatch|incorrect|wrong)\b' "$name.output"; then
    verdict="failed ($code)" failed=$((failed + 1))
  elif grep -qiE '\b(pass|passed|success|successful|correct|verified|ok)\b' "$name.output"; then
    verdict=passed passed=$((passed + 1))
  else
    verdict=finished finished=$((finished + 1))
  fi
  echo "$name: $verdict"
done
echo "$passed passed, $finished finished without a verdict, $failed failed, $slow took too long"
"#;

/// A program and arguments with which the CPU takes seconds, a line for each.
const SMALL: &str = include_str!("small.txt");

fn small_arguments(name: &str) -> Option<&'static str> {
    let program = name.strip_suffix("-cuda")?;
    let lines = SMALL.lines().map(|line| line.split_once(' ').unwrap_or((line, "")));
    lines.filter(|(known, _)| *known == program).map(|(_, arguments)| arguments).next()
}

/// Builds programs into a folder.
pub(super) struct Builder {
    package: FilePackage,
    folder: PathBuf,
    ptxas: PathBuf,
}

impl Builder {
    pub(super) fn new(workspace: &Workspace, target: &str, folder: &Path, ptxas: &Path) -> Result<Builder> {
        fs::create_dir_all(folder)?;
        let directory = workspace.target_dir.join("hecbench-programs");
        let package = FilePackage::create(workspace, directory, BUILD, target)?.with_launchers(MAIN)?;
        fs::write(folder.join("run.sh"), SCRIPT)?;
        Ok(Builder { package, folder: folder.to_path_buf(), ptxas: ptxas.to_path_buf() })
    }

    /// Builds the program of `source`, a folder with a Makefile.
    pub(super) fn build(&self, source: &Path, flags: &[String]) -> Result<Outcome> {
        let makefile = Makefile::read(source);
        let files: Vec<String> = makefile.sources().iter().map(|file| file.display().to_string()).collect();
        let output = self
            .package
            .build(&self.ptxas)
            .env("OFFLOAD_CUDA_SDK", &self.package.package)
            .env("HECBENCH_FILES", files.join("\n"))
            .env("HECBENCH_FLAGS", flags.join("\n"))
            .output()?;
        if output.status.success() {
            let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
            fs::copy(self.package.program(), self.folder.join(&name))?;
            fs::write(self.folder.join(format!("{name}.args")), format!("{}\n", makefile.arguments()))?;
            if let Some(small) = small_arguments(&name) {
                fs::write(self.folder.join(format!("{name}.small")), format!("{small}\n"))?;
            }
        }
        Ok(Outcome::from_output(&output))
    }
}
