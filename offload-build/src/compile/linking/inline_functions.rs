//! Inline functions of C, which have to be defined in every image that calls them.
//!
//! A function of C99 that is `inline` without `static` or `extern` is an inline definition: another file may have the
//! definition that is called where it is not inlined (C99, 6.7.4). Drivers for OpenCL know no other file, and call it.
//!
//! Clang emits no inline definition that is `noinline`. As GNU's C of 1989 has it, each is the definition: a second run of
//! the front end gives those that the first lacks.

use offload_workgroup::ir::declared_functions;

use crate::cache::{Blob, KeyBuilder};
use crate::compile::session::{FrontEndResult, Session};
use crate::error::{Error, Result};
use crate::fs;
use crate::module::Language;

/// The rules for inline functions of 1989.
const OLDER_RULES: &str = "-fgnu89-inline";

/// IR in which inline definitions are functions that several files may have; `run` is the front end with further flags.
pub(crate) fn front_end(
    session: &Session<'_>,
    language: Language,
    run: impl Fn(&[&str]) -> Result<FrontEndResult>,
) -> Result<Blob> {
    let written = run(&[])?;
    if !session.is_of_other_package() {
        session.env().warn(&written.printed);
    }
    let older = if may_lack_definitions(session, language, &written)? {
        Some(run(&[OLDER_RULES])?.output)
    } else {
        None
    };
    defined(session, written.output, older)
}

/// Whether functions are undefined of which some may be `noinline`.
fn may_lack_definitions(session: &Session<'_>, language: Language, written: &FrontEndResult) -> Result<bool> {
    if !matches!(language, Language::OpenClC | Language::C) {
        return Ok(false);
    }
    let key = KeyBuilder::new("undefined functions of C").part(&written.output.hash.0).finish();
    let undefined = session.cache().get_or::<Error>(key, || {
        let text = written.output.read_text()?;
        // Names of functions of OpenCL C tell the types of their arguments.
        let undefined = declared_functions(&text).into_iter().any(|name| !name.starts_with("_Z"));
        Ok(if undefined { b"some".to_vec() } else { Vec::new() })
    })?;
    if undefined.size == 0 {
        return Ok(false);
    }
    if session.sources.flags.iter().any(|flag| flag.to_string_lossy().contains("noinline")) {
        return Ok(true);
    }
    for path in &written.read {
        if String::from_utf8_lossy(&fs::read(&session.root().join(path))?).contains("noinline") {
            return Ok(true);
        }
    }
    Ok(false)
}

fn defined(session: &Session<'_>, module: Blob, older: Option<Blob>) -> Result<Blob> {
    let mut key = KeyBuilder::new("inline functions").part(&module.hash.0);
    if let Some(older) = &older {
        key = key.part(&older.hash.0);
    }
    // Build scripts are not optimised: what they have read once they had better not read again.
    let changed = session.cache().get_or::<Error>(key.finish(), || {
        let older = older.as_ref().map(Blob::read_text).transpose()?;
        let text = offload_ir::with_inline_definitions(&module.read_text()?, older.as_deref());
        Ok(text.unwrap_or_default().into_bytes())
    })?;
    Ok(if changed.size == 0 { module } else { changed })
}
