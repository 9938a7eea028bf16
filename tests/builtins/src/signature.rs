//! The signatures of element-wise built-ins, in the letters of the table.
//!
//! | letter | type, in a call of width n over the element type E |
//! |---|---|
//! | `g` | En |
//! | `s` | E, in calls of every width |
//! | `i`, `k` | intn; int in calls of every width |
//! | `j`, `u`, `v` | the signed or unsigned integer of E's size, n of them; `v` says unsigned where E is the result |
//! | `w` | the integer of twice E's size |
//! | `r` | what comparisons return: int for scalars, else n signed integers of E's size |
//! | `x`, `b` | E or int, one for the whole vector |
//!
//! `*` before a letter is a pointer that the function writes through.

use super::element::Element;
use offload_tests::error::{Error, Result};

/// One parameter, or the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Param {
    pub(super) element: Element,
    pub(super) extent: Extent,
}

/// How many elements a parameter has in a call of width n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// n.
    Vector,
    /// One.
    Scalar,
}

/// A parsed signature.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) result: Param,
    pub(super) inputs: Vec<Param>,
    /// The last parameter, where it is a pointer to a second result.
    pub(super) pointer: Option<Param>,
    letters: String,
}

impl Signature {
    pub(super) fn parse(letters: &str, element: Element) -> Result<Signature> {
        let (result, params) = letters.split_once('=').ok_or_else(|| broken(letters))?;
        let mut signature = Signature {
            result: param(result, element).ok_or_else(|| broken(letters))?,
            inputs: Vec::new(),
            pointer: None,
            letters: letters.to_string(),
        };
        for text in params.split(',') {
            match text.strip_prefix('*') {
                Some(text) => signature.pointer = Some(param(text, element).ok_or_else(|| broken(letters))?),
                None => signature.inputs.push(param(text, element).ok_or_else(|| broken(letters))?),
            }
        }
        Ok(signature)
    }

    /// As the specification writes it.
    pub(super) fn text(&self, name: &str, space: &str) -> String {
        let (result, params) = self.letters.split_once('=').unwrap_or_default();
        let params = params.split(',').map(|text| match text.strip_prefix('*') {
            Some(text) => format!("{space} {} *", words(text)),
            None => words(text).to_string(),
        });
        format!("{} {name}({})", words(result), params.collect::<Vec<_>>().join(", "))
    }
}

fn broken(letters: &str) -> Error {
    Error::new(format!("`{letters}` is no signature"))
}

/// The type in the table of what `param` reads.
fn words(letter: &str) -> &'static str {
    match letter {
        "s" => "sgentype",
        "i" => "intn",
        "k" => "int",
        "j" | "r" => "igentype",
        "u" | "v" => "ugentype",
        "w" => "gentype of twice the size",
        "x" => "sgentype",
        "b" => "int",
        _ => "gentype",
    }
}

fn param(letter: &str, element: Element) -> Option<Param> {
    use Extent::{Scalar, Vector};
    let (element, extent) = match letter {
        "g" => (element, Vector),
        "s" | "x" => (element, Scalar),
        "i" => (Element::Int, Vector),
        "k" | "b" => (Element::Int, Scalar),
        "j" | "r" => (element.signed(), Vector),
        "u" | "v" => (element.unsigned(), Vector),
        "w" => (element.wide(), Vector),
        _ => return None,
    };
    Some(Param { element, extent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_become_types() {
        let signature = Signature::parse("g=g,s,*i", Element::Double).unwrap();
        assert_eq!(signature.inputs.len(), 2);
        assert_eq!(signature.inputs[1], Param { element: Element::Double, extent: Extent::Scalar });
        assert_eq!(signature.pointer.unwrap().element, Element::Int);
        assert_eq!(signature.text("f", "__local"), "gentype f(gentype, sgentype, __local intn *)");
        assert!(Signature::parse("g", Element::Int).is_err());
        assert!(Signature::parse("g=q", Element::Int).is_err());
    }
}
