//! The linkers under test, with the rustc flags that select each and the name in its version output.

use std::path::{Path, PathBuf};

use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

/// A linker of this machine.
#[derive(Debug)]
pub(crate) struct Linker {
    pub(crate) name: &'static str,
    /// The first line of its `--version`.
    pub(super) version: String,
    /// Arguments of rustc.
    pub(crate) args: Vec<String>,
}

/// Turns off rustc's own default on x86-64 Linux, which is to pass `-fuse-ld=lld` with its own directory:
/// <https://doc.rust-lang.org/rustc/codegen-options/index.html#linker-features>.
const NOT_RUST_LLD: &str = "-Clinker-features=-lld";

/// The linkers that come with rustc and gcc.
pub(super) fn always_there(workspace: &Workspace) -> Result<Vec<Linker>> {
    let bfd = by_name(workspace, "ld.bfd", "bfd")?;
    let bfd = bfd.ok_or_else(|| Error::new("ld.bfd is not in PATH").hint("install binutils"))?;
    Ok(vec![rust_lld(workspace)?, bfd])
}

/// Every linker that is installed.
pub(super) fn installed(workspace: &Workspace) -> Result<Vec<Linker>> {
    let mut linkers = always_there(workspace)?;
    linkers.extend(by_name(workspace, "ld.gold", "gold")?);
    linkers.extend(lld(workspace)?);
    linkers.extend(by_name(workspace, "mold", "mold")?);
    Ok(linkers)
}

fn rust_lld(workspace: &Workspace) -> Result<Linker> {
    let libdir = workspace.shell.cmd("rustc").args(["--print", "target-libdir"]).quiet().read()?;
    let program = Path::new(&libdir).with_file_name("bin").join("gcc-ld/ld.lld");
    Ok(Linker { name: "rust-lld", version: version(workspace, &program)?, args: Vec::new() })
}

fn by_name(workspace: &Workspace, program: &str, name: &'static str) -> Result<Option<Linker>> {
    let Some(program) = workspace.program(program) else { return Ok(None) };
    let args = vec![NOT_RUST_LLD.to_string(), format!("-Clink-arg=-fuse-ld={name}")];
    Ok(Some(Linker { name, version: version(workspace, &program)?, args }))
}

/// gcc knows LLD only as `ld.lld`, which may be another version than the one wanted, or missing.
fn lld(workspace: &Workspace) -> Result<Option<Linker>> {
    let Some(program) = setup::llvm(workspace, "ld.lld") else { return Ok(None) };
    let dir = workspace.shell.create_dir(workspace.target_dir.join("linkers/lld"))?;
    let link = dir.join("ld.lld");
    workspace.shell.remove_path(&link)?;
    std::os::unix::fs::symlink(resolved(&program), &link)?;
    let args = [
        NOT_RUST_LLD.to_string(),
        format!("-Clink-arg=-B{}", dir.display()),
        "-Clink-arg=-fuse-ld=lld".into(),
    ];
    Ok(Some(Linker { name: "lld", version: version(workspace, &link)?, args: args.into() }))
}

/// LLD's several names are links to one file that looks at the name it is called by.
fn resolved(program: &Path) -> PathBuf {
    program.canonicalize().unwrap_or_else(|_| program.to_path_buf())
}

fn version(workspace: &Workspace, program: &Path) -> Result<String> {
    let text = workspace.shell.cmd(program).arg("--version").quiet().read()?;
    Ok(text.lines().next().unwrap_or_default().to_string())
}
