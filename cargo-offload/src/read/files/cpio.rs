//! cpio archives, as in RPM packages and initial RAM disks
//! (<https://docs.kernel.org/driver-api/early-userspace/buffer-format.html>,
//! <https://pubs.opengroup.org/onlinepubs/007908799/xcu/pax.html> for octal headers).

use std::io::{self, Read};

/// A member of an archive.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) mode: u64,
    /// In bytes, which follow the header.
    pub(super) size: u64,
    /// Number of padding bytes after the content.
    pub(super) padding: u64,
}

/// The name of what ends an archive.
const TRAILER: &str = "TRAILER!!!";
/// No system has longer paths.
const LONGEST_NAME: u64 = 1 << 16;

impl Member {
    /// The next member of `archive`, which stands at a header; `None` at the archive's end.
    pub(super) fn read(archive: &mut impl Read) -> io::Result<Option<Member>> {
        let mut magic = [0; 6];
        archive.read_exact(&mut magic)?;
        let member = match &magic {
            b"070701" | b"070702" => hexadecimal(archive)?,
            b"070707" => octal(archive)?,
            _ => return Err(damaged_error("a member has no header")),
        };
        Ok(Some(member).filter(|member| member.name != TRAILER))
    }

    pub(super) fn is_file(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }
}

/// Thirteen fields of eight digits; name and content start at multiples of four.
fn hexadecimal(archive: &mut impl Read) -> io::Result<Member> {
    let mut header = [0; 104];
    archive.read_exact(&mut header)?;
    let mode = number(header.get(8..16), 16)?;
    let size = number(header.get(48..56), 16)?;
    let name_size = number(header.get(88..96), 16)?;
    let padded = (110 + name_size).next_multiple_of(4) - 110;
    let name = name(archive, name_size, padded)?;
    Ok(Member { name, mode, size, padding: size.next_multiple_of(4) - size })
}

/// Fields of six digits, two of them of eleven; nothing is padded.
fn octal(archive: &mut impl Read) -> io::Result<Member> {
    let mut header = [0; 70];
    archive.read_exact(&mut header)?;
    let mode = number(header.get(12..18), 8)?;
    let size = number(header.get(59..70), 8)?;
    let name_size = number(header.get(53..59), 8)?;
    let name = name(archive, name_size, name_size)?;
    Ok(Member { name, mode, size, padding: 0 })
}

fn number(digits: Option<&[u8]>, radix: u32) -> io::Result<u64> {
    let text = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    let number = text.and_then(|text| u64::from_str_radix(text, radix).ok());
    number.ok_or_else(|| damaged_error("a header has no number where one has to be"))
}

/// A name of `size` bytes with the null behind it, in `padded` bytes.
fn name(archive: &mut impl Read, size: u64, padded: u64) -> io::Result<String> {
    if size > LONGEST_NAME {
        return Err(damaged_error("a name is too long"));
    }
    let mut bytes = Vec::new();
    archive.take(padded).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != padded {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

fn damaged_error(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
