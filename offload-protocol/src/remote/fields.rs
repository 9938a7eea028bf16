//! Encoding and decoding of message fields: length-prefixed bytes and texts, count-prefixed lists.

use offload_format::{Error, ErrorKind, bytes};

const MESSAGE: &str = "message between build script and cargo-offload";

/// Writing fields.
pub(super) trait Put {
    fn byte(&mut self, byte: u8);
    fn bytes(&mut self, bytes: &[u8]);
    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }
    fn list<T>(&mut self, items: &[T], put: impl Fn(&mut Vec<u8>, &T));
    fn texts(&mut self, texts: &[String]) {
        self.list(texts, |out, text| out.text(text));
    }
}

impl Put for Vec<u8> {
    fn byte(&mut self, byte: u8) {
        self.push(byte);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.extend_from_slice(bytes);
    }

    fn list<T>(&mut self, items: &[T], put: impl Fn(&mut Vec<u8>, &T)) {
        self.extend_from_slice(&(items.len() as u64).to_le_bytes());
        items.iter().for_each(|item| put(self, item));
    }
}

/// A cursor over the fields of a message.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    at: u64,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { bytes, at: 0 }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let array = bytes::array(self.bytes, self.at, MESSAGE)?;
        self.at = self.at.saturating_add(N as u64);
        Ok(array)
    }

    pub(super) fn number(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn slice(&mut self) -> Result<&'a [u8], Error> {
        let size = self.number()?;
        let slice = bytes::range(self.bytes, self.at, size, MESSAGE)?;
        self.at = self.at.saturating_add(size);
        Ok(slice)
    }

    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        self.slice().map(<[u8]>::to_vec)
    }

    pub(super) fn text(&mut self) -> Result<String, Error> {
        let offset = self.at;
        String::from_utf8(self.bytes()?).map_err(|_| ErrorKind::Text { what: MESSAGE, offset }.into())
    }

    /// Allocates as items are decoded, because the count is not trusted.
    pub(super) fn list<T>(
        &mut self,
        mut take: impl FnMut(&mut Fields<'a>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let count = self.number()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(take(self)?);
        }
        Ok(items)
    }

    pub(super) fn texts(&mut self) -> Result<Vec<String>, Error> {
        self.list(Fields::text)
    }

    /// The unread bytes.
    pub(super) fn rest(&self) -> &'a [u8] {
        usize::try_from(self.at).ok().and_then(|at| self.bytes.get(at..)).unwrap_or_default()
    }

    /// Fails unless all bytes were read.
    pub(super) fn end(&self) -> Result<(), Error> {
        let left = (self.bytes.len() as u64).saturating_sub(self.at);
        if left == 0 {
            Ok(())
        } else {
            Err(ErrorKind::Invalid { what: "end of a message", value: left }.into())
        }
    }
}

/// The error of an unknown message kind.
pub(super) fn unknown_kind(value: u8) -> Error {
    ErrorKind::Invalid { what: "kind in a message", value: value.into() }.into()
}
