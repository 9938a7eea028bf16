//! The choice between the default and the large register file of Intel GPUs, kernel by kernel.

use crate::pack::KernelInfo;

/// How many registers a hardware thread of an Intel GPU has
/// (<https://www.intel.com/content/www/us/en/docs/oneapi/optimization-guide-gpu/2024-0/small-register-mode-vs-large-register-mode.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterFile {
    /// The compiler's default.
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
    /// The reason, for people; empty if the build for the default register file does not spill.
    pub reason: String,
}

impl RegisterFileChoice {
    fn new(registers: RegisterFile, reason: String) -> RegisterFileChoice {
        RegisterFileChoice { registers, reason }
    }
}

impl RegisterFile {
    /// Chooses the better of two builds of a kernel.
    ///
    /// Fewer spilled bytes per work-item win. On a tie the default stays: it has twice the hardware threads. It stays
    /// too if the register counts show that the compiler has ignored the option for the large register file.
    ///
    /// ```
    /// use offload_format::RegisterFile;
    /// use offload_format::pack::KernelInfo;
    ///
    /// let mut default = KernelInfo::new("k");
    /// default.registers = Some(128);
    /// default.spilled = Some(640);
    /// let mut large = KernelInfo::new("k");
    /// large.registers = Some(256);
    /// large.spilled = Some(0);
    /// assert_eq!(RegisterFile::better(&default, &large).registers, RegisterFile::Large);
    /// ```
    pub fn better(default: &KernelInfo, large: &KernelInfo) -> RegisterFileChoice {
        let default_spill = default.spilled.unwrap_or(0);
        if default_spill == 0 {
            return RegisterFileChoice::new(RegisterFile::Default, String::new());
        }
        let counts = default.registers.zip(large.registers);
        let is_ignored = counts.is_some_and(|(few, many)| many <= few);
        let large_spill = large.spilled.filter(|_| !is_ignored);
        let Some(large_spill) = large_spill else {
            let reason = format!("spills {default_spill} bytes; there is no larger register file");
            return RegisterFileChoice::new(RegisterFile::Default, reason);
        };
        let (few, many) = match counts {
            Some((few, many)) => (format!("{few} registers"), format!("{many} registers")),
            None => ("the default register file".to_string(), "the large register file".to_string()),
        };
        // By cross multiplication: the builds may differ in work-items per hardware thread.
        let large_cost = u128::from(large_spill) * work_items(default);
        let default_cost = u128::from(default_spill) * work_items(large);
        if large_cost < default_cost {
            let reason = format!("{many}: spills {large_spill} bytes, with {few} {default_spill}");
            return RegisterFileChoice::new(RegisterFile::Large, reason);
        }
        let reason = format!("{few}: spills {default_spill} bytes, with {many} {large_spill}");
        RegisterFileChoice::new(RegisterFile::Default, reason)
    }
}

/// Work-items of a hardware thread.
fn work_items(kernel: &KernelInfo) -> u128 {
    u128::from(kernel.sub_group_size.unwrap_or(1).max(1))
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
            // The option was silently ignored: the register file is no larger.
            (kernel(128, 32, 640), kernel(128, 32, 0), RegisterFile::Default),
            // A driver that does not report registers, or not spills.
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
        assert_eq!(
            RegisterFile::better(&kernel(128, 32, 640), &kernel(256, 32, 0)).reason,
            "256 registers: spills 0 bytes, with 128 registers 640"
        );
        assert_eq!(
            RegisterFile::better(&kernel(None, 32, 8), &kernel(None, 32, 8)).reason,
            "the default register file: spills 8 bytes, with the large register file 8"
        );
    }
}
