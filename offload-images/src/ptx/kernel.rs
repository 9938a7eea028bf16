//! The parser of kernel signatures and performance directives: `.entry` up to the body.

use super::lexer::Token;
use super::tokens::Tokens;
use offload_format::Error;

/// A kernel (`.entry`). A field is `None` if the module has no such directive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PtxKernel<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter<'a>>,
    /// `.maxntid`: the most threads that a block may have in each dimension.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: the required size of a block.
    pub required_work_group: Option<[u32; 3]>,
    /// `.maxnreg`: the most registers that a thread may use.
    pub max_registers: Option<u32>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its size in bytes; textures, surfaces and samplers have none.
    pub size: Option<u64>,
    /// The state space of the pointee, if it is declared as a pointer (`.ptr`).
    pub pointer: Option<StateSpace>,
}

/// The state space of a pointee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateSpace {
    /// Generic addressing.
    Generic,
    /// `.global`.
    Global,
    /// `.const`.
    Const,
    /// `.shared`.
    Shared,
    /// `.local`.
    Local,
}

/// Reads a kernel up to its body.
pub(super) fn read<'a>(tokens: &mut Tokens<'a>) -> Result<PtxKernel<'a>, Error> {
    let mut kernel = PtxKernel { name: tokens.word()?, ..PtxKernel::default() };
    if tokens.take_mark(b'(')? {
        kernel.parameters = parameters(tokens)?;
    }
    while !matches!(tokens.ahead(), Some(Token::Mark(b'{' | b';'))) {
        match tokens.some()? {
            Token::Word(".maxntid") => kernel.max_threads = Some(three(tokens)?),
            Token::Word(".reqntid") => kernel.required_work_group = Some(three(tokens)?),
            Token::Word(".pragma") => tokens.skip_statement()?,
            Token::Word(".maxnreg") => kernel.max_registers = Some(tokens.number()?),
            _ => {}
        }
    }
    Ok(kernel)
}

/// One to three numbers; a missing dimension is 1.
fn three(tokens: &mut Tokens<'_>) -> Result<[u32; 3], Error> {
    let mut size = [1; 3];
    for (index, dimension) in size.iter_mut().enumerate() {
        if index > 0 && !tokens.take_mark(b',')? {
            break;
        }
        *dimension = tokens.number()?;
    }
    Ok(size)
}

/// The parameters after the opening parenthesis.
fn parameters<'a>(tokens: &mut Tokens<'a>) -> Result<Vec<Parameter<'a>>, Error> {
    let mut parameters = Vec::new();
    if tokens.take_mark(b')')? {
        return Ok(parameters);
    }
    loop {
        let (parameter, end) = parameter(tokens)?;
        parameters.push(parameter);
        if end == b')' {
            return Ok(parameters);
        }
    }
}

/// One parameter and the mark that ends it: `.param .align 4 .b8 name[12]`, `.param .u64 .ptr .global .align 4 name`.
fn parameter<'a>(tokens: &mut Tokens<'a>) -> Result<(Parameter<'a>, u8), Error> {
    let mut parameter = Parameter::default();
    loop {
        match tokens.some()? {
            Token::Mark(end @ (b',' | b')')) if !parameter.name.is_empty() => return Ok((parameter, end)),
            Token::Mark(b'[') => multiply(tokens, &mut parameter)?,
            Token::Word(".align") => {
                tokens.number()?;
            }
            Token::Word(word) if word.starts_with('.') => attribute(&mut parameter, word),
            Token::Word(name) if parameter.name.is_empty() => parameter.name = name,
            _ => return Err(tokens.malformed()),
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
fn multiply(tokens: &mut Tokens<'_>, parameter: &mut Parameter<'_>) -> Result<(), Error> {
    if tokens.take_mark(b']')? {
        parameter.size = None;
        return Ok(());
    }
    let count = tokens.number()?.into();
    parameter.size = match parameter.size {
        Some(size) => Some(size.checked_mul(count).ok_or_else(|| tokens.malformed())?),
        None => None,
    };
    if tokens.take_mark(b']')? { Ok(()) } else { Err(tokens.malformed()) }
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
