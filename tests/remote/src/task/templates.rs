//! C++, CUDA and HIP with templates: workers run clang's front end, with exactly the files that it reads.

use super::machine::Machine;
use super::project::{Built, Dialect, Package};
use super::rows::{Check, Rows};
use super::servers::Buildbox;
use super::tiers::Compared;
use offload_tests::error::Result;

pub(super) fn run(machine: &Machine<'_>, rows: &mut Rows) -> Result<()> {
    let dir = tempfile::tempdir()?;
    for dialect in [Dialect::Cpp, Dialect::Cuda, Dialect::Hip, Dialect::Toolkit] {
        let local = Compared::prepare(machine, Package::Templates(dialect), rows)?;
        let workers = Buildbox::start(machine.buildbox()?, &dir.path().join(dialect.name()), 2)?;
        let remote = format!("url = \"{}\", execute = true", workers.url());
        let built = local.build(&remote)?;
        let same = Check::Same(&local.local);
        let row = rows.build(("executed", "buildbox"), &built, &[same, Check::Silent]);
        row.refuse(all_here(&built, &local.local));
        let built = local.build(&remote)?;
        rows.build(("takes all of it", "buildbox"), &built, &[same, Check::NoCompiler, Check::Silent]);
    }
    Ok(())
}

/// The failure if every front end that made IR for an image ran locally.
fn all_here(built: &Built, local: &Built) -> Option<String> {
    let here = front_ends(built);
    let all = front_ends(local);
    (here >= all).then(|| format!("{here} of {all} front ends were here"))
}

fn front_ends(built: &Built) -> usize {
    built.compilers.iter().flatten().filter(|call| is_front_end(call)).count()
}

fn is_front_end(call: &str) -> bool {
    let has_language = LANGUAGE_FLAGS.iter().any(|flags| call.contains(flags));
    has_language && call.contains("\"-S\"") && call.contains("\"-emit-llvm\"")
}

/// The flags that select the language of a source.
const LANGUAGE_FLAGS: [&str; 3] = ["\"-x\", \"c++\"", "\"-x\", \"cuda\"", "\"-x\", \"hip\""];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_can_fail() {
        let here = "clang-22\", [\"-x\", \"hip\", \"-S\", \"-emit-llvm\", \"kernels/a.hip\"";
        let listed = here.replace("-S", "-E");
        let local = Built::by(&[here, here]);
        assert_eq!(all_here(&Built::by(&[here, &listed]), &local), None);
        assert!(all_here(&local, &local).is_some());
        assert!(all_here(&Built::by(&[]), &Built::by(&[&listed])).is_some());
    }
}
