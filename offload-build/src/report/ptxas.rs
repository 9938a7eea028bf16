//! What ptxas says about the resources of kernels.

use offload_format::pack::KernelInfo;

/// Adds what `ptxas -v` printed.
///
/// ```text
/// ptxas info    : Compiling entry function 'k' for 'sm_90'
/// ptxas info    : Function properties for k
///     704 bytes stack frame, 1236 bytes spill stores, 1328 bytes spill loads
/// ptxas info    : Used 64 registers, used 1 barriers, 704 bytes cumulative stack size, 4096 bytes smem, 380 bytes cmem[0]
/// ```
pub(crate) fn add(kernels: &mut [KernelInfo], said: &str) {
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
        let kernel = |name: &str| KernelInfo { name: name.into(), ..KernelInfo::default() };
        let mut kernels = [kernel("small"), kernel("spill")];
        add(&mut kernels, said);
        let [small, spill] = kernels;
        assert_eq!((small.registers, small.spilled, small.local_memory), (Some(8), Some(0), Some(0)));
        assert_eq!((spill.registers, spill.spilled), (Some(64), Some(1236)));
        assert_eq!((spill.private_memory, spill.local_memory), (Some(704), Some(4096)));
    }
}
