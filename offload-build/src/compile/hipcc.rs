//! HIP C++ by AMD's own compiler driver, in one run for each target.

use offload_format::{AmdArch, Target};

use super::action::{Arg, FrontEnd, texts, warnings};
use super::unit::Unit;
use super::{Compiled, Session, describe, opencl_c};
use crate::error::{Error, Result};

pub(super) fn compile(session: &Session<'_>, target: &Target) -> Result<Compiled> {
    let Target::Amdgcn(arch) = target else {
        return Err(Error::new(format!("hipcc does not compile for `{target}`")));
    };
    let named = |error: Error| error.context(format!("target `{target}`"));
    let hipcc = session.finder.hipcc()?;
    let files = session.sources.files.iter();
    let unit = files.map(|file| Ok(format!("#include \"{}\"\n", opencl_c::quotable(&file.path)?)));
    let action = FrontEnd {
        name: "hipcc",
        tool: &hipcc,
        args: args(session, arch),
        input: Some(unit.collect::<Result<String>>()?),
    };
    let (raw, said) = session.front_end_said(&action).map_err(named)?;
    session.env.warn(&warnings(&said));
    let described = describe::image(target, &raw.read()?).map_err(named)?;
    let mut image = Unit::whole(&[]).image(session, target.clone());
    image.kernels = described.kernels;
    Ok(Compiled { image, raw })
}

/// A code object as it is, without a bundle around it; names without a hash of the output's path; a dependency file
/// from the inner compiler, because the driver drops `-MF`.
fn args(session: &Session<'_>, arch: &AmdArch) -> Vec<Arg> {
    let arch = format!("--offload-arch={arch}");
    let fixed = ["--cuda-device-only", "--no-gpu-bundle-output", "-fuse-cuid=none", "-O3", "-I.", &arch];
    texts(fixed)
        .chain(texts(session.sources.flags.clone()))
        .chain(texts(["-Xclang", "-MT", "-Xclang", "out", "-Xclang", "-dependency-file", "-Xclang"]))
        .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output, Arg::InputFile(".hip")])
        .collect()
}
