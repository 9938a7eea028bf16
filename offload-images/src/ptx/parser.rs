//! The declarations of a PTX module.

use std::collections::BTreeSet;

use super::lexer::{Lexer, Token};
use super::{Ptx, entry};
use offload_format::{Error, ErrorKind};

/// Reads a module from its first word to its last.
pub(super) fn parse(text: &[u8]) -> Result<Ptx<'_>, Error> {
    let text = without_zeros(text);
    let mut parser = Parser::new(Lexer::new(text))?;
    parser.module.entries.reserve_exact(most_entries(text));
    parser.header()?;
    while let Some(token) = parser.next()? {
        parser.declaration(token)?;
    }
    if parser.module.target.is_empty() || !ends_whole(text) {
        return Err(parser.lexer.cut());
    }
    Ok(parser.finish())
}

/// As many words as there are, and no more than fit: what is kept of an entry may be larger than its text, so that a
/// list that doubles would take much more memory than the text.
fn most_entries(text: &[u8]) -> usize {
    const SHORTEST: usize = ".entry a{}".len();
    let words = text.windows(6).filter(|word| word.starts_with(b".entry")).count();
    words.min(text.len() / SHORTEST)
}

/// PTX in a fat binary or a C string ends in zeros.
fn without_zeros(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    text.get(..end).unwrap_or(text)
}

/// Whether the last line can be a whole one: `.address_size 6` may have lost a digit.
fn ends_whole(text: &[u8]) -> bool {
    text.last().is_some_and(|last| last.is_ascii_whitespace() || matches!(last, b'}' | b';'))
}

/// What stands before a declaration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Linkage {
    Own,
    Extern,
}

/// Reads one declaration after the other, with one word of look-ahead.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    ahead: Option<Token<'a>>,
    linkage: Linkage,
    module: Ptx<'a>,
    /// Functions and variables without definition, so far.
    declared: Vec<&'a str>,
    defined: BTreeSet<&'a str>,
}

impl<'a> Parser<'a> {
    fn new(mut lexer: Lexer<'a>) -> Result<Parser<'a>, Error> {
        // 32 is the specification's value for a module that does not say.
        let module = Ptx { address_size: 32, ..Ptx::default() };
        let ahead = lexer.token()?;
        let (declared, defined) = (Vec::new(), BTreeSet::new());
        Ok(Parser { lexer, ahead, linkage: Linkage::Own, module, declared, defined })
    }

    fn header(&mut self) -> Result<(), Error> {
        if self.next()? != Some(Token::Word(".version")) {
            return Err(ErrorKind::Magic { what: "a PTX module" }.into());
        }
        let version = self.word()?.split_once('.');
        let version = version.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        self.module.version = version.ok_or_else(|| self.malformed())?;
        Ok(())
    }

    fn declaration(&mut self, token: Token<'a>) -> Result<(), Error> {
        match token {
            Token::Word(".target") => self.target()?,
            Token::Word(".address_size") => self.module.address_size = self.number()?,
            Token::Word(".extern") => self.linkage = Linkage::Extern,
            Token::Word(".entry") => self.entry()?,
            Token::Word(".func") => self.function()?,
            Token::Word(".alias") => self.alias()?,
            Token::Word(space @ (".global" | ".const" | ".shared")) => self.variables(space)?,
            Token::Mark(b'{') => self.skip_group(b'{')?,
            Token::Mark(b';') => self.linkage = Linkage::Own,
            // `.file`, `.section`, `.pragma` and their operands, and what later versions bring.
            _ => {}
        }
        Ok(())
    }

    /// The options after the first comma are about textures and debugging.
    fn target(&mut self) -> Result<(), Error> {
        self.module.target = self.word()?;
        while self.take_mark(b',')? {
            self.word()?;
        }
        Ok(())
    }

    fn entry(&mut self) -> Result<(), Error> {
        let entry = entry::read(self)?;
        let name = entry.name;
        if self.body(name)? {
            self.module.entries.push(entry);
        }
        Ok(())
    }

    /// `.func (.param .b32 result) name (.param .b32 x) .noreturn { ... }`.
    fn function(&mut self) -> Result<(), Error> {
        loop {
            match self.some()? {
                Token::Mark(b'(') => self.skip_group(b'(')?,
                Token::Word(name) if !name.starts_with('.') => return self.body(name).map(|_| ()),
                Token::Word(_) => {}
                _ => return Err(self.malformed()),
            }
        }
    }

    /// Skips to the end of a function; says whether it has a body.
    fn body(&mut self, name: &'a str) -> Result<bool, Error> {
        loop {
            match self.some()? {
                Token::Mark(b'(') => self.skip_group(b'(')?,
                Token::Word(".pragma") => self.skip_statement()?,
                Token::Mark(b'{') => {
                    self.skip_group(b'{')?;
                    self.define(name);
                    return Ok(true);
                }
                Token::Mark(b';') => {
                    self.declare(name);
                    return Ok(false);
                }
                _ => {}
            }
        }
    }

    /// `.alias name, function;` gives the body of another function to a declared one.
    fn alias(&mut self) -> Result<(), Error> {
        let name = self.word()?;
        self.define(name);
        self.skip_statement()
    }

    /// `.align 4 .b8 a[4] = {1, 2, 3, 4}, b;`.
    fn variables(&mut self, space: &str) -> Result<(), Error> {
        let linkage = self.linkage;
        let mut named = false;
        loop {
            match self.some()? {
                Token::Word(".align") => {
                    self.number()?;
                }
                Token::Word(name) if !named && !name.starts_with('.') => {
                    named = true;
                    match (space, linkage) {
                        (".shared", Linkage::Extern) => self.module.dynamic_shared = true,
                        (_, Linkage::Extern) => self.declared.push(name),
                        (_, Linkage::Own) => self.define(name),
                    }
                }
                Token::Mark(open @ (b'(' | b'[' | b'{')) => self.skip_group(open)?,
                Token::Mark(b',') => named = false,
                Token::Mark(b';') => break,
                _ => {}
            }
        }
        self.linkage = Linkage::Own;
        Ok(())
    }

    fn declare(&mut self, name: &'a str) {
        self.declared.push(name);
        self.linkage = Linkage::Own;
    }

    fn define(&mut self, name: &'a str) {
        self.defined.insert(name);
        self.linkage = Linkage::Own;
    }

    fn finish(mut self) -> Ptx<'a> {
        let mut seen = self.defined;
        self.module.externs = self.declared.into_iter().filter(|name| seen.insert(name)).collect();
        self.module
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

    /// The next piece, or nothing at the end of the module.
    fn next(&mut self) -> Result<Option<Token<'a>>, Error> {
        let token = self.ahead;
        self.ahead = if token.is_some() { self.lexer.token()? } else { None };
        Ok(token)
    }

    /// The next piece inside a declaration.
    pub(super) fn some(&mut self) -> Result<Token<'a>, Error> {
        self.next()?.ok_or_else(|| self.lexer.cut())
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

    /// What comes next, without taking it.
    pub(super) fn ahead(&self) -> Option<Token<'a>> {
        self.ahead
    }

    /// Takes `mark` if it comes next.
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
