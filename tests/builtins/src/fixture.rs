//! The program with all kernels: `tests/fixtures/builtins`, copied, with its kernels, to where it may be built.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::case::Case;
use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::setup::{self, Toolkit};
use offload_tests::workspace::Workspace;

/// The copy.
#[derive(Debug)]
pub(super) struct Fixture<'a> {
    pub(super) workspace: &'a Workspace,
    name: &'a str,
    dir: PathBuf,
    /// Where libdevice is.
    cuda: PathBuf,
}

/// The program for one target.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) program: PathBuf,
    /// The error of each kernel that does not compile.
    pub(super) errors: BTreeMap<String, String>,
}

impl<'a> Fixture<'a> {
    /// The same place each time, so that little is built again; each list of cases has a `name`.
    pub(super) fn prepare(
        workspace: &'a Workspace,
        (name, cases): (&'a str, &[Case]),
    ) -> Result<Fixture<'a>> {
        let dir = workspace.shell.create_dir(workspace.target_dir.join("builtins/src").join(name))?;
        let given = workspace.shell.var_os("CUDA_PATH").map(PathBuf::from);
        let given = given.filter(|dir| dir.join("nvvm/libdevice").is_dir());
        let cuda = given.map_or_else(|| setup::ensure_cuda(workspace, Toolkit::Ptxas), Ok)?;
        let fixture = Fixture { workspace, name, dir, cuda };
        fixture::copy(workspace, "builtins", &fixture.dir)?;
        let manifest = Value::Array(cases.iter().map(Case::json).collect());
        fixture.put("cases.json", &manifest.to_string())?;
        fixture.put("sources.json", &sources(cases).to_string())?;
        Ok(fixture)
    }

    /// Where results lie.
    pub(super) fn output(&self) -> Result<PathBuf> {
        self.directory("results")
    }

    /// Programs and results of some built-ins lie beside those of all.
    fn directory(&self, name: &str) -> Result<PathBuf> {
        let builtins = self.workspace.target_dir.join("builtins");
        let below = if self.name.starts_with("part") { builtins.join("part") } else { builtins };
        Ok(self.workspace.shell.create_dir(below.join(name))?)
    }

    /// One directory serves all targets, so that their crates are compiled once; the program of each is copied.
    pub(super) fn build(&self, target: &str) -> Result<Built> {
        let target_dir = self.workspace.target_dir.join("builtins/build");
        let _in = self.workspace.shell.push_dir(&self.dir);
        let cargo = self.workspace.cargo().args(["build", "--release", "--quiet"]);
        let cargo = cargo
            .env("CARGO_TARGET_DIR", &target_dir)
            .env("OFFLOAD_TARGETS", target)
            .env("CUDA_PATH", &self.cuda)
            .env_remove("RUSTFLAGS")
            .env_remove("OFFLOAD_CONFIG");
        cargo.quiet().run().map_err(|_| Error::new("the fixture does not build; see above"))?;
        let program = self.directory(&target.replace(':', "-"))?.join("builtins-runner");
        self.workspace.shell.copy_file(target_dir.join("release/builtins-runner"), &program)?;
        let text = self.workspace.shell.cmd(&program).arg("errors").quiet().read()?;
        Ok(Built { errors: errors(&text)?, program })
    }

    /// An unchanged file keeps its time, and what was built from it.
    fn put(&self, path: impl AsRef<Path>, text: &str) -> Result<()> {
        let path = self.dir.join(path);
        if self.workspace.shell.read_file(&path).ok().as_deref() != Some(text) {
            self.workspace.shell.write_file(&path, text)?;
        }
        Ok(())
    }
}

/// What the build script reads: names, versions of OpenCL C and texts, in order.
fn sources(cases: &[Case]) -> Value {
    cases.iter().map(|case| serde_json::json!([case.kernel, case.std(), case.source])).collect()
}

fn errors(text: &str) -> Result<BTreeMap<String, String>> {
    serde_json::from_str(text)
        .map_err(|error| Error::new(format!("the program's list of errors cannot be read: {error}")))
}
