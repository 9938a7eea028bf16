//! HIP C++ by AMD's own compiler driver.

use offload_format::{AmdArch, Target};

use super::action::{Arg, FrontEnd, texts};
use super::{Compiled, Session, foreign};
use crate::error::{Error, Result};

pub(super) fn compile(session: &Session<'_>, target: &Target) -> Result<Compiled> {
    let Target::Amdgcn(arch) = target else {
        return Err(Error::new(format!("hipcc does not compile for `{target}`")));
    };
    let hipcc = session.finder.hipcc()?;
    let (args, input) = (args(session, arch), Some(foreign::translation_unit(session)?));
    foreign::compile(session, target, &FrontEnd { name: "hipcc", tool: &hipcc, args, input })
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
