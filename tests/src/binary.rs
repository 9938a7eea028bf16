//! Work of the dynamic loader for a linked file: relocations and constructors, counted by GNU readelf.

use std::path::Path;

use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// Work of the loader.
#[derive(Debug, PartialEq, Eq)]
pub struct Measured {
    /// Addresses that it has to write.
    pub relocations: i64,
    /// Functions that it has to call.
    pub constructors: i64,
}

/// Reads `file`.
///
/// # Errors
/// If readelf does not run, or tells of no section of constructors.
pub fn measure(workspace: &Workspace, file: &Path) -> Result<Measured> {
    let constructors = constructors(&readelf(workspace, file, "--sections")?);
    let constructors =
        constructors.ok_or_else(|| Error::new(format!("{} has no .init_array", file.display())))?;
    Ok(Measured { relocations: relocations(&readelf(workspace, file, "--relocs")?), constructors })
}

fn readelf(workspace: &Workspace, file: &Path, option: &str) -> Result<String> {
    let cmd = workspace.shell.cmd("readelf").args(["--wide", option]).arg(file);
    Ok(cmd.env("LC_ALL", "C").quiet().read()?)
}

/// Sums "Relocation section '.rela.dyn' at offset 0x1 contains 12 entries:".
fn relocations(text: &str) -> i64 {
    let counts = text
        .lines()
        .filter_map(|line| line.split_once(" contains ")?.1.split(' ').next()?.parse::<i64>().ok());
    counts.sum()
}

/// The entries of `.init_array`: `[20] .init_array INIT_ARRAY address offset size ...`, size in hexadecimal digits.
fn constructors(text: &str) -> Option<i64> {
    let line = text.lines().find(|line| line.contains(" .init_array "))?;
    let size = line.split_once(" INIT_ARRAY ")?.1.split_whitespace().nth(2)?;
    Some(i64::from_str_radix(size, 16).ok()? / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relocations_are_summed() {
        let text = "\nRelocation section '.rela.dyn' at offset 0x5f8 contains 837 entries:\n Offset Info Type\n\
                    Relocation section '.rela.plt' at offset 0x5470 contains 1 entry:\n";
        assert_eq!(relocations(text), 838);
        assert_eq!(relocations("There are no relocations in this file."), 0);
    }

    #[test]
    fn constructors_are_counted() {
        let line =
            "  [24] .init_array       INIT_ARRAY      0000000000060a10 05fa10 000010 08  WA  0   0  8\n";
        assert_eq!(constructors(line), Some(2));
        assert_eq!(constructors("  [ 1] .interp PROGBITS"), None);
    }
}
