//! Selection of the form of a module, native code or IR, for a device: a pure function.

use offload_containers::syclbin::{AbstractModule, BundleState, Payload, PropertyValue, sets};
use offload_format::{Limits, SpirvVersion};
use offload_images::spirv;

use crate::needs;
use crate::rules::{Rules, Unfit};
use crate::traits::Traits;

/// A form of a module, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Native(usize),
    Ir(usize),
}

/// The form of `module` that `device` takes in a file of `state`.
pub(crate) fn choose(
    rules: Rules,
    module: &AbstractModule<'_>,
    state: BundleState,
    device: &Traits,
) -> Result<Form, Unfit> {
    if rules == Rules::Runtime && module.native.iter().any(|native| target(native).is_none()) {
        return Err(Unfit::refused("a native image has no target"));
    }
    needs::check(rules, module, device)?;
    let native = match state {
        BundleState::Executable => {
            module.native.iter().position(|native| takes_native(rules, native, device))
        }
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
    if !target.split_once('-').is_some_and(|(arch, _)| device.arch.takes(arch)) {
        return false;
    }
    rules == Rules::Runtime || native.arch().is_some_and(|arch| device.arch.is_called(&arch))
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

/// An unreadable module is taken, so that its error is reported.
fn takes_version(ir: &Payload<'_>, device: &Traits) -> bool {
    let highest = device.spirv.iter().map(|version| SpirvVersion::word(*version)).max();
    match spirv::Module::parse(ir.bytes, &Limits::default()) {
        Ok(module) => highest.is_some_and(|highest| module.version() <= highest),
        Err(_) => true,
    }
}

fn none(module: &AbstractModule<'_>, state: BundleState) -> Unfit {
    let natives = module.native.len();
    Unfit::Missing(match (module.ir.is_empty(), natives, state) {
        (false, ..) => "its SPIR-V is of a version that the device does not take".to_string(),
        (true, 0, _) => "it has neither IR nor native code".to_string(),
        (true, _, BundleState::Executable) => {
            format!("it has no IR, and none of {natives} native images is for the device")
        }
        (true, ..) => format!("it has no IR, and native code does not count in state {state}"),
    })
}

#[cfg(test)]
mod tests;
