//! A static library with one member and its symbol index (System V format, as `ar` of GNU writes it).
//!
//! Written directly so that the images are not copied once more.

use std::io::{self, Write};

use super::elf::Object;

const MAGIC: &[u8; 8] = b"!<arch>\n";

/// Writes an archive with `object`, which defines `symbol`.
pub(super) fn write(out: &mut dyn Write, symbol: &str, object: &Object<'_>) -> io::Result<()> {
    let mut index = Vec::new();
    index.extend(1u32.to_be_bytes());
    // Magic, the index's header and its body of two numbers and a name padded to 8.
    let names = (symbol.len() as u64).saturating_add(1).next_multiple_of(8);
    let member = 8u64.saturating_add(60).saturating_add(8).saturating_add(names);
    index.extend(u32::try_from(member).map_err(io::Error::other)?.to_be_bytes());
    index.extend(symbol.as_bytes());
    index.resize(usize::try_from(names.saturating_add(8)).map_err(io::Error::other)?, 0);

    out.write_all(MAGIC)?;
    out.write_all(&header("/", index.len() as u64)?)?;
    out.write_all(&index)?;
    out.write_all(&header("images.o/", object.size())?)?;
    object.write_to(out)?;
    if object.size() % 2 == 1 { out.write_all(b"\n") } else { Ok(()) }
}

/// Name, time, owner, group, mode, size. No time and no owner: the same images give the same archive.
fn header(name: &str, size: u64) -> io::Result<Vec<u8>> {
    let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).into_bytes();
    if header.len() == 60 {
        Ok(header)
    } else {
        Err(io::Error::other("the images are too large for an archive"))
    }
}
