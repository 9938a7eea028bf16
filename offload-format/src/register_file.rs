//! The choice between the default and the large register file of Intel GPUs, kernel by kernel.

use crate::pack::KernelInfo;

/// How many registers a hardware thread of an Intel GPU has
/// (<https://www.intel.com/content/www/us/en/docs/oneapi/optimization-guide-gpu/2024-0/small-register-mode-vs-large-register-mode.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterFile {
    /// What the compiler takes unless told otherwise.
    Default,
    /// Twice as many, for half as many hardware threads.
    Large,
}

/// The better of two builds of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegisterFileChoice {
    /// The register file that it was built for.
    pub registers: RegisterFile,
    /// Why, for people; empty if the build for the default one does not spill.
    pub reason: String,
}

impl RegisterFileChoice {
    fn new(registers: RegisterFile, reason: String) -> RegisterFileChoice {
        RegisterFileChoice { registers, reason }
    }
}

impl RegisterFile {
    /// Which of two builds of a kernel is better.
    ///
    /// Fewer spilled bytes a work-item win. With as many the default stays: it has twice the hardware threads. It
    /// stays too if the numbers of registers say that the compiler has ignored the wish for more.
    ///
    /// ```
    /// use offload_format::RegisterFile;
    /// use offload_format::pack::KernelInfo;
    ///
    /// let build = |registers, spilled| {
    ///     let mut kernel = KernelInfo::new("k");
    ///     (kernel.registers, kernel.spilled) = (Some(registers), Some(spilled));
    ///     kernel
    /// };
    /// let (spilling, large) = (build(128, 640), build(256, 0));
    /// assert_eq!(RegisterFile::better(&spilling, &large).registers, RegisterFile::Large);
    /// ```
    pub fn better(default: &KernelInfo, large: &KernelInfo) -> RegisterFileChoice {
        let (spilled, less) = (default.spilled.unwrap_or(0), large.spilled.unwrap_or(u64::MAX));
        if spilled == 0 {
            return RegisterFileChoice::new(RegisterFile::Default, String::new());
        }
        let counts = default.registers.zip(large.registers);
        if counts.is_some_and(|(few, many)| many <= few) || large.spilled.is_none() {
            let reason = format!("spills {spilled} bytes; there is no larger register file");
            return RegisterFileChoice::new(RegisterFile::Default, reason);
        }
        let (few, many) = match counts {
            Some((few, many)) => (format!("{few} registers"), format!("{many} registers")),
            None => ("the default register file".to_string(), "the large register file".to_string()),
        };
        // By cross multiplication: a build may have another number of work-items in a hardware thread.
        let items = |kernel: &KernelInfo| u128::from(kernel.sub_group_size.unwrap_or(1).max(1));
        let (of_large, of_default) = (u128::from(less) * items(default), u128::from(spilled) * items(large));
        if of_large < of_default {
            let reason = format!("{many}: spills {less} bytes, with {few} {spilled}");
            return RegisterFileChoice::new(RegisterFile::Large, reason);
        }
        let reason = format!("{few}: spills {spilled} bytes, with {many} {less}");
        RegisterFileChoice::new(RegisterFile::Default, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(registers: impl Into<Option<u32>>, simd: u32, spilled: impl Into<Option<u64>>) -> KernelInfo {
        KernelInfo {
            registers: registers.into(),
            sub_group_size: Some(simd),
            spilled: spilled.into(),
            ..KernelInfo::default()
        }
    }

    #[test]
    fn fewer_spilled_bytes_win_then_threads() {
        for (default, large, chosen) in [
            (kernel(128, 32, 0), kernel(256, 32, 0), RegisterFile::Default),
            (kernel(128, 32, 640), kernel(256, 32, 0), RegisterFile::Large),
            (kernel(128, 32, 640), kernel(256, 32, 320), RegisterFile::Large),
            (kernel(128, 32, 640), kernel(256, 32, 640), RegisterFile::Default),
            (kernel(128, 32, 640), kernel(256, 32, 700), RegisterFile::Default),
            // Silently ignored: no larger file, whatever is said of spills.
            (kernel(128, 32, 640), kernel(128, 32, 0), RegisterFile::Default),
            // A driver that does not tell the registers, or not the spills.
            (kernel(None, 32, 640), kernel(None, 32, 0), RegisterFile::Large),
            (kernel(None, 32, 640), kernel(None, 32, 640), RegisterFile::Default),
            (kernel(128, 32, 640), kernel(256, 32, None), RegisterFile::Default),
            // 20 bytes a work-item against 30.
            (kernel(128, 16, 320), kernel(256, 8, 240), RegisterFile::Default),
            // 20 against 15.
            (kernel(128, 16, 320), kernel(256, 32, 480), RegisterFile::Large),
            (kernel(128, 1, u64::MAX), kernel(256, 1, u64::MAX - 1), RegisterFile::Large),
        ] {
            let choice = RegisterFile::better(&default, &large);
            assert_eq!(choice.registers, chosen, "{default:?} {large:?}");
            assert_eq!(choice.reason.is_empty(), default.spilled == Some(0));
        }
    }

    #[test]
    fn reasons_name_both_builds() {
        let why = |default, large| RegisterFile::better(&default, &large).reason;
        assert_eq!(
            why(kernel(128, 32, 640), kernel(256, 32, 0)),
            "256 registers: spills 0 bytes, with 128 registers 640"
        );
        assert_eq!(
            why(kernel(None, 32, 8), kernel(None, 32, 8)),
            "the default register file: spills 8 bytes, with the large register file 8"
        );
    }
}
