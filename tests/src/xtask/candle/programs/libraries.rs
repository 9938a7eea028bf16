//! What the programs are linked to: stand-ins for cuBLAS and cuRAND, and libraries for the linker alone that have the names
//! of the driver's and of NVRTC's functions.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

use super::COMPUTE_CAPABILITY;

/// A library whose kernels nvcc compiles.
struct StandIn {
    name: &'static str,
    /// What programs look for at run time.
    soname: &'static str,
}

const STAND_INS: [StandIn; 2] = [
    StandIn { name: "cublas", soname: "libcublas.so.13" },
    StandIn { name: "curand", soname: "libcurand.so.10" },
];

/// A library that only the linker sees.
struct Stub {
    name: &'static str,
    soname: &'static str,
    /// The file of cudarc that declares its functions, and how their names begin.
    declarations: &'static str,
    prefix: &'static str,
}

const STUBS: [Stub; 3] = [
    Stub { name: "cuda", soname: "libcuda.so.1", declarations: "driver", prefix: "cu" },
    Stub { name: "nvrtc", soname: "libnvrtc.so.13", declarations: "nvrtc", prefix: "nvrtc" },
    Stub { name: "cublasLt", soname: "libcublasLt.so.13", declarations: "cublaslt", prefix: "cublasLt" },
];

/// CUDA's runtime, to which candle's own build script links.
const RUNTIME: &str = "libcudart.so.13";

pub(super) struct Libraries {
    /// As the root of a toolkit, with `lib`.
    pub(super) root: PathBuf,
    runtime: PathBuf,
}

impl Libraries {
    /// Builds them below `root`; `cudarc` is the folder of that crate.
    pub(super) fn build(workspace: &Workspace, nvcc: &Path, cudarc: &Path, root: &Path) -> Result<Libraries> {
        let lib = workspace.shell.create_dir(root.join("lib"))?;
        let sources = workspace.root.join("tests/fixtures/candle-core/stand-ins");
        for StandIn { name, soname } in STAND_INS {
            let library = lib.join(soname);
            let source = sources.join(name).with_extension("cu");
            if is_newer(&source, &library) {
                let compile = workspace.shell.cmd(nvcc.join("bin/nvcc"));
                let compile = compile.args(["-shared", "-O2", "-std=c++17", "-Xcompiler", "-fPIC"]);
                let compile =
                    compile.arg(format!("-arch=sm_{COMPUTE_CAPABILITY}")).arg("-L").arg(nvcc.join("lib"));
                let compile = compile.args(["-cudart", "static", "-Xlinker", "-soname", "-Xlinker", soname]);
                compile.arg(&source).arg("-o").arg(&library).run()?;
            }
            link(&lib, name, soname)?;
        }
        for Stub { name, soname, declarations, prefix } in STUBS {
            let text = fs::read_to_string(cudarc.join("src").join(declarations).join("sys/mod.rs"))?;
            let source = lib.join(name).with_extension("c");
            fs::write(&source, stub(&text, prefix)?)?;
            let compile = workspace.shell.cmd("cc").args(["-shared", "-fPIC"]).arg(&source);
            let compile = compile.arg(format!("-Wl,-soname,{soname}")).arg("-o").arg(lib.join(soname));
            compile.run()?;
            link(&lib, name, soname)?;
        }
        let runtime = nvcc.join("lib").join(RUNTIME);
        workspace.shell.copy_file(&runtime, lib.join(RUNTIME))?;
        link(&lib, "cudart", RUNTIME)?;
        Ok(Libraries { root: root.to_path_buf(), runtime })
    }

    /// Copies what the programs need at run time: the driver's library is the machine's.
    pub(super) fn copy(&self, workspace: &Workspace, folder: &Path) -> Result<()> {
        let lib = workspace.shell.create_dir(folder.join("lib"))?;
        for StandIn { name, soname } in STAND_INS {
            let strip = workspace.shell.cmd("strip").arg("-o").arg(lib.join(soname));
            strip.arg(self.root.join("lib").join(soname)).run()?;
            // What cudarc looks for first: a toolkit that the machine has is not found instead.
            link(&lib, name, soname)?;
        }
        let to = workspace.shell.create_dir(folder.join("nvcc/lib"))?;
        workspace.shell.copy_file(&self.runtime, to.join(RUNTIME))?;
        Ok(())
    }
}

fn is_newer(source: &Path, library: &Path) -> bool {
    let time = |file: &Path| fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
    time(source) > time(library)
}

/// The name that the linker looks for.
fn link(lib: &Path, name: &str, soname: &str) -> Result<()> {
    let link = lib.join(format!("lib{name}.so"));
    if fs::symlink_metadata(&link).is_err() {
        std::os::unix::fs::symlink(soname, &link)?;
    }
    Ok(())
}

/// The source of a library with the functions that `declarations` has.
fn stub(declarations: &str, prefix: &str) -> Result<String> {
    let mut names = BTreeSet::new();
    for line in declarations.lines() {
        let Some(rest) = line.trim_start().strip_prefix("fn ") else { continue };
        let Some((name, _)) = rest.split_once('(') else { continue };
        if name.starts_with(prefix) {
            names.insert(name);
        }
    }
    if names.is_empty() {
        return Err(Error::new(format!("cudarc declares no function `{prefix}...`")));
    }
    let mut text = String::new();
    for name in names {
        text.push_str(&format!("void {name}(void) {{}}\n"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_have_each_function_once() {
        let text = "pub unsafe fn cuInit(f: u32) {\n  fn cuInit(f: u32) -> R;\n fn cuInit(f: u32) -> R;\n fn other() -> R;\n";
        assert_eq!(stub(text, "cu").unwrap(), "void cuInit(void) {}\n");
        assert!(stub(text, "nvrtc").is_err());
    }
}
