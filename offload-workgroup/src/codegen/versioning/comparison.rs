//! An instruction that compares a position with an edge.

use crate::ir::types::{closing, list};
use crate::ir::work_items::function::Instruction;

/// An instruction whose result the ends of a row tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) compare: Compare,
    /// `i32` or `i64`.
    pub(super) ty: String,
    /// Its operands, as they are written: names, or numbers.
    pub(super) operands: [String; 2],
    /// Which of them follows the position.
    pub(super) moving: usize,
}

/// What an instruction compares for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    /// `icmp eq` or `icmp ne`.
    Equal { is_negated: bool },
    /// `icmp` for an order.
    Order { predicate: String },
    /// `llvm.usub.sat` of the moving number, which stops at 0.
    Subtract,
    /// `llvm.umin` and its like, called so.
    Bound { function: String },
}

impl Edge {
    /// What `instruction` compares, before it is known which operand moves.
    pub(super) fn parse(instruction: &Instruction) -> Option<Edge> {
        let text = instruction.line.plain();
        let text = text.split(", !").next()?;
        let (compare, ty, operands) = match text.strip_prefix("icmp ") {
            Some(rest) => {
                let rest = rest.strip_prefix("samesign ").unwrap_or(rest);
                let (predicate, rest) = rest.split_once(' ')?;
                let (ty, rest) = rest.split_once(' ')?;
                (Compare::of_predicate(predicate), ty, list(rest))
            }
            None => {
                let (_, call) = text.split_once("call ")?.1.split_once("@llvm.")?;
                let (function, rest) = call.split_at_checked(call.find('(')?)?;
                let arguments = rest.get(1..closing(rest)?.checked_sub(1)?)?;
                let (function, ty) = function.rsplit_once('.')?;
                (Compare::of_function(function)?, ty, list(arguments))
            }
        };
        let [first, second] = operands.as_slice() else { return None };
        // Attributes of arguments stand before them.
        let last_word = |text: &str| text.rsplit(' ').next().unwrap_or_default().to_string();
        let operands = [last_word(first), last_word(second)];
        matches!(ty, "i32" | "i64").then(|| Edge { compare, ty: ty.to_string(), operands, moving: 0 })
    }
}

impl Compare {
    fn of_predicate(predicate: &str) -> Compare {
        match predicate {
            "eq" => Compare::Equal { is_negated: false },
            "ne" => Compare::Equal { is_negated: true },
            order => Compare::Order { predicate: order.to_string() },
        }
    }

    fn of_function(function: &str) -> Option<Compare> {
        match function {
            "usub.sat" => Some(Compare::Subtract),
            "umin" | "umax" | "smin" | "smax" => Some(Compare::Bound { function: function.to_string() }),
            _ => None,
        }
    }

    /// Whether numbers are compared as signed ones.
    pub(super) fn is_signed(&self) -> bool {
        match self {
            Compare::Order { predicate: name } | Compare::Bound { function: name } => name.starts_with('s'),
            _ => false,
        }
    }

    /// The name of a function whose result is a number.
    pub(super) fn function(&self) -> Option<&str> {
        match self {
            Compare::Subtract => Some("usub.sat"),
            Compare::Bound { function } => Some(function),
            _ => None,
        }
    }
}
