//! PoCL's library of OpenCL C's functions for CPUs.

use std::path::{Path, PathBuf};

use super::search::Candidates;
use super::{Finder, remedy};
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

impl Finder<'_> {
    /// PoCL's library for `arch` and an instruction set of it, as `sse2` or `avx2`.
    pub(crate) fn pocl(&self, arch: &str, cpu: &str) -> Result<Pocl> {
        let candidates = Candidates::pocl(self.env);
        let mut refused = Vec::new();
        for dir in &candidates.found {
            match Pocl::of_directory(dir, (arch, cpu)) {
                Ok(pocl) => return Ok(pocl),
                Err(error) => refused.push(format!("`{}`: {error}", dir.display())),
            }
        }
        let what = "PoCL's OpenCL function library, which the target `host` needs,";
        Err(candidates.error(what, &refused).with_hint(remedy::pocl()))
    }
}

impl Pocl {
    fn of_directory(dir: &Path, (arch, cpu): (&str, &str)) -> Result<Pocl> {
        let prefix = format!("kernel-{arch}");
        let files = fs::list(dir)?;
        let named = |cpu: &str| {
            let ending = format!("-{cpu}.bc");
            files.iter().find(|path| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                name.starts_with(&prefix) && name.to_lowercase().ends_with(&ending)
            })
        };
        let library = named(cpu).or_else(|| named("generic"));
        let library =
            library.ok_or_else(|| Error::new(format!("it has no library for {arch} with {cpu}")))?;
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

    #[test]
    fn a_directory_has_to_hold_what_a_compile_uses() {
        let dir = tempfile::tempdir().unwrap();
        let of = |arch, cpu| Pocl::of_directory(dir.path(), (arch, cpu)).map_err(|error| error.to_string());
        assert_eq!(of("x86_64", "avx2").unwrap_err(), "it has no library for x86_64 with avx2");
        for file in ["kernel-x86_64-pc-linux-gnu-GENERIC.bc", "kernel-x86_64-pc-linux-gnu-avx2.bc"] {
            std::fs::write(dir.path().join(file), "").unwrap();
        }
        assert_eq!(of("x86_64", "avx2").unwrap_err(), "it has no include/_builtin_renames.h");
        std::fs::create_dir(dir.path().join("include")).unwrap();
        std::fs::write(dir.path().join("include/_builtin_renames.h"), "").unwrap();
        assert!(of("x86_64", "avx2").unwrap().library.ends_with("kernel-x86_64-pc-linux-gnu-avx2.bc"));
        assert!(of("x86_64", "avx").unwrap().library.ends_with("kernel-x86_64-pc-linux-gnu-GENERIC.bc"));
        assert!(of("aarch64", "generic").is_err());
    }
}
