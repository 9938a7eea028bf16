//! `intel:NAME`: native code through ocloc, from the same SPIR-V for every device.
//!
//! A kernel that spills registers is compiled for the large register file as well, and the better build is kept. If
//! that concerns some kernels of several, they get an image of their own: the others keep their hardware threads.

use std::collections::BTreeMap;

use offload_format::pack::KernelInfo;
use offload_format::{IntelArch, RegisterFile, SpirvVersion, Target};

use super::action::{Arg, Step, texts};
use super::unit::Unit;
use super::{Compiled, Session, check, spirv};
use crate::error::Result;
use crate::options::Grf;
use crate::report;

/// Understood by every ocloc of the last years.
const SPIRV_VERSION: SpirvVersion = SpirvVersion::V1_2;

/// The name of the part with the kernels that need the large register file.
const LARGE_PART: &str = "large-grf";

pub(super) fn compile(session: &Session<'_>, unit: &Unit<'_>, arch: &IntelArch) -> Result<Vec<Compiled>> {
    let first = match session.sources.options.grf()? {
        Grf::Auto => build(session, unit, (arch, RegisterFile::Default))?,
        Grf::Default => return Ok(vec![build(session, unit, (arch, RegisterFile::Default))?]),
        Grf::Large => return Ok(vec![build(session, unit, (arch, RegisterFile::Large))?]),
    };
    if first.image.kernels.iter().all(|kernel| kernel.spilled.unwrap_or(0) == 0) {
        return Ok(vec![first]);
    }
    let second = build(session, unit, (arch, RegisterFile::Large))?;
    let choices = choices(&first.image.kernels, &second.image.kernels);
    let large = |name: &str| matches!(choices.get(name), Some((RegisterFile::Large, _)));
    let wanted = unit.names().into_iter().filter(|name| large(name)).count();
    let mut kept = match wanted {
        0 => vec![first],
        all if all == unit.kernels.len() => vec![second],
        _ => vec![
            build(session, &unit.only("", |name| !large(name)), (arch, RegisterFile::Default))?,
            build(session, &unit.only(LARGE_PART, large), (arch, RegisterFile::Large))?,
        ],
    };
    for kernel in kept.iter_mut().flat_map(|compiled| &mut compiled.image.kernels) {
        kernel.remark = choices.get(&kernel.name).map(|(_, why)| why.clone()).unwrap_or_default();
    }
    Ok(kept)
}

/// Whether ocloc refused the kernels because the device has no `double`.
pub(super) fn lacks_fp64(result: &Result<Vec<Compiled>>) -> bool {
    let refusal = "Double type is not supported on this platform";
    result.as_ref().is_err_and(|error| error.to_string().contains(refusal))
}

fn choices(default: &[KernelInfo], large: &[KernelInfo]) -> BTreeMap<String, (RegisterFile, String)> {
    let pairs = default.iter().filter_map(|kernel| {
        let other = large.iter().find(|other| other.name == kernel.name)?;
        Some((kernel.name.clone(), RegisterFile::better(kernel, other)))
    });
    pairs.collect()
}

fn build(
    session: &Session<'_>,
    unit: &Unit<'_>,
    (arch, registers): (&IntelArch, RegisterFile),
) -> Result<Compiled> {
    let ocloc = session.finder.ocloc()?;
    session.env.depends_on(&ocloc.path);
    let module = spirv::module(session, unit, SPIRV_VERSION)?;
    let kernels = unit.names();
    let (args, inputs) = (args(arch, registers), vec![(&module, ".spv")]);
    let step = Step { name: "ocloc", tool: &ocloc, args, inputs, files: vec![] };
    let (raw, said) = session.step_said(&step, |bytes| check::intel(bytes, &kernels))?;
    let mut image = unit.image(session, Target::Intel(arch.clone()));
    image.aspects = check::spirv_aspects(&module.read()?)?;
    report::add_ocloc(&mut image.kernels, (&raw.read()?, &said), arch);
    Ok(Compiled { image, raw })
}

/// `--format zebin`: the older container of old releases cannot be read back. `-exclude_ir`: the SPIR-V has an image
/// of its own. No `-q`: it hides the warnings on spilled registers. The option for the large register file is the
/// one that all releases take in this place; some ignore others without a word.
pub(super) fn args(arch: &IntelArch, registers: RegisterFile) -> Vec<Arg> {
    let fixed = ["compile", "-spirv_input", "-device", arch.name(), "--format", "zebin", "-exclude_ir"];
    let large: &[&str] = match registers {
        RegisterFile::Default => &[],
        RegisterFile::Large => &["-options", "-ze-opt-large-register-file"],
    };
    let files = ["-out_dir", ".", "-output", "out", "-output_no_suffix", "-file"];
    texts(fixed).chain(texts(large.iter().copied())).chain(texts(files)).chain([Arg::Input(0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_and_the_format_are_asked_for() {
        let Target::Intel(arch) = "intel:pvc".parse().unwrap() else { panic!() };
        let args = args(&arch, RegisterFile::Large);
        let at = |text: &str| args.iter().position(|arg| *arg == Arg::Text(text.into())).unwrap();
        assert_eq!(args[at("-device") + 1], Arg::Text("pvc".into()));
        assert_eq!(args[at("--format") + 1], Arg::Text("zebin".into()));
        assert_eq!(args[at("-options") + 1], Arg::Text("-ze-opt-large-register-file".into()));
        assert_eq!(args[at("-file") + 1], Arg::Input(0));
    }
}
