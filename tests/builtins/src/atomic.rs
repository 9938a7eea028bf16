//! Atomic functions: how a kernel calls one, and what the runner judges its results by.

use serde_json::{Value, json};

use super::element::Element;

/// An atomic function on cells of one type in one address space.
#[derive(Clone, Debug)]
pub(super) struct Atomic {
    pub(super) name: &'static str,
    /// What the runner sees in a cell.
    pub(super) element: Element,
    /// The type of a cell in OpenCL C.
    pub(super) cell: String,
    pub(super) space: &'static str,
    pub(super) operands: usize,
    pub(super) outcome: Outcome,
    /// Each has cells of its own.
    pub(super) forms: &'static [Form],
}

/// What a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Nothing,
    /// The value of before.
    Old,
    /// Whether the operand is in the cell now; the value of before is behind a pointer.
    Success,
}

/// One way to call a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// What `_explicit` takes after the operands; empty for the function without it.
    pub(super) order: &'static str,
    pub(super) sharing: Sharing,
}

/// Which work-items may use a cell at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    Alone,
    Group,
    /// All of a launch, on cells in global memory.
    Device,
}

impl Atomic {
    /// The call on the cell behind `pointer`; its operands are `a` and `b`, or a comparison's `e` and `b`.
    pub(super) fn call(&self, form: Form, pointer: &str) -> String {
        let operands: &[&str] = match (self.outcome, self.operands) {
            (Outcome::Success, _) => &["&e", "b"],
            (_, 0) => &[],
            (_, 1) => &["a"],
            _ => &["a", "b"],
        };
        let (suffix, order) =
            if form.order.is_empty() { ("", None) } else { ("_explicit", Some(form.order)) };
        let arguments: Vec<&str> =
            [pointer].into_iter().chain(operands.iter().copied()).chain(order).collect();
        format!("{}{suffix}({})", self.name, arguments.join(", "))
    }

    pub(super) fn sharing(&self, form: Form) -> Sharing {
        if self.space == "__local" && form.sharing == Sharing::Device { Sharing::Group } else { form.sharing }
    }

    /// A comparison that may fail without a reason.
    pub(super) fn is_weak(&self) -> bool {
        self.name.ends_with("_weak")
    }

    /// What the runner reads.
    pub(super) fn json(&self) -> Value {
        let outcome = match self.outcome {
            Outcome::Nothing => "nothing",
            Outcome::Old => "old",
            Outcome::Success => "success",
        };
        json!({
            "run": "atomic", "function": self.name, "element": self.element.name(), "outcome": outcome,
            "forms": self.forms.iter().map(|form| self.form_json(*form)).collect::<Vec<_>>(),
        })
    }

    fn form_json(&self, form: Form) -> Value {
        let sharing = match self.sharing(form) {
            Sharing::Alone => "alone",
            Sharing::Group => "group",
            Sharing::Device => "device",
        };
        json!({"call": self.call(form, "p"), "sharing": sharing})
    }
}
