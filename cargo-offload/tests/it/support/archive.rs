//! Archives, as people publish them.

use std::io::Read;

use flate2::Compression;
use flate2::bufread::{DeflateEncoder, GzEncoder};

/// A member of a zip archive.
pub struct Member<'a> {
    pub name: &'a str,
    pub content: &'a [u8],
    pub method: Method,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Method {
    Stored = 0,
    Deflated = 8,
    Unknown = 99,
}

/// The fields that the record of a member and its entry in the list have in common
/// (<https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>, 4.3.7 and 4.3.12).
fn fields(member: &Member<'_>, stored: &[u8]) -> Vec<u8> {
    let mut fields = vec![20, 0, 0, 0];
    fields.extend((member.method as u16).to_le_bytes());
    fields.extend([0; 4]);
    fields.extend(rawzip::crc32(member.content).to_le_bytes());
    fields.extend((stored.len() as u32).to_le_bytes());
    fields.extend((member.content.len() as u32).to_le_bytes());
    fields.extend((member.name.len() as u16).to_le_bytes());
    fields.extend([0; 2]);
    fields
}

pub fn zip(members: &[Member<'_>]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut list = Vec::new();
    for member in members {
        let deflated = all(DeflateEncoder::new(member.content, Compression::default()));
        let stored = if member.method == Method::Deflated { &deflated } else { member.content };
        let fields = fields(member, stored);
        let offset = (file.len() as u32).to_le_bytes();
        list.extend([&b"PK\x01\x02\x14\0"[..], &fields, &[0; 10], &offset, member.name.as_bytes()].concat());
        file.extend([&b"PK\x03\x04"[..], &fields, member.name.as_bytes(), stored].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let size = (list.len() as u32).to_le_bytes();
    let offset = (file.len() as u32).to_le_bytes();
    [&file[..], &list, b"PK\x05\x06\0\0\0\0", &count, &count, &size, &offset, &[0; 2]].concat()
}

/// A tar archive of these files.
pub fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, name, *content).unwrap();
    }
    archive.into_inner().unwrap()
}

/// A cpio archive of these files (<https://docs.kernel.org/driver-api/early-userspace/buffer-format.html>).
pub fn cpio(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in members.iter().copied().chain([("TRAILER!!!", &b""[..])]) {
        let mut fields = [0; 13];
        fields[1] = 0o100_644;
        fields[6] = content.len();
        fields[11] = name.len() + 1;
        archive.extend(b"070701");
        fields.iter().for_each(|field| archive.extend(format!("{field:08x}").into_bytes()));
        archive.extend([name.as_bytes(), b"\0"].concat());
        archive.resize(archive.len().next_multiple_of(4), 0);
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(4), 0);
    }
    archive.resize(archive.len().next_multiple_of(512), 0);
    archive
}

/// An RPM package with empty headers (<https://rpm-software-management.github.io/rpm/manual/format_v4.html>).
pub fn rpm(payload: &[u8]) -> Vec<u8> {
    let lead = [&b"\xed\xab\xee\xdb\x03\0"[..], &[0; 90]].concat();
    let mut package = [lead, rpm_header(3)].concat();
    package.resize(package.len().next_multiple_of(8), 0);
    [package, rpm_header(5), payload.to_vec()].concat()
}

fn rpm_header(data: u32) -> Vec<u8> {
    let sizes = [1u32.to_be_bytes(), data.to_be_bytes()].concat();
    [&b"\x8e\xad\xe8\x01\0\0\0\0"[..], &sizes, &[0; 16], &vec![0; data as usize]].concat()
}

/// `bytes` as gzip has them.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    all(GzEncoder::new(bytes, Compression::default()))
}

fn all(mut encoder: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    encoder.read_to_end(&mut bytes).unwrap();
    bytes
}
