//! Calls that have a form for vectors: intrinsics of LLVM, and functions of the mathematical library.

use super::parts::{CallParts, elements};
use crate::ir::function::Instruction;
use crate::transforms::vector_math::{self, MATH_PREFIX};

/// Intrinsics whose operands have the type of the result.
const ELEMENTWISE: [&str; 32] = [
    "bitreverse",
    "bswap",
    "canonicalize",
    "ceil",
    "copysign",
    "ctpop",
    "fabs",
    "floor",
    "fma",
    "fmuladd",
    "fshl",
    "fshr",
    "maximum",
    "maximumnum",
    "maxnum",
    "minimum",
    "minimumnum",
    "minnum",
    "nearbyint",
    "rint",
    "round",
    "roundeven",
    "sadd.sat",
    "smax",
    "smin",
    "sqrt",
    "ssub.sat",
    "trunc",
    "uadd.sat",
    "umax",
    "umin",
    "usub.sat",
];
/// Those whose last operand is a flag.
const WITH_FLAG: [&str; 3] = ["abs", "ctlz", "cttz"];
/// Those whose names have the type of the operand, too.
const CONVERSIONS: [&str; 2] = ["fptosi.sat", "fptoui.sat"];
/// Those without an effect.
const IGNORED: [&str; 3] = ["@llvm.assume(", "@llvm.experimental.noalias.scope.decl(", "@llvm.lifetime."];

/// The function that a call has for vectors.
#[derive(Debug)]
pub(super) enum VectorCallee {
    /// An intrinsic: `llvm.fma.v8f32`. The operands from this position on stay as they are.
    Intrinsic { name: String, scalars_from: usize },
    /// A function of the library, by its scalar symbol.
    Math(String),
}

/// Whether the call may be left out.
pub(super) fn is_ignored(instruction: &Instruction) -> bool {
    IGNORED.iter().any(|name| instruction.line.contains(name))
}

/// Whether `instruction` calls a function of its operands alone that has a form for vectors.
pub(super) fn is_vectorizable_call(instruction: &Instruction) -> bool {
    let text = instruction.line.text();
    CallParts::parse(&text).is_some_and(|call| VectorCallee::new(&call, 1).is_some())
}

impl VectorCallee {
    /// The form of `call` for `lanes` lanes.
    pub(super) fn new(call: &CallParts<'_>, lanes: u64) -> Option<VectorCallee> {
        if let Some(symbol) = call.callee.strip_prefix(MATH_PREFIX.trim_start_matches('@')) {
            let is_known = vector_math::vector_symbol(symbol, 4).is_some();
            return is_known.then(|| VectorCallee::Math(symbol.to_string()));
        }
        let name = call.callee.strip_prefix("llvm.")?;
        let result = mangled(call.ty, lanes)?;
        for conversion in CONVERSIONS {
            if name.strip_prefix(conversion).is_some_and(|rest| rest.starts_with('.')) {
                let operand = mangled(call.operands.first()?.ty, lanes)?;
                let name = format!("llvm.{conversion}.{result}.{operand}");
                return Some(VectorCallee::Intrinsic { name, scalars_from: 1 });
            }
        }
        let (stem, _) = name.rsplit_once('.')?;
        let operands = call.operands.len();
        let scalars_from = if ELEMENTWISE.contains(&stem) {
            operands
        } else if WITH_FLAG.contains(&stem) {
            operands.checked_sub(1)?
        } else {
            return None;
        };
        Some(VectorCallee::Intrinsic { name: format!("llvm.{stem}.{result}"), scalars_from })
    }
}

/// The name of a type of `lanes` elements in the name of an intrinsic; of a vector, that of an element's lanes.
fn mangled(ty: &str, lanes: u64) -> Option<String> {
    let (_, element) = elements(ty)?;
    let element = match element {
        "half" => "f16",
        "bfloat" => "bf16",
        "float" => "f32",
        "double" => "f64",
        "ptr" => return None,
        integer => integer,
    };
    Some(format!("v{lanes}{element}"))
}
