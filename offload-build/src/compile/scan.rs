//! The first pass over every file: its IR for SPIR-V targets, and which kernels it has.

use std::collections::BTreeMap;
use std::path::Path;

use super::action::{Arg, FrontEnd, texts};
use super::{Scanned, Session, Sources};
use crate::error::{Error, Result};
use crate::ir;
use crate::jobs::Jobs;

/// Runs the front end on every file. A source error is reported here, once, whatever the number of targets.
pub(super) fn files(session: &Session<'_>, jobs: &Jobs) -> Result<Vec<Scanned>> {
    let scanned = jobs.map(&session.sources.files, |file| file_of(session, file));
    let scanned = scanned.into_iter().collect::<Result<Vec<_>>>()?;
    distinct(&scanned)?;
    Ok(scanned)
}

fn file_of(session: &Session<'_>, file: &Path) -> Result<Scanned> {
    let path = session.env.manifest_dir.join(file);
    if !path.is_file() {
        return Err(Error::new(format!("kernel source `{}` does not exist", path.display()))
            .hint("paths given to `Build::file` are relative to the crate's Cargo.toml"));
    }
    let action = FrontEnd {
        name: "front end for SPIR-V",
        tool: &session.llvm.clang,
        args: args(session.sources, file),
        input: None,
    };
    let ir = session.front_end(&action)?;
    let kernels = ir::kernels(&ir.read_text()?);
    if kernels.is_empty() {
        return Err(Error::new(format!("`{}` has no kernel", path.display()))
            .hint("a kernel is a function marked `__kernel`; a file of helpers is included by others"));
    }
    Ok(Scanned { file: file.to_path_buf(), ir, kernels })
}

fn args(sources: &Sources, file: &Path) -> Vec<Arg> {
    let target = texts(["--target=spirv64-unknown-unknown"]);
    target.chain(language(sources)).chain(front_end_output()).chain(texts([file])).collect()
}

/// The language and the user's flags: the same for every target.
pub(super) fn language(sources: &Sources) -> impl Iterator<Item = Arg> {
    let fixed = [
        "-x".to_string(),
        "cl".to_string(),
        format!("-cl-std={}", sources.std),
        "-cl-kernel-arg-info".into(),
    ];
    texts(fixed).chain(texts(sources.flags.clone()))
}

/// Unoptimised IR as text, ready for the optimiser, with a dependency file.
pub(super) fn front_end_output() -> impl Iterator<Item = Arg> {
    let fixed = ["-O2", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-MD", "-MT", "out", "-MF"];
    texts(fixed).chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output])
}

/// Two kernels of one name cannot be told apart in a module.
fn distinct(scanned: &[Scanned]) -> Result<()> {
    let mut seen: BTreeMap<&str, &Path> = BTreeMap::new();
    for file in scanned {
        for kernel in &file.kernels {
            if let Some(other) = seen.insert(&kernel.name, &file.file) {
                let (a, b) = (other.display(), file.file.display());
                let error = Error::new(format!("kernel `{}` is defined in `{a}` and in `{b}`", kernel.name));
                return Err(error.hint("rename one, or compile the files as two modules"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_in_the_documented_order() {
        let sources = Sources {
            module: "m".into(),
            files: Vec::new(),
            std: "CL1.2",
            flags: vec!["-Iinclude".into(), "-DN=4".into()],
        };
        let args = args(&sources, Path::new("k.cl"));
        let at = |text: &str| args.iter().position(|arg| *arg == Arg::Text(text.into())).unwrap();
        assert!(at("--target=spirv64-unknown-unknown") < at("-cl-std=CL1.2"));
        assert!(
            at("-cl-std=CL1.2") < at("-Iinclude")
                && at("-Iinclude") < at("-DN=4")
                && at("-DN=4") < at("k.cl")
        );
    }
}
