//! The part of the function libraries that a module needs, cut out once for all processors.
//!
//! LLVM's OpenCL C library for AMD is 8 MB of bitcode, and a code generator that is given it whole spends a third of
//! its time on reading it. Which functions are needed does not depend on the processor, and seldom on an edit.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use super::action::{Arg, Step, texts};
use super::{Session, check};
use crate::cache::{Blob, KeyBuilder};
use crate::error::Result;
use crate::ir;

/// `first` and, for what it lacks, `others`, as bitcode that has what `module` calls and what that needs. Like the
/// whole, it is for `-mlink-builtin-bitcode`, which gives the functions the processor's attributes.
pub(super) fn needed(
    session: &Session<'_>,
    module: &Blob,
    (first, others): (&Blob, &[PathBuf]),
) -> Result<Blob> {
    let key = KeyBuilder::new("calls 1").part(&module.hash.0).finish();
    let calls = session.cache.get_or(key, || Ok(calls(&ir::declared(&module.read_text()?)).into_bytes()))?;
    let tool = session.finder.paired(session.llvm()?, "llvm-link", "OFFLOAD_LLVM_LINK")?;
    let step = Step {
        name: "library",
        tool: &tool,
        args: args(others),
        inputs: vec![(&calls, ".ll"), (first, ".bc")],
        files: others.to_vec(),
    };
    session.step(&step, check::bitcode)
}

fn args(others: &[PathBuf]) -> Vec<Arg> {
    // Before each of the others: the first may also replace what they call of each other.
    let others = others.iter().flat_map(|path| [Arg::Input(1), Arg::Text(path.clone().into())]);
    texts(["--only-needed", "-o"]).chain([Arg::Output, Arg::Input(0)]).chain(others).collect()
}

/// A function that calls all of `names`, because the linker drops declarations that nobody uses. Nobody calls it, so it
/// is not linked into the module. The types do not matter: a definition takes the place of any declaration.
fn calls(names: &BTreeSet<&str>) -> String {
    let (mut declarations, mut body) = (String::new(), String::new());
    for name in names {
        let _ = writeln!(declarations, "declare void @\"{name}\"()");
        let _ = writeln!(body, "  call void @\"{name}\"()");
    }
    format!("{declarations}define void @__offload_calls() {{\n{body}  ret void\n}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_called() {
        let text = calls(&["a", "b c"].into());
        let wanted = "declare void @\"a\"()\ndeclare void @\"b c\"()\ndefine void @__offload_calls() {\n  \
                      call void @\"a\"()\n  call void @\"b c\"()\n  ret void\n}\n";
        assert_eq!(text, wanted);
    }

    #[test]
    fn the_first_library_goes_before_the_others() {
        let args = args(&["x.bc".into(), "y.bc".into()]);
        let other = |name: &str| Arg::Text(name.into());
        let end = [Arg::Input(0), Arg::Input(1), other("x.bc"), Arg::Input(1), other("y.bc")];
        assert_eq!(args[args.len() - 5..], end);
    }
}
