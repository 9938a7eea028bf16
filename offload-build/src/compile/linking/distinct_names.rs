//! Names of what C++ keeps to a file, in modules whose launchers find kernels by any name.

use crate::cache::{Blob, KeyBuilder};
use crate::compile::Session;
use crate::error::Result;
use crate::module::{Language, SourceFile};

/// `module`, whose kernels and variables have names that no other file of the module has.
pub(crate) fn with_distinct_names(session: &Session<'_>, file: &SourceFile, module: Blob) -> Result<Blob> {
    if file.language != Language::Cuda || !session.sources.has_distinct_names() {
        return Ok(module);
    }
    let path = file.path.to_string_lossy();
    let key = KeyBuilder::new("distinct names").part(&module.hash.0).part(path.as_bytes()).finish();
    session.cache().get_or(key, || {
        let text = module.read_text()?;
        Ok(offload_ir::with_distinct_names(&text, &path).unwrap_or(text).into_bytes())
    })
}
