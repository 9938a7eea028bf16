//! Source locations of kernels, for the documentation of the generated Rust.

use super::declared::{Declared, Template};
use super::name::KernelName;
use crate::module::Sources;

/// The places of a module's kernels.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    declared: &'a Declared,
    /// The file that everything must be in, of a module of one file.
    only_file: Option<String>,
}

impl<'a> Places<'a> {
    /// Of the kernels that `sources` declare.
    pub(crate) fn new(sources: &Sources, declared: &'a Declared) -> Places<'a> {
        let only_file = match sources.files.as_slice() {
            [only] => Some(only.path.display().to_string()),
            _ => None,
        };
        Places { declared, only_file }
    }

    /// `kernels/blas.cl, line 4` for the kernel with this entry point; the file alone where its declaration is not
    /// found, and nothing where the file is not known either.
    pub(crate) fn location(&self, entry: &str) -> String {
        let wanted = KernelName::parse(entry);
        let named = self.declared.declarations.iter().filter(|declaration| declaration.name == wanted.base);
        let instance = Template::Instance(wanted.template_args.clone());
        let declaration = named
            .clone()
            .find(|declaration| declaration.template == Template::Definition)
            .or_else(|| named.clone().find(|declaration| declaration.template == instance))
            .or_else(|| named.clone().next());
        let place = declaration.and_then(|declaration| {
            let file = self.declared.files.get(declaration.file)?;
            Some(format!("{}, line {}", file.display(), declaration.line))
        });
        place.or_else(|| self.only_file.clone()).unwrap_or_default()
    }
}
