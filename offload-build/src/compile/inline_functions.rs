//! Inline functions of C, which have to be defined in every image that calls them.
//!
//! A function of C99 that is `inline` without `static` or `extern` is an inline definition: another file may have the
//! definition that is called where it is not inlined (C99, 6.7.4). Drivers for OpenCL know no other file, and call it.

use super::session::Session;
use crate::cache::{Blob, KeyBuilder};
use crate::error::Result;
use crate::ir;

/// `module`, in which inline definitions are functions that several files may have.
pub(super) fn defined(session: &Session<'_>, module: Blob) -> Result<Blob> {
    let key = KeyBuilder::new("inline functions 1").part(&module.hash.0).finish();
    // Build scripts are not optimised: what they have read once they had better not read again.
    let changed = session.cache().get_or(key, || {
        let text = ir::with_inline_definitions(&module.read_text()?);
        Ok(text.unwrap_or_default().into_bytes())
    })?;
    Ok(if changed.size == 0 { module } else { changed })
}
