//! Which form of a module a device takes: a function of data alone.

use std::fmt;

use offload_containers::syclbin::{
    AbstractModule, File, ImageKindNumber, Payload, PropertyValue, State, sets,
};
use offload_format::{Limits, SpirvVersion};
use offload_images::spirv;

use super::needs;
use super::traits::Traits;

/// By whose rules images are chosen and linked.
///
/// | | `Spec` | `Runtime` |
/// |---|---|---|
/// | native image of an executable | the first for exactly the device's architecture | the first whose triple fits, whatever its architecture |
/// | IR | the first SPIR-V of a version that the device takes | the first, whatever it says of itself |
/// | a native image without a target | is passed over | the load fails |
/// | a required sub-group size as bytes | counts | leaves the module out |
/// | an aspect that does not exist | leaves the module out | the load fails |
/// | modules of objects | linked as their symbols ask for | all linked into one |
/// | a file without an envelope, the draft of version 2, image kind 6 of oneAPI 2025.3 | is read | is refused |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rules {
    /// As the extension has it: <https://github.com/intel/llvm/blob/sycl/sycl/doc/extensions/proposed/sycl_ext_oneapi_syclbin.asciidoc>,
    /// with the design document's properties.
    #[default]
    Spec,
    /// What oneAPI 2026's runtime does.
    Runtime,
}

/// A form of a module, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Native(usize),
    Ir(usize),
}

/// Why a device takes no form of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The bundle goes without it.
    Skipped(String),
    /// There is no bundle.
    Refused(String),
}

impl Unfit {
    pub(super) fn skipped(reason: impl Into<String>) -> Unfit {
        Unfit::Skipped(reason.into())
    }

    pub(super) fn refused(reason: impl Into<String>) -> Unfit {
        Unfit::Refused(reason.into())
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Rules::Spec => "spec",
            Rules::Runtime => "runtime",
        })
    }
}

/// Refuses a file that the runtime does not read.
pub(crate) fn check_file(rules: Rules, file: &File<'_>) -> Result<(), String> {
    let Some(envelope) = file.envelope.filter(|_| file.version < 2) else {
        return match rules {
            Rules::Spec => Ok(()),
            Rules::Runtime => Err("the runtime reads version 1 in an OffloadBinary alone".to_string()),
        };
    };
    match envelope.image_kind {
        ImageKindNumber(kind) if rules == Rules::Runtime && kind != ImageKindNumber::ONEAPI_2026.0 => {
            Err(format!("the runtime takes no image of kind {kind} for a SYCLBIN"))
        }
        _ => Ok(()),
    }
}

/// The form of `module` that `device` takes in a file of `state`.
pub(crate) fn choose(
    rules: Rules,
    module: &AbstractModule<'_>,
    state: State,
    device: &Traits,
) -> Result<Form, Unfit> {
    if rules == Rules::Runtime && module.native.iter().any(|native| target(native).is_none()) {
        return Err(Unfit::refused("a native image has no target"));
    }
    needs::check(rules, module, device)?;
    let native = match state {
        State::Executable => module.native.iter().position(|native| takes_native(rules, native, device)),
        _ => None,
    };
    match native {
        Some(index) => Ok(Form::Native(index)),
        None => ir(rules, module, device).map(Form::Ir).ok_or_else(|| none(module, state)),
    }
}

fn takes_native(rules: Rules, native: &Payload<'_>, device: &Traits) -> bool {
    let target = target(native).unwrap_or_default();
    // A triple of one part is of no target that a runtime knows.
    let fits = target.split_once('-').is_some_and(|(arch, _)| device.arch.takes(arch));
    let named = || native.arch().is_some_and(|arch| device.arch.is_called(&arch));
    fits && (rules == Rules::Runtime || named())
}

fn target(native: &Payload<'_>) -> Option<String> {
    native.metadata.get(sets::NATIVE, "target").and(native.target())
}

fn ir(rules: Rules, module: &AbstractModule<'_>, device: &Traits) -> Option<usize> {
    match rules {
        Rules::Runtime => (!module.ir.is_empty()).then_some(0),
        Rules::Spec => module.ir.iter().position(|ir| is_spirv(ir) && takes_version(ir, device)),
    }
}

fn is_spirv(ir: &Payload<'_>) -> bool {
    matches!(ir.metadata.get(sets::IR, "type"), None | Some(PropertyValue::Number(0)))
}

/// A module that cannot be read is taken, so that its error is told.
fn takes_version(ir: &Payload<'_>, device: &Traits) -> bool {
    let highest = device.spirv.iter().map(|version| SpirvVersion::word(*version)).max();
    match spirv::Module::parse(ir.bytes, &Limits::default()) {
        Ok(module) => highest.is_some_and(|highest| module.version() <= highest),
        Err(_) => true,
    }
}

fn none(module: &AbstractModule<'_>, state: State) -> Unfit {
    let natives = module.native.len();
    Unfit::Skipped(match (module.ir.is_empty(), natives, state) {
        (false, ..) => "its SPIR-V is of a version that the device does not take".to_string(),
        (true, 0, _) => "it has neither IR nor native code".to_string(),
        (true, _, State::Executable) => {
            format!("it has no IR, and none of {natives} native images is for the device")
        }
        (true, ..) => format!("it has no IR, and native code does not count in state {state}"),
    })
}

#[cfg(test)]
mod tests;
