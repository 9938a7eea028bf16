//! Tokens of preprocessed C++, and changes of its text.

/// A change of a text.
pub(crate) struct Edit {
    pub(crate) at: usize,
    /// Bytes that `text` replaces.
    pub(crate) removed: usize,
    pub(crate) text: &'static str,
}

/// `text` with changes that do not overlap; `None` if there are none.
pub(crate) fn edited(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|edit| edit.at);
    let mut changed = String::with_capacity(text.len());
    let mut end = 0;
    for Edit { at, removed, text: inserted } in edits {
        changed.push_str(text.get(end..at)?);
        changed.push_str(inserted);
        end = at.saturating_add(removed);
    }
    changed.push_str(text.get(end..)?);
    Some(changed)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name, or a number.
    Word,
    /// What stands between the quotes of a literal text.
    Text,
    Other(u8),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn is_word(self, lexer: &Lexer<'_>, words: &[&str]) -> bool {
        let text = lexer.bytes.get(self.start..self.end).unwrap_or_default();
        self.kind == TokenKind::Word && words.iter().any(|word| word.as_bytes() == text)
    }
}

/// Tokens of preprocessed C++, without lines for the compiler.
pub(crate) struct Lexer<'t> {
    pub(crate) bytes: &'t [u8],
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Lexer<'t> {
        Lexer { bytes: text.as_bytes(), at: 0 }
    }

    pub(crate) fn next(&mut self) -> Option<Token> {
        loop {
            let byte = self.peek(0)?;
            let is_first = self.at == 0 || self.bytes.get(self.at.wrapping_sub(1)) == Some(&b'\n');
            if byte == b'#' && is_first {
                self.skip_until(b'\n');
            } else if byte.is_ascii_whitespace() {
                self.advance(1);
            } else {
                break;
            }
        }
        let start = self.at;
        let byte = self.peek(0)?;
        if is_of_word(byte) {
            return Some(self.word(start));
        }
        self.advance(1);
        match byte {
            b'"' => Some(self.quoted(b'"')),
            b'\'' => {
                self.quoted(b'\'');
                Some(Token { kind: TokenKind::Other(byte), start, end: self.at })
            }
            _ => Some(Token { kind: TokenKind::Other(byte), start, end: self.at }),
        }
    }

    /// A word; a prefix of a raw text takes that with it.
    fn word(&mut self, start: usize) -> Token {
        let is_number = self.peek(0).is_some_and(|byte| byte.is_ascii_digit());
        while let Some(byte) = self.peek(0) {
            // A quote may divide the digits of a number.
            let divides = is_number && byte == b'\'' && self.peek(1).is_some_and(is_of_word);
            if !is_of_word(byte) && !divides {
                break;
            }
            self.advance(1);
        }
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        let is_raw = [&b"R"[..], b"u8R", b"uR", b"UR", b"LR"].contains(&word);
        if is_raw && self.peek(0) == Some(b'"') {
            return self.raw();
        }
        Token { kind: TokenKind::Word, start, end: self.at }
    }

    /// What stands before the next `quote` that is not escaped.
    fn quoted(&mut self, quote: u8) -> Token {
        let start = self.at;
        while let Some(byte) = self.peek(0).filter(|byte| *byte != quote) {
            self.advance(if byte == b'\\' { 2 } else { 1 });
        }
        let end = self.at.min(self.bytes.len());
        self.advance(1);
        Token { kind: TokenKind::Text, start, end }
    }

    /// What stands in a raw text, from its quote on.
    fn raw(&mut self) -> Token {
        self.advance(1);
        let delimiter = self.at;
        self.skip_until(b'(');
        let closing = [&b")"[..], self.bytes.get(delimiter..self.at).unwrap_or_default(), b"\""].concat();
        self.advance(1);
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest.windows(closing.len()).position(|window| window == closing).unwrap_or(rest.len());
        let end = start.saturating_add(length);
        self.at = end.saturating_add(closing.len());
        Token { kind: TokenKind::Text, start, end }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at.saturating_add(ahead)).copied()
    }

    fn advance(&mut self, by: usize) {
        self.at = self.at.saturating_add(by);
    }

    fn skip_until(&mut self, byte: u8) {
        while self.peek(0).is_some_and(|other| other != byte) {
            self.advance(1);
        }
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}
