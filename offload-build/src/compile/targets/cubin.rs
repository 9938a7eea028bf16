//! `cubin:sm_NN`: native code by NVIDIA's ptxas, from the same PTX for every architecture.

use offload_format::pack::KernelInfo;
use offload_format::{SmArch, Target};
use offload_images::cubin;

use crate::compile::Session;
use crate::compile::session::Unit;
use crate::compile::steps::action::{Arg, Step, texts};
use crate::compile::steps::check;
use crate::compile::targets::nvptx;
use crate::error::Result;
use crate::module::DeviceImage;
use crate::targets::WantedTarget;

/// A cubin and the PTX that it is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CubinArch<'a> {
    pub(crate) sm: &'a SmArch,
    /// The architecture of the PTX: the lowest of those that share it.
    pub(crate) base: &'a SmArch,
}

pub(crate) fn compile(session: &Session<'_>, unit: &Unit<'_>, arch: CubinArch<'_>) -> Result<DeviceImage> {
    let CubinArch { sm, base } = arch;
    let ptxas = session.tools().ptxas()?;
    let text = nvptx::ptx(session, unit, base)?;
    let kernels = unit.names();
    let inputs = vec![(&text, ".ptx")];
    let step = Step { name: "ptxas", tool: &ptxas, args: args(session, sm), inputs, files: vec![] };
    let (bytes, printed) = session.step_with_output(&step, |bytes| check::cubin(bytes, &kernels))?;
    let mut record = unit.image_record(session, Target::Cubin(sm.clone()));
    record.format_version = Some(cubin::info(&bytes.read()?)?.abi_version.into());
    add_ptxas(&mut record.kernels, &printed);
    Ok(DeviceImage { record, bytes })
}

/// The architecture whose PTX serves `sm`: the lowest of the cubins in `targets`. Code for features of one
/// architecture alone is made for that one.
pub(crate) fn base(sm: &SmArch, targets: &[WantedTarget]) -> SmArch {
    let plain = targets.iter().filter_map(|wanted| match &wanted.target {
        Target::Cubin(sm) if sm.suffix().is_none() => Some(sm),
        _ => None,
    });
    let lowest = plain.min_by_key(|other| other.number()).filter(|_| sm.suffix().is_none());
    lowest.unwrap_or(sm).clone()
}

/// `-v` says what the cubin does not: spilled bytes.
pub(crate) fn args(session: &Session<'_>, sm: &SmArch) -> Vec<Arg> {
    flags(sm, session.env().profile.debug_info.then_some("-lineinfo"))
        .chain([Arg::Text("-o".into()), Arg::Output, Arg::Input(0)])
        .collect()
}

fn flags(sm: &SmArch, lines: Option<&str>) -> impl Iterator<Item = Arg> {
    let fixed = ["-v".to_string(), "-O3".into(), format!("-arch={sm}")];
    texts(fixed).chain(texts(lines))
}

/// Adds what `ptxas -v` printed.
///
/// ```text
/// ptxas info    : Compiling entry function 'k' for 'sm_90'
/// ptxas info    : Function properties for k
///     704 bytes stack frame, 1236 bytes spill stores, 1328 bytes spill loads
/// ptxas info    : Used 64 registers, used 1 barriers, 704 bytes cumulative stack size, 4096 bytes smem, 380 bytes cmem[0]
/// ```
pub(crate) fn add_ptxas(kernels: &mut [KernelInfo], printed: &str) {
    let mut current = None;
    for line in printed.lines() {
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
    use crate::targets::Presence;

    fn sm(text: &str) -> SmArch {
        let Target::Cubin(sm) = format!("cubin:sm_{text}").parse().unwrap() else { panic!() };
        sm
    }

    #[test]
    fn the_lowest_architecture_gives_the_text() {
        let all = ["90", "80", "90a", "120"]
            .map(|text| WantedTarget { target: Target::Cubin(sm(text)), presence: Presence::Required });
        assert_eq!(base(&sm("90"), &all), sm("80"));
        assert_eq!(base(&sm("90a"), &all), sm("90a"));
        assert_eq!(base(&sm("75"), &[]), sm("75"));
    }

    #[test]
    fn ptxas_reports() {
        let flags: Vec<Arg> = flags(&sm("90a"), Some("-lineinfo")).collect();
        assert_eq!(flags, ["-v", "-O3", "-arch=sm_90a", "-lineinfo"].map(|text| Arg::Text(text.into())));
    }

    #[test]
    fn ptxas_tells_registers_and_spills() {
        let printed = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'spill' for 'sm_90'\n\
            ptxas info    : Function properties for spill\n    \
            704 bytes stack frame, 1236 bytes spill stores, 1328 bytes spill loads\n\
            ptxas info    : Used 64 registers, used 1 barriers, 704 bytes cumulative stack size, 4096 bytes smem\n\
            ptxas info    : Compiling entry function 'small' for 'sm_90'\n\
            ptxas info    : Function properties for small\n    \
            0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 8 registers, used 0 barriers\n";
        let mut kernels = [KernelInfo::new("small"), KernelInfo::new("spill")];
        add_ptxas(&mut kernels, printed);
        let [small, spill] = kernels;
        assert_eq!((small.registers, small.spilled, small.local_memory), (Some(8), Some(0), Some(0)));
        assert_eq!((spill.registers, spill.spilled), (Some(64), Some(1236)));
        assert_eq!((spill.private_memory, spill.local_memory), (Some(704), Some(4096)));
    }
}
