//! Loads and stores for vectors of work-items: of neighbours in memory as vectors, of others one by one.

use super::parts::{Parts, elements};
use super::shapes::Shape;
use super::writer::VectorWriter;
use crate::ir::Types;
use crate::ir::function::Instruction;

/// A variable that nothing reads: inactive lanes access it.
pub(super) const SCRATCH: &str = "offload.unused";
/// Its size and alignment in bytes, those of the largest access.
pub(super) const SCRATCH_SIZE: u64 = 64;

/// A load or a store.
struct Access<'t> {
    ty: &'t str,
    /// The elements of the type.
    count: usize,
    element: &'t str,
    size: u64,
    align: u64,
}

impl Access<'_> {
    /// Whether lanes with this stride access adjacent elements.
    fn is_adjacent(&self, stride: i64) -> bool {
        u64::try_from(stride) == Ok(self.size)
    }

    /// The elements of the type with its padding.
    fn width(&self, types: &Types<'_>) -> Option<u64> {
        self.size.checked_div(types.layout(self.element)?.size)
    }
}

impl<'f> VectorWriter<'_, 'f> {
    fn access<'t>(&self, ty: &'t str, align: u64) -> Option<Access<'t>> {
        let (count, element) = elements(ty)?;
        let layout = self.types.layout(ty)?;
        let is_bit = element == "i1";
        (!is_bit && layout.size <= SCRATCH_SIZE).then_some(())?;
        Some(Access { ty, count, element, size: layout.size, align })
    }

    /// Loads a value for each lane.
    pub(super) fn load_lanes(&mut self, text: &str) -> Option<Vec<String>> {
        let parts = Parts::parse(text)?;
        let access = self.access(parts.element?, parts.align)?;
        let [pointer] = parts.operands.as_slice() else { return None };
        (pointer.ty == "ptr").then_some(())?;
        let shape = pointer.name().map_or(Shape::Uniform, |name| self.shape_here(name));
        match shape {
            // As an element of all lanes, where a value of the shape is asked for.
            Shape::Uniform => None,
            Shape::Affine { stride, .. } if access.is_adjacent(stride) => {
                let first = self.scalar(pointer)?;
                let ok = self.condition(pointer.name()?)?;
                let Some(condition) = self.adjacency(&access, &ok) else {
                    return self.load_adjacent(&access, &first);
                };
                let pointers = self.vector(pointer)?;
                let [near, far, end] = self.branch_on(&condition);
                self.open(&near);
                let adjacent = self.load_adjacent(&access, &first)?;
                self.line(&format!("br label %{end}"));
                self.open(&far);
                let gathered = self.gather(&access, &pointers)?;
                self.line(&format!("br label %{end}"));
                self.open(&end);
                let ty = self.vector_type(access.element);
                let mut loaded = Vec::new();
                for (one, other) in adjacent.iter().zip(gathered) {
                    loaded.push(self.emit(&format!("phi {ty} [ {one}, %{near} ], [ {other}, %{far} ]")));
                }
                Some(loaded)
            }
            _ => {
                let pointers = self.vector(pointer)?;
                self.gather(&access, &pointers)
            }
        }
    }

    /// Loads a value for each lane, from addresses that are `stride` bytes apart.
    pub(super) fn load_strided(
        &mut self,
        ty: &str,
        first: &str,
        stride: i64,
        align: u64,
    ) -> Option<Vec<String>> {
        let access = self.access(ty, align)?;
        if access.is_adjacent(stride) {
            return self.load_adjacent(&access, first);
        }
        let pointers = self.strided_pointers(first, stride);
        self.gather(&access, &pointers)
    }

    /// Stores a value of each lane, to addresses that are `stride` bytes apart.
    pub(super) fn store_strided(
        &mut self,
        ty: &str,
        vectors: &[String],
        first: &str,
        stride: i64,
        align: u64,
    ) -> Option<()> {
        let access = self.access(ty, align)?;
        if access.is_adjacent(stride) {
            return self.store_adjacent(&access, vectors, first);
        }
        let pointers = self.strided_pointers(first, stride);
        self.scatter(&access, vectors, &pointers)
    }

    fn strided_pointers(&mut self, first: &str, stride: i64) -> String {
        let step = |lane: u64| i64::try_from(lane).unwrap_or(0).saturating_mul(stride).to_string();
        let steps = self.lane_constant("i64", step);
        self.emit(&format!("getelementptr i8, ptr {first}, <{} x i64> {steps}", self.lanes))
    }

    /// Stores a value of each lane.
    pub(super) fn write_store(&mut self, store: &'f Instruction) -> Option<()> {
        let text = store.line.text();
        if text.starts_with("store volatile") || text.starts_with("store atomic") {
            return None;
        }
        let parts = Parts::parse(&text)?;
        let [value, pointer] = parts.operands.as_slice() else { return None };
        let access = self.access(value.ty, parts.align)?;
        (pointer.ty == "ptr").then_some(())?;
        let shape = pointer.name().map_or(Shape::Uniform, |name| self.shape_here(name));
        let is_uniform = value.name().is_none_or(|name| self.shape_here(name) == Shape::Uniform);
        if shape == Shape::Uniform && is_uniform {
            let stored = self.scalar(value)?;
            let to = self.scalar(pointer)?;
            self.line(&format!("store {} {stored}, ptr {to}, align {}", access.ty, access.align));
            return Some(());
        }
        if self.store_members(store)? {
            return Some(());
        }
        let vectors = self.vectors(value)?;
        self.store_lanes(&text, &vectors)
    }

    /// Stores these values of each lane, as the store with this text does.
    pub(super) fn store_lanes(&mut self, text: &str, vectors: &[String]) -> Option<()> {
        let parts = Parts::parse(text)?;
        let [value, pointer] = parts.operands.as_slice() else { return None };
        let access = self.access(value.ty, parts.align)?;
        let shape = pointer.name().map_or(Shape::Uniform, |name| self.shape_here(name));
        match shape {
            Shape::Affine { stride, .. } if access.is_adjacent(stride) => {
                let first = self.scalar(pointer)?;
                let ok = self.condition(pointer.name()?)?;
                let Some(condition) = self.adjacency(&access, &ok) else {
                    return self.store_adjacent(&access, vectors, &first);
                };
                let pointers = self.vector(pointer)?;
                let [near, far, end] = self.branch_on(&condition);
                self.open(&near);
                self.store_adjacent(&access, vectors, &first)?;
                self.line(&format!("br label %{end}"));
                self.open(&far);
                self.scatter(&access, vectors, &pointers)?;
                self.line(&format!("br label %{end}"));
                self.open(&end);
            }
            _ => {
                let pointers = self.vector(pointer)?;
                self.scatter(&access, vectors, &pointers)?;
            }
        }
        Some(())
    }

    /// The condition on which lanes access adjacent elements at once; `None` if they always can. `ok` says whether the
    /// elements are adjacent.
    fn adjacency(&mut self, access: &Access<'_>, ok: &str) -> Option<String> {
        let mask = self.mask.clone().filter(|_| !self.has_masked_access(access));
        let all = mask.map(|mask| {
            let bits = self.vector_type("i1");
            self.emit(&format!("call i1 @llvm.vector.reduce.and.v{}i1({bits} {})", self.lanes, mask.bits))
        });
        match (ok, all) {
            ("true", all) => all,
            (ok, None) => Some(ok.to_string()),
            (ok, Some(all)) => Some(self.emit(&format!("and i1 {ok}, {all}"))),
        }
    }

    /// Whether the CPU can access adjacent elements for some lanes.
    fn has_masked_access(&self, access: &Access<'_>) -> bool {
        let least_bits = if [4, 8].contains(&access.size) { 256 } else { 512 };
        access.count == 1 && self.vector_bits >= least_bits
    }

    /// Branches to the first of three new blocks if `condition` holds, and to the second otherwise.
    fn branch_on(&mut self, condition: &str) -> [String; 3] {
        self.names = self.names.saturating_add(1);
        let labels =
            ["near", "far", "end"].map(|kind| format!("offload.{kind}{}.v{}", self.names, self.number));
        let [near, far, _] = &labels;
        self.line(&format!("br i1 {condition}, label %{near}, label %{far}"));
        labels
    }

    /// Loads adjacent elements: of all lanes, or with a mask that the CPU has.
    fn load_adjacent(&mut self, access: &Access<'_>, first: &str) -> Option<Vec<String>> {
        let Access { count, element, size, .. } = *access;
        let ty = self.vector_type(element);
        let align = access.align.min(size);
        let mask = self.mask.clone().filter(|_| self.has_masked_access(access));
        if let Some(mask) = mask {
            let masks = self.vector_type("i1");
            let name = format!("v{}{}", self.lanes, mangled(element));
            return Some(vec![self.emit(&format!(
                "call {ty} @llvm.masked.load.{name}.p0(ptr {first}, i32 {align}, {masks} {}, {ty} zeroinitializer)",
                mask.bits
            ))]);
        }
        if count == 1 {
            return Some(vec![self.emit(&format!("load {ty}, ptr {first}, align {align}"))]);
        }
        let width = access.width(self.types)?;
        let length = width.checked_mul(self.lanes)?;
        let all = self.emit(&format!("load <{length} x {element}>, ptr {first}, align {align}"));
        self.split_elements(access, &all)
    }

    /// Stores adjacent elements: of all lanes, or with a mask that the CPU has.
    fn store_adjacent(&mut self, access: &Access<'_>, vectors: &[String], first: &str) -> Option<()> {
        let Access { count, element, size, .. } = *access;
        let ty = self.vector_type(element);
        let align = access.align.min(size);
        let mask = self.mask.clone().filter(|_| self.has_masked_access(access));
        if let Some(mask) = mask {
            let masks = self.vector_type("i1");
            let name = format!("v{}{}", self.lanes, mangled(element));
            self.line(&format!(
                "call void @llvm.masked.store.{name}.p0({ty} {}, ptr {first}, i32 {align}, {masks} {})",
                vectors.first()?,
                mask.bits
            ));
            return Some(());
        }
        if count == 1 {
            self.line(&format!("store {ty} {}, ptr {first}, align {align}", vectors.first()?));
            return Some(());
        }
        if !count.is_power_of_two() {
            // The gaps are not theirs to write.
            let stride = i64::try_from(size).ok()?;
            let pointers = self.strided_pointers(first, stride);
            return self.scatter(access, vectors, &pointers);
        }
        let length = self.lanes.checked_mul(u64::try_from(count).ok()?)?;
        let all = self.concatenate(vectors.to_vec(), element, self.lanes)?;
        let count = u64::try_from(count).ok()?;
        let indices: Vec<String> = (0..length)
            .map(|index| format!("i32 {}", (index % count) * self.lanes + index / count))
            .collect();
        let interleaved = self.emit(&format!(
            "shufflevector <{length} x {element}> {all}, <{length} x {element}> poison, <{length} x i32> <{}>",
            indices.join(", ")
        ));
        self.line(&format!("store <{length} x {element}> {interleaved}, ptr {first}, align {align}"));
        Some(())
    }

    /// Loads from an address for each lane. Inactive lanes load from an unused variable, without a branch.
    fn gather(&mut self, access: &Access<'_>, pointers: &str) -> Option<Vec<String>> {
        let Access { ty, count, element, align, .. } = *access;
        if count == 1 && self.has_gather(access) {
            let masks = self.vector_type("i1");
            let mask = self.mask.clone().map(|mask| mask.bits);
            let mask = mask.unwrap_or_else(|| self.lane_constant("i1", |_| "true".to_string()));
            let vector = self.vector_type(element);
            let name = format!("v{}{}.v{}p0", self.lanes, mangled(element), self.lanes);
            return Some(vec![self.emit(&format!(
                "call {vector} @llvm.masked.gather.{name}({} {pointers}, i32 {align}, {masks} {mask}, {vector} zeroinitializer)",
                self.vector_type("ptr")
            ))]);
        }
        let pointers = self.safe_pointers(pointers);
        let pointer_type = self.vector_type("ptr");
        let mut loaded = Vec::new();
        for lane in 0..self.lanes {
            let pointer = self.emit(&format!("extractelement {pointer_type} {pointers}, i64 {lane}"));
            loaded.push(self.emit(&format!("load {ty}, ptr {pointer}, align {align}")));
        }
        if count == 1 {
            let vector = self.vector_type(element);
            let mut result = "poison".to_string();
            for (lane, value) in loaded.iter().enumerate() {
                result =
                    self.emit(&format!("insertelement {vector} {result}, {element} {value}, i64 {lane}"));
            }
            return Some(vec![result]);
        }
        self.transpose_loaded(access, loaded)
    }

    /// The elements of vectors that were loaded for each lane.
    fn transpose_loaded(&mut self, access: &Access<'_>, mut loaded: Vec<String>) -> Option<Vec<String>> {
        let Access { ty, count, element, .. } = *access;
        let width = count.next_power_of_two();
        if width != count {
            let indices: Vec<String> = (0..width)
                .map(|index| if index < count { format!("i32 {index}") } else { "i32 poison".to_string() })
                .collect();
            for value in &mut loaded {
                *value = self.emit(&format!(
                    "shufflevector {ty} {value}, {ty} poison, <{width} x i32> <{}>",
                    indices.join(", ")
                ));
            }
        }
        let all = self.concatenate(loaded, element, u64::try_from(width).ok()?)?;
        self.split_elements(access, &all)
    }

    /// The elements of the lanes' vectors, which stand one after the other, each padded to a power of two.
    fn split_elements(&mut self, access: &Access<'_>, all: &str) -> Option<Vec<String>> {
        let Access { count, element, .. } = *access;
        let width = access.width(self.types)?;
        let length = width.checked_mul(self.lanes)?;
        let mut vectors = Vec::new();
        for number in 0..u64::try_from(count).ok()? {
            let indices: Vec<String> =
                (0..self.lanes).map(|lane| format!("i32 {}", lane * width + number)).collect();
            vectors.push(self.emit(&format!(
                "shufflevector <{length} x {element}> {all}, <{length} x {element}> poison, <{} x i32> <{}>",
                self.lanes,
                indices.join(", ")
            )));
        }
        Some(vectors)
    }

    /// Stores to an address for each lane, in the order of the lanes.
    fn scatter(&mut self, access: &Access<'_>, vectors: &[String], pointers: &str) -> Option<()> {
        let Access { ty, count, element, align, .. } = *access;
        let pointer_type = self.vector_type("ptr");
        let vector = self.vector_type(element);
        if count == 1 && self.has_gather(access) {
            let masks = self.vector_type("i1");
            let mask = self.mask.clone().map(|mask| mask.bits);
            let mask = mask.unwrap_or_else(|| self.lane_constant("i1", |_| "true".to_string()));
            let name = format!("v{}{}.v{}p0", self.lanes, mangled(element), self.lanes);
            self.line(&format!(
                "call void @llvm.masked.scatter.{name}({vector} {}, {pointer_type} {pointers}, i32 {align}, {masks} {mask})",
                vectors.first()?
            ));
            return Some(());
        }
        let pointers = self.safe_pointers(pointers);
        for lane in 0..self.lanes {
            let pointer = self.emit(&format!("extractelement {pointer_type} {pointers}, i64 {lane}"));
            let mut value = "poison".to_string();
            for (number, of_lanes) in vectors.iter().enumerate() {
                let one = self.emit(&format!("extractelement {vector} {of_lanes}, i64 {lane}"));
                value = if ty.starts_with('<') {
                    self.emit(&format!("insertelement {ty} {value}, {element} {one}, i64 {number}"))
                } else {
                    one
                };
            }
            self.line(&format!("store {ty} {value}, ptr {pointer}, align {align}"));
        }
        Some(())
    }

    /// Whether the CPU has instructions that access an address for each lane.
    fn has_gather(&self, access: &Access<'_>) -> bool {
        self.vector_bits >= 512 && [4, 8].contains(&access.size) && self.lanes >= 8
    }

    /// Addresses that every lane may access.
    fn safe_pointers(&mut self, pointers: &str) -> String {
        let Some(mask) = self.mask.clone() else { return pointers.to_string() };
        let unused = self.splat("ptr", &format!("%{SCRATCH}.v{}", self.number));
        self.select(&mask.bits, "ptr", pointers, &unused)
    }
}

/// A type in the name of an intrinsic.
fn mangled(element: &str) -> &str {
    match element {
        "half" => "f16",
        "bfloat" => "bf16",
        "float" => "f32",
        "double" => "f64",
        "ptr" => "p0",
        integer => integer,
    }
}
