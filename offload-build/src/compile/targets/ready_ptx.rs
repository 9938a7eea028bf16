//! Errors for PTX files none of which fits a target: their architectures, and the next step.

use std::path::Path;

use offload_format::{SmArch, Target};

use crate::error::Error;

/// A file, and the architecture that it names.
pub(crate) struct PtxFile<'a> {
    path: &'a Path,
    sm: SmArch,
}

impl PtxFile<'_> {
    /// `None` if the `purpose` of the file at `path`, as its text has it, is no architecture.
    pub(crate) fn new<'a>(path: &'a Path, purpose: &str) -> Option<PtxFile<'a>> {
        Some(PtxFile { path, sm: architecture(purpose)? })
    }
}

/// None of the files is for `sm`, or can be assembled for it.
pub(crate) fn refusal(there: &[PtxFile<'_>], sm: &SmArch) -> Error {
    let text = there
        .iter()
        .map(|file| format!("`{}` is for `nvptx:{}`", file.path.display(), file.sm))
        .collect::<Vec<_>>()
        .join(", ");
    Error::new(format!("no file is for it: {text}")).with_hint(hint(there, sm))
}

/// `sm_90` as the target of a PTX module has it.
fn architecture(text: &str) -> Option<SmArch> {
    match format!("nvptx:{text}").parse() {
        Ok(Target::Nvptx(sm)) => Some(sm),
        _ => None,
    }
}

/// PTX runs on the architecture that it names and on later ones; with a suffix, not on all of these
/// (<https://docs.nvidia.com/cuda/parallel-thread-execution/#ptx-module-directives-target>).
fn hint(there: &[PtxFile<'_>], wanted: &SmArch) -> String {
    let names: Vec<String> = there.iter().map(|file| format!("nvptx:{}", file.sm)).collect();
    let take = format!("`cargo offload targets add {}`", names.join(" "));
    if there.iter().any(|file| file.sm.suffix().is_none() && file.sm.number() <= wanted.number()) {
        format!(
            "{take} takes it as it is, and drivers compile it for `{wanted}` too: remove this target; `cubin:{wanted}` makes native code of it"
        )
    } else {
        format!(
            "PTX does not run on older architectures, and with a suffix on no other: compile it again with \
             `-arch={wanted}`; or {take}, and remove this target"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint_for(file: &str, wanted: &str) -> String {
        let file = PtxFile::new(Path::new("a.ptx"), file).unwrap();
        hint(&[file], &architecture(wanted).unwrap())
    }

    #[test]
    fn what_can_be_done_depends_on_which_is_newer() {
        let newer = hint_for("sm_90", "sm_75");
        assert!(newer.contains("compile it again with `-arch=sm_75`"), "{newer}");
        assert!(newer.contains("`cargo offload targets add nvptx:sm_90`, and remove"), "{newer}");
        let older = hint_for("sm_75", "sm_90");
        assert!(older.starts_with("`cargo offload targets add nvptx:sm_75` takes it as it is"), "{older}");
        assert!(older.ends_with("`cubin:sm_90` makes native code of it"), "{older}");
        assert!(hint_for("sm_90a", "sm_100").contains("compile it again"));
    }
}
