//! The hash of all compile options of a module.
//!
//! Options without a value are left out, so that an option of a later release does not change recorded hashes.

use std::ffi::OsStr;
use std::fmt::Write as _;

use crate::library;
use crate::module::Sources;
use crate::options::{Grf, Link};

/// 64 hexadecimal digits.
pub(super) fn hash(sources: &Sources) -> String {
    blake3::hash(text(sources).as_bytes()).to_hex().to_string()
}

/// One line a fact.
fn text(sources: &Sources) -> String {
    let options = &sources.options;
    let mut text = String::new();
    for file in &sources.files {
        line(&mut text, "file", file.path.display());
    }
    line(&mut text, "std", options.std.unwrap_or_default().flag());
    sources.flags.iter().for_each(|flag| line(&mut text, "flag", readable(flag)));
    sources.spec.iter().for_each(|constant| line(&mut text, "spec", constant));
    for library in &sources.origin.imports {
        line(&mut text, "import", format!("{} {}", library.name(), library::hash(library)));
    }
    options.link.iter().filter(|link| **link == Link::Load).for_each(|_| line(&mut text, "link", "load"));
    options.compiler.iter().for_each(|compiler| line(&mut text, "compiler", format!("{compiler:?}")));
    options.split.iter().for_each(|split| line(&mut text, "split", format!("{split:?}")));
    options.cuda_sdk.iter().for_each(|sdk| line(&mut text, "cuda-sdk", sdk));
    options.cuda_arch.iter().for_each(|arch| line(&mut text, "cuda-arch", arch));
    options.launchers.iter().filter(|wanted| **wanted).for_each(|_| line(&mut text, "launchers", true));
    options.strip.iter().filter(|strip| **strip).for_each(|strip| line(&mut text, "strip", strip));
    options.max_registers.iter().for_each(|count| line(&mut text, "max-registers", count));
    for (kernel, options) in &options.kernels {
        options.max_registers.iter().for_each(|count| line(&mut text, &format!("kernel {kernel}"), count));
        for kind in &options.targets {
            line(&mut text, &format!("target of kernel {kernel}"), kind);
        }
    }
    match options.grf.unwrap_or_default() {
        Grf::Auto => {}
        grf => line(&mut text, "grf", format!("{grf:?}")),
    }
    text
}

/// A flag as it is, or the bytes of one that is not UTF-8.
fn readable(flag: &OsStr) -> String {
    flag.to_str().map_or_else(|| format!("{:?}", flag.as_encoded_bytes()), str::to_string)
}

fn line(text: &mut String, name: &str, value: impl std::fmt::Display) {
    // Escaped, so that no value runs into the next line.
    let value = value.to_string();
    let _ = writeln!(text, "{name}: {}", value.escape_default());
}

#[cfg(test)]
mod tests {
    use offload_format::{SpecConstant, Variant};

    use super::*;
    use crate::module::SourceFile;
    use crate::options::{Compiler, KernelOptions, OpenClStd, Options, TargetKind};

    fn sources() -> Sources {
        Sources {
            module: "blas".into(),
            variant: Variant::default(),
            files: vec![SourceFile::new(std::path::Path::new("kernels/blas.cl")).unwrap()],
            flags: vec!["-DN=1".into()],
            spec: Vec::new(),
            options: Options::default(),
            origin: Default::default(),
        }
    }

    #[test]
    fn the_text_is_what_published_packages_have_recorded() {
        assert_eq!(text(&sources()), "file: kernels/blas.cl\nstd: CL1.2\nflag: -DN=1\n");
    }

    #[test]
    fn everything_that_changes_code_changes_the_hash() {
        let base = hash(&sources());
        let changes: [fn(&mut Sources); 10] = [
            |sources| sources.files.clear(),
            |sources| sources.options.std = Some(OpenClStd::C20),
            |sources| sources.flags = vec!["-DN=1\nflag: x".into()],
            |sources| sources.options.compiler = Some(Compiler::Nvcc),
            |sources| sources.options.max_registers = Some(64),
            |sources| sources.options.cuda_sdk = Some(true),
            |sources| sources.options.cuda_arch = Some(700),
            |sources| sources.options.strip = Some(true),
            |sources| {
                let options = KernelOptions { targets: vec![TargetKind::Cubin], ..Default::default() };
                sources.options.kernels.insert("k".into(), options);
            },
            |sources| sources.spec = SpecConstant::list("TILE:int=16"),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut other = sources();
            change(&mut other);
            assert_ne!(hash(&other), base, "{index}");
        }
    }
}
