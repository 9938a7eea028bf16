//! PoCL's library of OpenCL C's functions for CPUs.

use std::path::{Path, PathBuf};

use offload_format::HostLevel;
use offload_protocol::variable;

use super::search::Candidates;
use super::{Tools, remedy};
use crate::error::{Error, Result};
use crate::fs;

/// What a compile for the CPU takes of PoCL.
#[derive(Clone, Debug)]
pub(crate) struct Pocl {
    /// The functions as LLVM bitcode, for one instruction set.
    pub(crate) library: PathBuf,
    /// The header that gives them names of their own.
    pub(crate) renames: PathBuf,
}

/// How a level of the instruction set is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstructionSet {
    /// By clang, as flags.
    pub(crate) march: &'static [&'static str],
    /// By PoCL.
    pocl: &'static str,
    /// The size of its vectors.
    pub(crate) vector_bits: u32,
    /// Flags for OpenCL C: where clang knows of no extension, all are there, since PoCL's library has their functions.
    pub(crate) opencl: &'static [&'static str],
}

/// The level, with what PoCL's functions for `haswell` say that they need: LLVM inlines no function that needs more
/// than its caller. No compiler uses these instructions unless a program asks for them by name.
const X86_V3: &[&str] = &["-march=x86-64-v3", "-mfsgsbase", "-minvpcid", "-mpclmul", "-mrdrnd", "-mxsaveopt"];

/// The same with those of `skylake-avx512`.
const X86_V4: &[&str] = &[
    "-march=x86-64-v4",
    "-madx",
    "-maes",
    "-mclflushopt",
    "-mclwb",
    "-mfsgsbase",
    "-minvpcid",
    "-mpclmul",
    "-mpku",
    "-mprfchw",
    "-mrdrnd",
    "-mrdseed",
    "-mxsavec",
    "-mxsaveopt",
    "-mxsaves",
];

/// What a level is called on an architecture.
pub(crate) fn instruction_set(arch: &str, level: HostLevel) -> Result<InstructionSet> {
    let opencl: &[&str] = if arch == "x86_64" { &[] } else { &["-Xclang", "-cl-ext=+all"] };
    let (march, pocl, vector_bits) = match (arch, level) {
        ("x86_64", HostLevel::Baseline) => (&["-march=x86-64"][..], "sse2", 128),
        ("x86_64", HostLevel::X86V2) => (&["-march=x86-64-v2"][..], "sse41", 128),
        ("x86_64", HostLevel::X86V3) => (X86_V3, "avx2", 256),
        ("x86_64", HostLevel::X86V4) => (X86_V4, "avx512", 512),
        // As PoCL's functions were compiled.
        ("aarch64", HostLevel::Baseline) => (&["-march=armv8-a", "-moutline-atomics"][..], "generic", 128),
        ("aarch64", HostLevel::Arm82) => (&["-march=armv8.2-a+dotprod+fp16"][..], "generic", 128),
        // Vectors of SVE have a size that LLVM's loops ask the CPU for; those of whole functions have NEON's.
        ("aarch64", HostLevel::Arm82Sve) => (&["-march=armv8.2-a+dotprod+fp16+sve"][..], "generic", 128),
        (arch, level) => {
            let error = Error::new(format!("there is no `host` level {level} for {arch}"));
            return Err(error.with_hint("write `host`"));
        }
    };
    Ok(InstructionSet { march, pocl, vector_bits, opencl })
}

impl Tools<'_> {
    /// PoCL's library for `level` of the CPUs that programs are built for.
    pub(crate) fn pocl(&self, level: HostLevel) -> Result<Pocl> {
        let arch = self.context.env.cfg.arch.as_str();
        let cpu = instruction_set(arch, level)?.pocl;
        let candidates = Candidates::pocl(&self.context.env);
        let mut refused = Vec::new();
        for dir in &candidates.found {
            match Pocl::from_directory(dir, arch, cpu) {
                Ok(pocl) => return Ok(pocl),
                Err(error) => refused.push(format!("`{}`: {error}", dir.display())),
            }
        }
        let what = "PoCL's OpenCL function library, which the target `host` needs,";
        let hint = match candidates.found.as_slice() {
            [] => remedy::pocl(),
            // What is installed is for this machine, and the program for another.
            _ if !self.context.env.host.starts_with(arch) => {
                let variable =
                    format!("{}_{}", variable::POCL_DIR, self.context.env.target.replace('-', "_"));
                format!(
                    "set {variable} to a directory share/pocl with the library for {arch} (in Debian's package libpocl2 \
                     for that architecture) and with `include` (libpocl2-common), or `cargo offload targets remove host`"
                )
            }
            _ => remedy::pocl(),
        };
        Err(candidates.error(&self.context.env, what, &refused).with_hint(hint))
    }
}

impl Pocl {
    fn from_directory(dir: &Path, arch: &str, cpu: &str) -> Result<Pocl> {
        let prefix = format!("kernel-{arch}");
        let files = fs::list(dir)?;
        let [exact, generic] = [cpu, "generic"].map(|cpu| {
            let ending = format!("-{cpu}.bc");
            files.iter().find(|path| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                name.starts_with(&prefix) && name.to_lowercase().ends_with(&ending)
            })
        });
        let library = exact
            .or(generic)
            .ok_or_else(|| Error::new(format!("it has no library for {arch} with {cpu}")))?;
        let renames = dir.join("include/_builtin_renames.h");
        if !renames.is_file() {
            return Err(Error::new("it has no include/_builtin_renames.h"));
        }
        Ok(Pocl { library: library.clone(), renames })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(dir: &Path, arch: &str, cpu: &str) -> String {
        Pocl::from_directory(dir, arch, cpu).unwrap_err().to_string()
    }

    #[test]
    fn a_directory_has_to_hold_what_a_compile_uses() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        assert_eq!(refusal(dir, "x86_64", "avx2"), "it has no library for x86_64 with avx2");
        for file in ["kernel-x86_64-pc-linux-gnu-GENERIC.bc", "kernel-x86_64-pc-linux-gnu-avx2.bc"] {
            std::fs::write(dir.join(file), "").unwrap();
        }
        assert_eq!(refusal(dir, "x86_64", "avx2"), "it has no include/_builtin_renames.h");
        std::fs::create_dir(dir.join("include")).unwrap();
        std::fs::write(dir.join("include/_builtin_renames.h"), "").unwrap();
        for (cpu, library) in
            [("avx2", "kernel-x86_64-pc-linux-gnu-avx2.bc"), ("avx", "kernel-x86_64-pc-linux-gnu-GENERIC.bc")]
        {
            assert!(Pocl::from_directory(dir, "x86_64", cpu).unwrap().library.ends_with(library));
        }
        assert!(Pocl::from_directory(dir, "aarch64", "generic").is_err());
    }
}
