//! Attribute records of the sections `.nv.info`, `.nv.info.<kernel>` and `.nv.compat`.

use offload_format::{Error, ErrorKind, bytes};

const WHAT: &str = "the attribute of the cubin";

/// `EIFMT_NVAL`: the value bytes are unused.
const FORMAT_NONE: u8 = 1;
/// `EIFMT_BVAL`.
const FORMAT_BYTE: u8 = 2;
/// `EIFMT_HVAL`.
const FORMAT_HALF: u8 = 3;
/// `EIFMT_SVAL`.
const FORMAT_SIZED: u8 = 4;

/// An attribute record.
pub(super) struct Attribute<'a> {
    pub(super) number: u8,
    pub(super) value: AttributeValue<'a>,
}

/// The value of an attribute.
pub(super) enum AttributeValue<'a> {
    None,
    Byte(u8),
    Half(u16),
    Sized(&'a [u8]),
}

impl Attribute<'_> {
    /// The word at `index` of a sized value.
    pub(super) fn word(&self, index: u64) -> Result<u32, Error> {
        match self.value {
            AttributeValue::Sized(bytes) => bytes::u32_at(bytes, index.saturating_mul(4), WHAT),
            _ => Err(Error::invalid(
                "the format of the cubin's attribute with this number",
                self.number.into(),
            )),
        }
    }

    /// The three dimensions of a block size.
    pub(super) fn three(&self) -> Result<[u32; 3], Error> {
        Ok([self.word(0)?, self.word(1)?, self.word(2)?])
    }
}

/// The records of a section; ends after the first error.
pub(super) fn records(section: &[u8]) -> impl Iterator<Item = Result<Attribute<'_>, Error>> {
    let end = section.len() as u64;
    let mut offset = 0;
    std::iter::from_fn(move || {
        if offset >= end {
            return None;
        }
        let record = record(section, offset);
        offset = match &record {
            Ok((_, size)) => offset.saturating_add(*size),
            Err(_) => end,
        };
        Some(record.map(|(attribute, _)| attribute))
    })
}

/// The record at `offset` and its size.
fn record(section: &[u8], offset: u64) -> Result<(Attribute<'_>, u64), Error> {
    let [format, number, low, high] = bytes::array(section, offset, WHAT)?;
    let half = u16::from_le_bytes([low, high]);
    let mut size = 4;
    let value = match format {
        FORMAT_NONE => AttributeValue::None,
        FORMAT_BYTE => AttributeValue::Byte(low),
        FORMAT_HALF => AttributeValue::Half(half),
        FORMAT_SIZED => {
            size += u64::from(half);
            AttributeValue::Sized(bytes::range(section, offset.saturating_add(4), half.into(), WHAT)?)
        }
        other => {
            let what = "the format of the cubin's attributes with number";
            return Err(ErrorKind::Unsupported { what, value: other.into() }.into());
        }
    };
    Ok((Attribute { number, value }, size))
}
