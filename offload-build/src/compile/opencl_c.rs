//! `opencl-c`: one source that includes nothing, for drivers that take neither native code nor SPIR-V.

use std::path::Path;

use offload_format::Target;

use super::action::{Arg, FrontEnd, texts};
use super::unit::{self, Unit};
use super::{Compiled, Session, Sources, scan};
use crate::cache::Blob;
use crate::error::{Error, Result};
use crate::ir;

pub(super) fn compile(session: &Session<'_>, unit: &Unit<'_>) -> Result<Compiled> {
    let raw = merged(session)?;
    check(session, unit, &raw).map_err(|error| {
        error
            .below("the files of the module do not compile as one source")
            .with_hint("names must be distinct across the files of a module; or compile them as two modules")
    })?;
    let mut image = unit.image(session, Target::OpenClC);
    image.aspects = unit::aspects(unit.files)?.into_values().collect();
    Ok(Compiled { image, raw })
}

fn merged(session: &Session<'_>) -> Result<Blob> {
    let action = FrontEnd {
        name: "merge includes",
        tool: &session.llvm()?.clang,
        args: merge_args(session.sources),
        input: Some(including(session.sources)?),
    };
    session.front_end(&action)
}

/// The device's compiler knows nothing of the definitions given in build.rs: they become part of the source.
fn including(sources: &Sources) -> Result<String> {
    let defined = sources.flags.iter().filter_map(|flag| flag.strip_prefix("-D"));
    let defines = defined.map(|definition| {
        let (name, value) = definition.split_once('=').unwrap_or((definition, "1"));
        format!("#define {name} {value}\n")
    });
    let includes = sources.files.iter().map(|file| Ok(format!("#include \"{}\"\n", quotable(&file.path)?)));
    let includes = includes.collect::<Result<Vec<_>>>()?;
    Ok(defines.chain(includes).collect())
}

/// A path as it may stand between the quotes of an `#include`.
pub(super) fn quotable(file: &Path) -> Result<&str> {
    let text = file.to_str().filter(|text| !text.contains(['"', '\n', '\\']));
    text.ok_or_else(|| Error::new(format!("the path `{}` cannot be written in an #include", file.display())))
}

/// `-frewrite-includes` and not `-E`, which would also expand the macros of this machine's clang: whether the device
/// has fp64 or images is for its own compiler to say. `-cl-no-stdinc` keeps clang's own header out.
fn merge_args(sources: &Sources) -> Vec<Arg> {
    let fixed = [
        "--target=spirv64-unknown-unknown",
        "-E",
        "-frewrite-includes",
        "-cl-no-stdinc",
        "-MD",
        "-MT",
        "out",
        "-MF",
    ];
    let flags = sources.flags.iter().filter(|flag| !flag.starts_with("-D")).cloned();
    texts(fixed)
        .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output])
        .chain(texts(["-x".to_string(), "cl".into(), format!("-cl-std={}", sources.std)]))
        .chain(texts(flags))
        .chain(texts(["-"]))
        .collect()
}

/// Compiles the merged source as a device would and looks for every kernel.
fn check(session: &Session<'_>, unit: &Unit<'_>, raw: &Blob) -> Result<()> {
    let language = ["-x".to_string(), "cl".into(), format!("-cl-std={}", session.sources.std)];
    let args = texts(["--target=spirv64-unknown-unknown"]).chain(texts(language));
    let action = FrontEnd {
        name: "check merged source",
        tool: &session.llvm()?.clang,
        args: args.chain(texts(["-w"])).chain(scan::front_end_output()).chain(texts(["-"])).collect(),
        input: Some(raw.read_text()?),
    };
    let found = ir::kernels(&session.front_end(&action)?.read_text()?);
    match unit.kernels.iter().find(|kernel| !found.iter().any(|other| other.name == kernel.name)) {
        None => Ok(()),
        Some(kernel) => Err(Error::new(format!("kernel `{}` is missing", kernel.name))),
    }
}
