//! Comparison of a native image with an Intel GPU.

use super::mismatch::Mismatch;
use super::patch_tokens;
use crate::ImageFormat;
use crate::zebin::{self, Compatibility};
use offload_format::IntelArch;

/// Product families with their architecture and releases, as `ocloc` 22.43 writes them into images. The numbers of earlier
/// families have changed between releases of ocloc, and later releases write IP versions.
const FAMILIES: [(u32, u32, [u32; 2]); 3] = [
    // DG1, DG2, Ponte Vecchio.
    (1210, 12, [10, 10]),
    (1270, 12, [55, 57]),
    (1271, 12, [60, 61]),
];

pub(super) fn check(arch: &IntelArch, image: &[u8]) -> Result<(), Mismatch> {
    match ImageFormat::detect(image) {
        Some(ImageFormat::Zebin) => check_zebin(arch, &zebin::compatibility(image)?),
        None if patch_tokens::is_container(image) => patch_tokens::check(arch, image),
        format => Err(Mismatch::format(format)),
    }
}

fn check_zebin(arch: &IntelArch, image: &Compatibility) -> Result<(), Mismatch> {
    if let Some(ip @ [architecture, release, revision]) = image.ip_version {
        if arch.covers(ip) || same_release(arch, ip) {
            return Ok(());
        }
        return Err(Mismatch::new(format!("the image is for intel:{architecture}.{release}.{revision}")));
    }
    let family = image.product_family.and_then(|number| FAMILIES.iter().find(|(of, ..)| *of == number));
    match (family, arch.ip_version()) {
        (Some((number, of, [first, last])), Some([architecture, release, _]))
            if *of != architecture || !(*first..=*last).contains(&release) =>
        {
            Err(Mismatch::new(format!("the image is for Intel's product family {number}")))
        }
        _ => Ok(()),
    }
}

/// ocloc accepts an image for the other revisions of its release.
pub(super) fn same_release(arch: &IntelArch, [architecture, release, _]: [u32; 3]) -> bool {
    arch.ip_version().is_some_and(|[of, at, _]| [of, at] == [architecture, release])
}
