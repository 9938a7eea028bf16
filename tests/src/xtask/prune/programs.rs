//! The fixture's program and plugin, built with each linker, and run.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::linkers::linker::Linker;
use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::workspace::Workspace;

/// The fixture `carried` and the cargo-offload of this checkout.
#[derive(Debug)]
pub(super) struct Programs<'a> {
    pub(super) workspace: &'a Workspace,
    source: PathBuf,
    /// Where treated files go.
    pub(super) work: PathBuf,
    pub(super) cargo_offload: PathBuf,
}

/// Linked files.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) program: PathBuf,
    pub(super) plugin: PathBuf,
}

impl<'a> Programs<'a> {
    pub(super) fn prepare(workspace: &'a Workspace) -> Result<Programs<'a>> {
        let source = workspace.shell.create_dir(workspace.target_dir.join("prune/src"))?;
        fixture::copy(workspace, "carried", &source)?;
        let cargo = workspace.cargo().args(["build", "--quiet", "--package", "cargo-offload"]);
        let messages = cargo.arg("--message-format=json-render-diagnostics").quiet().read()?;
        let cargo_offload = artifacts(&messages).next_back();
        let cargo_offload =
            cargo_offload.ok_or_else(|| Error::new("cargo named no file for `cargo-offload`"))?;
        Ok(Programs { workspace, source, work: workspace.target_dir.join("prune/work"), cargo_offload })
    }

    /// Links the program and the plugin, and copies them: other linkers write to the same place.
    pub(super) fn build(&self, linker: &Linker, profile: &str) -> Result<Built> {
        let dir = self.workspace.target_dir.join("prune/linked").join(linker.name).join(profile);
        let dir = self.workspace.shell.create_dir(dir)?;
        let program = dir.join("app");
        let plugin = dir.join("plug.so");
        for (kind, to) in [("--bins", &program), ("--lib", &plugin)] {
            let report = self.source.join("src/report.rs");
            // The arguments of the linker are no reason for cargo to link again.
            self.workspace.shell.write_file(&report, self.workspace.shell.read_file(&report)?)?;
            let _in = self.workspace.shell.push_dir(&self.source);
            let cargo = self.workspace.cargo().args(["rustc", "--quiet", kind, "--profile", profile]);
            let cargo = cargo.args(["--message-format=json-render-diagnostics", "--"]).args(&linker.args);
            let cargo = cargo.env("CARGO_TARGET_DIR", self.workspace.target_dir.join("prune/target"));
            let cargo = cargo.env("OFFLOAD_CACHE_DIR", self.workspace.target_dir.join("prune/cache"));
            let messages = cargo.env_remove("RUSTFLAGS").env_remove("OFFLOAD_CONFIG").quiet().read()?;
            let file = artifacts(&messages).next_back();
            let file = file.ok_or_else(|| Error::new(format!("cargo named no file for `{kind}`")))?;
            std::fs::copy(file, to)?;
        }
        Ok(Built { program, plugin })
    }
}

/// Programs and shared libraries in cargo's messages.
fn artifacts(messages: &str) -> impl DoubleEndedIterator<Item = PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = messages.filter_map(|message| {
        message.get("executable").and_then(Value::as_str).map(PathBuf::from).or_else(|| library(&message))
    });
    files.collect::<Vec<_>>().into_iter()
}

/// The shared library that a message of Cargo names.
fn library(message: &Value) -> Option<PathBuf> {
    let names = message.get("filenames")?.as_array()?.iter().filter_map(Value::as_str);
    // Procedural macros are shared libraries too.
    let ours = message.pointer("/target/crate_types/0")? == "cdylib";
    names.map(PathBuf::from).find(|name| ours && name.extension().is_some_and(|end| end == "so"))
}

/// How many of the four modules (two of the program, two of the plugin) compute on the CPU, and how many have SPIR-V.
pub(super) fn run(workspace: &Workspace, program: &Path, plugin: &Path) -> Result<[usize; 2]> {
    let text = workspace.shell.cmd(program).arg(plugin).env_remove("OFFLOAD_PACK_DIR").quiet().read()?;
    Ok([count_lines(&text, "right", " on the CPU: "), count_lines(&text, "bytes", " with SPIR-V: ")])
}

fn count_lines(text: &str, end: &str, what: &str) -> usize {
    text.lines().filter(|line| line.contains(what) && line.ends_with(end)).count()
}
