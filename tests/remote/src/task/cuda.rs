//! CUDA C++ with the toolkit's headers: workers run clang's front end and ptxas, and results of nvcc are shared.

use super::machine::Machine;
use super::project::{Built, Package};
use super::rows::{Check, Rows};
use super::servers::Buildbox;
use super::tiers::Compared;
use offload_tests::error::Result;

pub(super) fn run(machine: &Machine<'_>, rows: &mut Rows) -> Result<()> {
    let local = Compared::prepare(machine, Package::Cuda, rows)?;
    let dir = tempfile::tempdir()?;
    let place = dir.path().join("cas");
    let workers = Buildbox::start_beside(machine.buildbox()?, &place, &machine.toolkit()?)?;
    let remote = format!("url = \"{}\", execute = true", workers.url());
    let built = local.build(&remote)?;
    let same = Check::Same(&local.local);
    let row = rows.build(("executed", "buildbox"), &built, &[same, Check::Silent]);
    row.refuse(front_ends(&built));
    let built = local.build(&remote)?;
    rows.build(("takes all of it", "buildbox"), &built, &[same, Check::NoCompiler, Check::Silent]);
    Ok(())
}

/// The failure if every front end of clang ran locally, or in one run.
fn front_ends(built: &Built) -> Option<String> {
    let mut resolved = 0;
    let mut whole = 0;
    let mut read_here = 0;
    for call in built.compilers.iter().flatten().filter(|call| call.contains("\"-x\", \"cuda\"")) {
        if call.contains("\"-frewrite-includes\"") {
            resolved += 1;
        } else if call.contains("\"__clang_cuda_runtime_wrapper.h\"") {
            whole += 1;
        } else {
            read_here += 1;
        }
    }
    (whole > 0 || read_here >= resolved).then(|| {
        format!("clang: {resolved} files in two runs, {read_here} of them read here, {whole} in one")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_can_fail() {
        let whole = "clang-22\", [\"-include\", \"__clang_cuda_runtime_wrapper.h\", \"-x\", \"cuda\", \"-S\"";
        let resolved = whole.replace("-S", "-frewrite-includes");
        let read = "clang-22\", [\"-x\", \"cuda\", \"-S\"";
        assert_eq!(front_ends(&Built::by(&[&resolved, &resolved, read])), None);
        assert!(front_ends(&Built::by(&[&resolved, read])).is_some());
        assert!(front_ends(&Built::by(&[&resolved, &resolved, whole])).is_some());
        assert!(front_ends(&Built::by(&[])).is_some());
    }
}
