//! What a package needs to have kernels, added to files that exist or not; what people wrote there stays.

mod manifest;

use std::path::{Path, PathBuf};

use serde::Serialize;
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

pub(crate) use self::manifest::Dependencies;
use crate::cargo::graph::{self, Depth};
use crate::cargo::template;
use crate::cli;
use crate::error::{Error, Result};
use crate::files::publish::{Existing, publish};
use crate::print::output::Output;

/// Where additions go.
#[derive(Debug)]
pub(crate) struct Place {
    /// The directory of the package, unless there is only a workspace.
    package: Option<PathBuf>,
    /// The directory of the workspace, or of the package if it is alone.
    root: PathBuf,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    file: &'a str,
    changed: bool,
}

impl Place {
    /// The package in `directory` and the workspace around it. A directory without a manifest stands for a workspace.
    pub(crate) fn of(directory: &Path) -> Result<Place> {
        let manifest = directory.join("Cargo.toml");
        if !manifest.exists() {
            return Ok(Place { package: None, root: directory.to_path_buf() });
        }
        let project = cli::Project { manifest_path: Some(manifest.clone()), ..cli::Project::default() };
        let metadata = graph::metadata(&project, Depth::Members)?;
        let package = manifest::open(&manifest)?.contains_key("package").then(|| directory.to_path_buf());
        Ok(Place { package, root: metadata.workspace_root.into() })
    }

    /// `offload.toml`, and the setting through which every build script of the graph finds it.
    pub(crate) fn configure(&self, output: &Output) -> Result<()> {
        let config = self.root.join("offload.toml");
        let new = !config.exists();
        if new {
            publish(&config, template::OFFLOAD_TOML.as_bytes())?;
        }
        say(output, "offload.toml", new)?;
        let changed = add_setting(&self.root.join(".cargo/config.toml"))?;
        say(output, ".cargo/config.toml", changed)
    }

    /// Dependencies in the package's manifest, and optimised build scripts in that of the workspace.
    pub(crate) fn depend(&self, output: &Output, dependencies: &Dependencies) -> Result<()> {
        let root = self.root.join("Cargo.toml");
        if !root.exists() {
            return Ok(());
        }
        let own = self.package.as_ref().map(|package| package.join("Cargo.toml"));
        let added = own.map_or(Ok(false), |manifest| dependencies.add_to(&manifest, &root))?;
        let optimized = manifest::optimize_build_scripts(&root)?;
        say(output, "Cargo.toml", added || optimized)
    }

    /// The build script, and the kernels that it names. A package with a build script keeps it.
    pub(crate) fn build_script(&self, output: &Output, existing: Existing) -> Result<()> {
        let Some(package) = &self.package else { return Ok(()) };
        let (usual, text) = template::BUILD_SCRIPT;
        let named = manifest::build_script(&package.join("Cargo.toml"))?;
        let name = named.as_deref().unwrap_or(usual);
        let path = package.join(name);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if path.exists() && existing == Existing::Kept {
            say(output, name, false)?;
            return if old.contains("offload_build") { Ok(()) } else { Err(foreign_build_script(&path)) };
        }
        write(output, package, ((name, text), existing))?;
        template::KERNELS.iter().try_for_each(|file| write(output, package, (*file, existing)))
    }
}

/// Writes a file of the template.
pub(crate) fn write(
    output: &Output,
    directory: &Path,
    ((name, text), existing): ((&str, &str), Existing),
) -> Result<()> {
    let path = directory.join(name);
    let writes = existing == Existing::Replaced || !path.exists();
    if writes {
        create_parent(&path)?;
        publish(&path, text.as_bytes())?;
    }
    say(output, name, writes)
}

fn foreign_build_script(path: &Path) -> Error {
    let call = "offload_build::Build::new().file(\"kernels/NAME.cl\").compile(\"NAME\");";
    Error::usage(format!("`{}` compiles no kernels", path.display()))
        .hint(format!("add `{call}` to its `main`, or let --force replace it"))
}

fn say(output: &Output, file: &str, changed: bool) -> Result<()> {
    let text = if changed { format!("wrote {file}") } else { format!("{file} has it already") };
    output.message(&Message { reason: "init", file, changed }, &text)
}

fn create_parent(path: &Path) -> Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|error| Error::io("create directory", parent, &error))
}

/// `[env] OFFLOAD_CONFIG`, unless it is set; everything else in the file stays.
fn add_setting(path: &Path) -> Result<bool> {
    let mut document = if path.exists() { manifest::open(path)? } else { DocumentMut::new() };
    let env = document.entry("env").or_insert(Item::Table(Table::new()));
    let env = env
        .as_table_like_mut()
        .ok_or_else(|| Error::usage(format!("`env` in `{}` is no table", path.display())))?;
    if env.contains_key("OFFLOAD_CONFIG") {
        return Ok(false);
    }
    let mut value = InlineTable::new();
    value.insert("value", "offload.toml".into());
    value.insert("relative", true.into());
    env.insert("OFFLOAD_CONFIG", Item::Value(Value::InlineTable(value)));
    create_parent(path)?;
    publish(path, document.to_string().as_bytes())?;
    Ok(true)
}
