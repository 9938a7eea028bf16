//! One front end for many AMD processors.
//!
//! From OpenCL C, clang's front end emits the same IR for most of them, apart from the processor's name and features, which
//! the code generator's command line has anyway. Two things could make a difference. A file may depend on the processor
//! by a macro or a built-in function: then it mentions one of [`WORDS`]. And the front end itself may: a probe, whose IR
//! holds every macro too, detects that. It is compiled once for each processor and release of clang, for all modules.

use std::ffi::OsString;
use std::path::Path;

use crate::cache::{Blob, KeyBuilder};
use crate::compile::front_end;
use crate::compile::front_end::reading::FrontEnd;
use crate::compile::remote::roots::RELATIVE_PATHS;
use crate::compile::session::{FrontEndResult, Session};
use crate::compile::steps::action::{Arg, texts};
use crate::error::Result;
use crate::fs;

/// What the names of macros and functions have in common that tell processors apart.
const WORDS: [&str; 5] = ["gfx", "GFX", "amdgcn", "AMDGCN", "builtin_cpu"];
/// Flags that begin so may tell the front end more of the processor than its name.
const MACHINE_FLAGS: [&str; 4] = ["-m", "-X", "-t", "--t"];
/// Flags that the probe does without: it includes nothing, and its macros are its own.
const SOURCE_FLAGS: [&str; 5] = ["-I", "-D", "-U", "-W", "-w"];
/// How the verdict on two processors is kept.
const ALIKE: &str = "alike";
/// A bit of everything.
const PROBE: &str = include_str!("../device/probe.cl");

/// Whether the front end does the same for the processors of two command lines, and no flag keeps it from doing so.
pub(crate) fn alike(session: &Session<'_>, [one, other]: [&[String]; 2]) -> Result<bool> {
    let flags = &session.sources.flags;
    if flags.iter().any(|flag| begins_with(flag, &MACHINE_FLAGS) || mentions(&flag.to_string_lossy())) {
        return Ok(false);
    }
    let one = probe(session, one)?;
    let other = probe(session, other)?;
    let (Some(one), Some(other)) = (one, other) else { return Ok(false) };
    // Build scripts are not optimised: what they have read once they had better not read again.
    let key = KeyBuilder::new("alike").part(&one.hash.0).part(&other.hash.0).finish();
    let verdict = match session.cache().get_text(key) {
        Some(known) => known,
        None => {
            let texts = [shown(&one.read_text()?), shown(&other.read_text()?)];
            let verdict = if texts[0].is_some() && texts[0] == texts[1] { ALIKE } else { "different" };
            session.cache().put(key, verdict.as_bytes())?;
            verdict.to_string()
        }
    };
    Ok(verdict == ALIKE)
}

/// Whether the sources of a library are compiled without flags of which a probe for its importer knows nothing.
pub(crate) fn is_probed(session: &Session<'_>) -> bool {
    !session.is_of_other_package()
        || session.sources.flags.iter().all(|flag| begins_with(flag, &SOURCE_FLAGS))
}

/// The IR of a run without its processor, if nothing that was read asks for the processor.
pub(crate) fn without(session: &Session<'_>, done: &FrontEndResult) -> Result<Option<Blob>> {
    let own = session.tools().llvm()?.resource_dir.join("include");
    for path in &done.read {
        // clang's header for OpenCL C tells no AMD processors apart; the probe has read it too.
        if path.parent() == Some(own.as_path()) && is_opencl_header(path) {
            continue;
        }
        if mentions(&String::from_utf8_lossy(&fs::read(&session.root().join(path))?)) {
            return Ok(None);
        }
    }
    let key = KeyBuilder::new("without processor").part(&done.output.hash.0).finish();
    let text = match session.cache().get(key) {
        Some(known) => return Ok(Some(known)),
        None => offload_ir::without_processor(&done.output.read_text()?),
    };
    let Some(text) = text else { return Ok(None) };
    Ok(Some(session.cache().put(key, text.as_bytes())?))
}

/// What the front end makes of the probe; nothing if the user's flags are too much for it.
fn probe(session: &Session<'_>, machine: &[String]) -> Result<Option<Blob>> {
    let std = front_end::cl_std(session.sources);
    let flags = session.sources.flags.iter();
    let flags = flags.filter(|flag| !begins_with(flag, &SOURCE_FLAGS)).cloned();
    // Debug information holds all macros, also those that the compiler defines.
    let fixed = ["-g", "-fdebug-macro", RELATIVE_PATHS, "-x", "cl", &std].map(str::to_string);
    let action = FrontEnd {
        name: "probe",
        tool: &session.tools().llvm()?.clang,
        args: texts(machine.to_vec())
            .chain(texts(fixed))
            .chain(texts(flags))
            .chain(front_end::front_end_output())
            .chain([Arg::Text("-".into())])
            .collect(),
        input: Some(PROBE.to_string()),
    };
    match session.front_end_result(&action) {
        Ok(done) => Ok(Some(done.output)),
        Err(error) if error.is_lost_entry() => Err(error),
        Err(_) => Ok(None),
    }
}

/// The probe's IR without the processor and the macros that name it.
fn shown(text: &str) -> Option<String> {
    offload_ir::without_processor(text).map(|text| {
        text.lines()
            .filter(|line| !(line.contains("!DIMacro(") && mentions(line)))
            .collect::<Vec<_>>()
            .join("\n")
    })
}

fn begins_with(flag: &OsString, starts: &[&str]) -> bool {
    starts.iter().any(|start| flag.as_encoded_bytes().starts_with(start.as_bytes()))
}

fn mentions(text: &str) -> bool {
    WORDS.iter().any(|word| text.contains(word))
}

fn is_opencl_header(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "opencl-c-base.h" || name == "opencl-c.h")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_asked_for_by_words() {
        for text in
            ["#ifdef __gfx906__", "#if __GFX9__", "__builtin_amdgcn_readlane(x, 0)", "__AMDGCN_CUMODE__"]
        {
            assert!(mentions(text), "{text}");
        }
        assert!(!mentions("__kernel void k() { __builtin_expect(1, 1); }"));
    }

    #[test]
    fn the_probe_asks_for_nothing() {
        assert!(!mentions(PROBE));
    }
}
