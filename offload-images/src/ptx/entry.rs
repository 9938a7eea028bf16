//! What stands between `.entry` and the body of a kernel.

use super::lexer::Token;
use super::parser::Parser;
use super::{Entry, Parameter, StateSpace};
use offload_format::Error;

/// Reads a kernel up to its body.
pub(super) fn read<'a>(parser: &mut Parser<'a>) -> Result<Entry<'a>, Error> {
    let mut entry = Entry { name: parser.word()?, ..Entry::default() };
    if parser.take_mark(b'(')? {
        entry.parameters = parameters(parser)?;
    }
    while !matches!(parser.ahead(), Some(Token::Mark(b'{' | b';'))) {
        match parser.some()? {
            Token::Word(".maxntid") => entry.max_threads = Some(three(parser)?),
            Token::Word(".reqntid") => entry.required_work_group = Some(three(parser)?),
            Token::Word(".pragma") => parser.skip_statement()?,
            Token::Word(".maxnreg") => entry.max_registers = Some(parser.number()?),
            _ => {}
        }
    }
    Ok(entry)
}

/// One to three numbers; what is missing is 1.
fn three(parser: &mut Parser<'_>) -> Result<[u32; 3], Error> {
    let mut size = [1; 3];
    for (index, dimension) in size.iter_mut().enumerate() {
        if index > 0 && !parser.take_mark(b',')? {
            break;
        }
        *dimension = parser.number()?;
    }
    Ok(size)
}

/// The parameters after the opening parenthesis.
fn parameters<'a>(parser: &mut Parser<'a>) -> Result<Vec<Parameter<'a>>, Error> {
    let mut parameters = Vec::new();
    if parser.take_mark(b')')? {
        return Ok(parameters);
    }
    loop {
        let (parameter, end) = parameter(parser)?;
        parameters.push(parameter);
        if end == b')' {
            return Ok(parameters);
        }
    }
}

/// One parameter and the mark that ends it: `.param .align 4 .b8 name[12]`, `.param .u64 .ptr .global .align 4 name`.
fn parameter<'a>(parser: &mut Parser<'a>) -> Result<(Parameter<'a>, u8), Error> {
    let mut parameter = Parameter::default();
    loop {
        match parser.some()? {
            Token::Mark(end @ (b',' | b')')) if !parameter.name.is_empty() => return Ok((parameter, end)),
            Token::Mark(b'[') => multiply(parser, &mut parameter)?,
            Token::Word(".align") => {
                parser.number()?;
            }
            Token::Word(word) if word.starts_with('.') => attribute(&mut parameter, word),
            Token::Word(name) if parameter.name.is_empty() => parameter.name = name,
            _ => return Err(parser.malformed()),
        }
    }
}

fn attribute(parameter: &mut Parameter<'_>, word: &str) {
    match word {
        ".ptr" => parameter.pointer = Some(StateSpace::Generic),
        _ if parameter.pointer.is_some() => parameter.pointer = state_space(word).or(parameter.pointer),
        _ => parameter.size = type_size(word).or(parameter.size),
    }
}

/// `[12]` after a name; `[]` has no size.
fn multiply(parser: &mut Parser<'_>, parameter: &mut Parameter<'_>) -> Result<(), Error> {
    if parser.take_mark(b']')? {
        parameter.size = None;
        return Ok(());
    }
    let count = parser.number()?.into();
    parameter.size = match parameter.size {
        Some(size) => Some(size.checked_mul(count).ok_or_else(|| parser.malformed())?),
        None => None,
    };
    if parser.take_mark(b']')? { Ok(()) } else { Err(parser.malformed()) }
}

fn state_space(word: &str) -> Option<StateSpace> {
    match word {
        ".global" => Some(StateSpace::Global),
        ".const" => Some(StateSpace::Const),
        ".shared" => Some(StateSpace::Shared),
        ".local" => Some(StateSpace::Local),
        _ => None,
    }
}

/// The bytes of a fundamental type, "Fundamental Types" and "Packed Data Types" of the specification.
fn type_size(word: &str) -> Option<u64> {
    match word {
        ".b8" | ".u8" | ".s8" => Some(1),
        ".b16" | ".u16" | ".s16" | ".f16" | ".bf16" => Some(2),
        ".b32" | ".u32" | ".s32" | ".f32" | ".f16x2" | ".bf16x2" => Some(4),
        ".b64" | ".u64" | ".s64" | ".f64" => Some(8),
        ".b128" => Some(16),
        _ => None,
    }
}
