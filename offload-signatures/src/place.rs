//! Source locations of kernels, for the documentation of the generated Rust.

use std::path::Path;

use crate::declared::{Declared, Template};
use crate::name::KernelName;

/// The places of a module's kernels.
#[derive(Debug)]
pub struct Places<'a> {
    declared: &'a Declared,
    /// The file that everything must be in, of a module of one file.
    only_file: Option<String>,
}

impl<'a> Places<'a> {
    /// The places of declared kernels; `only_file` is the file of a module with one.
    pub fn new(only_file: Option<&Path>, declared: &'a Declared) -> Places<'a> {
        let only_file = only_file.map(|file| file.display().to_string());
        Places { declared, only_file }
    }

    /// `kernels/blas.cl, line 4` for the kernel with this entry point; the file alone where its declaration is not
    /// found, and nothing where the file is not known either.
    pub fn location(&self, entry: &str) -> String {
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
