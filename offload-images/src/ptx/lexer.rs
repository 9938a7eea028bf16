//! The lexer of PTX; comments are skipped.

use offload_format::{Error, ErrorKind, bytes};

pub(super) const WHAT: &str = "the PTX module";

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A directive with its dot, an identifier, an instruction, or a number.
    Word(&'a str),
    /// A string in quotes.
    Quoted,
    /// Any other character.
    Mark(u8),
}

/// Splits a text into tokens.
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8]) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    /// The offset of the next token, in bytes.
    pub(super) fn offset(&self) -> u64 {
        self.at as u64
    }

    /// The next token, or `None` at the end.
    pub(super) fn token(&mut self) -> Result<Option<Token<'a>>, Error> {
        self.skip_blanks()?;
        let Some(first) = self.peek(0) else { return Ok(None) };
        let token = match first {
            b'"' => {
                self.at += 1;
                self.skip_past(b'"')?;
                Token::Quoted
            }
            first if in_word(first) => Token::Word(self.word()?),
            first if first.is_ascii() => {
                self.at += 1;
                Token::Mark(first)
            }
            _ => return Err(self.malformed()),
        };
        Ok(Some(token))
    }

    /// The syntax error at the current offset.
    pub(super) fn malformed(&self) -> Error {
        ErrorKind::Text { what: WHAT, offset: self.offset() }.into()
    }

    /// The error for an unexpected end.
    pub(super) fn truncated(&self) -> Error {
        Error::truncated(WHAT, self.text.len() as u64, 1)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at.checked_add(ahead)?).copied()
    }

    fn skip_blanks(&mut self) -> Result<(), Error> {
        while let Some(first) = self.peek(0) {
            match (first, self.peek(1)) {
                // A preprocessor directive.
                (b'#', _) | (b'/', Some(b'/')) => self.skip_past(b'\n')?,
                (b'/', Some(b'*')) => self.skip_comment()?,
                _ if first.is_ascii_whitespace() => self.at += 1,
                _ => break,
            }
        }
        Ok(())
    }

    fn skip_comment(&mut self) -> Result<(), Error> {
        self.at += 2;
        loop {
            self.skip_past(b'*')?;
            if self.peek(0) == Some(b'/') {
                self.at += 1;
                return Ok(());
            }
        }
    }

    fn skip_past(&mut self, end: u8) -> Result<(), Error> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == end).ok_or_else(|| self.truncated())?;
        self.at += length + 1;
        Ok(())
    }

    /// A directive ends before the next dot: `.param.u64` are two.
    fn word(&mut self) -> Result<&'a str, Error> {
        let start = self.at;
        let is_directive = self.peek(0) == Some(b'.');
        self.at += 1;
        while self.peek(0).is_some_and(|next| in_word(next) && !(is_directive && next == b'.')) {
            self.at += 1;
        }
        bytes::text_at(self.text, start as u64, (self.at - start) as u64, WHAT)
    }
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<Token<'_>>, Error> {
        let mut lexer = Lexer::new(text.as_bytes());
        std::iter::from_fn(|| lexer.token().transpose()).collect()
    }

    #[test]
    fn words_strings_and_marks_are_distinct_tokens() {
        use Token::{Mark, Quoted, Word};
        let expected = [
            Word(".param"),
            Word(".u64"),
            Word("ld.param.u64"),
            Word("%rd1"),
            Mark(b','),
            Mark(b'['),
            Word("$x_0"),
            Mark(b']'),
            Mark(b';'),
            Quoted,
        ];
        assert_eq!(tokens(".param.u64 ld.param.u64 %rd1, [$x_0]; \"a{//\"").unwrap(), expected);
    }

    #[test]
    fn comments_are_skipped() {
        let text = "a // { \" /*\n/* } // */ b /**/# 1 \"x\"\nc";
        assert_eq!(tokens(text).unwrap(), [Token::Word("a"), Token::Word("b"), Token::Word("c")]);
    }

    #[test]
    fn open_comments_and_strings_are_cuts() {
        for text in ["a /* b", "a /*/", "a // b", "\"a"] {
            let error = tokens(text).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn other_alphabets_stand_in_comments_only() {
        assert_eq!(tokens("a // \u{e9}\n").unwrap(), [Token::Word("a")]);
        assert!(matches!(tokens("\u{e9}").unwrap_err().kind(), ErrorKind::Text { offset: 0, .. }));
    }
}
