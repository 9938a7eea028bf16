//! Images for macOS: dynamic libraries that need nothing but the system's `libSystem`.
//!
//! They are made of the IR for Linux, up to code generation. lld links them against a stub that is written here, so that
//! no SDK of Apple's is needed, and signs those for Apple's processors, which load no code without a signature.

use std::collections::BTreeSet;

use super::cpu::Cpu;
use super::half::CONVERSIONS;
use crate::cache::{Blob, KeyBuilder};
use crate::compile::Session;
use crate::compile::steps::action::unresolved;
use crate::compile::steps::check;
use crate::error::Result;

const SUPPORT: &str = include_str!("../../device/host_macos.c");

/// What it defines, for objects that a compiler makes.
const SUPPORTED: [&str; 4] = ["sincos", "sincosf", "roundeven", "roundevenf"];

/// What code generators call of the system's library only there, and what leads to thread-local storage.
const OWN: [&str; 8] = [
    "__bzero",
    "__sincos_stret",
    "__sincosf_stret",
    "_tlv_bootstrap",
    "bzero",
    "memset_pattern16",
    "memset_pattern4",
    "memset_pattern8",
];

/// What the library lacks of [`check::C_LIBRARY`].
const LACKING: &str = "__tls_get_addr";

/// The macro by which sources know how Apple passes a variable number of arguments on AArch64.
pub(super) const MACRO: &str = "#define __OFFLOAD_APPLE_VARIADIC 1\n";

/// The flags of lld for a library; the output follows.
pub(super) fn link_flags(is_aarch64: bool) -> [&'static str; 14] {
    // The releases from which Rust's programs run.
    let (arch, release) = if is_aarch64 { ("arm64", "11.0") } else { ("x86_64", "10.12") };
    [
        "-flavor",
        "darwin",
        "-arch",
        arch,
        "-platform_version",
        "macos",
        release,
        release,
        "-dylib",
        "-dead_strip",
        // Of no program's path.
        "-install_name",
        "offload-host.dylib",
        // Debuggers find what is described in the objects, which go.
        "-S",
        "-o",
    ]
}

/// Refuses objects that call what neither they nor the system have: lld's message would not say who should have it.
pub(super) fn check_references(objects: &[Blob]) -> Result<()> {
    let known = system_names();
    for object in objects {
        for name in check::undefined_symbols(&object.read()?)? {
            let name = name.as_str();
            if !known.contains(name) && !SUPPORTED.contains(&name) && !CONVERSIONS.contains(&name) {
                return Err(unresolved(name, "PoCL's function library"));
            }
        }
    }
    Ok(())
}

/// The object with what the system's library lacks.
pub(super) fn support(session: &Session<'_>, cpu: &Cpu) -> Result<Blob> {
    cpu.c_object(session, "host support for macOS", &["-fno-builtin", "-fvisibility=hidden"], SUPPORT)
}

/// The functions of the system's library, as C calls them.
fn system_names() -> BTreeSet<&'static str> {
    let mut names = BTreeSet::from(OWN);
    names.extend(check::C_LIBRARY.iter().filter(|name| **name != LACKING && !SUPPORTED.contains(name)));
    names
}

/// The stub of `libSystem` (<https://github.com/apple/swift-tapi>, version 4 of its text).
pub(super) fn library(session: &Session<'_>) -> Result<Blob> {
    let text = stub();
    let key = KeyBuilder::new("host stub of libSystem").part(text.as_bytes());
    session.cache().get_or(key.finish(), || Ok(text.into_bytes()))
}

fn stub() -> String {
    // The linker's own reference, which C cannot make.
    let mut symbols = vec!["dyld_stub_binder".to_string()];
    symbols.extend(system_names().iter().map(|name| format!("_{name}")));
    let targets = "[ x86_64-macos, arm64-macos ]";
    format!(
        "--- !tapi-tbd\ntbd-version: 4\ntargets: {targets}\ninstall-name: '/usr/lib/libSystem.B.dylib'\n\
         exports:\n  - targets: {targets}\n    symbols: [ {} ]\n...\n",
        symbols.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stub_has_what_the_system_has() {
        let stub = stub();
        for name in ["_memcpy", "__tlv_bootstrap", "__setjmp", "___sincos_stret", "dyld_stub_binder"] {
            assert!(stub.contains(&format!(" {name},")) || stub.contains(&format!(" {name} ")), "{name}");
        }
        for name in ["_sincos", "_roundeven", "___tls_get_addr"] {
            assert!(!stub.contains(&format!(" {name},")), "{name}");
        }
    }
}
