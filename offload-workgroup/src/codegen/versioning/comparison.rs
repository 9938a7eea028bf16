//! Comparisons of the position with a number that is fixed along a row.

use crate::ir::function::Instruction;
use crate::ir::line::NameMap;
use crate::ir::{closing, list};

/// An instruction whose result is invariant in most rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowComparison {
    pub(super) kind: ComparisonKind,
    /// `i32` or `i64`.
    pub(super) ty: String,
    /// The operands as written: names, or numbers.
    pub(super) operands: [String; 2],
    /// The operand that grows with the position.
    pub(super) consecutive: usize,
}

/// The operation of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ComparisonKind {
    /// `icmp eq` or `icmp ne`.
    Equality { is_negated: bool },
    /// `icmp` with another predicate.
    Order { predicate: String },
    /// `llvm.usub.sat` of the consecutive operand.
    SaturatingSubtraction,
    /// `llvm.umin`, `llvm.umax`, `llvm.smin` or `llvm.smax`.
    MinMax { function: String },
}

impl RowComparison {
    /// Parses an instruction. The consecutive operand is determined later.
    pub(super) fn parse(instruction: &Instruction) -> Option<RowComparison> {
        let text = instruction.line.text();
        let text = text.split(", !").next()?;
        let (kind, ty, operands) = match text.strip_prefix("icmp ") {
            Some(rest) => {
                let rest = rest.strip_prefix("samesign ").unwrap_or(rest);
                let (predicate, rest) = rest.split_once(' ')?;
                let (ty, rest) = rest.split_once(' ')?;
                (ComparisonKind::for_predicate(predicate), ty, list(rest))
            }
            None => {
                let (_, call) = text.split_once("call ")?.1.split_once("@llvm.")?;
                let (function, rest) = call.split_at_checked(call.find('(')?)?;
                let arguments = rest.get(1..closing(rest)?.checked_sub(1)?)?;
                let (function, ty) = function.rsplit_once('.')?;
                (ComparisonKind::for_function(function)?, ty, list(arguments))
            }
        };
        let [first, second] = operands.as_slice() else { return None };
        let operands = [last_word(first), last_word(second)];
        matches!(ty, "i32" | "i64").then(|| RowComparison {
            kind,
            ty: ty.to_string(),
            operands,
            consecutive: 0,
        })
    }

    /// An operand with renamed values.
    pub(super) fn operand(&self, number: usize, names: &dyn NameMap) -> String {
        let text = self.operands.get(number).map(String::as_str).unwrap_or_default();
        match text.strip_prefix('%') {
            Some(name) => names.value(name),
            None => text.to_string(),
        }
    }
}

/// An operand without its type and attributes.
fn last_word(text: &str) -> String {
    text.rsplit(' ').next().unwrap_or_default().to_string()
}

impl ComparisonKind {
    fn for_predicate(predicate: &str) -> ComparisonKind {
        match predicate {
            "eq" => ComparisonKind::Equality { is_negated: false },
            "ne" => ComparisonKind::Equality { is_negated: true },
            order => ComparisonKind::Order { predicate: order.to_string() },
        }
    }

    fn for_function(function: &str) -> Option<ComparisonKind> {
        match function {
            "usub.sat" => Some(ComparisonKind::SaturatingSubtraction),
            "umin" | "umax" | "smin" | "smax" => {
                Some(ComparisonKind::MinMax { function: function.to_string() })
            }
            _ => None,
        }
    }

    /// Whether the order is that of signed numbers.
    pub(super) fn is_signed(&self) -> bool {
        match self {
            ComparisonKind::Order { predicate: name } | ComparisonKind::MinMax { function: name } => {
                name.starts_with('s')
            }
            _ => false,
        }
    }

    /// The name of the intrinsic, where the result is a number.
    pub(super) fn intrinsic(&self) -> Option<&str> {
        match self {
            ComparisonKind::SaturatingSubtraction => Some("usub.sat"),
            ComparisonKind::MinMax { function } => Some(function),
            _ => None,
        }
    }
}
