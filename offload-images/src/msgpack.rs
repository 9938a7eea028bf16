//! A pull reader of `MessagePack` (<https://github.com/msgpack/msgpack/blob/master/spec.md>), the encoding of AMD's
//! metadata.
//!
//! ```
//! use offload_images::msgpack::{Reader, set};
//!
//! let mut name = None;
//! Reader::new(b"\x82\xa4name\xa5saxpy\xa4size\x10").map(|key, value| match key {
//!     "name" => set(&mut name, Some(value.text()?)),
//!     _ => value.skip(),
//! });
//! assert_eq!(name, Some("saxpy"));
//! ```
// Written by hand, because every build script compiles it: serde's derive macro takes longer to compile than all readers
// of device images.

/// The nesting depth that `skip` accepts: it recurses, and AMD's metadata has fewer levels.
const MAX_DEPTH: usize = 32;

/// The unread values. Every method returns `None` at the end and for a value of another type.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

/// A decoded value, or the length of a list or map.
enum Head<'a> {
    Nil,
    Number(u64),
    Text(&'a [u8]),
    List(u64),
    Map(u64),
    /// Booleans, negative integers, floats, binary, and extension types.
    Other,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// Reads a non-negative integer of any width.
    pub fn number<T: TryFrom<u64>>(&mut self) -> Option<T> {
        match self.head()? {
            Head::Number(number) => T::try_from(number).ok(),
            _ => None,
        }
    }

    /// Reads a string, which has to be UTF-8.
    pub fn text(&mut self) -> Option<&'a str> {
        match self.head()? {
            Head::Text(text) => std::str::from_utf8(text).ok(),
            _ => None,
        }
    }

    /// Reads a string into an owned one.
    pub fn string(&mut self) -> Option<String> {
        self.text().map(str::to_string)
    }

    /// Reads nil as `None`, and any other value with `read`.
    pub fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        let mut ahead = *self;
        if let Head::Nil = ahead.head()? {
            *self = ahead;
            return Some(None);
        }
        read(self).map(Some)
    }

    /// The declared length of the list that comes next; nothing is read.
    pub fn length(mut self) -> Option<usize> {
        match self.head()? {
            Head::List(length) => usize::try_from(length).ok(),
            _ => None,
        }
    }

    /// Reads a list with one call of `read` for each element.
    pub fn list(&mut self, mut read: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        let Head::List(length) = self.head()? else { return None };
        (0..length).try_for_each(|_| read(self))
    }

    /// Reads a map with one call of `read` for each key; `read` has to consume the value, or [`skip`](Reader::skip) it.
    pub fn map(&mut self, mut read: impl FnMut(&'a str, &mut Self) -> Option<()>) -> Option<()> {
        let Head::Map(length) = self.head()? else { return None };
        (0..length).try_for_each(|_| {
            let key = self.text()?;
            read(key, self)
        })
    }

    /// Skips a value with everything in it.
    pub fn skip(&mut self) -> Option<()> {
        self.skip_within(MAX_DEPTH)
    }

    fn skip_within(&mut self, depth: usize) -> Option<()> {
        let inner = match self.head()? {
            Head::List(length) => length,
            Head::Map(length) => length.saturating_mul(2),
            _ => return Some(()),
        };
        let depth = depth.checked_sub(1)?;
        (0..inner).try_for_each(|_| self.skip_within(depth))
    }

    fn head(&mut self) -> Option<Head<'a>> {
        let first = *self.take(1)?.first()?;
        Some(match first {
            0x00..=0x7f => Head::Number(first.into()),
            0x80..=0x8f => Head::Map(u64::from(first & 0x0f)),
            0x90..=0x9f => Head::List(u64::from(first & 0x0f)),
            0xa0..=0xbf => Head::Text(self.take(u64::from(first & 0x1f))?),
            0xc0 => Head::Nil,
            0xc2 | 0xc3 | 0xe0..=0xff => Head::Other,
            // Binary.
            0xc4..=0xc6 => self.length_prefixed(1 << (first - 0xc4), 0)?,
            // Extension types: a length, a type, the bytes.
            0xc7..=0xc9 => self.length_prefixed(1 << (first - 0xc7), 1)?,
            0xd4..=0xd8 => self.other(1 + (1 << (first - 0xd4)))?,
            0xca => self.other(4)?,
            0xcb => self.other(8)?,
            0xcc..=0xcf => Head::Number(self.big_endian(1 << (first - 0xcc))?),
            0xd0..=0xd3 => self.signed(1 << (first - 0xd0))?,
            0xd9..=0xdb => {
                let length = self.big_endian(1 << (first - 0xd9))?;
                Head::Text(self.take(length)?)
            }
            0xdc | 0xdd => Head::List(self.big_endian(2 << (first - 0xdc))?),
            0xde | 0xdf => Head::Map(self.big_endian(2 << (first - 0xde))?),
            0xc1 => return None,
        })
    }

    /// Skips bytes behind a length of `width` bytes, and `more` bytes that the length does not count.
    fn length_prefixed(&mut self, width: u64, more: u64) -> Option<Head<'a>> {
        let length = self.big_endian(width)?;
        self.other(length.checked_add(more)?)
    }

    fn other(&mut self, length: u64) -> Option<Head<'a>> {
        self.take(length).map(|_| Head::Other)
    }

    /// A signed integer of `width` bytes.
    fn signed(&mut self, width: u64) -> Option<Head<'a>> {
        let bits = self.big_endian(width)?;
        let is_negative = bits >> (width * 8 - 1) != 0;
        Some(if is_negative { Head::Other } else { Head::Number(bits) })
    }

    fn big_endian(&mut self, width: u64) -> Option<u64> {
        Some(self.take(width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(taken)
    }
}

/// Stores the value of a key; `None` for a duplicate key.
pub fn set<T>(field: &mut Option<T>, value: Option<T>) -> Option<()> {
    if field.is_some() {
        return None;
    }
    *field = value;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_width_are_read() {
        for bytes in [
            &[7][..],
            &[0xcc, 7],
            &[0xcd, 0, 7],
            &[0xce, 0, 0, 0, 7],
            &[0xcf, 0, 0, 0, 0, 0, 0, 0, 7],
            &[0xd0, 7],
            &[0xd1, 0, 7],
            &[0xd2, 0, 0, 0, 7],
            &[0xd3, 0, 0, 0, 0, 0, 0, 0, 7],
        ] {
            assert_eq!(Reader::new(bytes).number::<u32>(), Some(7), "{bytes:x?}");
            let cut = bytes.get(..bytes.len() - 1).unwrap();
            assert_eq!(Reader::new(cut).number::<u32>(), None, "{cut:x?}");
        }
        for bytes in [&[0xff][..], &[0xd0, 0x80], &[0xa1, b'a'], &[0xcf, 1, 0, 0, 0, 0, 0, 0, 0]] {
            assert_eq!(Reader::new(bytes).number::<u32>(), None, "{bytes:x?}");
        }
        assert_eq!(Reader::new(&[0xff; 9]).number::<u64>(), None);
        assert_eq!(
            Reader::new(&[0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).number(),
            Some(u64::MAX)
        );
    }

    #[test]
    fn texts_have_four_forms_and_are_utf8() {
        for bytes in [&[0xa1, b'a'][..], &[0xd9, 1, b'a'], &[0xda, 0, 1, b'a'], &[0xdb, 0, 0, 0, 1, b'a']] {
            assert_eq!(Reader::new(bytes).text(), Some("a"));
        }
        assert_eq!(Reader::new(&[0xa1, 0xff]).text(), None);
    }

    #[test]
    fn every_kind_of_value_is_passed_over() {
        let values: [&[u8]; 16] = [
            &[0xc0],
            &[0xc2],
            &[0xc3],
            &[0xe0],
            &[0xc4, 1, 9],
            &[0xc5, 0, 1, 9],
            &[0xc6, 0, 0, 0, 1, 9],
            &[0xc7, 1, 5, 9],
            &[0xd4, 5, 9],
            &[0xd5, 5, 9, 9],
            &[0xca, 0, 0, 0, 0],
            &[0xcb, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0x92, 1, 2],
            &[0xdc, 0, 1, 0x91, 0x90],
            &[0x81, 0xa1, b'a', 0x81, 0xa1, b'b', 1],
            &[0xde, 0, 1, 1, 2],
        ];
        for value in values {
            let mut reader = Reader::new(value);
            assert_eq!(reader.skip(), Some(()), "{value:x?}");
            assert!(reader.0.is_empty(), "{value:x?}");
            assert_eq!(Reader::new(value.get(..value.len() - 1).unwrap()).skip(), None, "{value:x?}");
        }
        assert_eq!(Reader::new(&[0xc1]).skip(), None);
        // A million lists in one another.
        assert_eq!(Reader::new(&vec![0x91; 1 << 20]).skip(), None);
    }
}
