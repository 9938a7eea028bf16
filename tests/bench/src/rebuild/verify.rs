//! Reading every image of both sides back: each has its kernel, by LLVM's own reader.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure;
use super::ninja::Ninja;
use super::ours::Ours;
use super::plan::Plan;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

/// Checks the images of the program and of ninja's directory.
pub(super) fn images(workspace: &Workspace, plan: &Plan, (ours, ninja): (&Ours, &Ninja)) -> Result<()> {
    let readelf = setup::llvm(workspace, "llvm-readelf")
        .ok_or_else(|| Error::new("`llvm-readelf` is not installed").hint("it is in the package llvm-22"))?;
    workspace.cargo().args(["build", "--quiet", "--package", "cargo-offload"]).run()?;
    let tool = workspace.target_dir.join("debug/cargo-offload");
    let dir = tempfile::tempdir()?;
    let mut right = [0; 2];
    for module in plan.modules() {
        for target in &plan.targets {
            let exported = export(&tool, &ours.program(), (dir.path(), &module, target))?;
            for (count, file) in right.iter_mut().zip([exported, ninja.image(&module, target)]) {
                check(&readelf, &file, (&module, target))?;
                *count += 1;
            }
        }
    }
    println!("images with their kernel: {} of {} ours, {} of ninja", right[0], plan.images(), right[1]);
    Ok(())
}

fn export(tool: &Path, program: &Path, (dir, module, target): (&Path, &str, &str)) -> Result<PathBuf> {
    let file = dir.join(format!("{module}.{target}"));
    let mut command = Command::new(tool);
    command.args(["offload", "export", "--force", "--format", "raw", "--module", module]);
    command.args(["--target", &format!("amdgcn:{target}"), "-o"]).arg(&file).arg(program);
    measure::run(&mut command)?;
    Ok(file)
}

fn check(readelf: &Path, file: &Path, (kernel, target): (&str, &str)) -> Result<()> {
    let output = Command::new(readelf).args(["--dyn-syms", "--file-header"]).arg(file).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(wrong(file, "cannot be read"));
    }
    // A generic processor's flags name it with underscores in some releases; its kernel is proof enough.
    if !target.ends_with("-generic")
        && !text.lines().any(|line| line.contains("Flags:") && has_word(line, target))
    {
        return Err(wrong(file, &format!("is not for {target}")));
    }
    let descriptor = format!("{kernel}.kd");
    if !text.lines().any(|line| has_word(line, &descriptor)) {
        return Err(wrong(file, &format!("has no `{descriptor}`")));
    }
    Ok(())
}

fn wrong(file: &Path, what: &str) -> Error {
    Error::new(format!("`{}` {what}", file.display()))
}

fn has_word(line: &str, word: &str) -> bool {
    line.split([' ', ',']).any(|other| other == word)
}
