//! CUDA C++ by NVIDIA's own compiler.

use offload_format::{SmArch, Target};

use super::action::{Arg, FrontEnd, texts};
use super::{Compiled, Session, foreign};
use crate::error::{Error, Result};

pub(super) fn compile(session: &Session<'_>, target: &Target) -> Result<Compiled> {
    let (sm, output) = match target {
        Target::Nvptx(sm) => (sm, "-ptx"),
        Target::Cubin(sm) => (sm, "-cubin"),
        other => return Err(Error::new(format!("nvcc does not compile for `{other}`"))),
    };
    let nvcc = session.finder.nvcc()?;
    let (args, input) = (args(session, sm, output), Some(foreign::translation_unit(session)?));
    foreign::compile(session, target, &FrontEnd { name: "nvcc", tool: &nvcc, args, input })
}

/// `-I.`: the files are named relative to the crate, where nvcc runs; the unit itself lies elsewhere. `-v` says what
/// a cubin does not: spilled bytes.
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
