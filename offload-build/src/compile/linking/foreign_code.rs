//! Removal of functions that a target has no code for, and that no kernel of its comes to.

use crate::cache::{Blob, KeyBuilder};
use crate::compile::Session;
use crate::compile::session::Scanned;
use crate::error::Result;

/// `module`, made of `file`, without the code that is none for its target.
pub(crate) fn without_foreign_code(session: &Session<'_>, file: &Scanned, module: Blob) -> Result<Blob> {
    if file.foreign.is_empty() {
        return Ok(module);
    }
    let key = KeyBuilder::new("without foreign code").part(&module.hash.0);
    let key = key.part(format!("{:?}", file.foreign).as_bytes()).finish();
    session
        .cache()
        .get_or(key, || Ok(offload_ir::without_bodies(&module.read_text()?, &file.foreign).into_bytes()))
}
