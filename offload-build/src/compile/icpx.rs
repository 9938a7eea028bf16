//! SYCL C++ by Intel's DPC++ compiler, which writes a SYCLBIN
//! (<https://github.com/intel/llvm/blob/sycl/sycl/doc/design/SYCLBINDesign.md>); its SPIR-V serves every Intel target.
//!
//! No machine that this was developed on has the compiler: its command line is tested, its output is not.

use offload_containers::syclbin;
use offload_format::{Limits, SpirvVersion, Target};

use super::action::{Arg, FrontEnd, texts};
use super::foreign::{self, warnings_of};
use super::{Compiled, Session, ready};
use crate::cache::{Blob, KeyBuilder};
use crate::error::{Error, Result};

pub(super) fn compile(session: &Session<'_>, target: &Target) -> Result<Compiled> {
    let module = spirv(session)?;
    match target {
        Target::Spirv64(version) => taken_by(&module, *version)?,
        Target::Intel(_) => {}
        other => return Err(Error::new(format!("SYCL C++ is not compiled for `{other}`"))),
    }
    ready::from_spirv(session, target, module)
}

/// What the compiler makes.
fn spirv(session: &Session<'_>) -> Result<Blob> {
    let icpx = session.finder.icpx()?;
    let input = Some(foreign::translation_unit(session)?);
    let action = FrontEnd { name: "icpx", tool: &icpx, args: args(session), input };
    let (file, said) = session.front_end_said(&action)?;
    session.env.warn(&warnings_of(&said));
    only_ir(session, &file)
}

/// The one SPIR-V module of a SYCLBIN.
pub(super) fn only_ir(session: &Session<'_>, file: &Blob) -> Result<Blob> {
    let key = KeyBuilder::new("SPIR-V of a SYCLBIN").part(&file.hash.0).finish();
    session.cache.get_or(key, || {
        let content = file.read()?;
        let file = syclbin::parse(&content, &Limits::default())?;
        let modules = file.modules.iter().flat_map(|module| &module.ir);
        let modules: Vec<&[u8]> = modules.map(|module| module.bytes).collect();
        match modules.as_slice() {
            [only] => Ok(only.to_vec()),
            several => Err(Error::new(format!("the SYCLBIN holds {} modules, not one", several.len()))
                .with_hint("have its compiler not split it: `-fsycl-device-code-split=off`")),
        }
    })
}

pub(super) fn taken_by(module: &Blob, version: SpirvVersion) -> Result<()> {
    let found = offload_images::spirv::Module::parse(&module.read()?, &Limits::default())?.version();
    if found <= version.word() {
        return Ok(());
    }
    let minor = found >> 8 & 0xff;
    Err(Error::new(format!("the SYCLBIN has SPIR-V 1.{minor}"))
        .with_hint(format!("add the target `spirv64:v1.{minor}`")))
}

/// `executable`: all device code is linked. One module: its kernels are told apart by name, not by module.
fn args(session: &Session<'_>) -> Vec<Arg> {
    let fixed = [
        "-fsycl",
        "--offload-new-driver",
        "-fsyclbin=executable",
        "-fsycl-targets=spir64",
        "-fsycl-device-code-split=off",
        "-O2",
        "-I.",
    ];
    texts(fixed)
        .chain(texts(session.sources.flags.clone()))
        .chain(texts(["-MD", "-MT", "out", "-MF"]))
        .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output, Arg::InputFile(".cpp")])
        .collect()
}
