//! Symbolic links in a searched directory.

use std::path::Path;

/// The reason why the target of `link` is not searched; `None` if it lies in `root`, a canonical path, where it is
/// found by its own name.
pub(super) fn reason(link: &Path, root: &Path) -> Option<String> {
    let target = std::fs::read_link(link).map(|target| target.display().to_string()).unwrap_or_default();
    match link.canonicalize() {
        Ok(path) if path.starts_with(root) => None,
        Ok(_) => Some(format!("it is a link out of `{}`, to `{target}`", root.display())),
        Err(error) => Some(format!("it is a link to `{target}`, which cannot be found: {error}")),
    }
}
