//! The parser of declarations.

use std::collections::BTreeSet;

use super::kernel;
use super::lexer::{Lexer, Token};
use super::module::Ptx;
use super::tokens::Tokens;
use offload_format::{Error, ErrorKind, PtxVersion};

impl<'a> Ptx<'a> {
    /// Parses the declarations of a module; trailing zeros, as in a C string, are ignored.
    ///
    /// Truncation inside a declaration, a body, a comment or a line is an error. Truncation between two declarations
    /// cannot be detected: compare [`Ptx::kernels`] with the expected kernels.
    ///
    /// # Errors
    /// [`Magic`](offload_format::ErrorKind::Magic) if it does not start with `.version`,
    /// [`Truncated`](offload_format::ErrorKind::Truncated) or [`Text`](offload_format::ErrorKind::Text).
    pub fn parse(text: &'a [u8]) -> Result<Ptx<'a>, Error> {
        parse(text)
    }
}

fn parse(text: &[u8]) -> Result<Ptx<'_>, Error> {
    let text = without_zeros(text);
    let mut parser = Parser::new(Lexer::new(text))?;
    parser.module.kernels.reserve_exact(max_kernels(text));
    parser.header()?;
    while let Some(token) = parser.tokens.next()? {
        parser.declaration(token)?;
    }
    if parser.module.target.is_empty() || !ends_whole(text) {
        return Err(parser.tokens.truncated());
    }
    Ok(parser.finish())
}

/// An upper bound of the number of kernels. A kernel's record may be larger than its text, so that a growing `Vec` would
/// take many times the memory of the text.
fn max_kernels(text: &[u8]) -> usize {
    const SHORTEST: usize = ".entry a{}".len();
    let words = text.windows(6).filter(|word| word.starts_with(b".entry")).count();
    words.min(text.len() / SHORTEST)
}

/// Strips the trailing zeros of PTX in a fat binary or a C string.
fn without_zeros(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    text.get(..end).unwrap_or(text)
}

/// Whether the last line can be complete: `.address_size 6` may have lost a digit.
fn ends_whole(text: &[u8]) -> bool {
    text.last().is_some_and(|last| last.is_ascii_whitespace() || matches!(last, b'}' | b';'))
}

/// The linkage directive of a declaration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Linkage {
    Own,
    Extern,
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    linkage: Linkage,
    module: Ptx<'a>,
    /// Functions and variables without a definition so far.
    declared: Vec<&'a str>,
    defined: BTreeSet<&'a str>,
}

impl<'a> Parser<'a> {
    fn new(lexer: Lexer<'a>) -> Result<Parser<'a>, Error> {
        Ok(Parser {
            tokens: Tokens::new(lexer)?,
            linkage: Linkage::Own,
            // 32 is the specification's default.
            module: Ptx { address_size: 32, ..Ptx::default() },
            declared: Vec::new(),
            defined: BTreeSet::new(),
        })
    }

    fn header(&mut self) -> Result<(), Error> {
        if self.tokens.next()? != Some(Token::Word(".version")) {
            return Err(ErrorKind::Magic { what: "a PTX module" }.into());
        }
        let version = self.tokens.word()?.split_once('.');
        let version = version.and_then(|(major, minor)| {
            Some(PtxVersion { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        self.module.version = version.ok_or_else(|| self.tokens.malformed())?;
        Ok(())
    }

    fn declaration(&mut self, token: Token<'a>) -> Result<(), Error> {
        match token {
            Token::Word(".target") => self.target()?,
            Token::Word(".address_size") => self.module.address_size = self.tokens.number()?,
            Token::Word(".extern") => self.linkage = Linkage::Extern,
            Token::Word(".entry") => self.entry()?,
            Token::Word(".func") => self.function()?,
            Token::Word(".alias") => self.alias()?,
            Token::Word(space @ (".global" | ".const" | ".shared")) => self.variables(space)?,
            Token::Mark(b'{') => self.tokens.skip_group(b'{')?,
            Token::Mark(b';') => self.linkage = Linkage::Own,
            // `.file`, `.section`, `.pragma` and their operands, and directives of later versions.
            _ => {}
        }
        Ok(())
    }

    /// The platform options after the first comma concern textures and debugging.
    fn target(&mut self) -> Result<(), Error> {
        self.module.target = self.tokens.word()?;
        while self.tokens.take_mark(b',')? {
            self.tokens.word()?;
        }
        Ok(())
    }

    fn entry(&mut self) -> Result<(), Error> {
        let kernel = kernel::read(&mut self.tokens)?;
        if self.body(kernel.name)? {
            self.module.kernels.push(kernel);
        }
        Ok(())
    }

    /// `.func (.param .b32 result) name (.param .b32 x) .noreturn { ... }`.
    fn function(&mut self) -> Result<(), Error> {
        loop {
            match self.tokens.some()? {
                Token::Mark(b'(') => self.tokens.skip_group(b'(')?,
                Token::Word(name) if !name.starts_with('.') => return self.body(name).map(|_| ()),
                Token::Word(_) => {}
                _ => return Err(self.tokens.malformed()),
            }
        }
    }

    /// Skips to the end of a function, and returns whether it has a body.
    fn body(&mut self, name: &'a str) -> Result<bool, Error> {
        loop {
            match self.tokens.some()? {
                Token::Mark(b'(') => self.tokens.skip_group(b'(')?,
                Token::Word(".pragma") => self.tokens.skip_statement()?,
                Token::Mark(b'{') => {
                    self.tokens.skip_group(b'{')?;
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

    /// `.alias name, function;` defines a declared function.
    fn alias(&mut self) -> Result<(), Error> {
        let name = self.tokens.word()?;
        self.define(name);
        self.tokens.skip_statement()
    }

    /// `.align 4 .b8 a[4] = {1, 2, 3, 4}, b;`.
    fn variables(&mut self, space: &str) -> Result<(), Error> {
        let linkage = self.linkage;
        let mut named = false;
        loop {
            match self.tokens.some()? {
                Token::Word(".align") => {
                    self.tokens.number()?;
                }
                Token::Word(name) if !named && !name.starts_with('.') => {
                    named = true;
                    match (space, linkage) {
                        (".shared", Linkage::Extern) => self.module.dynamic_shared = true,
                        (_, Linkage::Extern) => self.declared.push(name),
                        (_, Linkage::Own) => self.define(name),
                    }
                }
                Token::Mark(open @ (b'(' | b'[' | b'{')) => self.tokens.skip_group(open)?,
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
}
