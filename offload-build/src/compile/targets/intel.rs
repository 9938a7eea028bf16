//! `intel:NAME`: native code through ocloc, from the same SPIR-V for every device.
//!
//! A kernel that spills registers is compiled for the large register file as well, and the better build is kept. If
//! that concerns some kernels of several, they get an image of their own: the others keep their hardware threads.

use std::collections::BTreeMap;

use offload_format::pack::KernelInfo;
use offload_format::{Aspects, IntelArch, RegisterFile, RegisterFileChoice, SpirvVersion, Target};
use offload_images::zebin;

use crate::cache::Blob;
use crate::compile::Session;
use crate::compile::session::Unit;
use crate::compile::steps::action::{Arg, Step, texts};
use crate::compile::steps::check;
use crate::compile::targets::spirv;
use crate::error::{Error, ErrorKind, Result};
use crate::module::DeviceImage;
use crate::options::Grf;

/// Understood by every ocloc of the last years.
const SPIRV_VERSION: SpirvVersion = SpirvVersion::V1_2;

/// The name of the part with the kernels that need the large register file.
const LARGE_PART: &str = "large-grf";

/// What ocloc compiles for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device<'a> {
    pub(crate) arch: &'a IntelArch,
    pub(crate) registers: RegisterFile,
}

pub(crate) fn compile(session: &Session<'_>, unit: &Unit<'_>, arch: &IntelArch) -> Result<Vec<DeviceImage>> {
    let default = Device { arch, registers: RegisterFile::Default };
    let large = Device { arch, registers: RegisterFile::Large };
    let first = match session.sources.options.grf.unwrap_or_default() {
        Grf::Auto => build(session, unit, default)?,
        Grf::Default => return Ok(vec![build(session, unit, default)?]),
        Grf::Large => return Ok(vec![build(session, unit, large)?]),
    };
    if first.record.kernels.iter().all(|kernel| kernel.spilled.unwrap_or(0) == 0) {
        return Ok(vec![first]);
    }
    let second = build(session, unit, large)?;
    let choices = choices(&first.record.kernels, &second.record.kernels);
    let number = unit.names().into_iter().filter(|name| is_large(&choices, name)).count();
    let mut kept = match number {
        0 => vec![first],
        all if all == unit.kernels.len() => vec![second],
        _ => vec![
            build(session, &unit.only("", |name| !is_large(&choices, name)), default)?,
            build(session, &unit.only(LARGE_PART, |name| is_large(&choices, name)), large)?,
        ],
    };
    for kernel in kept.iter_mut().flat_map(|image| &mut image.record.kernels) {
        kernel.remark = choices.get(&kernel.name).map(|choice| choice.reason.clone()).unwrap_or_default();
    }
    Ok(kept)
}

fn choices(default: &[KernelInfo], large: &[KernelInfo]) -> BTreeMap<String, RegisterFileChoice> {
    let mut choices = BTreeMap::new();
    choices.extend(default.iter().filter_map(|kernel| {
        let other = large.iter().find(|other| other.name == kernel.name)?;
        Some((kernel.name.clone(), RegisterFile::better(kernel, other)))
    }));
    choices
}

fn is_large(choices: &BTreeMap<String, RegisterFileChoice>, kernel: &str) -> bool {
    choices.get(kernel).is_some_and(|choice| choice.registers == RegisterFile::Large)
}

fn build(session: &Session<'_>, unit: &Unit<'_>, device: Device<'_>) -> Result<DeviceImage> {
    let module = spirv::module(session, unit, SPIRV_VERSION)?;
    let (bytes, printed) = native(session, device, &module, &unit.names())?;
    let mut record = unit.image_record(session, Target::Intel(device.arch.clone()));
    let aspects = spirv::aspects(&module.read()?)?;
    let variables = aspects.missing_from(Aspects::ALL.missing_from(Aspects::GLOBAL_VARIABLES));
    record.aspects = aspects.hardware() | variables;
    add_ocloc(&mut record.kernels, &bytes.read()?, &printed, device.arch);
    Ok(DeviceImage { record, bytes })
}

/// Native code with `kernels` from a SPIR-V module, and the output of ocloc.
pub(crate) fn native(
    session: &Session<'_>,
    device: Device<'_>,
    module: &Blob,
    kernels: &[&str],
) -> Result<(Blob, String)> {
    let ocloc = session.tools().ocloc()?;
    session.env().depends_on(&ocloc.path);
    let args = args(device);
    let inputs = vec![(module, ".spv")];
    let step = Step { name: "ocloc", tool: &ocloc, args, inputs, files: vec![] };
    let made = session.step_with_output(&step, |bytes| check::intel(bytes, kernels));
    made.map_err(|error| told_apart(session, device, module, error))
}

/// A kernel whose numbers are of the type `REAL`.
const PROBE: &str = "kernel void probe(global REAL *x) { x[0] += x[1]; }\n";

/// `error` of ocloc over `module`; a refusal for want of double precision gets a kind of its own.
///
/// Ocloc refuses with the same exit code whatever the reason, and which devices lack double precision changes with its
/// releases, which emulate it on some. So a module that uses it is asked about twice more: the same small kernel is
/// compiled for the device with `double` and with `float`.
fn told_apart(session: &Session<'_>, device: Device<'_>, module: &Blob, error: Error) -> Error {
    if error.kind() == ErrorKind::Tool
        && uses_fp64(module)
        && lacks_fp64(answer(session, device, "double"), || answer(session, device, "float"))
    {
        return error.with_kind(ErrorKind::MissingFp64);
    }
    error
}

fn uses_fp64(module: &Blob) -> bool {
    let Ok(module) = module.read() else { return false };
    spirv::aspects(&module).is_ok_and(|aspects| Aspects::FP64.missing_from(aspects).is_empty())
}

/// Whether ocloc compiles a kernel for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    Unknown,
}

/// Whether ocloc compiles the probe with numbers of the type `real`.
fn answer(session: &Session<'_>, device: Device<'_>, real: &str) -> Answer {
    match probe(session, device, real) {
        Ok(()) => Answer::Yes,
        Err(error) if error.kind() == ErrorKind::Tool => Answer::No,
        Err(_) => Answer::Unknown,
    }
}

/// An ocloc that refuses both has another reason.
fn lacks_fp64(double: Answer, float: impl FnOnce() -> Answer) -> bool {
    double == Answer::No && float() == Answer::Yes
}

/// Compiles the probe with numbers of the type `real`, with the arguments that kernels get.
fn probe(session: &Session<'_>, device: Device<'_>, real: &str) -> Result<()> {
    let module = spirv::compile_text(session, PROBE, &[format!("-DREAL={real}")], SPIRV_VERSION)?;
    let ocloc = session.tools().ocloc()?;
    let args = args(device);
    let inputs = vec![(&module, ".spv")];
    let step = Step { name: "ocloc", tool: &ocloc, args, inputs, files: vec![] };
    session.step_with_output(&step, |bytes| check::intel(bytes, &["probe"])).map(drop)
}

/// `--format zebin`: the older container of old releases cannot be read back. `-exclude_ir`: the SPIR-V has an image
/// of its own. No `-q`: it hides the warnings on spilled registers. The option for the large register file is the
/// one that all releases take in this place; some ignore others without a word.
fn args(Device { arch, registers }: Device<'_>) -> Vec<Arg> {
    let fixed = ["compile", "-spirv_input", "-device", arch.name(), "--format", "zebin", "-exclude_ir"];
    let large: &[&str] = match registers {
        RegisterFile::Default => &[],
        RegisterFile::Large => &["-options", "-ze-opt-large-register-file"],
    };
    let files = ["-out_dir", ".", "-output", "out", "-output_no_suffix", "-file"];
    texts(fixed).chain(texts(large.iter().copied())).chain(texts(files)).chain([Arg::Input(0)]).collect()
}

/// Adds the records in `image`, and those in the output that ocloc `printed` for it.
///
/// Releases before `.ze_info` 1.39 report spills in their output alone:
///
/// ```text
/// warning: kernel k  compiled SIMD32 allocated 128 regs and spilled around 304
/// warning: in kernel 'k': compiled SIMD8 allocated 128 regs and spilled around 122
/// ```
pub(crate) fn add_ocloc(kernels: &mut [KernelInfo], image: &[u8], printed: &str, arch: &IntelArch) {
    // An archive for several devices says nothing of one of them.
    let Ok(described) = zebin::info(image) else { return };
    let older = described.iter().all(|info| info.spill_size.is_none());
    for info in described {
        let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.name == info.name) else { continue };
        kernel.registers = info.grf_count;
        kernel.sub_group_size = info.simd_size;
        kernel.local_memory = info.slm_size.or(Some(0));
        kernel.private_memory = info.private_size;
        kernel.spilled = info.spill_size.or_else(|| older.then_some(0));
    }
    if older {
        for (name, registers) in printed.lines().filter_map(spill) {
            if let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.name == name) {
                kernel.spilled = registers.checked_mul(register_bytes(arch));
            }
        }
    }
}

/// The kernel and the number of spilled registers in a line of either form.
fn spill(line: &str) -> Option<(&str, u64)> {
    let (head, tail) = line.split_once(" compiled SIMD")?;
    let name = head.rsplit_once("kernel ")?.1.trim_matches([' ', '\'', ':']);
    let count = tail.split_once("spilled around ")?.1.split_whitespace().next()?;
    Some((name, count.parse().ok()?))
}

/// A register has 64 bytes since Xe-HPC
/// (<https://github.com/intel/intel-graphics-compiler/blob/master/documentation/visa/1_introduction.md>).
fn register_bytes(arch: &IntelArch) -> u64 {
    match arch.ip_version() {
        Some([architecture, release, _])
            if architecture > 12 || (architecture == 12 && (60..70).contains(&release)) =>
        {
            64
        }
        _ => 32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_lacks_fp64_where_only_double_is_refused() {
        use Answer::{No, Unknown, Yes};
        assert!(lacks_fp64(No, || Yes));
        for (double, float) in [(No, No), (No, Unknown), (Yes, Yes), (Yes, No), (Unknown, Yes)] {
            assert!(!lacks_fp64(double, || float), "{double:?} {float:?}");
        }
    }

    #[test]
    fn the_device_and_the_format_are_asked_for() {
        let Target::Intel(arch) = "intel:pvc".parse().unwrap() else { panic!() };
        let args = args(Device { arch: &arch, registers: RegisterFile::Large });
        for (flag, value) in [
            ("-device", Arg::Text("pvc".into())),
            ("--format", Arg::Text("zebin".into())),
            ("-options", Arg::Text("-ze-opt-large-register-file".into())),
            ("-file", Arg::Input(0)),
        ] {
            let at = args.iter().position(|arg| *arg == Arg::Text(flag.into())).unwrap();
            assert_eq!(args[at + 1], value);
        }
    }

    #[test]
    fn both_forms_of_the_warning_are_read() {
        let old = "warning: kernel spill  compiled SIMD32 allocated 128 regs and spilled around 304";
        let new = "warning: in kernel 'spill': compiled SIMD8 allocated 128 regs and spilled around 122";
        assert_eq!(spill(old), Some(("spill", 304)));
        assert_eq!(spill(new), Some(("spill", 122)));
        assert_eq!(
            spill("warning: in kernel 'spill': [RetryManager] Start recompilation of the kernel"),
            None
        );
    }

    #[test]
    fn registers_differ_in_size() {
        for (name, bytes) in [("pvc", 64), ("acm-g10", 32), ("mtl-u", 32), ("bmg-g21", 64)] {
            let Target::Intel(arch) = format!("intel:{name}").parse().unwrap() else { panic!() };
            assert_eq!(register_bytes(&arch), bytes, "{name}");
        }
    }
}
