//! The token stream with one token of lookahead.

use super::lexer::{Lexer, Token};
use offload_format::Error;

pub(super) struct Tokens<'a> {
    lexer: Lexer<'a>,
    ahead: Option<Token<'a>>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(mut lexer: Lexer<'a>) -> Result<Tokens<'a>, Error> {
        let ahead = lexer.token()?;
        Ok(Tokens { lexer, ahead })
    }

    /// The error for an unexpected end.
    pub(super) fn truncated(&self) -> Error {
        self.lexer.truncated()
    }

    /// Skips past the next semicolon.
    pub(super) fn skip_statement(&mut self) -> Result<(), Error> {
        while self.some()? != Token::Mark(b';') {}
        Ok(())
    }

    /// Skips to the mark that closes `open`, which was just read.
    pub(super) fn skip_group(&mut self, open: u8) -> Result<(), Error> {
        let close = match open {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        };
        let mut depth = 1_u64;
        while depth > 0 {
            match self.some()? {
                Token::Mark(mark) if mark == open => depth += 1,
                Token::Mark(mark) if mark == close => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// The next token, or `None` at the end of the module.
    pub(super) fn next(&mut self) -> Result<Option<Token<'a>>, Error> {
        let token = self.ahead;
        self.ahead = if token.is_some() { self.lexer.token()? } else { None };
        Ok(token)
    }

    /// The next token inside a declaration, where the module cannot end.
    pub(super) fn some(&mut self) -> Result<Token<'a>, Error> {
        self.next()?.ok_or_else(|| self.lexer.truncated())
    }

    /// The next word.
    pub(super) fn word(&mut self) -> Result<&'a str, Error> {
        match self.some()? {
            Token::Word(word) => Ok(word),
            _ => Err(self.malformed()),
        }
    }

    /// The next word, a number.
    pub(super) fn number(&mut self) -> Result<u32, Error> {
        let word = self.word()?;
        let parsed = match word.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => word.parse(),
        };
        parsed.map_err(|_| self.malformed())
    }

    /// The next token, without consuming it.
    pub(super) fn ahead(&self) -> Option<Token<'a>> {
        self.ahead
    }

    /// Consumes `mark` if it comes next.
    pub(super) fn take_mark(&mut self, mark: u8) -> Result<bool, Error> {
        let is_next = self.ahead == Some(Token::Mark(mark));
        if is_next {
            self.next()?;
        }
        Ok(is_next)
    }

    pub(super) fn malformed(&self) -> Error {
        self.lexer.malformed()
    }
}
