//! A kernel module: what build script and configuration ask for, and its sources in one variant.

use std::ffi::OsString;
use std::path::PathBuf;

use offload_format::Variant;

use crate::error::{Error, Result};
use crate::options::Options;
use crate::source::SourceFile;

/// What a build script asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelModule<'a> {
    pub(crate) name: &'a str,
    /// Relative to the manifest's directory.
    pub(crate) files: &'a [PathBuf],
    pub(crate) options: &'a Options,
}

/// The sources of one kernel module, in one variant, and how to read them.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    pub(crate) module: String,
    /// Empty for a module without variants.
    pub(crate) variant: Variant,
    pub(crate) files: Vec<SourceFile>,
    /// Include directories, definitions and flags as clang takes them, in this order.
    pub(crate) flags: Vec<OsString>,
    pub(crate) options: Options,
}

impl KernelModule<'_> {
    /// The sources once for each variant, with `options` of build script and configuration.
    pub(crate) fn variants(&self, options: &Options) -> Result<Vec<Sources>> {
        let name = self.name;
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(legal) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Error::new(format!("`{}` cannot name a kernel module", name.escape_default()))
                .with_hint("use letters, digits, `_` and `-`, with a letter first"));
        }
        if self.files.is_empty() {
            return Err(Error::new(format!("the kernel module `{name}` has no files"))
                .with_hint("add `.file(\"kernel.cl\")`"));
        }
        options.check()?;
        let files = self.files.iter().map(|path| SourceFile::new(path)).collect::<Result<Vec<_>>>()?;
        let sources = |variant: Variant| Sources {
            module: name.to_string(),
            files: files.clone(),
            flags: options.compiler_flags(&variant),
            options: options.clone(),
            variant,
        };
        Ok(options.combinations()?.into_iter().map(sources).collect())
    }
}

impl Sources {
    /// The module and the values of its variant.
    pub(crate) fn name(&self) -> String {
        let values = self.variant.iter().map(|(name, value)| format!(" {name}={value}"));
        std::iter::once(self.module.clone()).chain(values).collect()
    }
}
