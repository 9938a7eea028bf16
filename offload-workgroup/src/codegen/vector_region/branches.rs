//! Control flow for vectors of work-items: each block has the lanes that wait at it, and runs for all of them at once.
//!
//! ```text
//! offload.at7.v1      whether lanes wait at block 7; the next block of the order otherwise
//! offload.go7.v1      block 7 for these lanes, which then wait at its successors
//! offload.again7.v1   behind the blocks of a loop with the header 7: whether lanes wait there
//! ```
//!
//! All lanes execute a block that is no partial one together: what they go on to is where they jump to, if that is the same
//! for all.

use super::parts::{Operand, elements};
use super::shapes::Shape;
use super::writer::{Mask, VectorWriter};
use crate::codegen::work_group::merge_text;
use crate::ir::first_type;
use crate::ir::function::{Block, Opcode, Scheduling, Terminator};

/// The lanes that take an edge, and the condition on which some do.
struct Edge {
    to: usize,
    /// `None` for all lanes.
    mask: Option<Mask>,
    /// `None` if it is not known yet.
    any: Option<String>,
}

/// The operand of a phi on an edge.
struct PhiValue<'f> {
    name: &'f str,
    ty: String,
    scalar: Option<String>,
    condition: Option<String>,
    vectors: Option<Vec<String>>,
}

impl<'f> VectorWriter<'_, 'f> {
    /// Writes all blocks in their order.
    pub(super) fn write_blocks(&mut self) -> Option<()> {
        for position in 0..self.order.blocks.len() {
            let number = *self.order.blocks.get(position)?;
            let plan = self.plan;
            let block = plan.function.blocks.get(number)?;
            let next = self.next_label(position);
            self.open_block(number, &next);
            self.block = number;
            self.write_phi_definitions(block)?;
            for instruction in block.instructions.iter().filter(|one| one.opcode != Opcode::Phi) {
                self.write_instruction(instruction)?;
            }
            self.write_terminator(number, block, &next)?;
            self.local = Default::default();
            self.members.clear();
            self.mask = None;
            self.block = usize::MAX;
            self.close_loops(position, number);
        }
        Some(())
    }

    /// Whether all lanes execute a block together.
    fn is_full(&self, block: usize) -> bool {
        !self.shapes.partial.contains(&block)
    }

    fn open_block(&mut self, number: usize, next: &str) {
        let waiting = self.waiting(number);
        let label = self.label("at", number);
        self.open(&label);
        let mask = self.load_mask(&waiting);
        let any = self.any(&mask);
        let go = self.label("go", number);
        self.line(&format!("br i1 {any}, label %{go}, label %{next}"));
        self.open(&go);
        self.mask = if self.is_full(number) { None } else { Some(self.load_mask(&waiting)) };
        let none = self.constant_mask(false);
        self.store_mask(&none, &waiting);
    }

    /// Where lanes that do not wait at the block at `position` are looked for next.
    fn next_label(&self, position: usize) -> String {
        let ending =
            self.order.blocks.get(position).and_then(|block| self.order.loops_ending_at(*block).next());
        match ending {
            Some(one) => self.label("again", one.header),
            None => self.label_behind(position),
        }
    }

    fn label_behind(&self, position: usize) -> String {
        match self.order.blocks.get(position.saturating_add(1)) {
            Some(next) => self.label("at", *next),
            None => format!("offload.finish.v{}", self.number),
        }
    }

    /// Writes the ends of the loops whose last block is `number`.
    fn close_loops(&mut self, position: usize, number: usize) {
        let headers: Vec<usize> = self.order.loops_ending_at(number).map(|one| one.header).collect();
        for (index, header) in headers.iter().enumerate() {
            let label = self.label("again", *header);
            self.open(&label);
            let next = match headers.get(index.saturating_add(1)) {
                Some(outer) => self.label("again", *outer),
                None => self.label_behind(position),
            };
            let waiting = self.waiting(*header);
            let mask = self.load_mask(&waiting);
            let any = self.any(&mask);
            let go = self.label("go", *header);
            self.line(&format!("br i1 {any}, label %{go}, label %{next}"));
        }
    }

    /// Stores phis for what uses them behind a loop that lanes leave one by one.
    fn write_phi_definitions(&mut self, block: &'f Block) -> Option<()> {
        for phi in block.instructions.iter().filter(|one| one.opcode == Opcode::Phi) {
            let name = phi.result.as_deref()?;
            let ty = self.value_type(name)?;
            elements(&ty)?;
            if self.plan.is_live_out(self.region, name) && self.plan.group_values.contains_key(name) {
                let scalar = self.scalar_value(name)?;
                self.line(&format!("store {ty} {scalar}, ptr %offload.next.{name}"));
            }
            let is_vector =
                matches!(self.shapes.shape(name), Shape::Varying | Shape::Affine { conditional: true, .. });
            if self.temporal.contains(name) && !is_vector {
                let vectors = self.vector_values(name)?;
                let mask = self.mask.clone();
                self.store_vectors(name, &ty, &vectors, mask.as_ref())?;
            }
        }
        Some(())
    }

    fn write_terminator(&mut self, number: usize, block: &'f Block, next: &str) -> Option<()> {
        let line = match &block.terminator {
            Terminator::Branch(line) => line,
            Terminator::Return => return self.write_exit(number, 0, next),
            Terminator::Barrier { .. } => {
                let successor = self.plan.region_starting_at(number.saturating_add(1))?;
                return self.write_exit(number, successor, next);
            }
        };
        let text = line.text();
        if text.starts_with("unreachable") {
            self.line(&format!("br label %{next}"));
            return Some(());
        }
        let successors = self.order.successors(number).to_vec();
        if let [to] = successors.as_slice() {
            let mask = self.mask.clone();
            let edge = Edge { to: *to, mask, any: Some("true".to_string()) };
            return self.take_edges(number, vec![edge], next);
        }
        let cases = Cases::parse(&text, |label| self.plan.block_numbers.get(label).copied())?;
        let condition = Operand { ty: cases.ty, value: cases.value };
        let is_uniform = condition.name().is_none_or(|name| self.shape_here(name) == Shape::Uniform);
        if is_uniform {
            return self.branch_together(number, &cases, &condition, next);
        }
        let vector = self.vector(&condition)?;
        let vector_type = self.vector_type(cases.ty);
        let masks = self.vector_type("i1");
        let mut rest = match self.mask.clone() {
            Some(mask) => mask,
            None => self.constant_mask(true),
        };
        let mut edges = Vec::new();
        for (to, constants) in cases.by_block() {
            let mut taken: Option<String> = None;
            for constant in constants {
                let constant = self.lane_constant(cases.ty, |_| constant.to_string());
                let equal = match cases.ty {
                    "i1" => vector.clone(),
                    _ => self.emit(&format!("icmp eq {vector_type} {vector}, {constant}")),
                };
                taken = Some(match taken {
                    Some(taken) => self.emit(&format!("or {masks} {taken}, {equal}")),
                    None => equal,
                });
            }
            let taken = taken?;
            // It may be poison in lanes that are not active.
            let frozen = self.emit(&format!("freeze {masks} {taken}"));
            let taken = self.mask_of_bits(&frozen);
            let mask = self.combine("and", &rest, &taken);
            rest = self.combine("xor", &rest, &mask);
            edges.push(Edge { to, mask: Some(mask), any: None });
        }
        edges.push(Edge { to: cases.default, mask: Some(rest), any: None });
        self.take_edges(number, edges, next)
    }

    /// Writes a branch whose condition is the same for all active lanes.
    fn branch_together(
        &mut self,
        number: usize,
        cases: &Cases<'_>,
        condition: &Operand<'_>,
        next: &str,
    ) -> Option<()> {
        let scalar = self.scalar(condition)?;
        let mut rest: Option<String> = None;
        let mut edges = Vec::new();
        for (to, constants) in cases.by_block() {
            let mut taken: Option<String> = None;
            for constant in constants {
                let equal = match cases.ty {
                    "i1" => scalar.clone(),
                    ty => self.emit(&format!("icmp eq {ty} {scalar}, {constant}")),
                };
                taken = Some(match taken {
                    Some(taken) => self.emit(&format!("or i1 {taken}, {equal}")),
                    None => equal,
                });
            }
            let taken = taken?;
            rest = Some(match rest {
                Some(rest) => self.emit(&format!("or i1 {rest}, {taken}")),
                None => taken.clone(),
            });
            edges.push(Edge { to, mask: None, any: Some(taken) });
        }
        let rest = self.emit(&format!("xor i1 {}, true", rest?));
        edges.push(Edge { to: cases.default, mask: None, any: Some(rest) });
        let Some(mask) = self.mask.clone() else { return self.jump(number, edges) };
        for edge in &mut edges {
            edge.mask = Some(self.mask_if(edge.any.as_deref()?, &mask));
        }
        self.take_edges(number, edges, next)
    }

    /// Jumps of all lanes: one edge is taken.
    fn jump(&mut self, number: usize, edges: Vec<Edge>) -> Option<()> {
        let mut values = Vec::new();
        for edge in &edges {
            values.push(self.phi_values(number, edge.to)?);
        }
        let count = edges.len();
        for (index, (edge, phis)) in edges.iter().zip(values).enumerate() {
            let taken = format!("offload.edge{number}.{index}.v{}", self.number);
            let other = format!("offload.other{number}.{index}.v{}", self.number);
            let is_last = index.saturating_add(1) == count;
            if !is_last {
                self.line(&format!("br i1 {}, label %{taken}, label %{other}", edge.any.as_deref()?));
                self.open(&taken);
            }
            for phi in &phis {
                self.store_phi(number, phi, edge, "true")?;
            }
            self.go_together(edge.to);
            if !is_last {
                self.open(&other);
            }
        }
        Some(())
    }

    /// Jumps to a block that all lanes go on to.
    fn go_together(&mut self, to: usize) {
        if !self.is_full(to) {
            let waiting = self.waiting(to);
            let all = self.constant_mask(true);
            self.store_mask(&all, &waiting);
        }
        let go = self.label("go", to);
        self.line(&format!("br label %{go}"));
    }

    /// Makes lanes wait at the ends of edges.
    fn take_edges(&mut self, number: usize, edges: Vec<Edge>, next: &str) -> Option<()> {
        let mut values = Vec::new();
        for edge in &edges {
            // Before any phi gets its new value.
            values.push(self.phi_values(number, edge.to)?);
        }
        for (edge, phis) in edges.iter().zip(values) {
            let Some(mask) = &edge.mask else {
                for phi in &phis {
                    self.store_phi(number, phi, edge, "true")?;
                }
                self.go_together(edge.to);
                return Some(());
            };
            let needs_any = phis.iter().any(|phi| phi.scalar.is_some());
            let any = match &edge.any {
                Some(any) => any.clone(),
                None if needs_any => self.any(mask),
                None => "true".to_string(),
            };
            for phi in &phis {
                self.store_phi(number, phi, edge, &any)?;
            }
            let waiting = self.waiting(edge.to);
            let before = self.load_mask(&waiting);
            let after = self.combine("or", &before, mask);
            self.store_mask(&after, &waiting);
        }
        self.line(&format!("br label %{next}"));
        Some(())
    }

    /// The operands of the phis of block `to` for the edge from `from`.
    fn phi_values(&mut self, from: usize, to: usize) -> Option<Vec<PhiValue<'f>>> {
        let plan = self.plan;
        let from = &plan.function.blocks.get(from)?.name;
        let mut values = Vec::new();
        for phi in plan.function.blocks.get(to)?.instructions.iter().filter(|one| one.opcode == Opcode::Phi) {
            let name = phi.result.as_deref()?;
            let ty = self.value_type(name)?;
            let incoming = phi.operand_from(from)?.text();
            let operand = Operand { ty: &ty, value: &incoming };
            let shape = self.shapes.shape(name);
            let is_conditional = matches!(shape, Shape::Affine { conditional: true, .. });
            let scalar = match shape {
                Shape::Varying => None,
                _ => Some(self.scalar(&operand)?),
            };
            let condition = match operand.name() {
                Some(name) if is_conditional => Some(self.condition(name)?),
                None if is_conditional => Some("true".to_string()),
                _ => None,
            };
            let vectors = match shape {
                Shape::Varying | Shape::Affine { conditional: true, .. } => Some(self.vectors(&operand)?),
                _ => None,
            };
            values.push(PhiValue { name, ty, scalar, condition, vectors });
        }
        Some(values)
    }

    /// Stores the operand of a phi, on condition `any` that a lane takes the edge.
    fn store_phi(&mut self, from: usize, phi: &PhiValue<'f>, edge: &Edge, any: &str) -> Option<()> {
        let PhiValue { name, ty, scalar, condition, vectors } = phi;
        for (kind, ty, value) in [("one", ty.as_str(), scalar), ("ok", "i1", condition)] {
            let Some(value) = value else { continue };
            let variable = self.variable(kind, name, ty);
            let stored = match any {
                "true" => value.clone(),
                any => {
                    let old = self.load(ty, &variable);
                    self.emit(&format!("select i1 {any}, {ty} {value}, {ty} {old}"))
                }
            };
            self.store(ty, &stored, &variable);
        }
        if let Some(vectors) = vectors {
            let mask = edge.mask.clone().filter(|_| self.needs_old_lanes(from, name, edge.to));
            self.store_vectors(name, ty, vectors, mask.as_ref())?;
        }
        Some(())
    }

    /// Whether lanes that do not take the edge may still read the value that the phi of block `to` has.
    fn needs_old_lanes(&self, from: usize, name: &str, to: usize) -> bool {
        // Behind a loop, also one that all leave together, a phi has the value of the last iteration: no lane goes back.
        let is_used_behind = self.temporal.contains(name) || self.used_behind.contains(name);
        if is_used_behind || self.plan.is_live_out(self.region, name) {
            return true;
        }
        let predecessors = self.order.predecessors(to);
        let mut loops = predecessors.iter().flat_map(|other| self.order.loops_around(*other));
        if loops.any(|one| !one.blocks.contains(&to)) {
            // Lanes leave that loop in different iterations, and wait.
            return true;
        }
        if let Some(own) = self.order.loop_of_header(to) {
            let inside = predecessors.iter().filter(|from| own.blocks.contains(from)).count();
            return inside != 1 || predecessors.len() != 2;
        }
        // The first edge in the order begins a new value, unless lanes wait since another iteration.
        let position = |block: &usize| self.order.blocks.iter().position(|one| one == block);
        let is_first = predecessors.iter().all(|other| position(other) >= position(&from));
        let depth = self.order.loops_around(to).count();
        let is_level = predecessors.iter().all(|other| self.order.loops_around(*other).count() == depth);
        !(is_first && is_level)
    }

    /// Writes an exit of the region to `successor`.
    fn write_exit(&mut self, number: usize, successor: usize, next: &str) -> Option<()> {
        if self.region.successors.len() > 1 && self.plan.function.scheduling == Scheduling::Independent {
            self.write_due_codes(self.plan.due_code(successor))?;
        } else if self.region.successors.len() > 1 {
            let text = merge_text(&successor.to_string(), &format!("v{}.{number}", self.number), "");
            self.out.push_str(&text);
        }
        self.line(&format!("br label %{next}"));
        Some(())
    }

    /// Stores the code of the region that is due next for the active lanes.
    fn write_due_codes(&mut self, code: u32) -> Option<()> {
        const ADDRESS: &str = "ptr %offload.due";
        let ty = self.vector_type("i32");
        let number = self.number;
        let first = self.emit(&format!("getelementptr inbounds i32, {ADDRESS}, i64 %offload.i.v{number}"));
        let codes = self.lane_constant("i32", |_| code.cast_signed().to_string());
        let stored = match self.mask.clone() {
            None => codes,
            Some(mask) => {
                let old = self.emit(&format!("load {ty}, ptr {first}, align 4"));
                self.select(&mask.bits, "i32", &codes, &old)
            }
        };
        self.line(&format!("store {ty} {stored}, ptr {first}, align 4"));
        Some(())
    }
}

/// The targets of a conditional branch or a switch.
struct Cases<'t> {
    ty: &'t str,
    value: &'t str,
    default: usize,
    cases: Vec<(&'t str, usize)>,
}

impl<'t> Cases<'t> {
    /// Parses `br i1 %c, label %a, label %b` and `switch i32 %x, label %d [ i32 1, label %a ]`.
    fn parse(text: &'t str, number: impl Fn(&str) -> Option<usize>) -> Option<Cases<'t>> {
        let text = super::parts::without_all_metadata(text);
        let mut targets = text.split(", label %");
        let head = targets.next()?;
        let typed = first_type(head.split_once(' ')?.1)?;
        let (ty, value) = (typed.ty, typed.rest.trim());
        let targets: Vec<&str> = targets.collect();
        if text.starts_with("br ") {
            let [if_true, if_false] = targets.as_slice() else { return None };
            let cases = vec![("true", number(if_true)?)];
            return Some(Cases { ty, value, default: number(if_false)?, cases });
        }
        // Behind each target stands the constant of the next one.
        let mut constants = Vec::new();
        let mut blocks = Vec::new();
        for target in targets {
            let (label, rest) = target.split_once(' ').unwrap_or((target, ""));
            blocks.push(number(label)?);
            let rest = rest.trim_matches(['[', ']', ' ']);
            constants.extend(rest.rsplit_once(' ').map(|(_, constant)| constant));
        }
        let (default, blocks) = blocks.split_first()?;
        if constants.len() != blocks.len() {
            return None;
        }
        let cases = constants.into_iter().zip(blocks.iter().copied()).collect();
        Some(Cases { ty, value, default: *default, cases })
    }

    /// The constants that lead to each block other than the default.
    fn by_block(&self) -> Vec<(usize, Vec<&'t str>)> {
        let mut by_block: Vec<(usize, Vec<&str>)> = Vec::new();
        for (constant, block) in &self.cases {
            if *block == self.default {
                continue;
            }
            match by_block.iter_mut().find(|(known, _)| known == block) {
                Some((_, constants)) => constants.push(constant),
                None => by_block.push((*block, vec![constant])),
            }
        }
        by_block
    }
}
