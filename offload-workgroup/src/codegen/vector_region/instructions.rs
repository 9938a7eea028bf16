//! Instructions for vectors of work-items.

use std::collections::HashMap;

use super::calls::{VectorCallee, is_ignored, is_vectorizable_call};
use super::parts::{CallParts, Operand, Parts, elements};
use super::shapes::{Shape, low_bits};
use super::writer::{ScalarNames, VectorWriter};
use crate::analysis::values::has_variable_divisor;
use crate::analysis::work_item_state::{StateLoad, state_load};
use crate::ir::function::{Instruction, Opcode};
use crate::ir::line::without_metadata;
use crate::transforms::vector_math;

/// Instructions that are the same for vectors, element by element.
const ELEMENTWISE: [&str; 34] = [
    "add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "udiv", "sdiv", "urem", "srem", "fadd",
    "fsub", "fmul", "fdiv", "frem", "fneg", "icmp", "fcmp", "freeze", "select", "trunc", "zext", "sext",
    "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp", "ptrtoint", "inttoptr",
];

impl<'f> VectorWriter<'_, 'f> {
    /// Writes an instruction other than a phi; `None` if it has no form for vectors.
    pub(super) fn write_instruction(&mut self, instruction: &'f Instruction) -> Option<()> {
        match instruction.opcode {
            Opcode::Alloca | Opcode::Lifetime(_) | Opcode::DebugRecord => return Some(()),
            Opcode::LocalAtomic => return None,
            Opcode::Store => return self.write_store(instruction),
            Opcode::Call if is_ignored(instruction) => return Some(()),
            _ => {}
        }
        let name = instruction.result.as_deref()?;
        if self.fixed.scalars.contains_key(name) || self.fixed.vectors.contains_key(name) {
            return Some(());
        }
        self.define(name, instruction)?;
        self.store_definition(name)
    }

    /// Writes the definition of a value.
    pub(super) fn define(&mut self, name: &'f str, instruction: &'f Instruction) -> Option<()> {
        if let Some(state) = state_load(instruction) {
            let register = match state {
                StateLoad::LocalId { dimension: 0 } => format!("%offload.x.v{}", self.number),
                StateLoad::LocalId { dimension } => {
                    format!("%offload.{}.p{}", crate::analysis::work_item_state::axis(dimension), self.number)
                }
                StateLoad::Group { field, dimension } => format!("%offload.{}.{dimension}", field.name),
            };
            self.local.scalars.insert(name.to_string(), register);
            return Some(());
        }
        if is_ordered(instruction) {
            return None;
        }
        match self.shapes.shape(name) {
            Shape::Uniform => self.define_uniform(name, instruction),
            Shape::Affine { conditional, .. } => {
                let text = instruction.line.text();
                let parts = Parts::parse(&text)?;
                if conditional {
                    self.define_varying(name, instruction)?;
                }
                self.define_first(name, &parts, conditional)
            }
            Shape::Varying => self.define_varying(name, instruction),
        }
    }

    /// Writes an instruction for all lanes at once.
    fn define_uniform(&mut self, name: &str, instruction: &Instruction) -> Option<()> {
        if instruction.opcode == Opcode::Call && !is_vectorizable_call(instruction) {
            return None;
        }
        let mut names = HashMap::new();
        for operand in instruction.operands() {
            names.insert(operand.to_string(), self.scalar_value(operand)?);
        }
        let mut text = instruction.line.render(&ScalarNames(&names));
        for metadata in ["alias.scope", "noalias", "invariant.load"] {
            text = without_metadata(&text, metadata);
        }
        let scalar = self.emit(&text);
        self.local.scalars.insert(name.to_string(), scalar);
        Some(())
    }

    /// Writes the number of the first lane of an affine value, without flags: that lane may be inactive.
    fn define_first(&mut self, name: &str, parts: &Parts<'_>, is_conditional: bool) -> Option<()> {
        let mut scalars = Vec::new();
        let mut condition = "true".to_string();
        for operand in &parts.operands {
            scalars.push(format!("{} {}", operand.ty, self.scalar(operand)?));
            if let Some(name) = operand.name() {
                let other = self.condition(name)?;
                condition = self.both(&condition, &other);
            }
        }
        let first = parts.operands.first()?;
        let second =
            scalars.get(1).and_then(|second| second.rsplit_once(' ')).map(|(_, value)| value.to_string());
        let text = match (parts.word, second, parts.to) {
            ("getelementptr", _, _) => format!("getelementptr {}, {}", parts.element?, scalars.join(", ")),
            ("or", Some(second), _) => format!("add {}, {second}", scalars.first()?),
            (word, Some(second), _) => format!("{word} {}, {second}", scalars.first()?),
            (word, None, Some(to)) => format!("{word} {} to {to}", scalars.first()?),
            (word, None, None) => format!("{word} {}", scalars.first()?),
        };
        let scalar = self.emit(&text);
        if is_conditional {
            if let Some(range) = self.range(parts, &scalar, first)? {
                condition = self.both(&condition, &range);
            }
            self.local.conditions.insert(name.to_string(), condition);
        }
        self.local.scalars.insert(name.to_string(), scalar);
        Some(())
    }

    fn both(&mut self, one: &str, other: &str) -> String {
        match (one, other) {
            ("true", other) => other.to_string(),
            (one, "true") => one.to_string(),
            _ => self.emit(&format!("and i1 {one}, {other}")),
        }
    }

    /// Whether an extension or a mask keeps the distances between lanes: no number between those of the first and of the
    /// last lane wraps. `None` of an instruction that always does.
    fn range(&mut self, parts: &Parts<'_>, result: &str, first: &Operand<'_>) -> Option<Option<String>> {
        let bits: u32 = first.ty.strip_prefix('i').and_then(|bits| bits.parse().ok()).unwrap_or(64);
        let (least, greatest, ty, number) = match parts.word {
            "zext" => (0i128, (1i128 << bits) - 1, first.ty, self.scalar(first)?),
            "sext" => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1, first.ty, self.scalar(first)?),
            "and" => {
                let mask: i64 = parts.operands.get(1)?.value.parse().ok()?;
                low_bits(mask).then_some(())?;
                (0, i128::from(mask), first.ty, result.to_string())
            }
            _ => return Some(None),
        };
        let Shape::Affine { stride, .. } = self.shape_here(first.name()?) else { return None };
        let distance = i128::from(stride).checked_mul(i128::from(self.lanes.saturating_sub(1)))?;
        let sign = if parts.word == "sext" { "s" } else { "u" };
        let (predicate, limit) =
            if distance > 0 { ("le", greatest - distance) } else { ("ge", least - distance) };
        Some(Some(self.emit(&format!("icmp {sign}{predicate} {ty} {number}, {limit}"))))
    }

    /// Writes an instruction for each lane.
    fn define_varying(&mut self, name: &str, instruction: &'f Instruction) -> Option<()> {
        let text = instruction.line.text();
        let vectors = match instruction.opcode {
            Opcode::Load => match self.load_members(instruction) {
                Some(vectors) => vectors,
                None => self.load_lanes(&text)?,
            },
            Opcode::Call => self.call(&text)?,
            Opcode::Other => {
                let parts = Parts::parse(&text)?;
                match parts.word {
                    "getelementptr" => vec![self.address(&parts)?],
                    "extractelement" | "insertelement" | "shufflevector" => self.rearrange(&parts)?,
                    "bitcast" => self.elementwise(&parts, instruction)?,
                    word if ELEMENTWISE.contains(&word) => self.elementwise(&parts, instruction)?,
                    _ => return None,
                }
            }
            _ => return None,
        };
        self.local.vectors.insert(name.to_string(), vectors);
        Some(())
    }

    fn elementwise(&mut self, parts: &Parts<'_>, instruction: &Instruction) -> Option<Vec<String>> {
        let result = match (parts.to, parts.word) {
            (Some(to), _) => to,
            (None, "select") => parts.operands.get(1)?.ty,
            _ => parts.operands.first()?.ty,
        };
        let (count, element) = elements(result)?;
        let mut operands = Vec::new();
        for operand in &parts.operands {
            let (operand_count, ty) = elements(operand.ty)?;
            let is_condition = parts.word == "select" && operand_count == 1;
            if operand_count != count && !is_condition {
                return None;
            }
            operands.push((ty, self.vectors(operand)?));
        }
        if has_variable_divisor(instruction) || ["sdiv", "srem"].contains(&parts.word) {
            let (ty, divisors) = operands.get_mut(1)?;
            *divisors = self.divisors(ty, divisors);
        }
        let mut results = Vec::new();
        for number in 0..count {
            let mut texts: Vec<String> = Vec::new();
            for (position, (ty, vectors)) in operands.iter().enumerate() {
                let vector = vectors.get(number).or(vectors.first())?;
                let has_type = position == 0 || parts.word == "select";
                let ty = if has_type { format!("{} ", self.vector_type(ty)) } else { String::new() };
                texts.push(format!("{ty}{vector}"));
            }
            let flags = if parts.flags.is_empty() { String::new() } else { format!("{} ", parts.flags) };
            let to = parts.to.map(|_| format!(" to {}", self.vector_type(element))).unwrap_or_default();
            results.push(self.emit(&format!("{} {flags}{}{to}", parts.word, texts.join(", "))));
        }
        Some(results)
    }

    /// Divisors that trap in no lane: one where a lane is inactive.
    fn divisors(&mut self, ty: &str, divisors: &[String]) -> Vec<String> {
        let Some(mask) = self.mask.clone() else { return divisors.to_vec() };
        let one = self.lane_constant(ty, |_| "1".to_string());
        divisors.iter().map(|divisor| self.select(&mask.bits, ty, divisor, &one)).collect()
    }

    /// An address with a varying base or index.
    fn address(&mut self, parts: &Parts<'_>) -> Option<String> {
        let mut operands = Vec::new();
        for operand in &parts.operands {
            let is_uniform = operand.name().is_none_or(|name| self.shape_here(name) == Shape::Uniform);
            operands.push(if is_uniform {
                format!("{} {}", operand.ty, self.scalar(operand)?)
            } else {
                format!("{} {}", self.vector_type(operand.ty), self.vector(operand)?)
            });
        }
        let flags = if parts.flags.is_empty() { String::new() } else { format!("{} ", parts.flags) };
        Some(self.emit(&format!("getelementptr {flags}{}, {}", parts.element?, operands.join(", "))))
    }

    /// An instruction that moves the elements of vectors of the kernel.
    fn rearrange(&mut self, parts: &Parts<'_>) -> Option<Vec<String>> {
        let from = parts.operands.first()?;
        let (count, _) = elements(from.ty)?;
        let last = parts.operands.last()?;
        match parts.word {
            "extractelement" => {
                let number: usize = last.value.parse().ok()?;
                Some(vec![self.vectors(from)?.get(number)?.clone()])
            }
            "insertelement" => {
                let number: usize = last.value.parse().ok()?;
                let mut vectors = self.vectors(from)?;
                let inserted = self.vector(parts.operands.get(1)?)?;
                *vectors.get_mut(number)? = inserted;
                Some(vectors)
            }
            _ => {
                let mut both = self.vectors(from)?;
                both.extend(self.vectors(parts.operands.get(1)?)?);
                let (_, element) = elements(from.ty)?;
                let (length, _) = elements(last.ty)?;
                let mut vectors = Vec::new();
                for number in 0..length {
                    let index = super::parts::constant_element(last.ty, last.value, number)?;
                    vectors.push(match index {
                        "poison" | "undef" => self.lane_constant(element, |_| "poison".to_string()),
                        index => {
                            both.get(index.parse::<usize>().ok().filter(|index| *index < 2 * count)?)?.clone()
                        }
                    });
                }
                Some(vectors)
            }
        }
    }

    fn call(&mut self, text: &str) -> Option<Vec<String>> {
        let call = CallParts::parse(text)?;
        let callee = VectorCallee::new(&call, self.lanes)?;
        let (count, element) = elements(call.ty)?;
        let ty = self.vector_type(element);
        let mut operands = Vec::new();
        let scalars_from = match &callee {
            VectorCallee::Intrinsic { scalars_from, .. } => *scalars_from,
            VectorCallee::Math(_) => call.operands.len(),
        };
        for operand in call.operands.iter().take(scalars_from) {
            let vectors = self.vectors(operand)?;
            (vectors.len() == count).then_some(())?;
            operands.push((elements(operand.ty)?.1, vectors));
        }
        let mut results = Vec::new();
        for number in 0..count {
            let mut arguments = Vec::new();
            for (ty, vectors) in &operands {
                arguments.push(format!("{} {}", self.vector_type(ty), vectors.get(number)?));
            }
            results.push(match &callee {
                VectorCallee::Math(symbol) => self.math_call(symbol, element, &arguments)?,
                VectorCallee::Intrinsic { name, .. } => {
                    for operand in call.operands.iter().skip(scalars_from) {
                        arguments.push(format!("{} {}", operand.ty, operand.value));
                    }
                    self.emit(&format!("call {}{ty} @{name}({})", call.flags, arguments.join(", ")))
                }
            });
        }
        Some(results)
    }

    /// Calls of the variant of a mathematical function for the widest vectors.
    fn math_call(&mut self, symbol: &str, element: &str, arguments: &[String]) -> Option<String> {
        let bits = if element == "double" { 64 } else { 32 };
        let widest = self.vector_bits.checked_div(bits)?;
        let lanes = u32::try_from(self.lanes).ok()?;
        let width = widest.min(lanes);
        let callee = vector_math::vector_symbol(symbol, width)?;
        (bits.checked_mul(width)? >= 128).then_some(())?;
        let mut parts = Vec::new();
        for first in (0..lanes).step_by(usize::try_from(width).ok()?) {
            let indices: Vec<String> =
                (first..first.saturating_add(width)).map(|lane| format!("i32 {lane}")).collect();
            let mut part = Vec::new();
            for argument in arguments {
                let (_, ty) = elements(crate::ir::first_type(argument)?.ty)?;
                part.push(if width == lanes {
                    argument.clone()
                } else {
                    let shuffled = self.emit(&format!(
                        "shufflevector {argument}, {} poison, <{width} x i32> <{}>",
                        self.vector_type(ty),
                        indices.join(", ")
                    ));
                    format!("<{width} x {ty}> {shuffled}")
                });
            }
            parts.push(self.emit(&format!("call <{width} x {element}> @{callee}({})", part.join(", "))));
        }
        self.concatenate(parts, element, u64::from(width))
    }

    /// One vector of vectors with `width` elements each, whose number is a power of two.
    pub(super) fn concatenate(
        &mut self,
        mut parts: Vec<String>,
        element: &str,
        mut width: u64,
    ) -> Option<String> {
        while parts.len() > 1 {
            let mut joined = Vec::new();
            let wide = width.checked_mul(2)?;
            let indices: Vec<String> = (0..wide).map(|index| format!("i32 {index}")).collect();
            for pair in parts.chunks(2) {
                let [one, other] = pair else { return None };
                joined.push(self.emit(&format!(
                    "shufflevector <{width} x {element}> {one}, <{width} x {element}> {other}, <{wide} x i32> <{}>",
                    indices.join(", ")
                )));
            }
            parts = joined;
            width = wide;
        }
        parts.pop()
    }
}

/// Whether other threads may observe the order of the instruction, or it is none of a value alone.
pub(super) fn is_ordered(instruction: &Instruction) -> bool {
    let line = &instruction.line;
    ["load volatile", "load atomic"].iter().any(|text| line.start().starts_with(text))
        || ["fence", "cmpxchg", "atomicrmw", "va_arg"].contains(&line.opcode())
}
