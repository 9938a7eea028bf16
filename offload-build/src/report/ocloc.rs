//! What ocloc says about the resources of kernels, in the image and in words.

use offload_format::IntelArch;
use offload_format::pack::KernelInfo;
use offload_images::zebin;

/// Adds what `image` holds and what ocloc `said` when it made it.
///
/// Releases before `.ze_info` 1.39 tell spills in words alone:
///
/// ```text
/// warning: kernel k  compiled SIMD32 allocated 128 regs and spilled around 304
/// warning: in kernel 'k': compiled SIMD8 allocated 128 regs and spilled around 122
/// ```
pub(crate) fn add(kernels: &mut [KernelInfo], (image, said): (&[u8], &str), arch: &IntelArch) {
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
        for (name, registers) in said.lines().filter_map(spill) {
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
        let bytes = |name: &str| {
            let offload_format::Target::Intel(arch) = format!("intel:{name}").parse().unwrap() else {
                panic!()
            };
            register_bytes(&arch)
        };
        assert_eq!((bytes("pvc"), bytes("acm-g10"), bytes("mtl-u"), bytes("bmg-g21")), (64, 32, 32, 64));
    }
}
