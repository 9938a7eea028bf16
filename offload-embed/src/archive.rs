//! Static libraries with a symbol index (System V format, as `ar` of GNU writes it), written as a stream so that images
//! are not copied once more; and import libraries for Windows, which have the same format.

use std::fmt;
use std::io::{self, Write};

use crate::Content;

/// First bytes of an archive.
const MAGIC: &[u8; 8] = b"!<arch>\n";
/// Size of what stands before each member.
const HEADER: u64 = 60;

/// An object of an archive.
#[derive(Clone)]
pub struct Member<'a> {
    /// Of at most 15 bytes.
    pub name: &'a str,
    /// What it defines.
    pub symbols: Vec<&'a str>,
    /// Its bytes.
    pub content: &'a dyn Content,
}

impl fmt::Debug for Member<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.content.size();
        f.debug_struct("Member")
            .field("name", &self.name)
            .field("symbols", &self.symbols)
            .field("size", &size)
            .finish()
    }
}

/// Writes a static library of `members`.
///
/// # Errors
/// Those of `out` and of the members, and names or sizes that the format cannot hold.
pub fn write(out: &mut dyn Write, members: &[Member<'_>]) -> io::Result<()> {
    let index = index(members)?;
    out.write_all(MAGIC)?;
    out.write_all(&header("/", index.len() as u64)?)?;
    out.write_all(&index)?;
    for member in members {
        let size = member.content.size();
        out.write_all(&header(&format!("{}/", member.name), size)?)?;
        member.content.write_to(out)?;
        if size % 2 == 1 {
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// The number of symbols, the places of their members, and their names, padded to 8.
fn index(members: &[Member<'_>]) -> io::Result<Vec<u8>> {
    let symbols = members.iter().flat_map(|member| &member.symbols);
    let count = symbols.clone().count() as u64;
    let names: Vec<u8> = symbols.flat_map(|symbol| symbol.bytes().chain([0])).collect();
    let size = 4u64.saturating_add(count.saturating_mul(4)).saturating_add(names.len() as u64);
    let padded = size.next_multiple_of(8);
    let mut index = Vec::new();
    index.extend(u32::try_from(count).map_err(io::Error::other)?.to_be_bytes());
    let mut place = (MAGIC.len() as u64).saturating_add(HEADER).saturating_add(padded);
    for member in members {
        for _ in &member.symbols {
            index.extend(u32::try_from(place).map_err(io::Error::other)?.to_be_bytes());
        }
        place = place.saturating_add(HEADER).saturating_add(member.content.size().next_multiple_of(2));
    }
    index.extend(names);
    index.resize(usize::try_from(padded).map_err(io::Error::other)?, 0);
    Ok(index)
}

/// Name, time, owner, group, mode, size. No time and no owner: the same objects give the same archive.
fn header(name: &str, size: u64) -> io::Result<Vec<u8>> {
    let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).into_bytes();
    if header.len() as u64 == HEADER {
        Ok(header)
    } else {
        Err(io::Error::other("the images are too large for an archive"))
    }
}

#[cfg(test)]
mod tests {
    use object::read::archive::ArchiveFile;

    use super::*;

    #[test]
    fn members_and_symbols_are_found_by_others() {
        let contents = [b"first".to_vec(), b"second".to_vec()];
        let members = [
            Member { name: "0.o", symbols: vec!["a", "bc"], content: &contents[0] },
            Member { name: "1.o", symbols: vec!["d"], content: &contents[1] },
        ];
        let mut bytes = Vec::new();
        write(&mut bytes, &members).unwrap();
        let archive = ArchiveFile::parse(&*bytes).unwrap();
        let mut found = Vec::new();
        for symbol in archive.symbols().unwrap().unwrap() {
            let symbol = symbol.unwrap();
            let member = archive.member(symbol.offset()).unwrap();
            found.push((
                symbol.name().to_vec(),
                member.name().to_vec(),
                member.data(&*bytes).unwrap().to_vec(),
            ));
        }
        let expected = [("a", "0.o", "first"), ("bc", "0.o", "first"), ("d", "1.o", "second")];
        assert_eq!(found, expected.map(|(a, b, c)| (a.into(), b.into(), c.into())));
    }
}
