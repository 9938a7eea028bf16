//! gzip files: a sequence of compressed members (<https://www.rfc-editor.org/rfc/rfc1952>).

use std::io::{self, Read};

use flate2::bufread::GzDecoder;

/// Magic number, with the compression method.
const MAGIC: &[u8] = b"\x1f\x8b\x08";

/// The bytes of a file, of all its members.
pub(super) struct Gzip<'a> {
    member: GzDecoder<&'a [u8]>,
}

impl<'a> Gzip<'a> {
    pub(super) fn new(file: &'a [u8]) -> Gzip<'a> {
        Gzip { member: GzDecoder::new(file) }
    }
}

impl Read for Gzip<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.member.read(out)?;
            let rest = *self.member.get_ref();
            // Tape drives and signatures leave other bytes behind the last member, which `MultiGzDecoder` refuses.
            if count > 0 || out.is_empty() || !rest.starts_with(MAGIC) {
                return Ok(count);
            }
            *self = Gzip::new(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, GzBuilder};

    use super::*;

    fn member(header: GzBuilder, content: &[u8]) -> Vec<u8> {
        let mut encoder = header.write(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn plain(content: &[u8]) -> Vec<u8> {
        member(GzBuilder::new(), content)
    }

    fn read(file: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        Gzip::new(file).read_to_end(&mut content).map(|_| content)
    }

    #[test]
    fn every_header_is_read() {
        let long: Vec<u8> = (0..100_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        for header in [
            GzBuilder::new(),
            GzBuilder::new().extra(*b"ab\x02\x00xy"),
            GzBuilder::new().filename("layer.tar"),
            GzBuilder::new().filename("layer.tar").comment("for you"),
        ] {
            assert!(read(&member(header, &long)).unwrap() == long);
        }
        // `GzBuilder` writes no check sum of the header (RFC 1952, 2.3.1: flag 2).
        let mut file = plain(&long);
        file[3] |= 2;
        let [low, high, ..] = rawzip::crc32(&file[..10]).to_le_bytes();
        file.splice(10..10, [low, high]);
        assert!(read(&file).unwrap() == long);
    }

    #[test]
    fn all_members_are_read_and_nothing_behind_them() {
        let file =
            [plain(b"one "), plain(b""), member(GzBuilder::new().filename("x"), b"two"), vec![0; 9]].concat();
        assert_eq!(read(&file).unwrap(), b"one two");
    }

    #[test]
    fn damage_is_an_error() {
        let whole = member(GzBuilder::new().filename("name"), b"some content, some content");
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_err(), "{end}");
        }
        for at in whole.len() - 8..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(read(&changed).unwrap_err().to_string().contains("checksum"), "{at}");
        }
    }
}
