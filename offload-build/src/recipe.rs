//! Recipes: the record that each build script leaves in its `OUT_DIR`, from which `cargo offload dev` runs it again
//! without cargo.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::fs;

/// The name of the file in `OUT_DIR`.
pub(crate) const FILE: &str = "offload-recipe";

/// A run of a build script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The compiled build script.
    pub program: PathBuf,
    /// Where cargo runs it.
    pub directory: PathBuf,
    /// What cargo sets for it, and variables of ours. All others are those of the shell.
    pub variables: Vec<(String, String)>,
}

impl Recipe {
    /// The one in `out_dir`; `None` if the build script there has compiled no kernels.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(out_dir: &Path) -> Result<Option<Recipe>> {
        let path = out_dir.join(FILE);
        if !path.is_file() {
            return Ok(None);
        }
        Ok(Recipe::parse(&fs::read_text(&path)?))
    }

    /// The value of a variable.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Parts that a byte of zero ends, which is in no path and in no variable.
    pub(crate) fn to_text(&self) -> String {
        let mut parts = vec![self.program.display().to_string(), self.directory.display().to_string()];
        parts.extend(self.variables.iter().map(|(name, value)| format!("{name}={value}")));
        parts.iter().map(|part| format!("{part}\0")).collect()
    }

    fn parse(text: &str) -> Option<Recipe> {
        let mut parts = text.strip_suffix('\0')?.split('\0');
        let program = parts.next()?.into();
        let directory = parts.next()?.into();
        let mut variables = Vec::new();
        for part in parts {
            let (name, value) = part.split_once('=')?;
            variables.push((name.to_string(), value.to_string()));
        }
        Some(Recipe { program, directory, variables })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let variables = [("A", "1\n2=3"), ("B", "")].map(|(name, value)| (name.into(), value.into()));
        let recipe =
            Recipe { program: "/p/script".into(), directory: "/p".into(), variables: variables.into() };
        let read = Recipe::parse(&recipe.to_text()).unwrap();
        assert_eq!(read, recipe);
        assert_eq!(read.variable("A"), Some("1\n2=3"));
        assert_eq!(Recipe::parse("/p/script\0/p\0A=1"), None);
    }
}
