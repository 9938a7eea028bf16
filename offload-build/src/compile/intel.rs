//! `intel:NAME`: native code through ocloc, from the same SPIR-V for every device.

use offload_format::pack::KernelInfo;
use offload_format::{IntelArch, SpirvVersion, Target, zebin};

use super::action::{Arg, Step, texts};
use super::unit::Unit;
use super::{Compiled, Session, check, spirv};
use crate::error::Result;

/// Understood by every ocloc of the last years.
const SPIRV_VERSION: SpirvVersion = SpirvVersion::V1_2;

pub(super) fn compile(session: &Session<'_>, unit: &Unit<'_>, arch: &IntelArch) -> Result<Compiled> {
    let ocloc = session.finder.ocloc()?;
    session.env.depends_on(&ocloc.path);
    let module = spirv::module(session, unit, SPIRV_VERSION)?;
    let kernels = unit.names();
    let step = Step {
        name: "ocloc",
        tool: &ocloc,
        args: args(arch),
        inputs: vec![(&module, ".spv")],
        files: vec![],
    };
    let raw = session
        .step(&step, |bytes| check::intel(bytes, &kernels))
        .map_err(|error| error.context(format!("target `intel:{arch}`")))?;
    let mut image = unit.image(session, Target::Intel(arch.clone()));
    image.aspects = check::spirv_aspects(&module.read()?)?;
    add_resources(&mut image.kernels, &raw.read()?);
    Ok(Compiled { image, raw })
}

/// `--format zebin`: the older container of old releases cannot be read back. `-exclude_ir`: the SPIR-V has an image
/// of its own. No `-q`: it hides the warnings on spilled registers.
fn args(arch: &IntelArch) -> Vec<Arg> {
    let fixed = ["compile", "-spirv_input", "-device", arch.name(), "--format", "zebin", "-exclude_ir"];
    let files = ["-out_dir", ".", "-output", "out", "-output_no_suffix", "-file"];
    texts(fixed).chain(texts(files)).chain([Arg::Input(0)]).collect()
}

/// What the image itself says of its kernels; archives of several devices say nothing here.
fn add_resources(kernels: &mut [KernelInfo], image: &[u8]) {
    for info in zebin::info(image).unwrap_or_default() {
        if let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.name == info.name) {
            kernel.registers = info.grf_count;
            kernel.sub_group_size = info.simd_size;
            kernel.spilled = info.spill_size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_and_the_format_are_asked_for() {
        let Target::Intel(arch) = "intel:pvc".parse().unwrap() else { panic!() };
        let args = args(&arch);
        let at = |text: &str| args.iter().position(|arg| *arg == Arg::Text(text.into())).unwrap();
        assert_eq!(args[at("-device") + 1], Arg::Text("pvc".into()));
        assert_eq!(args[at("--format") + 1], Arg::Text("zebin".into()));
        assert_eq!(args[at("-file") + 1], Arg::Input(0));
    }
}
