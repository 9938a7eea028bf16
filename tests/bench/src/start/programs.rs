//! The programs of `tests/fixtures/start`.

use std::path::PathBuf;

use offload_tests::error::Result;
use offload_tests::fixture;
use offload_tests::workspace::Workspace;

/// Built programs.
#[derive(Debug)]
pub(super) struct Programs<'a> {
    workspace: &'a Workspace,
    dir: PathBuf,
}

impl<'a> Programs<'a> {
    /// Builds them; the one with a bundle gets that of another's images.
    pub(super) fn build(workspace: &'a Workspace, images: u64) -> Result<Programs<'a>> {
        let dir = workspace.shell.create_dir(workspace.target_dir.join("bench/start"))?;
        let programs = Programs { workspace, dir };
        fixture::copy(workspace, "start", &programs.dir.join("src"))?;
        for program in ["bare", "many", "first", "choose"] {
            programs.cargo(program, images)?;
        }
        let bundle = programs.dir.join("family.ccob");
        workspace.shell.remove_path(&bundle)?;
        let cargo = workspace.cargo().args([
            "run",
            "--quiet",
            "--package",
            "cargo-offload",
            "--bin",
            "cargo-offload",
        ]);
        let export =
            cargo.args(["--", "export", "--force", "--format", "ccob", "--module", "family", "--output"]);
        export.arg(&bundle).arg(programs.path("first")).quiet().ignore_stdout().run()?;
        programs.cargo("ccob", images)?;
        Ok(programs)
    }

    pub(super) fn path(&self, program: &str) -> PathBuf {
        self.dir.join("target/release").join(program)
    }

    fn cargo(&self, program: &str, images: u64) -> Result<()> {
        let _in = self.workspace.shell.push_dir(self.dir.join("src"));
        let cargo = self.workspace.cargo().args(["build", "--quiet", "--release", "--bin", program]);
        let cargo = cargo
            .env("CARGO_TARGET_DIR", self.dir.join("target"))
            .env("OFFLOAD_CACHE_DIR", self.dir.join("cache"))
            .env("MANY_IMAGES", images.to_string())
            .env("CCOB_FILE", self.dir.join("family.ccob"));
        // Where the target directory lies in the checkout, cargo would name the checkout's own configuration.
        let config = self.dir.join("offload.toml");
        self.workspace.shell.write_file(&config, "")?;
        Ok(cargo.env("OFFLOAD_CONFIG", config).env_remove("OFFLOAD_TARGETS").quiet().run()?)
    }
}
