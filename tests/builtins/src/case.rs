//! One kernel of the table: a single built-in over a single element type, in all its vector widths.

use serde_json::{Value, json};

use super::atomic::Atomic;
use super::element::Element;
use super::signature::{Extent, Param};
use super::table::Bound;

/// The section of atomic functions, fences and barriers with orders and scopes.
pub(super) const ORDERED: &str = "ordered";

/// The section of functions of sub-groups.
pub(super) const SUB_GROUPS: &str = "sub-group";

/// A kernel and how its results are judged.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// Says nothing of the built-in, so that an error that names it does so by itself.
    pub(super) kernel: String,
    /// The section of the specification.
    pub(super) section: &'static str,
    pub(super) built_in: &'static str,
    /// The signature as the specification writes it.
    pub(super) signature: String,
    /// What the built-in is called for: a type, or an address space and a type.
    pub(super) element: String,
    pub(super) source: String,
    pub(super) run: Run,
    pub(super) bound: Bound,
}

/// What the runner does with the kernel.
#[derive(Clone, Debug)]
pub(super) enum Run {
    /// Inputs and outputs of n elements for each width, compared with a function of the runner by this name.
    Map(Map),
    /// The values of the work-item functions in three dimensions.
    Ids,
    /// An atomic function on cells of each work-item and on some that work-items share.
    Atomic(Atomic),
    /// A line of text on standard output.
    Print,
    /// It needs arguments that the runner cannot make: compiled only.
    Compile,
}

/// Arrays that go in and come out.
#[derive(Clone, Debug)]
pub(super) struct Map {
    /// The runner's name of the function.
    pub(super) function: String,
    pub(super) inputs: Vec<Param>,
    pub(super) outputs: Vec<Param>,
    pub(super) widths: Vec<usize>,
    /// Global memory for 16 elements of each work-item, the argument before the last.
    pub(super) scratch: Option<Element>,
}

impl Case {
    /// What stays the same when cases are added: results are known by it.
    pub(super) fn label(&self) -> String {
        format!("{} for {}", self.signature, self.element)
    }

    /// The version of OpenCL C that has the built-in, as `offload.toml` names it.
    pub(super) fn std(&self) -> &'static str {
        if [ORDERED, SUB_GROUPS].contains(&self.section) { "3.0" } else { "1.2" }
    }

    /// What the runner reads.
    pub(super) fn json(&self) -> Value {
        let mut value = match &self.run {
            Run::Map(map) => json!({
                "run": "map",
                "function": map.function,
                "inputs": map.inputs.iter().map(param).collect::<Vec<_>>(),
                "outputs": map.outputs.iter().map(param).collect::<Vec<_>>(),
                "widths": map.widths,
                "scratch": map.scratch.map(Element::name),
            }),
            Run::Ids => json!({"run": "ids", "function": self.built_in}),
            Run::Atomic(atomic) => atomic.json(),
            Run::Print => json!({"run": "print"}),
            Run::Compile => json!({"run": "compile"}),
        };
        if let Some(object) = value.as_object_mut() {
            object.insert("kernel".into(), json!(self.kernel));
            object.insert("label".into(), json!(self.label()));
            object.insert("bound".into(), self.bound.json());
        }
        value
    }
}

fn param(param: &Param) -> Value {
    json!({"element": param.element.name(), "scalar": param.extent == Extent::Scalar})
}
