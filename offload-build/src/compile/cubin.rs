//! `cubin:sm_NN`: native code by NVIDIA's ptxas, from the same PTX for every architecture.

use offload_format::{SmArch, Target};
use offload_images::cubin;

use super::action::{Arg, Step, texts};
use super::unit::Unit;
use super::{Session, check, nvptx};
use crate::config::WantedTarget;
use crate::error::Result;
use crate::image::DeviceImage;
use crate::report;

/// A cubin and the PTX that it is made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct CubinArch<'a> {
    pub(super) sm: &'a SmArch,
    /// The architecture of the PTX: the lowest of those that share it.
    pub(super) base: &'a SmArch,
}

pub(super) fn compile(session: &Session<'_>, unit: &Unit<'_>, arch: CubinArch<'_>) -> Result<DeviceImage> {
    let CubinArch { sm, base } = arch;
    let ptxas = session.tools().ptxas()?;
    let text = nvptx::ptx(session, unit, base)?;
    let kernels = unit.names();
    let inputs = vec![(&text, ".ptx")];
    let step = Step { name: "ptxas", tool: &ptxas, args: args(session, sm), inputs, files: vec![] };
    let (bytes, said) = session.step_said(&step, |bytes| check::cubin(bytes, &kernels))?;
    let mut record = unit.image_record(session, Target::Cubin(sm.clone()));
    record.format_version = Some(cubin::info(&bytes.read()?)?.abi_version.into());
    report::add_ptxas(&mut record.kernels, &said);
    Ok(DeviceImage { record, bytes })
}

/// The architecture whose PTX serves `sm`: the lowest of the cubins in `targets`. Code for features of one
/// architecture alone is made for that one.
pub(super) fn base(sm: &SmArch, targets: &[WantedTarget]) -> SmArch {
    let plain = targets.iter().filter_map(|wanted| match &wanted.target {
        Target::Cubin(sm) if sm.suffix().is_none() => Some(sm),
        _ => None,
    });
    let lowest = plain.min_by_key(|other| other.number()).filter(|_| sm.suffix().is_none());
    lowest.unwrap_or(sm).clone()
}

/// `-v` says what the cubin does not: spilled bytes.
pub(super) fn args(session: &Session<'_>, sm: &SmArch) -> Vec<Arg> {
    flags(sm, session.env().profile.debug_info.then_some("-lineinfo"))
        .chain([Arg::Text("-o".into()), Arg::Output, Arg::Input(0)])
        .collect()
}

fn flags(sm: &SmArch, lines: Option<&str>) -> impl Iterator<Item = Arg> {
    let fixed = ["-v".to_string(), "-O3".into(), format!("-arch={sm}")];
    texts(fixed).chain(texts(lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Presence;

    fn sm(text: &str) -> SmArch {
        let Target::Cubin(sm) = format!("cubin:sm_{text}").parse().unwrap() else { panic!() };
        sm
    }

    #[test]
    fn the_lowest_architecture_gives_the_text() {
        let target = |text| Target::Cubin(sm(text));
        let targets = ["90", "80", "90a", "120"].map(target);
        let all = targets.map(|target| WantedTarget { target, presence: Presence::Required });
        assert_eq!(base(&sm("90"), &all), sm("80"));
        assert_eq!(base(&sm("90a"), &all), sm("90a"));
        assert_eq!(base(&sm("75"), &[]), sm("75"));
    }

    #[test]
    fn ptxas_reports() {
        let flags: Vec<Arg> = flags(&sm("90a"), Some("-lineinfo")).collect();
        assert_eq!(flags, ["-v", "-O3", "-arch=sm_90a", "-lineinfo"].map(|text| Arg::Text(text.into())));
    }
}
