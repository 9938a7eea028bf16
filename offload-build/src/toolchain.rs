//! Discovery of compilers: search order, supported releases, and the error with a remedy for a missing tool.

mod installed;
mod libclc;
mod pocl;
mod release;
pub(crate) mod remedy;
mod search;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::cache::{KeyBuilder, Memo};
use crate::error::{Error, Result};
use crate::tool::{Context, Invocation, Tool, file_stamp};
pub use installed::{Component, Output, ToolLocation, Toolchain};
use libclc::Libclc;
pub(crate) use libclc::{LIBCLC_AMD, LIBCLC_NVIDIA};
use offload_protocol::variable;
pub(crate) use pocl::{Pocl, instruction_set};
pub(crate) use search::Llvm;
use search::{Candidates, MIN_LLVM, OLDEST_LLVM};

/// Looks for tools and asks them for their version; the answers are kept in the cache.
#[derive(Debug)]
pub(crate) struct Tools<'a> {
    pub(crate) context: &'a Context,
    llvm: OnceLock<Llvm>,
    spirv_val: OnceLock<Option<Tool>>,
    /// By variable. Every target asks for the same tools, and looking through `PATH` takes its time.
    tools: Memo<&'static str, Tool>,
    libclc: Memo<&'static str, PathBuf>,
}

impl<'a> Tools<'a> {
    pub(crate) fn new(context: &'a Context) -> Tools<'a> {
        Tools {
            context,
            llvm: OnceLock::new(),
            spirv_val: OnceLock::new(),
            tools: Memo::default(),
            libclc: Memo::default(),
        }
    }

    /// The clang that a variable names; else the first of LLVM 22 or later, and without one the newest older one.
    pub(crate) fn llvm(&self) -> Result<&Llvm> {
        if let Some(llvm) = self.llvm.get() {
            return Ok(llvm);
        }
        let llvm = self.find_llvm()?;
        Ok(self.llvm.get_or_init(|| llvm))
    }

    fn find_llvm(&self) -> Result<Llvm> {
        let candidates = Candidates::clang(&self.context.env);
        let mut older: Option<Llvm> = None;
        let mut refused = Vec::new();
        for path in &candidates.found {
            match self.accept_clang(path) {
                Ok(llvm) if candidates.is_named() || llvm.major >= MIN_LLVM => return Ok(llvm),
                Ok(llvm) if older.as_ref().is_none_or(|other| other.major < llvm.major) => older = Some(llvm),
                Ok(_) => {}
                Err(error) => refused.push(format!("`{}`: {error}", path.display())),
            }
        }
        older.ok_or_else(|| {
            let what = format!("clang of LLVM {OLDEST_LLVM} or later");
            candidates.error(&self.context.env, &what, &refused).with_hint(remedy::llvm())
        })
    }

    fn accept_clang(&self, path: &Path) -> Result<Llvm> {
        let clang = self.tool(path)?;
        let first = clang.version.lines().next().unwrap_or_default().to_string();
        let major = llvm_major(&first)
            .ok_or_else(|| Error::new(format!("its version is not understood: {first}")))?;
        if major < OLDEST_LLVM {
            return Err(Error::new(format!(
                "it is LLVM {major}, too old: {OLDEST_LLVM} is the oldest ({first})"
            )));
        }
        let resource_dir = self.cached_stdout(path, &["-print-resource-dir"])?.trim().into();
        let bin_dir = resolved(path)?.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(Llvm { clang, resource_dir, bin_dir, major })
    }

    /// LLVM's linker of bitcode. LLVM's installer for Windows has none; rustup's component `llvm-tools` has rustc's.
    pub(crate) fn llvm_link(&self) -> Result<Tool> {
        let llvm = self.llvm()?;
        self.tools.get_or(variable::LLVM_LINK, || {
            let missing = match self.find_paired(llvm, "llvm-link", variable::LLVM_LINK) {
                Ok(tool) => return Ok(tool),
                Err(missing) => missing,
            };
            let is_named = self.context.env.var(variable::LLVM_LINK).is_some();
            let tool = if is_named { None } else { self.rust_tool("llvm-link") };
            let tool = tool.filter(|tool| rust_llvm_major(&tool.version) == Some(llvm.major));
            tool.ok_or_else(|| missing.with_hint(remedy::llvm_link(llvm.major)))
        })
    }

    /// A program of the component `llvm-tools` of the Rust that builds this package.
    fn rust_tool(&self, name: &str) -> Option<Tool> {
        let rustc = self.context.env.setting(variable::RUSTC).unwrap_or_else(|| "rustc".into());
        let args = vec!["--print=target-libdir".into()];
        // A file `rust-toolchain.toml` chooses the release.
        let directory = &self.context.env.manifest_dir;
        let invocation = Invocation { program: Path::new(&rustc), args, directory, input: None };
        let printed = self.context.run(&invocation).ok()?;
        let programs = Path::new(printed.stdout.trim()).with_file_name("bin");
        let path = programs.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        if path.is_file() { self.tool(&path).ok() } else { None }
    }

    /// LLVM's linker of machine code. Of another release than clang's it is named in a warning.
    pub(crate) fn lld(&self) -> Result<Tool> {
        let llvm = self.llvm()?;
        self.tools.get_or(variable::LLD, || {
            let lld = self.find_paired(llvm, "ld.lld", variable::LLD)?;
            let is_named = self.context.env.var(variable::LLD).is_some();
            let other = lld_major(&lld.version).filter(|major| *major != llvm.major && !is_named);
            if let Some(other) = other {
                self.context.env.warn(&format!(
                    "`{}` of LLVM {other} links what `{}` of LLVM {} compiles: there is no ld.lld of that release",
                    lld.path.display(),
                    llvm.clang.path.display(),
                    llvm.major
                ));
            }
            Ok(lld)
        })
    }

    /// What removes symbol tables.
    pub(crate) fn llvm_strip(&self) -> Result<Tool> {
        self.paired("llvm-strip", variable::STRIP)
    }

    /// A tool of the same release as clang: LLVM reads older bitcode, never newer.
    fn paired(&self, name: &str, variable: &'static str) -> Result<Tool> {
        let llvm = self.llvm()?;
        self.tools.get_or(variable, || self.find_paired(llvm, name, variable))
    }

    fn find_paired(&self, llvm: &Llvm, name: &str, variable: &'static str) -> Result<Tool> {
        let candidates = Candidates::paired(&self.context.env, llvm, name, variable);
        let path = candidates.first().ok_or_else(|| {
            let what = format!("{name} of LLVM {}, which `{}` needs", llvm.major, llvm.clang.path.display());
            candidates.error(&self.context.env, &what, &[]).with_hint(remedy::llvm())
        })?;
        self.tool(path)
    }

    /// Intel's offline compiler.
    pub(crate) fn ocloc(&self) -> Result<Tool> {
        let candidates = Candidates::named(&self.context.env, "ocloc", variable::OCLOC);
        let path = candidates
            .first()
            .ok_or_else(|| candidates.error(&self.context.env, "ocloc", &[]).with_hint(remedy::ocloc()))?;
        let file = resolved(path)?;
        self.context.env.depends_on(&file);
        self.context.env.note_version(&file, "");
        // Older releases take no `--version`, and asking them otherwise writes files: the file's stamp has to do.
        Ok(Tool { path: path.to_path_buf(), version: String::new() })
    }

    /// NVIDIA's assembler.
    pub(crate) fn ptxas(&self) -> Result<Tool> {
        self.tools.get_or(variable::PTXAS, || {
            let candidates = Candidates::cuda(&self.context.env, variable::PTXAS, &["bin/ptxas"]);
            let path = candidates.first().ok_or_else(|| {
                candidates.error(&self.context.env, "ptxas", &[]).with_hint(remedy::ptxas())
            })?;
            self.tool(path)
        })
    }

    /// NVIDIA's compiler of CUDA C++.
    pub(crate) fn nvcc(&self) -> Result<Tool> {
        let candidates = Candidates::cuda(&self.context.env, variable::NVCC, &["bin/nvcc"]);
        let path = candidates
            .first()
            .ok_or_else(|| candidates.error(&self.context.env, "nvcc", &[]).with_hint(remedy::nvcc()))?;
        self.tool(path)
    }

    /// AMD's compiler of HIP C++.
    pub(crate) fn hipcc(&self) -> Result<Tool> {
        let candidates = Candidates::rocm(&self.context.env);
        let path = candidates
            .first()
            .ok_or_else(|| candidates.error(&self.context.env, "hipcc", &[]).with_hint(remedy::hipcc()))?;
        self.tool(path)
    }

    /// Intel's compiler of SYCL C++.
    pub(crate) fn icpx(&self) -> Result<Tool> {
        let candidates = Candidates::oneapi(&self.context.env);
        let path = candidates
            .first()
            .ok_or_else(|| candidates.error(&self.context.env, "icpx", &[]).with_hint(remedy::icpx()))?;
        self.tool(path)
    }

    /// The directory of a CUDA toolkit with its headers.
    pub(crate) fn cuda_sdk(&self) -> Result<PathBuf> {
        let candidates = Candidates::cuda_sdk(&self.context.env);
        let header = candidates.first().map(Path::to_path_buf);
        let root = header.as_deref().and_then(Path::parent).and_then(Path::parent).map(Path::to_path_buf);
        root.ok_or_else(|| {
            candidates
                .error(&self.context.env, "cuda.h, a header of CUDA,", &[])
                .with_hint(remedy::cuda_sdk())
        })
    }

    /// NVIDIA's library of mathematics as bitcode.
    pub(crate) fn libdevice(&self) -> Result<PathBuf> {
        let candidates =
            Candidates::cuda(&self.context.env, variable::LIBDEVICE, &["nvvm/libdevice/libdevice.10.bc"]);
        let found = candidates.first().map(Path::to_path_buf);
        found.ok_or_else(|| {
            candidates.error(&self.context.env, "libdevice", &[]).with_hint(remedy::libdevice())
        })
    }

    /// LLVM's library of OpenCL C's functions as bitcode, where clang's release has it.
    pub(crate) fn libclc(&self, of: &'static Libclc) -> Result<PathBuf> {
        let llvm = self.llvm()?;
        self.libclc.get_or(of.directory, || {
            let candidates = Candidates::libclc(&self.context.env, llvm, of);
            let found = candidates.first().map(Path::to_path_buf);
            found.ok_or_else(|| {
                candidates
                    .error(&self.context.env, "libclc, which has the functions of OpenCL C,", &[])
                    .with_hint(remedy::libclc(llvm.major))
            })
        })
    }

    /// As [`Tools::libclc`], if LLVM of clang's release reads it; where there is no LLVM, the error has the way to get the
    /// library all the same: who installs both need not ask twice.
    fn readable_libclc(&self, of: &'static Libclc) -> Result<PathBuf> {
        let llvm = self.llvm().map_err(|error| error.with_hint(remedy::libclc(MIN_LLVM)))?;
        let library = self.libclc(of)?;
        // The linker itself is missing, which has an error of its own.
        let Ok(linker) = self.llvm_link() else { return Ok(library) };
        let nowhere = if cfg!(windows) { "NUL" } else { "/dev/null" };
        let args = vec![library.clone().into_os_string(), "-o".into(), nowhere.into()];
        let directory = &self.context.env.out_dir;
        let read = self.context.run(&Invocation { program: &linker.path, args, directory, input: None });
        match read {
            Ok(_) => Ok(library),
            Err(error) => Err(llvm.with_bitcode_of(&[library], error)),
        }
    }

    /// The compute capabilities of this machine's NVIDIA devices, as `90`, by the tool that comes with the driver.
    pub(crate) fn nvidia_capabilities(&self) -> Vec<String> {
        let candidates = Candidates::named(&self.context.env, "nvidia-smi", variable::NVIDIA_SMI);
        let Some(program) = candidates.first() else { return Vec::new() };
        let args = ["--query-gpu=compute_cap", "--format=csv,noheader"].map(Into::into).into();
        let invocation = Invocation { program, args, directory: &self.context.env.out_dir, input: None };
        let printed = self.context.run(&invocation).map(|output| output.stdout).unwrap_or_default();
        printed.lines().map(|line| line.trim().replace('.', "")).collect()
    }

    /// The SPIR-V validator, where it is installed. No image depends on whether it is.
    pub(crate) fn spirv_val(&self) -> Option<&Tool> {
        let found = self.spirv_val.get_or_init(|| {
            let candidates = self.spirv_val_candidates();
            self.validator(candidates.first()?).ok()
        });
        found.as_ref()
    }

    fn find_spirv_val(&self) -> Result<Tool> {
        let candidates = self.spirv_val_candidates();
        let Some(path) = candidates.first() else {
            return Err(candidates.error(&self.context.env, "spirv-val", &[]).with_hint(remedy::spirv_val()));
        };
        self.validator(path)
    }

    fn spirv_val_candidates(&self) -> Candidates {
        Candidates::named(&self.context.env, "spirv-val", variable::SPIRV_VAL)
    }

    fn validator(&self, path: &Path) -> Result<Tool> {
        self.context.env.note_validator(&resolved(path)?);
        self.tool(path)
    }

    fn tool(&self, path: &Path) -> Result<Tool> {
        // A new file behind the links is a new compiler. The link itself is what runs: lld looks at its own name.
        let file = resolved(path)?;
        self.context.env.depends_on(&file);
        let version = self.cached_stdout(path, &["--version"])?;
        self.context.env.note_version(&file, &version);
        Ok(Tool { path: path.to_path_buf(), version })
    }

    /// The standard output of a tool, cached for each state of its file.
    fn cached_stdout(&self, path: &Path, args: &[&str]) -> Result<String> {
        self.cached_run(path, args, |invocation| Ok(self.context.run(invocation)?.stdout))
    }

    /// The output of a tool with any exit code, cached for each state of its file.
    pub(crate) fn help(&self, path: &Path, args: &[&str]) -> Result<String> {
        self.cached_run(path, args, |invocation| self.context.run_for_output(invocation))
    }

    fn cached_run(
        &self,
        path: &Path,
        args: &[&str],
        run: impl FnOnce(&Invocation<'_>) -> Result<String>,
    ) -> Result<String> {
        let key = KeyBuilder::new("ask").part(file_stamp(path)?.as_bytes()).part(args.join(" ").as_bytes());
        let key = key.finish();
        let _lock = self.context.cache.lock(key);
        if let Some(known) = self.context.cache.get_text(key) {
            return Ok(known);
        }
        let args = args.iter().map(Into::into).collect();
        let invocation =
            Invocation { program: path, args, directory: &self.context.env.out_dir, input: None };
        let printed = run(&invocation)?;
        self.context.cache.put(key, printed.as_bytes())?;
        Ok(printed)
    }
}

fn resolved(path: &Path) -> Result<PathBuf> {
    dunce::canonicalize(path).map_err(|error| Error::io("resolve", path, error))
}

/// The LLVM release in the first line of `clang --version`, whatever vendor prefix it has.
fn llvm_major(line: &str) -> Option<u32> {
    // Apple counts its own versions.
    let (vendor, rest) = line.split_once("clang version ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|_| !vendor.contains("Apple"))
}

/// The release in `Debian LLD 22.1.8 (compatible with GNU linkers)`.
fn lld_major(version: &str) -> Option<u32> {
    let (_, rest) = version.split_once("LLD ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The release in `LLVM version 22.1.2-rust-1.95.0-stable`.
fn rust_llvm_major(version: &str) -> Option<u32> {
    let (_, rest) = version.split_once("LLVM version ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linkers_have_a_version() {
        assert_eq!(lld_major("Debian LLD 22.1.8 (compatible with GNU linkers)"), Some(22));
        assert_eq!(lld_major("LLD unknown"), None);
        let rust = "LLVM (http://llvm.org/):\n  LLVM version 22.1.2-rust-1.95.0-stable\n";
        assert_eq!(rust_llvm_major(rust), Some(22));
    }

    #[test]
    fn vendors_spell_versions_differently() {
        for (line, major) in [
            ("Debian clang version 22.1.8 (1~deb12u1)", Some(22)),
            ("clang version 23.0.0git (https://example.org 1234)", Some(23)),
            ("AMD clang version 19.0.0git", Some(19)),
            ("Apple clang version 16.0.0 (clang-1600.0.26.6)", None),
            ("gcc (Debian 12.2.0-14) 12.2.0", None),
        ] {
            assert_eq!(llvm_major(line), major, "{line}");
        }
    }
}
