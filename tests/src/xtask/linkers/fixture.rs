//! The fixture's copy, and cargo in it.

use std::path::PathBuf;

use serde_json::Value;

use super::linker::Linker;
use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::workspace::Workspace;

/// The programs of `tests/fixtures/linkers`, copied to where they may be built.
#[derive(Debug)]
pub(super) struct Fixture<'a> {
    pub(super) workspace: &'a Workspace,
    dir: PathBuf,
}

/// Outcome of a build, from cargo's messages.
#[derive(Debug)]
pub(super) struct Built {
    /// The program or shared library.
    pub(super) file: PathBuf,
    /// The linkers that ran, as they call themselves.
    pub(super) linkers: Vec<String>,
    /// Archives with images among its dependencies, as `DIRECTORY/NAME`.
    pub(super) archives: Vec<String>,
}

impl<'a> Fixture<'a> {
    /// Copies the fixture below the target directory; the same place each time, so that little is built again.
    pub(super) fn prepare(workspace: &'a Workspace) -> Result<Fixture<'a>> {
        let dir = workspace.shell.create_dir(workspace.target_dir.join("linkers/src"))?;
        fixture::copy(workspace, "linkers", &dir)?;
        Ok(Fixture { workspace, dir })
    }

    /// Builds a package; the linker's arguments are for its last step alone, so its dependencies serve all cells.
    pub(super) fn build(
        &self,
        package: &str,
        linker: &Linker,
        profile: &str,
        archives: &str,
    ) -> Result<Built> {
        let log = self.dir.join(format!("{package}.{profile}.{}.log", linker.name));
        self.workspace.shell.remove_path(&log)?;
        self.touch(package)?;
        let _in = self.workspace.shell.push_dir(&self.dir);
        let cargo =
            self.workspace.cargo().args(["rustc", "--quiet", "--message-format=json-render-diagnostics"]);
        let cargo = cargo.args(["--package", package, "--profile", profile, "--"]);
        let cargo =
            cargo.arg(format!("-Clinker={}", self.dir.join("record-cc").display())).args(&linker.args);
        let cargo = cargo
            .env("CARGO_TARGET_DIR", self.workspace.target_dir.join("linkers/target"))
            .env("OFFLOAD_TARGETS", "opencl-c")
            .env("OFFLOAD_CACHE_DIR", self.workspace.target_dir.join("linkers/cache"))
            .env("OFFLOAD_LINKER_LOG", &log)
            .env("CONTROL_ARCHIVES", archives)
            .env_remove("RUSTFLAGS");
        let messages = cargo.quiet().read();
        let messages = messages.map_err(|_| Error::new(format!("`{package}` does not build; see above")))?;
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let linkers = text.lines().map(str::to_string).collect();
        let (file, archives) = read_messages(&messages, package)?;
        Ok(Built { file, linkers, archives })
    }

    /// Makes cargo link again: a cell that was linked by an earlier run proves nothing about the linker.
    fn touch(&self, package: &str) -> Result<()> {
        for file in ["src/main.rs", "src/lib.rs"].map(|file| self.dir.join(package).join(file)) {
            if file.exists() {
                let text = self.workspace.shell.read_file(&file)?;
                self.workspace.shell.write_file(&file, text)?;
            }
        }
        Ok(())
    }
}

/// <https://doc.rust-lang.org/cargo/reference/external-tools.html#json-messages>
fn read_messages(messages: &str, package: &str) -> Result<(PathBuf, Vec<String>)> {
    let mut file = None;
    let mut archives = Vec::new();
    for message in messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        match message.get("reason").and_then(Value::as_str) {
            Some("compiler-artifact")
                if message.pointer("/target/name").and_then(Value::as_str) == Some(package) =>
            {
                file = artifact(&message).or(file);
            }
            Some("build-script-executed") => archives.extend(archives_of(&message)),
            _ => {}
        }
    }
    let file = file.ok_or_else(|| Error::new(format!("cargo named no file for `{package}`")))?;
    Ok((file, archives))
}

fn artifact(message: &Value) -> Option<PathBuf> {
    let library =
        || message.get("filenames")?.as_array()?.iter().find_map(|name| shared_library(name.as_str()?));
    message.get("executable").and_then(Value::as_str).map(PathBuf::from).or_else(library)
}

fn shared_library(name: &str) -> Option<PathBuf> {
    name.ends_with(".so").then(|| PathBuf::from(name))
}

/// The archives that offload-build asked to link whole.
fn archives_of(message: &Value) -> Vec<String> {
    let texts =
        |key| message.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let dir = texts("linked_paths").find_map(|path| path.strip_prefix("native="));
    let names = texts("linked_libs").filter_map(|lib| lib.strip_prefix("static:-bundle,+whole-archive="));
    names.filter_map(|name| Some(format!("{}/{name}", dir?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_program_and_the_archives() {
        let messages = r#"
{"reason":"build-script-executed","linked_libs":["static:-bundle,+whole-archive=a_1"],"linked_paths":["native=/o"]}
{"reason":"build-script-executed","linked_libs":["static=zstd"],"linked_paths":["native=/z"]}
{"reason":"compiler-artifact","target":{"name":"report"},"executable":null,"filenames":["/t/libreport.rlib"]}
{"reason":"compiler-artifact","target":{"name":"app"},"executable":"/t/app","filenames":["/t/app"]}
{"reason":"build-finished","success":true}
"#;
        let (file, archives) = read_messages(messages, "app").unwrap();
        assert_eq!((file, archives), (PathBuf::from("/t/app"), vec!["/o/a_1".to_string()]));
        assert!(read_messages("", "app").is_err());
    }

    #[test]
    fn messages_name_the_plugin() {
        let message =
            r#"{"reason":"compiler-artifact","target":{"name":"plug"},"filenames":["/t/libplug.so"]}"#;
        assert_eq!(read_messages(message, "plug").unwrap().0, PathBuf::from("/t/libplug.so"));
    }
}
