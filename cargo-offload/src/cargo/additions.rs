//! Additions to a package for kernels: build script, kernels, dependencies and settings. Existing content is kept.

mod manifest;

use std::path::{Path, PathBuf};

use offload_protocol::variable;
use serde::Serialize;
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

pub(crate) use self::manifest::{Dependencies, Outcome};
use crate::cargo::graph::{self, Depth};
use crate::cargo::template::{self, Kernels, TemplateFile};
use crate::cli;
use crate::error::{Error, Result};
use crate::files::publish::{Existing, create_dir, replace};
use crate::print::output::Output;

/// Directories of a package and of its workspace.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The directory of the package, unless there is only a workspace.
    package: Option<PathBuf>,
    /// The directory of the workspace, or of the package if it is alone.
    root: PathBuf,
}

#[derive(Debug, Serialize)]
struct AdditionMessage<'a> {
    reason: &'static str,
    file: &'a str,
    changed: bool,
}

impl Workspace {
    /// The package in `directory` and the workspace around it. A directory without a manifest stands for a workspace.
    pub(crate) fn find(directory: &Path) -> Result<Workspace> {
        let manifest = directory.join("Cargo.toml");
        if !manifest.exists() {
            return Ok(Workspace { package: None, root: directory.to_path_buf() });
        }
        let project = cli::Project { manifest_path: Some(manifest.clone()), ..cli::Project::default() };
        let metadata = graph::metadata(&project, Depth::Members)?;
        let package = manifest::open(&manifest)?.contains_key("package").then(|| directory.to_path_buf());
        Ok(Workspace { package, root: metadata.workspace_root.into() })
    }

    /// `offload.toml`, and the setting through which build scripts find it where the target directory is elsewhere.
    pub(crate) fn configure(&self, output: &Output) -> Result<Outcome> {
        let config = self.root.join("offload.toml");
        let mut outcome = Outcome::Kept;
        if !config.exists() {
            replace(&config, template::OFFLOAD_TOML.as_bytes())?;
            outcome = Outcome::Written;
        }
        report(output, "offload.toml", outcome)?;
        report(output, ".cargo/config.toml", add_setting(&self.root.join(".cargo/config.toml"))?)?;
        Ok(outcome)
    }

    /// Dependencies in the package's manifest, and in that of the workspace the optimisation of what packs images.
    pub(crate) fn depend(&self, output: &Output, dependencies: &Dependencies) -> Result<()> {
        let root = self.root.join("Cargo.toml");
        if !root.exists() {
            return Ok(());
        }
        let own = self.package.as_ref().map(|package| package.join("Cargo.toml"));
        let added = own.map_or(Ok(Outcome::Kept), |manifest| dependencies.add_to(&manifest, &root))?;
        if added == Outcome::Written {
            dependencies.print_source(output);
        }
        let optimized = manifest::optimize_packing(&root)?;
        report(output, "Cargo.toml", added.max(optimized))
    }

    /// The build script, and the kernels that it names. A package with a build script keeps it.
    pub(crate) fn build_script(
        &self,
        output: &Output,
        kernels: &Kernels,
        existing: Existing,
    ) -> Result<Outcome> {
        let Some(package) = &self.package else { return Ok(Outcome::Kept) };
        let TemplateFile { name: usual, text } = kernels.build_script;
        let named = manifest::build_script(&package.join("Cargo.toml"))?;
        let name = named.as_deref().unwrap_or(usual);
        let path = package.join(name);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if path.exists() && existing == Existing::Kept {
            report(output, name, Outcome::Kept)?;
            let kept = old.contains("offload_build").then_some(Outcome::Kept);
            return kept.ok_or_else(|| foreign_build_script(&path));
        }
        write(output, package, &NewFile { name, text, existing })?;
        for file in kernels.files {
            write(output, package, &NewFile { name: file.name, text: file.text, existing })?;
        }
        Ok(Outcome::Written)
    }

    /// The program that runs the kernels of [`template::STARTER`], in place of the empty one of `cargo new`.
    pub(crate) fn starter(&self, output: &Output) -> Result<()> {
        let Some(package) = &self.package else {
            output.status("next: run `cargo offload init DIRECTORY` to add a kernel to a package");
            return Ok(());
        };
        let TemplateFile { name, text } = template::STARTER_PROGRAM;
        let is_empty =
            std::fs::read_to_string(package.join(name)).is_ok_and(|it| it == template::EMPTY_PROGRAM);
        if is_empty {
            write(output, package, &NewFile { name, text, existing: Existing::Replaced })?;
            output.status("next: run `cargo offload doctor` to check the compilers, then `cargo run`");
        } else {
            output.status(
                "next: add `offload_rt::include_kernels!(\"blas\");` to the crate; `cargo offload doctor` checks the compilers",
            );
        }
        Ok(())
    }
}

/// A file to be written into a package.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewFile<'a> {
    /// Its path in the package.
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    /// Treatment of an existing file.
    pub(crate) existing: Existing,
}

/// Writes a file of the template.
pub(crate) fn write(output: &Output, directory: &Path, file: &NewFile<'_>) -> Result<()> {
    let NewFile { name, text, existing } = *file;
    let path = directory.join(name);
    if existing == Existing::Kept && path.exists() {
        return report(output, name, Outcome::Kept);
    }
    create_parent(&path)?;
    replace(&path, text.as_bytes())?;
    report(output, name, Outcome::Written)
}

fn foreign_build_script(path: &Path) -> Error {
    let call = "offload_build::Build::new().file(\"kernels/NAME.cl\").compile(\"NAME\");";
    Error::usage(format!("`{}` compiles no kernels", path.display()))
        .hint(format!("add `{call}` to its `main`, or overwrite it with --force"))
}

fn report(output: &Output, file: &str, outcome: Outcome) -> Result<()> {
    let changed = outcome == Outcome::Written;
    let text = if changed { format!("wrote {file}") } else { format!("{file} is up to date") };
    output.done(&AdditionMessage { reason: "init", file, changed }, &text)
}

fn create_parent(path: &Path) -> Result<()> {
    create_dir(path.parent().unwrap_or(Path::new(".")))
}

/// `[env] OFFLOAD_WORKSPACE`, unless it or OFFLOAD_CONFIG is set; everything else in the file stays.
fn add_setting(path: &Path) -> Result<Outcome> {
    let mut document = if path.exists() { manifest::open(path)? } else { DocumentMut::new() };
    let env = document.entry("env").or_insert(Item::Table(Table::new()));
    let env = env
        .as_table_like_mut()
        .ok_or_else(|| Error::usage(format!("`env` in `{}` is not a table", path.display())))?;
    if [variable::WORKSPACE, variable::CONFIG].iter().any(|name| env.contains_key(name)) {
        return Ok(Outcome::Kept);
    }
    let mut value = InlineTable::new();
    value.insert("value", ".".into());
    value.insert("relative", true.into());
    env.insert(variable::WORKSPACE, Item::Value(Value::InlineTable(value)));
    create_parent(path)?;
    replace(path, document.to_string().as_bytes())?;
    Ok(Outcome::Written)
}
