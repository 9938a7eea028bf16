//! Declared bounds: how much of its memory a kernel accesses, as expressions of its arguments and the range.
//!
//! ```text
//! expression = term { ("+" | "-") term }
//! term       = factor { ("*" | "/" | "%") factor }
//! factor     = number | argument | size "(" dimension ")" | ("min" | "max") "(" expression "," expression ")"
//!            | "(" expression ")"
//! size       = "global_size" | "local_size" | "num_groups"
//! ```

use std::collections::BTreeMap;

use crate::method::{Method, NamedParameter, Shape};
use crate::name::identifier;
use crate::parameter::{Element, Parameter};

/// The bound of an argument, or of the shared memory of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredBound {
    /// The argument's number; `None` for the shared memory of the range, in bytes.
    pub argument: Option<usize>,
    /// The expression as it was declared.
    pub declared: String,
    /// The same in Rust, a value of `offload_rt::__private::Extent`; `offload_range` is the range of the launch.
    pub rust: String,
}

/// The name of the shared memory of a launch among bounds.
const SHARED_MEMORY: &str = "shared_memory";
const EXTENT: &str = "::offload_rt::__private::Extent";
/// The integers of Rust that an expression may use.
const INTEGERS: [&str; 8] = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"];
/// Parentheses and calls within each other.
const MAX_DEPTH: usize = 32;

impl Method {
    /// The bounds of the memory that the kernel gets, in the order of its arguments, of the expressions `declared` for
    /// their names.
    ///
    /// # Errors
    /// The kernel is untyped, an expression is wrong, or memory is without a bound: why, for people.
    pub fn bounds(&self, declared: &BTreeMap<String, String>) -> Result<Vec<DeclaredBound>, String> {
        let parameters = match &self.shape {
            Shape::Typed(parameters) => parameters,
            Shape::Untyped(reason) => return Err(format!("it is untyped, because {reason}")),
        };
        let mut by_argument = BTreeMap::new();
        let mut shared_memory = None;
        for (name, expression) in declared {
            let argument = if name == SHARED_MEMORY { None } else { Some(memory(parameters, name)?) };
            let rust = Parser::new(expression, parameters)
                .parse()
                .map_err(|problem| format!("the bound of `{name}`, `{expression}`, {problem}"))?;
            let bound = DeclaredBound { argument, declared: expression.clone(), rust };
            match argument {
                Some(argument) => drop(by_argument.insert(argument, bound)),
                None => shared_memory = Some(bound),
            }
        }
        for (index, parameter) in parameters.iter().enumerate() {
            if parameter.parameter.is_memory() && !by_argument.contains_key(&index) {
                return Err(format!("its argument {index}, `{}`, has no bound", parameter.name));
            }
        }
        let mut bounds = Vec::from_iter(by_argument.into_values());
        bounds.extend(shared_memory);
        Ok(bounds)
    }
}

impl Parameter {
    /// Whether it is memory of which a kernel may access too much.
    fn is_memory(&self) -> bool {
        matches!(self, Parameter::Read(_) | Parameter::Write(_) | Parameter::Local(_))
    }

    fn is_integer(&self) -> bool {
        matches!(self, Parameter::Value(Element::Rust(name)) if INTEGERS.contains(&name.as_str()))
    }
}

/// The number of the memory that the source calls `name`.
fn memory(parameters: &[NamedParameter], name: &str) -> Result<usize, String> {
    let name_in_rust = identifier(name);
    match parameters.iter().position(|parameter| parameter.name == name_in_rust) {
        Some(index) if parameters.get(index).is_some_and(|one| one.parameter.is_memory()) => Ok(index),
        Some(_) => Err(format!("its argument `{name}` is no memory")),
        None => Err(format!("it has no argument `{name}`")),
    }
}

/// A parser of expressions that writes them in Rust.
struct Parser<'a> {
    rest: &'a str,
    parameters: &'a [NamedParameter],
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(expression: &'a str, parameters: &'a [NamedParameter]) -> Parser<'a> {
        Parser { rest: expression, parameters, depth: 0 }
    }

    fn parse(mut self) -> Result<String, String> {
        let rust = self.expression()?;
        match self.peek() {
            None => Ok(rust),
            Some(_) => Err(format!("ends before `{}`", self.rest)),
        }
    }

    fn expression(&mut self) -> Result<String, String> {
        if self.depth == MAX_DEPTH {
            return Err(format!("has more than {MAX_DEPTH} parentheses within each other"));
        }
        self.depth += 1;
        let mut rust = self.term()?;
        while let Some(operator) = self.operator(&['+', '-']) {
            rust = format!("({rust} {operator} {})", self.term()?);
        }
        self.depth -= 1;
        Ok(rust)
    }

    fn term(&mut self) -> Result<String, String> {
        let mut rust = self.factor()?;
        while let Some(operator) = self.operator(&['*', '/', '%']) {
            rust = format!("({rust} {operator} {})", self.factor()?);
        }
        Ok(rust)
    }

    fn factor(&mut self) -> Result<String, String> {
        match self.peek() {
            Some('(') => {
                self.expect('(')?;
                let inner = self.expression()?;
                self.expect(')')?;
                Ok(inner)
            }
            Some(sign) if sign.is_ascii_digit() => Ok(format!("{EXTENT}::from({}u64)", self.number()?)),
            Some(sign) if is_word(sign) => self.named(),
            Some(sign) => Err(format!("has `{sign}` where a value is expected")),
            None => Err("ends where a value is expected".to_string()),
        }
    }

    /// An argument, or a function.
    fn named(&mut self) -> Result<String, String> {
        let name = self.word();
        match name {
            "global_size" | "local_size" | "num_groups" => {
                self.expect('(')?;
                let dimension = self.number()?;
                if dimension > 2 {
                    return Err(format!("has `{name}({dimension})`: dimensions are 0, 1 and 2"));
                }
                self.expect(')')?;
                Ok(format!("{EXTENT}::{name}(&offload_range, {dimension})"))
            }
            "min" | "max" => {
                self.expect('(')?;
                let one = self.expression()?;
                self.expect(',')?;
                let other = self.expression()?;
                self.expect(')')?;
                Ok(format!("{one}.{name}({other})"))
            }
            _ => self.argument(name),
        }
    }

    fn argument(&self, name: &str) -> Result<String, String> {
        let name_in_rust = identifier(name);
        let parameter = self.parameters.iter().find(|parameter| parameter.name == name_in_rust);
        match parameter {
            Some(parameter) if parameter.parameter.is_integer() => {
                Ok(format!("{EXTENT}::from({name_in_rust})"))
            }
            Some(_) => Err(format!("uses `{name}`, which is no integer")),
            None => Err(format!("uses `{name}`, which is no argument of the kernel")),
        }
    }

    fn number(&mut self) -> Result<u64, String> {
        let digits = self.word();
        digits.parse().map_err(|_| format!("has `{digits}` where a number is expected"))
    }

    fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|sign| !is_word(sign)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn operator(&mut self, operators: &[char]) -> Option<char> {
        let operator = self.peek().filter(|sign| operators.contains(sign))?;
        self.rest = self.rest.strip_prefix(operator)?;
        Some(operator)
    }

    fn expect(&mut self, sign: char) -> Result<(), String> {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(format!("lacks `{sign}` before `{}`", self.rest)),
        }
    }
}

fn is_word(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

#[cfg(test)]
mod tests {
    use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

    use super::*;
    use crate::method::methods;

    fn method() -> Method {
        let args = [
            (ArgKind::Value, "float", "a"),
            (ArgKind::Global, "float", "x"),
            (ArgKind::Value, "int", "type"),
            (ArgKind::Local, "float", "scratch"),
            (ArgKind::Image, "image2d_t", "image"),
        ];
        let mut info = KernelInfo::new("k");
        let mut infos = Vec::new();
        for (kind, base, name) in args {
            infos.push(ArgInfo::new(kind).named(name, base).with_base_type(base));
        }
        info.args = Some(infos);
        methods(&[vec![info]]).remove(0)
    }

    fn bounds(declared: &[(&str, &str)]) -> Result<Vec<DeclaredBound>, String> {
        let declared = declared.iter().map(|(name, bound)| (name.to_string(), bound.to_string()));
        method().bounds(&declared.collect())
    }

    #[test]
    fn expressions_become_rust_with_the_names_of_rust() {
        let all =
            bounds(&[("x", "type * 2 + 1"), ("scratch", "local_size(0)"), ("shared_memory", "8")]).unwrap();
        let short = |bound: &DeclaredBound| bound.rust.replace("::offload_rt::__private::Extent", "E");
        assert_eq!(
            all.iter().map(|bound| (bound.argument, short(bound))).collect::<Vec<_>>(),
            [
                (Some(1), "((E::from(r#type) * E::from(2u64)) + E::from(1u64))".to_string()),
                (Some(3), "E::local_size(&offload_range, 0)".to_string()),
                (None, "E::from(8u64)".to_string()),
            ]
        );
        let nested = bounds(&[("x", "min(type, (global_size(1)-1)) % 7"), ("scratch", "1")]).unwrap();
        assert_eq!(
            short(&nested[0]),
            "(E::from(r#type).min((E::global_size(&offload_range, 1) - E::from(1u64))) % E::from(7u64))"
        );
    }

    #[test]
    fn wrong_expressions_are_refused() {
        let wrong = [
            "",
            "a",
            "x",
            "m",
            "type +",
            "type type",
            "(type",
            "global_size(3)",
            "global_size",
            "min(1)",
            "1.5",
            "type; drop(x)",
            "99999999999999999999",
            "-1",
            "type()",
            "0x10",
        ];
        for expression in wrong {
            let refused = bounds(&[("x", expression), ("scratch", "1")]);
            assert!(refused.is_err(), "{expression}: {refused:?}");
        }
        let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(bounds(&[("x", &deep), ("scratch", "1")]).is_err());
    }

    #[test]
    fn all_memory_has_a_bound_and_nothing_else() {
        assert!(bounds(&[("x", "1")]).unwrap_err().contains("`scratch`"));
        assert!(bounds(&[("x", "1"), ("scratch", "1"), ("a", "1")]).unwrap_err().contains("no memory"));
        assert!(bounds(&[("x", "1"), ("scratch", "1"), ("y", "1")]).unwrap_err().contains("no argument"));
        let mut untyped = method();
        untyped.shape = Shape::Untyped("reasons".into());
        assert!(untyped.bounds(&BTreeMap::new()).unwrap_err().contains("reasons"));
    }
}
