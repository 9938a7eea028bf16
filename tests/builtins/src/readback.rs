//! Looks at the images in the program with other tools than those that made them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::fixture::Fixture;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

/// What is wrong with the images of `program`, one line each.
pub(super) fn check(fixture: &Fixture<'_>, program: &Path, target: &str) -> Result<Vec<String>> {
    let dir = tempfile::tempdir()?;
    fixture.workspace.shell.cmd(program).arg("dump").arg(dir.path()).quiet().run()?;
    let mut images = fixture.workspace.shell.read_dir(dir.path())?;
    images.sort();
    if images.is_empty() {
        return Err(Error::new(format!("the program for {target} holds no image")));
    }
    let reader = Reader { workspace: fixture.workspace, images };
    match target.split(':').next().unwrap_or_default() {
        "spirv64" => reader.spirv(),
        "nvptx" => reader.ptx(),
        "host" => reader.undefined_symbols(is_c_library),
        // Since sm_90 every cubin refers to the shared memory that the driver keeps for itself.
        "cubin" => reader.undefined_symbols(|name| name == ".nv.reservedSmem.offset0"),
        _ => reader.undefined_symbols(|_| false),
    }
}

struct Reader<'a> {
    workspace: &'a Workspace,
    images: Vec<PathBuf>,
}

impl Reader<'_> {
    /// The validator, and imports in the disassembly.
    fn spirv(&self) -> Result<Vec<String>> {
        let mut findings = Vec::new();
        for image in &self.images {
            if let Err(error) = self.workspace.shell.cmd("spirv-val").arg(image).quiet().ignore_stderr().run()
            {
                findings.push(error.to_string());
            }
            let text = self.workspace.shell.cmd("spirv-dis").arg(image).quiet().read()?;
            findings.extend(imports(&text).map(|line| finding(image, line)));
        }
        Ok(findings)
    }

    /// Functions and variables that the module expects of another.
    fn ptx(&self) -> Result<Vec<String>> {
        let mut findings = Vec::new();
        for image in &self.images {
            let text = self.workspace.shell.read_file(image)?;
            let lines: Vec<&str> = text.lines().collect();
            for (at, line) in lines.iter().enumerate() {
                let is_import = line.starts_with(".extern") && !line.contains(".shared");
                if is_import {
                    let end = lines.len().min(at + 2);
                    findings.push(finding(image, &lines.get(at..end).unwrap_or_default().join(" ")));
                }
            }
        }
        Ok(findings)
    }

    /// ELF files of all kinds.
    fn undefined_symbols(&self, allowed: impl Fn(&str) -> bool) -> Result<Vec<String>> {
        let tool = setup::llvm(self.workspace, "llvm-readelf")
            .ok_or_else(|| Error::new("llvm-readelf is not installed").hint("apt-get install llvm-22"))?;
        let mut findings = Vec::new();
        for image in &self.images {
            for table in ["--symbols", "--dyn-symbols"] {
                let text =
                    self.workspace.shell.cmd(&tool).args([table, "--wide"]).arg(image).quiet().read()?;
                let undefined = text.lines().filter_map(undefined).filter(|name| !allowed(name));
                findings.extend(undefined.map(|name| finding(image, name)));
            }
        }
        Ok(findings)
    }
}

/// Decorations of imported ids; the variables of work-item functions are imports of the device itself.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    let built_ins: BTreeSet<&str> = text.lines().filter_map(|line| decorated(line, "BuiltIn")).collect();
    text.lines().filter(move |line| {
        let id = decorated(line, "LinkageAttributes").filter(|_| line.ends_with(" Import"));
        id.is_some_and(|id| !built_ins.contains(id))
    })
}

/// The id in `OpDecorate %id DECORATION ...`.
fn decorated<'a>(line: &'a str, decoration: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    let id = (words.next()? == "OpDecorate").then(|| words.next()).flatten()?;
    (words.next()? == decoration).then_some(id)
}

/// `     2: 0000000000000000     0 FUNC    GLOBAL DEFAULT   UND printf`
fn undefined(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip(6);
    (words.next()? == "UND").then(|| words.next()).flatten()
}

fn is_c_library(name: &str) -> bool {
    let name = name.split('@').next().unwrap_or(name);
    const NAMES: &str = " __tls_get_addr memcpy memmove memset memcmp strlen snprintf ";
    NAMES.contains(&format!(" {name} ")) || is_mathematics(name)
}

/// What code generation may call where the processor has no instruction.
fn is_mathematics(name: &str) -> bool {
    const NAMES: &str = " fma floor ceil trunc rint round roundeven nearbyint sqrt fmod exp exp2 log log2 log10 pow sin cos ldexp fabs ";
    let own = format!(" {name} ");
    let of_double = format!(" {} ", name.strip_suffix('f').unwrap_or(name));
    NAMES.contains(&own) || NAMES.contains(&of_double)
}

fn finding(image: &Path, what: &str) -> String {
    let module = image.file_stem().unwrap_or_default().to_string_lossy();
    format!("{module}: unresolved: {}", what.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_of_the_device_are_none() {
        let text = "OpDecorate %a BuiltIn WorkDim
OpDecorate %a LinkageAttributes \"a\" Import
OpDecorate %b LinkageAttributes \"b\" Import
OpDecorate %c LinkageAttributes \"c\" Export
";
        assert_eq!(imports(text).collect::<Vec<_>>(), ["OpDecorate %b LinkageAttributes \"b\" Import"]);
    }

    #[test]
    fn undefined_symbols_are_seen() {
        assert_eq!(undefined("     2: 0000000000000000     0 FUNC    GLOBAL DEFAULT   UND erf"), Some("erf"));
        assert_eq!(undefined("     1: 0000000000000000     0 NOTYPE  LOCAL  DEFAULT   UND "), None);
        assert_eq!(undefined("     3: 0000000000001000     4 OBJECT  GLOBAL DEFAULT     8 x"), None);
        assert!(is_c_library("sinf@GLIBC_2.2.5") && !is_c_library("erff"));
    }
}
