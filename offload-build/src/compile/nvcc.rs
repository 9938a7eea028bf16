//! CUDA C++ by NVIDIA's own compiler, in one run for each target.

use offload_format::{SmArch, Target};

use super::action::{Arg, FrontEnd, texts, warnings};
use super::unit::Unit;
use super::{Compiled, Session, describe, opencl_c};
use crate::error::{Error, Result};
use crate::report;

pub(super) fn compile(session: &Session<'_>, target: &Target) -> Result<Compiled> {
    let (sm, output) = match target {
        Target::Nvptx(sm) => (sm, "-ptx"),
        Target::Cubin(sm) => (sm, "-cubin"),
        other => return Err(Error::new(format!("nvcc does not compile for `{other}`"))),
    };
    let named = |error: Error| error.context(format!("target `{target}`"));
    let nvcc = session.finder.nvcc()?;
    let action = FrontEnd {
        name: "nvcc",
        tool: &nvcc,
        args: args(session, sm, output),
        input: Some(translation_unit(session)?),
    };
    let (raw, said) = session.front_end_said(&action).map_err(named)?;
    session.env.warn(&warnings(&said));
    let described = describe::image(target, &raw.read()?).map_err(named)?;
    let mut image = Unit::whole(&[]).image(session, target.clone());
    image.format_version = described.format_version;
    image.kernels = described.kernels;
    report::add_ptxas(&mut image.kernels, &said);
    Ok(Compiled { image, raw })
}

/// All files as one: nvcc links device code of several only at a cost in speed.
fn translation_unit(session: &Session<'_>) -> Result<String> {
    let files = session.sources.files.iter();
    files.map(|file| Ok(format!("#include \"{}\"\n", opencl_c::quotable(&file.path)?))).collect()
}

/// `-I.`: the files are named relative to the crate, where nvcc runs; the unit itself lies elsewhere.
fn args(session: &Session<'_>, sm: &SmArch, output: &str) -> Vec<Arg> {
    let lines: &[&str] = if session.env.profile.debug_info { &["-lineinfo"] } else { &[] };
    let registers = session.sources.options.max_registers.map(|count| format!("-maxrregcount={count}"));
    let arch = format!("-arch={sm}");
    texts(["-O3", output, &arch, "-I.", "-Xptxas", "-v"])
        .chain(texts(lines.iter().copied()))
        .chain(texts(registers))
        .chain(texts(session.sources.flags.clone()))
        .chain(texts(["-MD", "-MT", "out", "-MF"]))
        .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output, Arg::InputFile(".cu")])
        .collect()
}
