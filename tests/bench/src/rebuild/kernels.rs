//! The kernel files: tiled matrix products that differ in their tiles, with a header that all include.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use super::plan::Plan;
use offload_tests::error::{Error, Result};
use offload_tests::gemm::{EDITED, HEADER, TILES, source};

/// The files, and the edits made so far.
#[derive(Debug)]
pub(crate) struct Kernels {
    files: Vec<(PathBuf, String)>,
    edits: Cell<usize>,
}

impl Kernels {
    /// Writes the files of `plan` to `dir`.
    pub(crate) fn write(dir: &Path, plan: &Plan) -> Result<Kernels> {
        std::fs::create_dir_all(dir)?;
        std::fs::write(dir.join("tile.h"), HEADER)?;
        let mut files = Vec::new();
        for (name, tile) in plan.modules().zip(TILES) {
            let path = dir.join(format!("{name}.cl"));
            let text = source(&name, tile);
            std::fs::write(&path, &text)?;
            files.push((path, text));
        }
        Ok(Kernels { files, edits: Cell::new(0) })
    }

    /// Changes the code of one file, each time the next one and in another way.
    pub(super) fn edit_next(&self) -> Result<()> {
        let edit = self.edits.get() + 1;
        self.edits.set(edit);
        let (path, text) = self
            .files
            .get(edit % self.files.len().max(1))
            .ok_or_else(|| Error::new("there is no kernel file to edit"))?;
        Ok(std::fs::write(path, text.replace(EDITED, &format!("#define BIAS {edit}.0f")))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edit_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let plan = Plan::parse(&["--quick".to_string()]).unwrap();
        let kernels = Kernels::write(dir.path(), &plan).unwrap();
        let read =
            || ["gemm0.cl", "gemm1.cl"].map(|name| std::fs::read_to_string(dir.path().join(name)).unwrap());
        let mut seen = vec![read()];
        for _ in 0..4 {
            kernels.edit_next().unwrap();
            let now = read();
            let last = seen.last().unwrap();
            assert_eq!(now.iter().zip(last).filter(|(now, last)| now != last).count(), 1);
            assert!(!seen.contains(&now));
            seen.push(now);
        }
    }
}
