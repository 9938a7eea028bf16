//! Modes that an AMD target ID leaves open, for which one image per mode replaces a generic one.
//!
//! A bundle may have `gfx90a:xnack+` and `gfx90a:xnack-` in place of `gfx90a`: a target ID without a feature is for both
//! of its settings (<https://llvm.org/docs/AMDGPUUsage.html#target-id>), and every device has one of them.

use offload_format::{AmdArch, Target};
use offload_rt::Entry;

/// `arch` in every setting of the modes that it leaves open and an image names: the four of sramecc and xnack for
/// `gfx90a`, where images name both. `arch` alone where they name none.
pub(super) fn settings(arch: &AmdArch, images: &[&Entry]) -> Vec<AmdArch> {
    let targets: Vec<AmdArch> = images.iter().filter_map(|image| amd_arch(image)).collect();
    let mut all = Vec::new();
    for sramecc in mode_settings(arch, &targets, AmdArch::sramecc) {
        for xnack in mode_settings(arch, &targets, AmdArch::xnack) {
            all.push(arch.clone().with_sramecc(sramecc).with_xnack(xnack));
        }
    }
    all
}

/// Whether `image` is for the processor of `arch`, in the modes that `arch` has, or in any.
pub(super) fn serves(image: &Entry, arch: &AmdArch) -> bool {
    amd_arch(image).is_some_and(|named| {
        named.processor() == arch.processor()
            && is_compatible(named.sramecc(), arch.sramecc())
            && is_compatible(named.xnack(), arch.xnack())
    })
}

/// Whether `image` names what `arch` names, and perhaps more modes.
pub(super) fn narrows(image: &Entry, arch: &AmdArch) -> bool {
    amd_arch(image).is_some_and(|named| {
        is_compatible(arch.sramecc(), named.sramecc()) && is_compatible(arch.xnack(), named.xnack())
    })
}

fn amd_arch(image: &Entry) -> Option<AmdArch> {
    match image.target() {
        Ok(Target::Amdgcn(arch)) => Some(arch),
        _ => None,
    }
}

/// Whether a mode is open in `required`, or the same as in `actual`.
fn is_compatible(required: Option<bool>, actual: Option<bool>) -> bool {
    required.is_none() || required == actual
}

/// The settings of a mode: the one of `arch`, or both if `arch` leaves it open and an image names it.
fn mode_settings(
    arch: &AmdArch,
    images: &[AmdArch],
    mode: fn(&AmdArch) -> Option<bool>,
) -> Vec<Option<bool>> {
    match mode(arch) {
        None if images.iter().any(|image| mode(image).is_some()) => vec![Some(true), Some(false)],
        setting => vec![setting],
    }
}
