//! Our side: a crate whose build script compiles one module for each file. Beside it the same crate without kernels.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{self, Profile, Side};
use super::plan::{BuildScripts, Plan};
use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

/// The crate with kernels.
#[derive(Debug)]
pub(super) struct Ours {
    package: Package,
    /// Whether a copy was made of the cache as it was before the second profile.
    kept: Cell<bool>,
}

/// The same crate without kernels: what cargo itself costs.
#[derive(Debug)]
pub(super) struct Plain {
    package: Package,
}

/// A package of the generated cargo workspace.
#[derive(Clone, Debug)]
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) cargo: PathBuf,
    pub(super) dir: PathBuf,
    pub(super) target: PathBuf,
    pub(super) cache: PathBuf,
    pub(super) jobs: usize,
}

impl Ours {
    /// Writes both crates to `dir` and builds all that they depend on, in both profiles.
    pub(super) fn prepare(workspace: &Workspace, dir: &Path, plan: &Plan) -> Result<Ours> {
        let root = dir.join("cargo");
        write_crates(workspace, &root, plan)?;
        let package = Package {
            name: "app",
            cargo: workspace.cargo_path().to_path_buf(),
            target: root.join("target"),
            cache: dir.join("kernel-cache"),
            dir: root,
            jobs: plan.jobs,
        };
        for profile in [Profile::First, Profile::Second] {
            measure::run(&mut Package { name: "plain", ..package.clone() }.build(profile))?;
        }
        Ok(Ours { package, kept: Cell::new(false) })
    }

    /// The program with the kernels.
    pub(super) fn program(&self) -> PathBuf {
        self.package.target.join("debug/app")
    }
}

impl Plain {
    pub(super) fn beside(ours: &Ours) -> Plain {
        Plain { package: Package { name: "plain", ..ours.package.clone() } }
    }
}

impl Side for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn build(&self, profile: Profile) -> Command {
        self.package.build(profile)
    }

    fn forget_everything(&self) -> Result<()> {
        // What is built from now on has other edits.
        self.kept.set(false);
        remove(&self.package.cache)?;
        self.package.clean(Profile::First)
    }

    fn forget_second_profile(&self) -> Result<()> {
        // The first run of the second profile left its own results in the cache.
        let cache = &self.package.cache;
        let kept = self.package.cache.with_extension("kept");
        if self.kept.replace(true) {
            copy(&kept, cache)?
        } else {
            copy(cache, &kept)?
        }
        self.package.clean(Profile::Second)
    }
}

impl Side for Plain {
    fn name(&self) -> &'static str {
        "no kernels"
    }

    fn build(&self, profile: Profile) -> Command {
        self.package.build(profile)
    }

    fn forget_everything(&self) -> Result<()> {
        self.package.clean(Profile::First)
    }

    fn forget_second_profile(&self) -> Result<()> {
        self.package.clean(Profile::Second)
    }
}

impl Package {
    /// Removes what was made of kernels.
    pub(super) fn forget_results(&self) -> Result<()> {
        remove(&self.cache)
    }

    pub(super) fn build(&self, profile: Profile) -> Command {
        let mut command = self.cargo("build", profile);
        command.args(["-j", &self.jobs.to_string()]);
        command
    }

    fn clean(&self, profile: Profile) -> Result<()> {
        measure::run(&mut self.cargo("clean", profile))
    }

    fn cargo(&self, subcommand: &str, profile: Profile) -> Command {
        let mut command = Command::new(&self.cargo);
        command.args([subcommand, "--offline", "--package", self.name]).current_dir(&self.dir);
        if profile == Profile::Second {
            command.arg("--release");
        }
        command.env("CARGO_TARGET_DIR", &self.target).env("OFFLOAD_CACHE_DIR", &self.cache);
        // The images are read back from the program, and the other sides link theirs.
        command.env("OFFLOAD_EMBED", "always");
        for name in
            ["OFFLOAD_CONFIG", "OFFLOAD_TARGETS", "CLIPPY_ARGS", "RUSTFLAGS", "CARGO_MAKEFLAGS", "MAKEFLAGS"]
        {
            command.env_remove(name);
        }
        command
    }
}

fn remove(dir: &Path) -> Result<()> {
    if dir.exists() { Ok(std::fs::remove_dir_all(dir)?) } else { Ok(()) }
}

/// Makes `to` a copy of the directory `from`.
fn copy(from: &Path, to: &Path) -> Result<()> {
    remove(to)?;
    measure::run(Command::new("cp").arg("-a").arg(from).arg(to))
}

fn write_crates(workspace: &Workspace, root: &Path, plan: &Plan) -> Result<()> {
    let modules: Vec<String> = plan.modules().collect();
    write_workspace(workspace, root, plan, &plan.target_names(), &modules)
}

/// Writes a package with these modules, and one without, to `root`. The kernels are in a directory beside it.
pub(super) fn write_workspace(
    workspace: &Workspace,
    root: &Path,
    plan: &Plan,
    targets: &[String],
    modules: &[String],
) -> Result<()> {
    let app = root.join("app");
    let plain = root.join("plain");
    let tuned = match plan.build_scripts {
        BuildScripts::Default => "",
        BuildScripts::Tuned => {
            "\n[profile.dev.build-override]\nopt-level = 3\n\n[profile.release.build-override]\nopt-level = 3\n"
        }
    };
    write(workspace, &root.join("Cargo.toml"), &format!("{WORKSPACE}{tuned}"))?;
    write(workspace, &root.join(".cargo/config.toml"), CONFIG)?;
    write(workspace, &root.join("offload.toml"), &format!("targets = {targets:?}\n"))?;
    write(workspace, &app.join("Cargo.toml"), &manifest(workspace, "app"))?;
    write(workspace, &plain.join("Cargo.toml"), &manifest(workspace, "plain"))?;
    write(workspace, &app.join("build.rs"), &build_script(modules))?;
    write(
        workspace,
        &plain.join("build.rs"),
        "fn main() {\n    println!(\"cargo::rerun-if-changed=build.rs\");\n}\n",
    )?;
    write(workspace, &app.join("src/main.rs"), &program(modules))?;
    write(workspace, &plain.join("src/main.rs"), &program(&[]))?;
    // The checkout's own lock file: no version is looked up.
    workspace.shell.copy_file(workspace.root.join("Cargo.lock"), root.join("Cargo.lock"))?;
    Ok(())
}

/// Cargo looks at times: a file that is as it should be keeps its own.
fn write(workspace: &Workspace, path: &Path, text: &str) -> Result<()> {
    if workspace.shell.read_file(path).ok().as_deref() != Some(text) {
        workspace.shell.write_file(path, text)?;
    }
    Ok(())
}

const WORKSPACE: &str = "[workspace]\nresolver = \"3\"\nmembers = [\"app\", \"plain\"]\n";

/// Of its own, as a project has it: the workspace may lie in the checkout, whose configuration cargo would find.
const CONFIG: &str = "[env]\nOFFLOAD_CONFIG = { value = \"offload.toml\", relative = true }\n";

fn manifest(workspace: &Workspace, name: &str) -> String {
    let root = workspace.root.display();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\noffload-rt = {{ path = \"{root}/offload-rt\", default-features = false, features = [\"libzstd\"] }}\n\n\
         [build-dependencies]\noffload-build = {{ path = \"{root}/offload-build\" }}\n"
    )
}

fn build_script(modules: &[String]) -> String {
    let calls = modules.iter().map(|module| {
        format!(
            "    offload_build::Build::new().file(\"../../kernels/{module}.cl\").compile(\"{module}\");\n"
        )
    });
    format!("fn main() {{\n{}}}\n", calls.collect::<String>())
}

fn program(modules: &[String]) -> String {
    let includes = modules.iter().map(|module| format!("offload_rt::include_kernels!(\"{module}\");\n"));
    let counts =
        modules.iter().map(|module| format!("    images += {module}::module().entries().count();\n"));
    format!(
        "{}\nfn main() {{\n    #[allow(unused_mut)]\n    let mut images = 0;\n{}    println!(\"{{images}}\");\n}}\n",
        includes.collect::<String>(),
        counts.collect::<String>()
    )
}
