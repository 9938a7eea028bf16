//! A package outside of the workspace whose build script compiles the file that the environment names. Its program prints
//! the number of kernels.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

const MANIFEST: &str = r#"[package]
name = "file-package"
version = "0.1.0"
edition = "2024"
publish = false

[workspace]

[dependencies]
offload-rt = { path = "@ROOT@/offload-rt", default-features = false, features = ["libzstd"] }

[build-dependencies]
offload-build = { path = "@ROOT@/offload-build" }

[profile.dev.build-override]
opt-level = 1

[profile.release]
strip = true

[profile.release.build-override]
opt-level = 1
"#;

const MAIN: &str = r#"offload_rt::include_kernels!("kernels");

fn main() {
    let kernels = kernels::module().entries().map(|entry| entry.kernels().len());
    println!("{}", kernels.sum::<usize>());
}
"#;

pub(crate) struct FilePackage {
    directory: PathBuf,
    pub(crate) package: PathBuf,
    cargo: PathBuf,
}

impl FilePackage {
    /// Writes the package below `directory`. Its `build` script compiles the module `kernels` for `target`.
    pub(crate) fn create(
        workspace: &Workspace,
        directory: PathBuf,
        build: &str,
        target: &str,
    ) -> Result<FilePackage> {
        let package = directory.join("package");
        fs::create_dir_all(package.join("src"))?;
        let root = workspace.root.display().to_string();
        fs::write(package.join("Cargo.toml"), MANIFEST.replace("@ROOT@", &root))?;
        fs::write(package.join("build.rs"), build)?;
        fs::write(package.join("src/main.rs"), MAIN)?;
        fs::write(package.join("offload.toml"), format!("targets = [\"{target}\"]\n"))?;
        fs::copy(workspace.root.join("Cargo.lock"), package.join("Cargo.lock"))?;
        Ok(FilePackage { directory, package, cargo: workspace.cargo_path().into() })
    }

    /// With `main` as its program, which calls host functions of the file.
    pub(crate) fn with_launchers(self, main: &str) -> Result<FilePackage> {
        let manifest = self.package.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)?;
        let text = text.replace("[\"libzstd\"]", "[\"libzstd\", \"launchers\"]");
        fs::write(&manifest, text.replace("[build-dependencies]\n", "[build-dependencies]\ncc = \"1\"\n"))?;
        fs::write(self.package.join("src/main.rs"), main)?;
        Ok(self)
    }

    /// The program that [`FilePackage::build`] builds.
    pub(crate) fn program(&self) -> PathBuf {
        self.directory.join("target/release/file-package")
    }

    /// The command that builds and runs it, with an assembler of CUDA's at `ptxas`.
    pub(crate) fn run(&self, ptxas: &Path) -> Command {
        self.command(&["run", "--quiet"], ptxas)
    }

    /// The command that builds a release of it.
    pub(crate) fn build(&self, ptxas: &Path) -> Command {
        self.command(&["build", "--quiet", "--release"], ptxas)
    }

    fn command(&self, arguments: &[&str], ptxas: &Path) -> Command {
        let mut cargo = Command::new(&self.cargo);
        cargo
            .args(arguments)
            .current_dir(&self.package)
            .env("CARGO_TARGET_DIR", self.directory.join("target"))
            .env("OFFLOAD_CACHE_DIR", self.directory.join("cache"))
            .env("OFFLOAD_CONFIG", self.package.join("offload.toml"))
            .env_remove("OFFLOAD_TARGETS")
            .env(offload_tests::CUDA_VAR, ptxas);
        cargo
    }
}
