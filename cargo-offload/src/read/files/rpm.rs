//! RPM packages: where their payload starts (<https://rpm-software-management.github.io/rpm/manual/format_v4.html>).

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
    let number = |at: usize| {
        let bytes = rest.get(at..at.checked_add(4)?)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
    };
    let index = number(8)?.checked_mul(16)?;
    rest.starts_with(HEADER).then_some(())?;
    index.checked_add(number(12)?)?.checked_add(16)
}
