//! The choice between the default and the large register file of Intel GPUs, kernel by kernel.

use offload_format::pack::KernelInfo;

/// Which build of a kernel is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Default,
    Large,
}

/// The better build of one kernel, and why, for people.
///
/// Fewer spilled bytes a work-item win. With as many the default stays: it has twice the hardware threads.
pub(crate) fn choose(default: &KernelInfo, large: &KernelInfo) -> (Choice, String) {
    let (few, many) = (default.registers.unwrap_or(0), large.registers.unwrap_or(0));
    let (spilled, less) = (default.spilled.unwrap_or(0), large.spilled.unwrap_or(0));
    if spilled == 0 {
        return (Choice::Default, String::new());
    }
    if many <= few {
        return (Choice::Default, format!("spills {spilled} bytes; the device has no larger register file"));
    }
    // By cross multiplication: a build may have another number of work-items in a hardware thread.
    let items = |kernel: &KernelInfo| u128::from(kernel.sub_group_size.unwrap_or(1).max(1));
    let better =
        u128::from(less).saturating_mul(items(default)) < u128::from(spilled).saturating_mul(items(large));
    if better {
        return (
            Choice::Large,
            format!("{many} registers: spills {less} bytes, with {few} registers {spilled}"),
        );
    }
    (Choice::Default, format!("{few} registers: spills {spilled} bytes, with {many} registers {less}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(registers: u32, simd: u32, spilled: u64) -> KernelInfo {
        KernelInfo {
            registers: Some(registers),
            sub_group_size: Some(simd),
            spilled: Some(spilled),
            ..KernelInfo::default()
        }
    }

    #[test]
    fn fewer_spilled_bytes_win_then_threads() {
        for (default, large, chosen) in [
            (kernel(128, 32, 0), kernel(256, 32, 0), Choice::Default),
            (kernel(128, 32, 640), kernel(256, 32, 0), Choice::Large),
            (kernel(128, 32, 640), kernel(256, 32, 320), Choice::Large),
            (kernel(128, 32, 640), kernel(256, 32, 640), Choice::Default),
            // Silently ignored: no larger file, whatever is said of spills.
            (kernel(128, 32, 640), kernel(128, 32, 0), Choice::Default),
            // 20 bytes a work-item against 30.
            (kernel(128, 16, 320), kernel(256, 8, 240), Choice::Default),
            // 20 against 15.
            (kernel(128, 16, 320), kernel(256, 32, 480), Choice::Large),
        ] {
            let (choice, why) = choose(&default, &large);
            assert_eq!(choice, chosen, "{default:?} {large:?}");
            assert_eq!(why.is_empty(), default.spilled == Some(0));
        }
    }
}
