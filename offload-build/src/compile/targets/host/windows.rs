//! Images for Windows: DLLs that need nothing but the system's `ucrtbase.dll`, which is part of Windows from 10 on.
//!
//! They are made of the IR for Linux, up to code generation. lld links them as it links MinGW's programs, without MinGW's
//! libraries: [`SUPPORT`] has what a C runtime would bring, and the import library is written here.

use std::collections::BTreeSet;
use std::io;

use offload_embed::archive::{self, Member};

use super::cpu::Cpu;
use super::half::CONVERSIONS;
use crate::cache::{Blob, KeyBuilder};
use crate::compile::Session;
use crate::compile::steps::action::unresolved;
use crate::compile::steps::check;
use crate::error::{Error, Result};

const SUPPORT: &str = include_str!("../../device/host_windows.c");

/// What it defines, for objects that a compiler makes.
const SUPPORTED: [&str; 11] = [
    "___chkstk_ms",
    "_tls_index",
    "_setjmp",
    "_longjmp",
    "snprintf",
    "sincos",
    "sincosf",
    "frexpf",
    "ldexpf",
    "roundeven",
    "roundevenf",
];

/// The system's C library.
const LIBRARY: &str = "ucrtbase.dll";

/// What [`SUPPORT`] calls of it beside what the compiler does.
const FORMAT: &str = "__stdio_common_vsprintf";

/// The macro by which sources know that the calling convention is that of Windows.
pub(super) const MACRO: &str = "#define __OFFLOAD_MS_ABI 1\n";

/// `module`, in which functions with a variable number of arguments were compiled by the convention of Windows.
pub(super) fn with_one_convention(session: &Session<'_>, module: &Blob) -> Result<Blob> {
    let key = KeyBuilder::new("host without conventions").part(&module.hash.0).finish();
    session
        .cache()
        .get_or(key, || Ok(offload_ir::without_windows_convention(&module.read_text()?).into_bytes()))
}

/// Refuses objects that call what neither they nor the system have: lld's message would not say who should have it.
pub(super) fn check_references(objects: &[Blob]) -> Result<()> {
    for object in objects {
        let undefined = check::undefined_symbols(&object.read()?)?;
        let mut unknown = undefined.iter().map(String::as_str).filter(|name| !is_known(name));
        if let Some(name) = unknown.next() {
            return Err(unresolved(name, "PoCL's function library"));
        }
    }
    Ok(())
}

fn is_known(name: &str) -> bool {
    check::C_LIBRARY.contains(&name) || SUPPORTED.contains(&name) || CONVERSIONS.contains(&name)
}

/// The object with what a C runtime would bring.
pub(super) fn support(session: &Session<'_>, cpu: &Cpu) -> Result<Blob> {
    cpu.c_object(session, "host support for Windows", &["-fno-builtin"], SUPPORT)
}

/// The import library of [`LIBRARY`].
pub(super) fn import_library(session: &Session<'_>) -> Result<Blob> {
    let mut names = BTreeSet::from([FORMAT]);
    names.extend(check::C_LIBRARY.iter().filter(|name| !SUPPORTED.contains(name)));
    let key = KeyBuilder::new("host import library").part(format!("{LIBRARY} {names:?}").as_bytes());
    session.cache().get_or(key.finish(), || {
        let mut bytes = Vec::new();
        write_imports(&mut bytes, &names).map_err(|error| Error::new(format!("import library: {error}")))?;
        Ok(bytes)
    })
}

fn write_imports(out: &mut Vec<u8>, names: &BTreeSet<&str>) -> io::Result<()> {
    let mut imports = Vec::new();
    for name in names {
        imports.push(Import { name, pointer: format!("__imp_{name}"), content: import(name) });
    }
    let mut members = Vec::new();
    for Import { name, pointer, content } in &imports {
        members.push(Member { name: LIBRARY, symbols: vec![name, pointer], content });
    }
    archive::write(out, &members)
}

/// A function of the library, and the pointer to it.
struct Import<'a> {
    name: &'a str,
    pointer: String,
    content: Vec<u8>,
}

/// The short form of an import (<https://learn.microsoft.com/en-us/windows/win32/debug/pe-format#import-library-format>).
fn import(name: &str) -> Vec<u8> {
    const MACHINE_AMD64: u16 = 0x8664;
    /// A function, imported by its name.
    const KIND: u16 = 1 << 2;
    let names = [name.as_bytes(), b"\0", LIBRARY.as_bytes(), b"\0"].concat();
    let mut out = Vec::new();
    for word in [0, 0xffff, 0, MACHINE_AMD64] {
        out.extend(word.to_le_bytes());
    }
    // No time.
    out.extend(0u32.to_le_bytes());
    out.extend((names.len() as u32).to_le_bytes());
    // No position in the library's table of names.
    out.extend(0u16.to_le_bytes());
    out.extend(KIND.to_le_bytes());
    out.extend(names);
    out
}
