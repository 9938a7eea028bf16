//! `targets`: the example's kernels for every target that this machine's tools know, read back by other tools.

mod list;
mod reader;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use self::reader::Readers;
use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Toolkit};
use offload_tests::workspace::{Workspace, seconds};

pub(crate) const HELP: &str = "targets         build example-app for every target and read each image with an independent tool

The kernels are compiled from an empty cache; its time is printed. Every reader must also refuse a damaged image of
its kind: one that accepts everything proves nothing.";

/// The kernels that every image must show.
const KERNELS: [&str; 4] = ["saxpy", "matmul", "reduce", "histogram"];

pub(crate) fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS])?;
    let cuda = setup::ensure_cuda(workspace, Toolkit::Ptxas)?;
    let dir = workspace.shell.create_dir(workspace.target_dir.join("targets"))?;
    let targets = list::all(workspace)?;
    let (program, tool) = build(workspace, (&dir, &cuda), &targets)?;
    let images = images(&tool, &program)?;
    let readers = Readers::find(workspace, &cuda)?;
    let mut families = BTreeMap::<&str, Family>::new();
    for target in &images {
        let file = export(&tool, &program, (&dir, target))?;
        let family = families.entry(list::family(target)).or_default();
        family.images += 1;
        match readers.read(target, &file) {
            Ok(reader) => family.read(reader),
            Err(error) => family.failures.push(format!("{target}: {error}")),
        }
        if family.images == 1 {
            readers.refuses_damage(target, &file)?;
        }
    }
    Ok(print(&families))
}

/// What was read of a family of targets.
#[derive(Debug, Default)]
struct Family {
    images: usize,
    right: usize,
    readers: Vec<&'static str>,
    failures: Vec<String>,
}

impl Family {
    fn read(&mut self, reader: &'static str) {
        self.right += 1;
        if !self.readers.contains(&reader) {
            self.readers.push(reader);
        }
    }
}

/// Builds the program with every target, from an empty kernel cache, and the tool that reads it.
fn build(
    workspace: &Workspace,
    (dir, cuda): (&Path, &Path),
    targets: &[String],
) -> Result<(PathBuf, PathBuf)> {
    let cache = dir.join("cache");
    workspace.shell.remove_path(&cache)?;
    workspace.cargo().args(["build", "--package", "cargo-offload"]).run()?;
    // The Rust crates first, by a command that differs in the list of targets alone: what is measured is the kernels,
    // and cargo must see that the list has changed, also when this task ran before.
    workspace.cargo().args(["build", "--package", "example-app"]).env("OFFLOAD_TARGETS", "host").run()?;
    let start = Instant::now();
    let cargo = workspace.cargo().args(["build", "--package", "example-app"]);
    cargo
        .env("OFFLOAD_CACHE_DIR", &cache)
        .env("CUDA_PATH", cuda)
        .env("OFFLOAD_TARGETS", targets.join(","))
        .run()?;
    if !cache.exists() {
        return Err(Error::new("cargo did not run the build script: the time says nothing"));
    }
    println!("{} entries of the list of targets compiled in {}", targets.len(), seconds(start.elapsed()));
    let debug = workspace.target_dir.join("debug");
    Ok((debug.join("example-app"), debug.join("cargo-offload")))
}

/// The targets of the images that the program really carries.
fn images(tool: &Path, program: &Path) -> Result<Vec<String>> {
    let args = ["offload", "inspect", "--message-format", "json"];
    let output = Command::new(tool).args(args).arg(program).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let images = messages.filter(|message| message.get("reason").is_some_and(|reason| reason == "image"));
    let targets: Vec<String> =
        images.filter_map(|image| Some(image.get("target")?.as_str()?.to_string())).collect();
    if targets.is_empty() { Err(Error::new("the program carries no image")) } else { Ok(targets) }
}

fn export(tool: &Path, program: &Path, (dir, target): (&Path, &str)) -> Result<PathBuf> {
    let file = dir.join(target.replace([':', '+'], "_"));
    let args = ["offload", "export", "--force", "--format", "raw", "--target", target, "-o"];
    let output = Command::new(tool).args(args).arg(&file).arg(program).output()?;
    if output.status.success() {
        return Ok(file);
    }
    Err(Error::new(format!("cannot export {target}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

/// A table, and whether everything was right.
fn print(families: &BTreeMap<&str, Family>) -> ExitCode {
    println!("{:<10} {:>7} {:>7}  read by", "family", "images", "right");
    for (name, family) in families {
        println!("{name:<10} {:>7} {:>7}  {}", family.images, family.right, family.readers.join(", "));
    }
    let images = families.values().map(|family| family.images).sum::<usize>();
    let right = families.values().map(|family| family.right).sum::<usize>();
    println!("{:<10} {images:>7} {right:>7}", "all");
    for failure in families.values().flat_map(|family| &family.failures) {
        println!("WRONG {failure}");
    }
    if images == right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
