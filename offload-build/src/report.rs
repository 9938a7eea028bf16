//! What kernels use of a device: read from compilers' words and from images, and held against a budget.

use offload_format::IntelArch;
use offload_format::pack::{KernelInfo, NewImage};
use offload_images::zebin;

use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::options::SpillBudget;

/// Warns of every kernel of `image` that spills more than `budget` allows, or refuses it.
pub(crate) fn check_budget(env: &CargoEnv, budget: SpillBudget, image: &NewImage) -> Result<()> {
    let over = |limit: u64| {
        image.kernels.iter().filter(move |kernel| kernel.spilled.is_some_and(|bytes| bytes > limit))
    };
    match budget {
        SpillBudget::Any => {}
        SpillBudget::Warn => over(0).for_each(|kernel| env.warn(&spills(kernel, image))),
        SpillBudget::WarnAbove(limit) => over(limit).for_each(|kernel| env.warn(&spills(kernel, image))),
        SpillBudget::AtMost(limit) => {
            if let Some(kernel) = over(limit).next() {
                let error = Error::new(format!("{}; `max-spills` allows {limit}", spills(kernel, image)));
                return Err(error.with_hint(
                    "give the kernel fewer live values or more registers, or raise `max-spills`",
                ));
            }
        }
    }
    Ok(())
}

fn spills(kernel: &KernelInfo, image: &NewImage) -> String {
    let bytes = kernel.spilled.unwrap_or(0);
    let of = match image.variant.as_str() {
        "" => image.module.clone(),
        variant => format!("{}[{variant}]", image.module),
    };
    let mut text = format!("kernel `{}` of `{of}` spills {bytes} bytes on {}", kernel.name, image.target);
    if let Some(registers) = kernel.registers {
        text.push_str(&format!(" with {registers} registers"));
    }
    text
}

/// Adds what `ptxas -v` printed.
///
/// ```text
/// ptxas info    : Compiling entry function 'k' for 'sm_90'
/// ptxas info    : Function properties for k
///     704 bytes stack frame, 1236 bytes spill stores, 1328 bytes spill loads
/// ptxas info    : Used 64 registers, used 1 barriers, 704 bytes cumulative stack size, 4096 bytes smem, 380 bytes cmem[0]
/// ```
pub(crate) fn add_ptxas(kernels: &mut [KernelInfo], said: &str) {
    let mut current = None;
    for line in said.lines() {
        if let Some(rest) = line.split_once("Compiling entry function '").map(|(_, rest)| rest) {
            let name = rest.split('\'').next().unwrap_or_default();
            current = kernels.iter().position(|kernel| kernel.name == name);
        }
        let Some(kernel) = current.and_then(|index| kernels.get_mut(index)) else { continue };
        if line.contains("bytes stack frame") {
            kernel.private_memory = number_before(line, " bytes stack frame");
            kernel.spilled = number_before(line, " bytes spill stores");
        } else if line.contains("Used ") {
            kernel.registers = number_before(line, " registers").and_then(|count| count.try_into().ok());
            kernel.local_memory = Some(number_before(line, " bytes smem").unwrap_or(0));
        }
    }
}

fn number_before(line: &str, unit: &str) -> Option<u64> {
    let before = line.split_once(unit)?.0;
    before.rsplit([' ', ',']).next()?.parse().ok()
}

/// Adds what `image` holds and what ocloc `said` when it made it.
///
/// Releases before `.ze_info` 1.39 tell spills in words alone:
///
/// ```text
/// warning: kernel k  compiled SIMD32 allocated 128 regs and spilled around 304
/// warning: in kernel 'k': compiled SIMD8 allocated 128 regs and spilled around 122
/// ```
pub(crate) fn add_ocloc(kernels: &mut [KernelInfo], image: &[u8], said: &str, arch: &IntelArch) {
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
    fn ptxas_tells_registers_and_spills() {
        let said = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'spill' for 'sm_90'\n\
            ptxas info    : Function properties for spill\n    \
            704 bytes stack frame, 1236 bytes spill stores, 1328 bytes spill loads\n\
            ptxas info    : Used 64 registers, used 1 barriers, 704 bytes cumulative stack size, 4096 bytes smem\n\
            ptxas info    : Compiling entry function 'small' for 'sm_90'\n\
            ptxas info    : Function properties for small\n    \
            0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 8 registers, used 0 barriers\n";
        let kernel = |name: &str| KernelInfo::new(name);
        let mut kernels = [kernel("small"), kernel("spill")];
        add_ptxas(&mut kernels, said);
        let [small, spill] = kernels;
        assert_eq!((small.registers, small.spilled, small.local_memory), (Some(8), Some(0), Some(0)));
        assert_eq!((spill.registers, spill.spilled), (Some(64), Some(1236)));
        assert_eq!((spill.private_memory, spill.local_memory), (Some(704), Some(4096)));
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
        let bytes = |name: &str| {
            let offload_format::Target::Intel(arch) = format!("intel:{name}").parse().unwrap() else {
                panic!()
            };
            register_bytes(&arch)
        };
        assert_eq!((bytes("pvc"), bytes("acm-g10"), bytes("mtl-u"), bytes("bmg-g21")), (64, 32, 32, 64));
    }
}
