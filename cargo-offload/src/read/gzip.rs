//! gzip files: streams of DEFLATE with check sums (<https://www.rfc-editor.org/rfc/rfc1952>).

use std::io::{self, Read};

use crate::read::inflater::Inflater;

/// The bytes of a file, of all its members one after another.
pub(crate) struct Gzip<'a> {
    member: Inflater<'a>,
    crc: crc32fast::Hasher,
    /// The last member has ended.
    is_done: bool,
}

/// How a file starts.
pub(crate) const MAGIC: &[u8] = b"\x1f\x8b\x08";
/// Fields of a header that not every file has (RFC 1952, 2.3.1).
const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;

impl<'a> Gzip<'a> {
    /// # Errors
    /// `file` does not start with a header.
    pub(crate) fn new(file: &'a [u8]) -> io::Result<Gzip<'a>> {
        Ok(Gzip {
            member: Inflater::new(behind_header(file)?),
            crc: crc32fast::Hasher::new(),
            is_done: false,
        })
    }

    /// Compares the member that has ended with its check sum, and starts the next one; false if there is none.
    fn next_member(&mut self) -> io::Result<bool> {
        let (crc, rest) = self.member.rest().split_first_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
        // The size in 4 bytes, which the check sum makes superfluous.
        let (_, rest) = rest.split_first_chunk::<4>().ok_or(io::ErrorKind::UnexpectedEof)?;
        if u32::from_le_bytes(*crc) != self.crc.clone().finalize() {
            return Err(damaged("its bytes do not have its check sum"));
        }
        // Tape drives and signatures leave other bytes behind the last member.
        if !rest.starts_with(MAGIC) {
            return Ok(false);
        }
        *self = Gzip::new(rest)?;
        Ok(true)
    }
}

impl Read for Gzip<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            let count = self.member.read(out)?;
            if count > 0 {
                self.crc.update(out.get(..count).unwrap_or_default());
                return Ok(count);
            }
            if self.is_done || !self.next_member()? {
                self.is_done = true;
                return Ok(0);
            }
        }
    }
}

/// The stream of DEFLATE of the member at the start of `file`.
fn behind_header(file: &[u8]) -> io::Result<&[u8]> {
    let (header, mut rest) = file.split_first_chunk::<10>().ok_or(io::ErrorKind::UnexpectedEof)?;
    let [.., flags, _, _, _, _, _, _] = *header;
    if flags & EXTRA != 0 {
        let (size, behind) = rest.split_first_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
        rest = behind.get(u16::from_le_bytes(*size).into()..).ok_or(io::ErrorKind::UnexpectedEof)?;
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let end = rest.iter().position(|byte| *byte == 0).ok_or(io::ErrorKind::UnexpectedEof)?;
            rest = rest.get(end..).and_then(|rest| rest.get(1..)).unwrap_or_default();
        }
    }
    if flags & HEADER_CRC != 0 {
        rest = rest.get(2..).ok_or(io::ErrorKind::UnexpectedEof)?;
    }
    Ok(rest)
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec;

    use super::*;

    fn member(flags: u8, fields: &[u8], content: &[u8]) -> Vec<u8> {
        let crc = rawzip::crc32(content).to_le_bytes();
        let size = (content.len() as u32).to_le_bytes();
        [MAGIC, &[flags, 0, 0, 0, 0, 0, 3], fields, &compress_to_vec(content, 6), &crc, &size].concat()
    }

    fn read(file: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        Gzip::new(file)?.read_to_end(&mut content).map(|_| content)
    }

    #[test]
    fn every_header_and_all_members_are_read() {
        let long: Vec<u8> = (0..100_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        for (flags, fields) in [
            (0, &b""[..]),
            (EXTRA, b"\x02\0ab"),
            (NAME, b"layer.tar\0"),
            (COMMENT | NAME, b"layer.tar\0for you\0"),
            (HEADER_CRC | EXTRA, b"\0\0\x12\x34"),
        ] {
            assert!(read(&member(flags, fields, &long)).unwrap() == long, "{flags}");
        }
        let two =
            [member(0, b"", b"one "), member(0, b"", b""), member(NAME, b"x\0", b"two"), vec![0; 9]].concat();
        assert_eq!(read(&two).unwrap(), b"one two");
    }

    #[test]
    fn damage_is_an_error() {
        let whole = member(NAME, b"name\0", b"some content, some content");
        for end in 0..whole.len() - 4 {
            assert!(read(&whole[..end]).is_err(), "{end}");
        }
        let mut changed = whole.clone();
        let at = whole.len() - 8;
        changed[at] ^= 1;
        assert!(read(&changed).unwrap_err().to_string().contains("check sum"));
    }
}
