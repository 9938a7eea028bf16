//! Error bounds of results relative to the infinitely precise value.

use std::fmt;

use serde_json::{Value, json};

/// A bound of the specification's table of relative errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Bound {
    /// No rounding takes place.
    Exact,
    /// Half a unit in the last place.
    Rounded,
    /// Units in the last place.
    Ulp(f64),
    /// `constant + n * each + (n - 1) * sum` units in the last place for vectors of n elements.
    PerWidth { constant: f64, each: f64, sum: f64 },
    /// `factor * epsilon * max * max` where `max` is the largest operand; n times that with `per_element`.
    Operands { constant: f64, per_element: f64 },
    /// An absolute error.
    Absolute(f64),
    /// The specification leaves it to the implementation.
    Implementation,
}

impl Bound {
    /// What the runner reads.
    pub(in super::super) fn json(self) -> Value {
        match self {
            Bound::Exact => json!({"kind": "exact"}),
            Bound::Rounded => json!({"kind": "ulp", "ulp": 0.5}),
            Bound::Ulp(ulp) => json!({"kind": "ulp", "ulp": ulp}),
            Bound::PerWidth { constant, each, sum } => {
                json!({"kind": "per-width", "constant": constant, "each": each, "sum": sum})
            }
            Bound::Operands { constant, per_element } => {
                json!({"kind": "operands", "constant": constant, "per-element": per_element})
            }
            Bound::Absolute(error) => json!({"kind": "absolute", "error": error}),
            Bound::Implementation => json!({"kind": "implementation"}),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Exact => f.write_str("exact"),
            Bound::Rounded => f.write_str("0.5"),
            Bound::Ulp(ulp) => write!(f, "{ulp}"),
            Bound::PerWidth { constant, each, sum } => write!(f, "{constant} + {each} n + {sum} (n - 1)"),
            Bound::Operands { constant, per_element } if *per_element == 0.0 => {
                write!(f, "{constant} ε max²")
            }
            Bound::Operands { constant, per_element } => write!(f, "({per_element} n + {constant}) ε max²"),
            Bound::Absolute(error) => write!(f, "abs. {error:e}"),
            Bound::Implementation => f.write_str("any"),
        }
    }
}
