//! `cubin:sm_NN`: native code by NVIDIA's ptxas, from the same PTX for every architecture.

use offload_format::pack::NewImage;
use offload_format::{SmArch, Target};

use super::action::{Arg, Step, texts};
use super::{Compiled, Scanned, Session, check, gpu, kernel_names, nvptx};
use crate::error::Result;
use crate::report;

/// `base` is the architecture of the PTX: the lowest of those that share it.
pub(super) fn compile(
    session: &Session<'_>,
    scanned: &[Scanned],
    (sm, base): (&SmArch, &SmArch),
) -> Result<Compiled> {
    let ptxas = session.finder.ptxas()?;
    let text = nvptx::ptx(session, scanned, base)?;
    let kernels = kernel_names(scanned);
    let step =
        Step { name: "ptxas", tool: &ptxas, args: args(sm), inputs: vec![(&text, ".ptx")], files: vec![] };
    let (raw, said) = session
        .step_said(&step, |bytes| check::cubin(bytes, &kernels))
        .map_err(|error| error.context(format!("target `cubin:{sm}`")))?;
    let mut image = NewImage::new(&session.sources.module, Target::Cubin(sm.clone()));
    image.kernels = gpu::records(scanned);
    report::add_ptxas(&mut image.kernels, &said);
    Ok(Compiled { image, raw })
}

/// The architecture whose PTX serves `sm`: the lowest of `all`. Code for features of one architecture alone is made
/// for that one.
pub(super) fn base<'a>(sm: &'a SmArch, all: impl Iterator<Item = &'a SmArch>) -> &'a SmArch {
    if sm.suffix().is_some() {
        return sm;
    }
    all.filter(|other| other.suffix().is_none()).min_by_key(|other| other.number()).unwrap_or(sm)
}

/// `-v` says what the cubin does not: spilled bytes.
fn args(sm: &SmArch) -> Vec<Arg> {
    let fixed = ["-v".to_string(), "-O3".into(), format!("-arch={sm}"), "-o".into()];
    texts(fixed).chain([Arg::Output, Arg::Input(0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sm(text: &str) -> SmArch {
        let Target::Cubin(sm) = format!("cubin:sm_{text}").parse().unwrap() else { panic!() };
        sm
    }

    #[test]
    fn the_lowest_architecture_gives_the_text() {
        let all = ["90", "80", "90a", "120"].map(sm);
        assert_eq!(base(&all[0], all.iter()), &all[1]);
        assert_eq!(base(&all[2], all.iter()), &all[2]);
        assert_eq!(base(&all[3], all.iter()), &all[1]);
    }

    #[test]
    fn ptxas_reports() {
        let args = args(&sm("90a"));
        assert_eq!(args[0], Arg::Text("-v".into()));
        assert_eq!(args[2], Arg::Text("-arch=sm_90a".into()));
    }
}
