//! The packages that are built: a new one of ours, and small ones with other build dependencies.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::rebuild::measure;
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

/// A package, ready to be built without the network.
pub(super) struct Project {
    pub(super) name: &'static str,
    pub(super) dir: PathBuf,
    /// The `cargo-offload` that compiles its kernels.
    pub(super) compiler: Option<PathBuf>,
}

pub(super) const DELEGATED: &str = "kernels by cargo-offload";
pub(super) const PURE: &str = "the same, decoders in Rust";
pub(super) const BINDGEN_NAME: &str = "bindgen";

/// What a small package is made of.
struct Small {
    name: &'static str,
    dependencies: &'static str,
    build_script: &'static str,
    program: &'static str,
    /// What the build script reads.
    input: [&'static str; 2],
}

const CC: Small = Small {
    name: "cc and a plain build.rs",
    dependencies: "[build-dependencies]\ncc = \"1\"\n",
    build_script: "fn main() {\n    cc::Build::new().file(\"add.c\").compile(\"add\");\n}\n",
    program: "unsafe extern \"C\" {\n    safe fn add(a: i32, b: i32) -> i32;\n}\nfn main() {\n    println!(\"{}\", add(1, 2));\n}\n",
    input: ["add.c", "int add(int a, int b) { return a + b; }\n"],
};

const BINDGEN: Small = Small {
    name: BINDGEN_NAME,
    dependencies: "[build-dependencies]\nbindgen = \"0.72\"\n",
    build_script: "fn main() {\n    let bindings = bindgen::Builder::default().header(\"add.h\").generate().unwrap();\n    let out = std::path::PathBuf::from(std::env::var_os(\"OUT_DIR\").unwrap());\n    bindings.write_to_file(out.join(\"add.rs\")).unwrap();\n}\n",
    program: "include!(concat!(env!(\"OUT_DIR\"), \"/add.rs\"));\nfn main() {\n    println!(\"{}\", LIMIT);\n}\n",
    input: ["add.h", "#define LIMIT 12\n"],
};

const PROST: Small = Small {
    name: "prost-build",
    dependencies: "[dependencies]\nprost = \"0.14\"\n\n[build-dependencies]\nprost-build = \"0.14\"\n",
    build_script: "fn main() {\n    prost_build::compile_protos(&[\"point.proto\"], &[\".\"]).unwrap();\n}\n",
    program: "include!(concat!(env!(\"OUT_DIR\"), \"/point.rs\"));\nfn main() {\n    println!(\"{:?}\", Point { x: 1 });\n}\n",
    input: ["point.proto", "syntax = \"proto3\";\npackage point;\nmessage Point { int32 x = 1; }\n"],
};

/// Writes all, ours first, outside of the checkout: cargo would take a package in it for a member.
pub(super) fn write(workspace: &Workspace, dir: &Path) -> Result<Vec<Project>> {
    let ours = ours(workspace, dir)?;
    let edits = [without_compiler(workspace), without_c(workspace)];
    let by_tool = delegated(workspace, &ours, DELEGATED, &edits[..1])?;
    let pure = delegated(workspace, &ours, PURE, &edits)?;
    let mut projects = vec![ours, by_tool, pure];
    for (number, small) in [CC, BINDGEN, PROST].into_iter().enumerate() {
        projects.push(small.write(workspace, &dir.join(format!("small{number}")))?);
    }
    Ok(projects)
}

/// What `cargo offload new hello` makes, of this checkout's crates.
fn ours(workspace: &Workspace, dir: &Path) -> Result<Project> {
    workspace.cargo().args(["build", "--quiet", "--package", "cargo-offload"]).quiet().run()?;
    let tool = workspace.target_dir.join("debug/cargo-offload");
    let project = dir.join("hello");
    let mut new = Command::new(tool);
    new.args(["offload", "new", "--vcs", "none", "--checkout"]).arg(&workspace.root).arg(&project);
    measure::run(new.current_dir(dir).env("CARGO", workspace.cargo_path()))?;
    // No version is looked up that the checkout does not have.
    std::fs::copy(workspace.root.join("Cargo.lock"), project.join("Cargo.lock"))?;
    fetch(workspace, &project)?;
    Ok(Project { name: "cargo offload new hello", dir: project, compiler: None })
}

/// A line of the manifest that `cargo offload new` writes, and what stands there instead.
struct Edit {
    from: String,
    to: String,
}

/// The package with edits of its manifest, its kernels compiled by a `cargo-offload` that is not optimised, as build scripts
/// are not.
fn delegated(workspace: &Workspace, ours: &Project, name: &'static str, edits: &[Edit]) -> Result<Project> {
    let project = ours.dir.with_file_name(name.replace(' ', "-"));
    let mut copy = Command::new("cp");
    measure::run(copy.arg("-r").arg(&ours.dir).arg(&project))?;
    let manifest = project.join("Cargo.toml");
    let mut text = std::fs::read_to_string(&manifest)?;
    for Edit { from, to } in edits {
        if !text.contains(from) {
            return Err(Error::new(format!("`{}` has no line `{from}`", manifest.display())));
        }
        text = text.replace(from, to);
    }
    std::fs::write(&manifest, text)?;
    let compiler = Some(workspace.target_dir.join("debug/cargo-offload"));
    Ok(Project { name, dir: project, compiler })
}

/// The build script has no compiler.
fn without_compiler(workspace: &Workspace) -> Edit {
    let from = format!("offload-build = {{ path = \"{}\" }}", workspace.root.join("offload-build").display());
    let to = from.replace(" }", ", default-features = false }");
    Edit { from, to }
}

/// The program decodes without a library in C.
fn without_c(workspace: &Workspace) -> Edit {
    let path = workspace.root.join("offload-rt");
    let from = format!("offload-rt = {{ path = \"{}\", features = [\"opencl\"] }}", path.display());
    let to = from.replace(
        "features = [\"opencl\"]",
        "default-features = false, features = [\"host\", \"opencl\", \"pure\"]",
    );
    Edit { from, to }
}

impl Small {
    fn write(&self, workspace: &Workspace, dir: &Path) -> Result<Project> {
        let [input, content] = self.input;
        let package = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n";
        let manifest = format!("{package}{}", self.dependencies);
        std::fs::create_dir_all(dir.join("src"))?;
        for (name, text) in [
            ("Cargo.toml", manifest.as_str()),
            ("build.rs", self.build_script),
            ("src/main.rs", self.program),
            (input, content),
        ] {
            std::fs::write(dir.join(name), text)?;
        }
        fetch(workspace, dir)?;
        Ok(Project { name: self.name, dir: dir.to_path_buf(), compiler: None })
    }
}

/// Has cargo download what the package needs.
fn fetch(workspace: &Workspace, dir: &Path) -> Result<()> {
    measure::run(super::cargo(workspace, dir).args(["fetch", "--quiet"]))
}
