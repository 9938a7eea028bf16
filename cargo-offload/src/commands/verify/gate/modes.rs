//! The modes that a target ID of AMD's leaves open, in which an image for each mode serves as one for any would.
//!
//! A bundle may have `gfx90a:xnack+` and `gfx90a:xnack-` in place of `gfx90a`: a target ID without a feature is for both
//! of its settings (<https://llvm.org/docs/AMDGPUUsage.html#target-id>), and every device has one of them.

use offload_format::{AmdArch, Target};
use offload_rt::Entry;

/// `arch` in every setting of the modes that it leaves open and an image names: the four of sramecc and xnack for
/// `gfx90a`, where images name both. `arch` alone where they name none.
pub(super) fn settings(arch: &AmdArch, images: &[&Entry]) -> Vec<AmdArch> {
    let targets: Vec<AmdArch> = images.iter().filter_map(|image| of_image(image)).collect();
    let settings = |set: Option<bool>, named: fn(&AmdArch) -> Option<bool>| match set {
        None if targets.iter().any(|arch| named(arch).is_some()) => vec![Some(true), Some(false)],
        set => vec![set],
    };
    let mut all = Vec::new();
    for sramecc in settings(arch.sramecc(), AmdArch::sramecc) {
        for xnack in settings(arch.xnack(), AmdArch::xnack) {
            all.push(arch.clone().with_sramecc(sramecc).with_xnack(xnack));
        }
    }
    all
}

/// Whether `image` is for the processor of `arch`, in the modes that `arch` has, or in any.
pub(super) fn serves(image: &Entry, arch: &AmdArch) -> bool {
    let fits = |named: Option<bool>, set: Option<bool>| named.is_none() || named == set;
    of_image(image).is_some_and(|named| {
        named.processor() == arch.processor()
            && fits(named.sramecc(), arch.sramecc())
            && fits(named.xnack(), arch.xnack())
    })
}

/// Whether `image` names what `arch` names, and perhaps more modes.
pub(super) fn narrows(image: &Entry, arch: &AmdArch) -> bool {
    let keeps = |set: Option<bool>, named: Option<bool>| set.is_none() || named == set;
    of_image(image)
        .is_some_and(|named| keeps(arch.sramecc(), named.sramecc()) && keeps(arch.xnack(), named.xnack()))
}

fn of_image(image: &Entry) -> Option<AmdArch> {
    match image.target() {
        Ok(Target::Amdgcn(arch)) => Some(arch),
        _ => None,
    }
}
