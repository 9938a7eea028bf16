//! `opencl-c`: one source that includes nothing, for drivers that take neither native code nor SPIR-V.

use std::ffi::OsString;

use offload_format::Target;

use super::Session;
use super::action::{Arg, texts};
use super::front_end::{self, FrontEnd};
use super::session::{Unit, aspects};
use crate::cache::Blob;
use crate::error::{Error, Result};
use crate::ir;
use crate::module::{DeviceImage, Sources};

pub(super) fn compile(session: &Session<'_>, unit: &Unit<'_>) -> Result<DeviceImage> {
    let bytes = merged(session)?;
    check(session, unit, &bytes).map_err(|error| {
        error
            .below("the files of the module do not compile as one source")
            .with_hint("names must be distinct across the files of a module; or compile them as two modules")
    })?;
    let mut record = unit.image_record(session, Target::OpenClC);
    record.aspects = aspects(unit.files)?.into_values().collect();
    Ok(DeviceImage { record, bytes })
}

fn merged(session: &Session<'_>) -> Result<Blob> {
    let action = FrontEnd {
        name: "merge includes",
        tool: &session.tools().llvm()?.clang,
        args: merge_args(session.sources),
        input: Some(including(session.sources)?),
    };
    session.front_end(&action)
}

/// The device's compiler knows nothing of the definitions given in build.rs: they become part of the source.
fn including(sources: &Sources) -> Result<String> {
    let defined = sources.flags.iter().filter_map(|flag| flag.to_str()?.strip_prefix("-D"));
    let defines = defined.map(|definition| {
        let (name, value) = definition.split_once('=').unwrap_or((definition, "1"));
        format!("#define {name} {value}\n")
    });
    let includes = sources.files.iter().map(|file| front_end::include_line(&file.path));
    let includes = includes.collect::<Result<Vec<_>>>()?;
    Ok(defines.chain(includes).collect())
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
    let is_definition = |flag: &OsString| flag.as_encoded_bytes().starts_with(b"-D");
    let flags = sources.flags.iter().filter(|flag| !is_definition(flag)).cloned();
    texts(fixed)
        .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output])
        .chain(texts(["-x".to_string(), "cl".into(), front_end::cl_std(sources)]))
        .chain(texts(flags))
        .chain(texts(["-"]))
        .collect()
}

/// Compiles the merged source as a device would and looks for every kernel.
fn check(session: &Session<'_>, unit: &Unit<'_>, raw: &Blob) -> Result<()> {
    let target = "--target=spirv64-unknown-unknown".to_string();
    let args = texts([target, "-x".into(), "cl".into(), front_end::cl_std(session.sources)]);
    let action = FrontEnd {
        name: "check merged source",
        tool: &session.tools().llvm()?.clang,
        args: args.chain(texts(["-w"])).chain(front_end::front_end_output()).chain(texts(["-"])).collect(),
        input: Some(raw.read_text()?),
    };
    let found = ir::kernels(&session.front_end(&action)?.read_text()?);
    match unit.kernels.iter().find(|kernel| !found.iter().any(|other| other.name == kernel.name)) {
        None => Ok(()),
        Some(kernel) => Err(Error::new(format!("kernel `{}` is missing", kernel.name))),
    }
}
