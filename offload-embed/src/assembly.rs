//! The sections of an object with a pack as source for an assembler, for machines whose relocations are not known here.

use std::fmt::Write as _;

use offload_format::section::{
    DESCRIPTOR_PACK, Descriptor, NOTE_DESCRIPTOR, NOTE_EHDR, NOTE_ID, NOTE_SECTION, PACK_SECTION,
    PACK_SECTION_X86_64, TABLE_SECTION, note,
};

use crate::PackInfo;

/// The source of an object for `arch`, by the name that rustc gives it, with the symbol `anchor` on the descriptor. The
/// assembler reads the pack at `pack_path`, which has no `"`, no backslash and no end of a line.
pub fn source(arch: &str, anchor: &str, info: PackInfo, pack_path: &str) -> String {
    // Some assemblers take `@` for the start of a comment.
    let (pack_section, pack_flags) =
        if arch == "x86_64" { (PACK_SECTION_X86_64, "al") } else { (PACK_SECTION, "a") };
    let note = note(info.id.0);
    let descriptor = Descriptor::new(info.size, info.id.0, info.flags).encode();
    let align = info.align();
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
