//! Conversion functions of `half` and `bfloat16`, which are linked to the code that calls them.

use super::cpu::Cpu;
use crate::cache::Blob;
use crate::compile::Session;
use crate::compile::steps::check;
use crate::error::Result;

const SOURCE: &str = include_str!("../../device/host_half.c");

/// The functions that the source defines.
pub(super) const CONVERSIONS: [&str; 6] =
    ["__truncsfhf2", "__truncdfhf2", "__extendhfsf2", "__extendhfdf2", "__truncsfbf2", "__truncdfbf2"];

/// The functions, as an object, if one of `objects` calls one of them. Only the code generator makes these calls: the IR before has
/// conversions, and would lose functions that it does not call.
pub(super) fn functions(session: &Session<'_>, objects: &[Blob], cpu: &Cpu) -> Result<Option<Blob>> {
    let mut is_called = false;
    for object in objects {
        let undefined = check::undefined_symbols(&object.read()?)?;
        is_called |= CONVERSIONS.iter().any(|name| undefined.contains(*name));
    }
    if !is_called {
        return Ok(None);
    }
    cpu.c_object(session, "host half", &["-fPIC", "-fvisibility=hidden"], SOURCE).map(Some)
}
