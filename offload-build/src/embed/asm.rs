//! The same sections through the C compiler, for machines whose relocations our writer does not know.

use std::fmt::Write as _;

use offload_format::section::{
    DESCRIPTOR_PACK, Descriptor, NOTE_DESCRIPTOR, NOTE_EHDR, NOTE_ID, NOTE_SECTION, PACK_SECTION,
    PACK_SECTION_X86_64, TABLE_SECTION, note,
};

use super::elf::{Names, pack_align};
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::fs;
use crate::packing::Pack;

/// Assembles note, descriptor and pack into `lib{archive}.a`.
pub(super) fn assemble(env: &CargoEnv, names: &Names, pack: &Pack) -> Result<()> {
    let scratch = fs::scratch(&env.out_dir)?;
    let pack_path = scratch.path().join("images.pack");
    let source = scratch.path().join("images.S");
    fs::publish(&pack_path, |out| pack.write_to(out))?;
    let pack_name = pack_path.to_str().filter(|path| !path.contains(['"', '\\', '\n']));
    let pack_name = pack_name
        .ok_or_else(|| Error::new(format!("the assembler cannot read the path `{}`", pack_path.display())))?;
    let text = source_text(env, names, pack, pack_name);
    fs::publish(&source, |out| out.write_all(text.as_bytes()))?;
    let compiled = cc::Build::new()
        .file(&source)
        .cargo_metadata(false)
        .warnings(false)
        .debug(false)
        .out_dir(scratch.path())
        .try_compile(&names.archive);
    compiled.map_err(|error| {
        Error::new(format!("the C compiler could not assemble the images: {error}"))
            .with_hint(format!("set CC_{} to a compiler for that target", env.target.replace('-', "_")))
    })?;
    let archive = format!("lib{}.a", names.archive);
    let built = fs::read(&scratch.path().join(&archive))?;
    fs::publish(&env.out_dir.join(&archive), |out| out.write_all(&built))
}

fn source_text(env: &CargoEnv, names: &Names, pack: &Pack, pack_path: &str) -> String {
    // Some assemblers take `@` for the start of a comment.
    let (pack_section, pack_flags) =
        if env.cfg.arch == "x86_64" { (PACK_SECTION_X86_64, "al") } else { (PACK_SECTION, "a") };
    let id = pack.layout.id.0;
    let note = note(id);
    let descriptor = Descriptor::new(pack.layout.size, id, pack.flags).encode();
    let anchor = &names.anchor;
    let align = pack_align(pack.layout.size);
    let lines = [
        format!(".section {NOTE_SECTION},\"a\",%note\n.balign 4"),
        bytes(&note, 0, NOTE_DESCRIPTOR),
        format!(".Lto_descriptor: .8byte {anchor} - .Lto_descriptor"),
        bytes(&note, NOTE_DESCRIPTOR + 8, NOTE_EHDR),
        ".hidden __ehdr_start\n.Lto_ehdr: .8byte __ehdr_start - .Lto_ehdr".to_string(),
        bytes(&note, NOTE_ID, note.len() as u64),
        format!(".section {TABLE_SECTION},\"a\",%progbits\n.balign 8"),
        format!(".globl {anchor}\n.hidden {anchor}\n.type {anchor}, %object\n{anchor}:"),
        bytes(&descriptor, 0, DESCRIPTOR_PACK),
        ".Lto_pack: .8byte .Lpack - .Lto_pack".to_string(),
        bytes(&descriptor, DESCRIPTOR_PACK + 8, descriptor.len() as u64),
        format!(".size {anchor}, {}", descriptor.len()),
        format!(".section {pack_section},\"{pack_flags}\",%progbits\n.balign {align}"),
        format!(".Lpack: .incbin \"{pack_path}\""),
        ".section .note.GNU-stack,\"\",%progbits".to_string(),
    ];
    lines.map(|line| line + "\n").concat()
}

/// `.byte` for part of a record.
fn bytes(record: &[u8], from: u64, to: u64) -> String {
    let part =
        offload_format::bytes::range(record, from, to.saturating_sub(from), "record").unwrap_or_default();
    let mut text = String::new();
    for byte in part {
        let separator = if text.is_empty() { ".byte " } else { "," };
        // Writing to a String does not fail.
        let _ = write!(text, "{separator}{byte}");
    }
    text
}
