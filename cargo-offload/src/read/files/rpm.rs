//! RPM packages: the start of their payload (<https://rpm-software-management.github.io/rpm/manual/format_v4.html>).

/// The lead, a fixed structure of the first version.
const LEAD: usize = 96;
const HEADER: &[u8] = b"\x8e\xad\xe8\x01";

/// The compressed archive of `package`; `None` if the headers before it are damaged.
pub(super) fn payload(package: &[u8]) -> Option<&[u8]> {
    let signature = LEAD;
    let header =
        signature.checked_add(header_size(package.get(signature..)?)?)?.checked_next_multiple_of(8)?;
    let payload = header.checked_add(header_size(package.get(header..)?)?)?;
    package.get(payload..)
}

/// The size of the header at the start of `rest`: 16 bytes, an index of records of 16 bytes, and their data.
fn header_size(rest: &[u8]) -> Option<usize> {
    let index = big_endian(rest, 8)?.checked_mul(16)?;
    rest.starts_with(HEADER).then_some(())?;
    index.checked_add(big_endian(rest, 12)?)?.checked_add(16)
}

/// The big-endian 32-bit number at `at`.
fn big_endian(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
}
