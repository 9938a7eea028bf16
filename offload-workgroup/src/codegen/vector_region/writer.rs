//! The names of values among the lanes of a vector, and the variables that hold them.
//!
//! A value is a scalar, or a vector with a lane for each work-item, or both. What one block defines and another uses is in a
//! variable, of which LLVM makes registers: control flow of all lanes together does not follow the edges of one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use super::order::RegionOrder;
use super::parts::{Operand, constant_element, elements};
use super::shapes::{Shape, Shapes};
use crate::codegen::plan::{ParallelRegion, Plan};
use crate::ir::Types;
use crate::ir::function::Instruction;
use crate::ir::line::NameMap;

/// Lanes.
#[derive(Clone, Debug)]
pub(super) struct Mask {
    /// As masks are combined and stored.
    word: String,
    /// As instructions take it.
    pub(super) bits: String,
}

/// Names of values in the text that is written.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) scalars: HashMap<String, String>,
    /// The elements of a value; a scalar has one.
    pub(super) vectors: HashMap<String, Vec<String>>,
    /// Whether the shape of a value holds.
    pub(super) conditions: HashMap<String, String>,
}

/// Writes a region for vectors of work-items.
pub(super) struct VectorWriter<'w, 'f> {
    pub(super) plan: &'w Plan<'f>,
    pub(super) region: &'w ParallelRegion<'f>,
    pub(super) types: &'w Types<'w>,
    pub(super) order: RegionOrder,
    pub(super) shapes: Shapes<'f>,
    /// The suffix of names.
    pub(super) number: usize,
    pub(super) lanes: u64,
    pub(super) vector_bits: u32,
    /// Values that another block than the one of their definition uses.
    pub(super) used_outside: HashSet<&'f str>,
    /// Values that are used behind a loop that lanes leave in different iterations.
    pub(super) temporal: HashSet<&'f str>,
    /// Values of headers that are used behind their loops.
    pub(super) used_behind: HashSet<&'f str>,
    /// Names that are defined before the first block.
    pub(super) fixed: Names,
    /// Names of the block that is written.
    pub(super) local: Names,
    /// Variables, with their types.
    pub(super) variables: BTreeMap<String, String>,
    /// The block that is written; `usize::MAX` before the first and behind the last.
    pub(super) block: usize,
    /// Vectors of members that were loaded with others, for the block that is written.
    pub(super) members: HashMap<String, Vec<String>>,
    /// Stores that are written as one with the last, which has this text.
    pub(super) stores: Vec<(&'f Instruction, String)>,
    /// The vectors of those that came already, by position.
    pub(super) stored: Vec<(usize, String)>,
    /// The active lanes; `None` for all.
    pub(super) mask: Option<Mask>,
    pub(super) out: String,
    pub(super) names: usize,
}

impl<'f> VectorWriter<'_, 'f> {
    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }

    /// Writes an instruction with a new name, which is returned.
    pub(super) fn emit(&mut self, instruction: &str) -> String {
        self.names = self.names.saturating_add(1);
        let name = format!("%offload.t{}.v{}", self.names, self.number);
        let _ = writeln!(self.out, "  {name} = {instruction}");
        name
    }

    /// Begins a block of the text.
    pub(super) fn open(&mut self, label: &str) {
        self.out.push_str(label);
        self.out.push_str(":\n");
    }

    pub(super) fn label(&self, kind: &str, block: usize) -> String {
        format!("offload.{kind}{block}.v{}", self.number)
    }

    /// The type of a vector of `ty`.
    pub(super) fn vector_type(&self, ty: &str) -> String {
        format!("<{} x {ty}>", self.lanes)
    }

    /// The type of a value of the region.
    pub(super) fn value_type(&self, name: &str) -> Option<String> {
        let definition = self.plan.values.definitions.get(name)?;
        self.types.result(&definition.instruction.line.text())
    }

    /// A variable of this type, which is declared.
    pub(super) fn variable(&mut self, kind: &str, name: &str, ty: &str) -> String {
        let variable = format!("%offload.{kind}.{name}.v{}", self.number);
        self.variables.entry(variable.clone()).or_insert_with(|| ty.to_string());
        variable
    }

    /// The lanes that wait at a block.
    pub(super) fn waiting(&mut self, block: usize) -> String {
        let ty = self.stored_type("i1");
        self.variable("mask", &block.to_string(), &ty)
    }

    /// The type of a vector in a variable. Without registers for masks, the results of comparisons have 32 bits for each lane,
    /// as blends take them; LLVM would make narrower vectors of a phi of bits.
    pub(super) fn stored_type(&self, element: &str) -> String {
        let is_wide = element == "i1" && self.has_wide_masks();
        self.vector_type(if is_wide { "float" } else { element })
    }

    fn has_wide_masks(&self) -> bool {
        self.vector_bits < 512
    }

    /// The type of a mask: bits, or numbers whose bits are all the same.
    fn mask_type(&self) -> String {
        self.vector_type(if self.has_wide_masks() { "i32" } else { "i1" })
    }

    /// The mask of bits.
    pub(super) fn mask_of_bits(&mut self, bits: &str) -> Mask {
        if !self.has_wide_masks() {
            return Mask { word: bits.to_string(), bits: bits.to_string() };
        }
        let word = self.emit(&format!("sext {} {bits} to {}", self.vector_type("i1"), self.mask_type()));
        Mask { word, bits: bits.to_string() }
    }

    fn mask_of_word(&mut self, word: String) -> Mask {
        if !self.has_wide_masks() {
            return Mask { bits: word.clone(), word };
        }
        let bits = self.emit(&format!("icmp slt {} {word}, zeroinitializer", self.mask_type()));
        Mask { word, bits }
    }

    /// The mask of `and`, `or` or `xor`.
    pub(super) fn combine(&mut self, operation: &str, one: &Mask, other: &Mask) -> Mask {
        let word = self.emit(&format!("{operation} {} {}, {}", self.mask_type(), one.word, other.word));
        self.mask_of_word(word)
    }

    /// The mask where a condition holds that is the same for all lanes; no lane otherwise.
    pub(super) fn mask_if(&mut self, condition: &str, mask: &Mask) -> Mask {
        let ty = self.mask_type();
        let word = self.emit(&format!("select i1 {condition}, {ty} {}, {ty} zeroinitializer", mask.word));
        self.mask_of_word(word)
    }

    /// The mask of all lanes, or of none.
    pub(super) fn constant_mask(&mut self, is_set: bool) -> Mask {
        let bits = if is_set {
            self.lane_constant("i1", |_| "true".to_string())
        } else {
            "zeroinitializer".to_string()
        };
        self.mask_of_bits(&bits)
    }

    pub(super) fn load_mask(&mut self, variable: &str) -> Mask {
        let stored = self.stored_type("i1");
        let mut word = self.load(&stored, variable);
        if self.has_wide_masks() {
            word = self.emit(&format!("bitcast {stored} {word} to {}", self.mask_type()));
        }
        self.mask_of_word(word)
    }

    pub(super) fn store_mask(&mut self, mask: &Mask, variable: &str) {
        let stored = self.stored_type("i1");
        if !self.has_wide_masks() {
            return self.store(&stored, &mask.word, variable);
        }
        let cast = self.emit(&format!("bitcast {} {} to {stored}", self.mask_type(), mask.word));
        // No instruction of the CPU; but passes would see the bits through a cast alone.
        let fenced =
            self.emit(&format!("call {stored} @llvm.arithmetic.fence.v{}f32({stored} {cast})", self.lanes));
        self.store(&stored, &fenced, variable);
    }

    pub(super) fn load_vector(&mut self, element: &str, variable: &str) -> String {
        if element == "i1" {
            return self.load_mask(variable).bits;
        }
        self.load(&self.vector_type(element), variable)
    }

    pub(super) fn store_vector(&mut self, element: &str, value: &str, variable: &str) {
        if element == "i1" {
            let mask = self.mask_of_bits(value);
            return self.store_mask(&mask, variable);
        }
        self.store(&self.vector_type(element), value, variable);
    }

    pub(super) fn load(&mut self, ty: &str, variable: &str) -> String {
        self.emit(&format!("load {ty}, ptr {variable}"))
    }

    pub(super) fn store(&mut self, ty: &str, value: &str, variable: &str) {
        self.line(&format!("store {ty} {value}, ptr {variable}"));
    }

    /// A vector with the same element in each lane.
    pub(super) fn splat(&mut self, ty: &str, scalar: &str) -> String {
        let vector = self.vector_type(ty);
        let lanes = self.lanes;
        let first = self.emit(&format!("insertelement {vector} poison, {ty} {scalar}, i64 0"));
        self.emit(&format!(
            "shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer"
        ))
    }

    /// A constant with an element for each lane.
    pub(super) fn lane_constant(&self, ty: &str, element: impl Fn(u64) -> String) -> String {
        let elements: Vec<String> = (0..self.lanes).map(|lane| format!("{ty} {}", element(lane))).collect();
        format!("<{}>", elements.join(", "))
    }

    /// `if_true` in the lanes of `mask`, and `if_false` in others.
    pub(super) fn select(&mut self, mask: &str, ty: &str, if_true: &str, if_false: &str) -> String {
        let vector = self.vector_type(ty);
        let masks = self.vector_type("i1");
        self.emit(&format!("select {masks} {mask}, {vector} {if_true}, {vector} {if_false}"))
    }

    /// Whether a lane of `mask` is set.
    pub(super) fn any(&mut self, mask: &Mask) -> String {
        let masks = self.vector_type("i1");
        self.emit(&format!("call i1 @llvm.vector.reduce.or.v{}i1({masks} {})", self.lanes, mask.bits))
    }

    /// The shape of a value where the block that is written uses it.
    pub(super) fn shape_here(&self, name: &str) -> Shape {
        if self.fixed.vectors.contains_key(name) && !self.fixed.scalars.contains_key(name) {
            return Shape::Varying;
        }
        self.shapes.use_shape(&self.order, name, self.block).unwrap_or(Shape::Varying)
    }

    /// An operand as a scalar: its value, or that of the first lane.
    pub(super) fn scalar(&mut self, operand: &Operand<'_>) -> Option<String> {
        match operand.name() {
            Some(name) => self.scalar_value(name),
            None => Some(operand.value.to_string()),
        }
    }

    /// The scalar of a value.
    pub(super) fn scalar_value(&mut self, name: &str) -> Option<String> {
        if name == self.plan.function.parameter {
            return Some("%offload.args".to_string());
        }
        if let Some(known) = self.local.scalars.get(name).or_else(|| self.fixed.scalars.get(name)) {
            return Some(known.clone());
        }
        if self.shape_here(name) == Shape::Varying {
            return None;
        }
        self.shapes.definition(name)?;
        let ty = self.value_type(name)?;
        let variable = self.variable("one", name, &ty);
        let loaded = self.load(&ty, &variable);
        self.local.scalars.insert(name.to_string(), loaded.clone());
        Some(loaded)
    }

    /// Whether the shape of an affine value holds: `true`, or the name of a number.
    pub(super) fn condition(&mut self, name: &str) -> Option<String> {
        match self.shape_here(name) {
            Shape::Affine { conditional: true, .. } => {}
            _ => return Some("true".to_string()),
        }
        if let Some(known) = self.local.conditions.get(name).or_else(|| self.fixed.conditions.get(name)) {
            return Some(known.clone());
        }
        self.shapes.definition(name)?;
        let variable = self.variable("ok", name, "i1");
        let loaded = self.load("i1", &variable);
        self.local.conditions.insert(name.to_string(), loaded.clone());
        Some(loaded)
    }

    /// The vectors of an operand, one for each of its elements.
    pub(super) fn vectors(&mut self, operand: &Operand<'_>) -> Option<Vec<String>> {
        if let Some(name) = operand.name() {
            return self.vector_values(name);
        }
        let (count, element) = elements(operand.ty)?;
        let mut vectors = Vec::new();
        for number in 0..count {
            let value = constant_element(operand.ty, operand.value, number)?;
            // The address of a variable of the thread is no constant.
            vectors.push(if value.contains('@') {
                self.splat(element, value)
            } else {
                self.lane_constant(element, |_| value.to_string())
            });
        }
        Some(vectors)
    }

    /// The vector of an operand that is no vector itself.
    pub(super) fn vector(&mut self, operand: &Operand<'_>) -> Option<String> {
        match <[String; 1]>::try_from(self.vectors(operand)?) {
            Ok([vector]) => Some(vector),
            Err(_) => None,
        }
    }

    /// The vectors of a value, one for each of its elements.
    pub(super) fn vector_values(&mut self, name: &str) -> Option<Vec<String>> {
        if let Some(known) = self.local.vectors.get(name).or_else(|| self.fixed.vectors.get(name)) {
            return Some(known.clone());
        }
        let ty =
            if name == self.plan.function.parameter { "ptr".to_string() } else { self.value_type(name)? };
        let vectors = match self.shape_here(name) {
            Shape::Uniform => self.splat_value(name, &ty)?,
            Shape::Affine { stride, conditional: false } => vec![self.affine_vector(name, &ty, stride)?],
            _ => self.load_vectors(name, &ty)?,
        };
        self.local.vectors.insert(name.to_string(), vectors.clone());
        Some(vectors)
    }

    /// Loads the vectors of a value from its variables.
    pub(super) fn load_vectors(&mut self, name: &str, ty: &str) -> Option<Vec<String>> {
        self.shapes.definition(name)?;
        let (count, element) = elements(ty)?;
        let stored = self.stored_type(element);
        let mut vectors = Vec::new();
        for number in 0..count {
            let variable = self.variable("vec", &format!("{name}.{number}"), &stored);
            vectors.push(self.load_vector(element, &variable));
        }
        Some(vectors)
    }

    fn splat_value(&mut self, name: &str, ty: &str) -> Option<Vec<String>> {
        let scalar = self.scalar_value(name)?;
        let (count, element) = elements(ty)?;
        if !ty.starts_with('<') {
            return Some(vec![self.splat(element, &scalar)]);
        }
        let mut vectors = Vec::new();
        for number in 0..count {
            let one = self.emit(&format!("extractelement {ty} {scalar}, i64 {number}"));
            vectors.push(self.splat(element, &one));
        }
        Some(vectors)
    }

    /// The vector of an affine value, from the number of the first lane.
    fn affine_vector(&mut self, name: &str, ty: &str, stride: i64) -> Option<String> {
        let first = self.scalar_value(name)?;
        let step = |lane: u64| i64::try_from(lane).unwrap_or(0).saturating_mul(stride).to_string();
        if ty == "ptr" {
            let steps = self.lane_constant("i64", step);
            return Some(
                self.emit(&format!("getelementptr i8, ptr {first}, <{} x i64> {steps}", self.lanes)),
            );
        }
        let steps = self.lane_constant(ty, step);
        let splat = self.splat(ty, &first);
        Some(self.emit(&format!("add {} {splat}, {steps}", self.vector_type(ty))))
    }

    /// Stores what the block has defined for others.
    pub(super) fn store_definition(&mut self, name: &'f str) -> Option<()> {
        let ty = self.value_type(name)?;
        let is_live_out = self.plan.is_live_out(self.region, name);
        if is_live_out && self.plan.group_values.contains_key(name) {
            let scalar = self.scalar_value(name)?;
            self.line(&format!("store {ty} {scalar}, ptr %offload.next.{name}"));
        }
        if !self.used_outside.contains(name) {
            return Some(());
        }
        let shape = self.shapes.shape(name);
        if shape != Shape::Varying {
            let scalar = self.scalar_value(name)?;
            let variable = self.variable("one", name, &ty);
            self.store(&ty, &scalar, &variable);
        }
        if matches!(shape, Shape::Affine { conditional: true, .. }) {
            let condition = self.condition(name)?;
            let variable = self.variable("ok", name, "i1");
            self.store("i1", &condition, &variable);
        }
        let has_vector = matches!(shape, Shape::Varying | Shape::Affine { conditional: true, .. });
        if has_vector || self.temporal.contains(name) {
            let vectors = self.vector_values(name)?;
            let mask = self.mask.clone().filter(|_| self.temporal.contains(name));
            self.store_vectors(name, &ty, &vectors, mask.as_ref())?;
        }
        Some(())
    }

    /// Stores the vectors of a value into its variables, in the lanes of `mask`.
    pub(super) fn store_vectors(
        &mut self,
        name: &str,
        ty: &str,
        vectors: &[String],
        mask: Option<&Mask>,
    ) -> Option<()> {
        let (_, element) = elements(ty)?;
        let ty = self.stored_type(element);
        for (number, value) in vectors.iter().enumerate() {
            let variable = self.variable("vec", &format!("{name}.{number}"), &ty);
            let stored = match mask {
                Some(mask) => {
                    let old = self.load_vector(element, &variable);
                    self.select(&mask.bits, element, value, &old)
                }
                None => value.clone(),
            };
            self.store_vector(element, &stored, &variable);
        }
        Some(())
    }
}

/// Names of scalars.
pub(super) struct ScalarNames<'n>(pub(super) &'n HashMap<String, String>);

impl NameMap for ScalarNames<'_> {
    fn value(&self, name: &str) -> String {
        self.0.get(name).cloned().unwrap_or_else(|| format!("%{name}"))
    }

    fn label(&self, name: &str) -> String {
        name.to_string()
    }
}
