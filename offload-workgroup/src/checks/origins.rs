//! Provenance of addresses: the pointer, and the variable, that an address is computed from.
//!
//! Addresses are followed through `getelementptr`, and through pointer variables whose addresses do not escape, each of which
//! gets a shadow variable with the provenance of its value. Any other pointer (a parameter, a value from memory) is taken
//! for one into the intended object.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::access::{leading_type, operand};
use crate::ir::{Symbol, global_name, global_symbol, is_name_character};
use crate::transforms::thread_local::local_arrays;

/// Bytes of a redzone before and behind a local array, which lies beside others.
const REDZONE: u64 = 128;

/// The provenance of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// An operand: a pointer into the intended object.
    pub(super) base: String,
    /// The object that begins at `base`, if the module defines it.
    pub(super) object: Option<Object>,
    /// An array in it that the address has to be in.
    pub(super) array: Option<EnclosingArray>,
}

/// A variable of a function or of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) ty: String,
    pub(super) name: String,
}

/// A row of an array of several dimensions, or an array in a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EnclosingArray {
    pub(super) start: String,
    pub(super) ty: String,
}

/// The alignment in a definition.
fn alignment(line: &str) -> Option<u64> {
    let (_, rest) = line.rsplit_once(", align ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The variables at program scope of a module.
pub(super) struct ModuleVariables<'m> {
    types: BTreeMap<&'m str, &'m str>,
    local_arrays: BTreeSet<&'m str>,
    /// Bytes of the redzones around local arrays with a larger alignment than [`REDZONE`].
    redzones: BTreeMap<&'m str, u64>,
}

impl<'m> ModuleVariables<'m> {
    pub(super) fn new(module: &'m str) -> ModuleVariables<'m> {
        let local_arrays = local_arrays(module);
        let mut types = BTreeMap::new();
        let mut redzones = BTreeMap::new();
        for line in module.lines() {
            let Some((name, ty)) = definition(line) else { continue };
            types.insert(name, ty);
            if let Some(alignment) = alignment(line).filter(|alignment| *alignment > REDZONE)
                && local_arrays.contains(name)
            {
                redzones.insert(name, alignment);
            }
        }
        ModuleVariables { types, local_arrays, redzones }
    }

    fn redzone(&self, name: &str) -> u64 {
        self.redzones.get(name).copied().unwrap_or(REDZONE)
    }

    /// The definition of a variable; a local array lies between redzones, so that its end is not the start of the next one.
    pub(super) fn with_redzones(&self, line: &str) -> String {
        let Some((name, ty)) = definition(line).filter(|(name, _)| self.local_arrays.contains(name)) else {
            return line.to_string();
        };
        let size = self.redzone(name);
        let padded = format!(" <{{ [{size} x i8], {ty}, [{size} x i8] }}> ");
        let padded = line.replacen(&format!(" {ty} "), &padded, 1);
        match padded.split_once(", align ") {
            Some((start, rest)) => {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                format!("{start}, align {size}{rest}")
            }
            None => format!("{padded}, align {size}"),
        }
    }

    /// `text` with the addresses that local arrays have behind their redzones.
    pub(super) fn skip_redzones(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('@') {
            out.push_str(before);
            let end = behind.find(|c: char| !is_name_character(c)).unwrap_or(behind.len());
            let (name, after) = behind.split_at_checked(end).unwrap_or((behind, ""));
            if self.local_arrays.contains(name) {
                let _ = write!(out, "getelementptr (i8, ptr @{name}, i64 {})", self.redzone(name));
            } else {
                let _ = write!(out, "@{name}");
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// The local arrays that a function mentions, with their types.
    pub(super) fn local_arrays_in(&self, body: &[&str]) -> BTreeMap<&'m str, &'m str> {
        let mut found = BTreeMap::new();
        for line in body {
            let mut text = *line;
            while let Some(Symbol { name, rest }) = global_symbol(text) {
                found.extend(self.local_arrays.get(name).and_then(|name| self.types.get_key_value(name)));
                text = rest;
            }
        }
        found
    }

    /// The provenance of `@name`. The size of a local array is known to the runtime, where it is registered.
    fn origin(&self, name: &str) -> Origin {
        let ty = self.types.get(name).filter(|_| !self.local_arrays.contains(name));
        let object = ty.map(|ty| Object { ty: (*ty).to_string(), name: source_name(name).to_string() });
        Origin { base: format!("@{name}"), object, array: None }
    }
}

/// `tile` of `kernel.tile` and `kernel.tile.3`, and of C++'s `_ZZ6kernelPfE4tile`.
pub(super) fn source_name(name: &str) -> &str {
    if let Some(name) = cpp_local_name(name) {
        return name;
    }
    let mut parts = name.split('.').filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or(name);
    parts.next().unwrap_or(first)
}

/// The variable in a mangled name of one that is local to a function
/// (<https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling.scope>).
fn cpp_local_name(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("_ZZ")?;
    for (at, _) in rest.rmatch_indices('E') {
        let entity = rest.get(at.saturating_add(1)..)?;
        let end = entity.find(|c: char| !c.is_ascii_digit()).unwrap_or(entity.len());
        let Ok(length) = entity.get(..end)?.parse::<usize>() else { continue };
        return entity.get(end..)?.get(..length);
    }
    None
}

/// Name and type of a variable at program scope that the module defines.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix('@')?.split_once(" = ")?;
    let (words, value) = rest.split_once(" global ").or_else(|| rest.split_once(" constant "))?;
    let is_plain = words.split(' ').all(|word| !word.is_empty() && word != "external" && !word.contains('"'));
    is_plain.then(|| (name, leading_type(value)))
}

/// The provenance of the addresses of a function, as far as its lines were followed.
pub(super) struct PointerOrigins<'o, 'm> {
    variables: &'o ModuleVariables<'m>,
    /// The types of allocas.
    allocated: BTreeMap<&'m str, &'m str>,
    /// Pointer variables whose addresses do not escape.
    tracked: BTreeSet<&'m str>,
    known: BTreeMap<&'m str, Origin>,
}

impl<'o, 'm> PointerOrigins<'o, 'm> {
    /// `source_names` has the names of variables by debug information.
    pub(super) fn new(
        body: &[&'m str],
        variables: &'o ModuleVariables<'m>,
        source_names: &BTreeMap<&str, &str>,
    ) -> PointerOrigins<'o, 'm> {
        let mut allocated = BTreeMap::new();
        let mut tracked = BTreeSet::new();
        for line in body {
            let Some((name, ty)) = allocation(line) else { continue };
            allocated.insert(name, ty);
            if ty == "ptr" && !name.contains('"') {
                tracked.insert(name);
            }
        }
        for line in body.iter().filter(|line| !is_marker(line)) {
            for name in escaping_names(line) {
                tracked.remove(name);
            }
        }
        let mut known = BTreeMap::new();
        for (name, ty) in &allocated {
            let source_name = source_names.get(name).copied().unwrap_or_default();
            let object = Object { ty: (*ty).to_string(), name: source_name.to_string() };
            known.insert(*name, Origin { base: (*name).to_string(), object: Some(object), array: None });
        }
        PointerOrigins { variables, allocated, tracked, known }
    }

    /// Whether `pointer` is a variable itself, and no local array.
    pub(super) fn is_whole_variable(&self, pointer: &str) -> bool {
        match pointer.strip_prefix('@') {
            Some(name) => !self.variables.local_arrays.contains(name),
            None => self.allocated.contains_key(pointer),
        }
    }

    pub(super) fn origin(&self, pointer: &str) -> Origin {
        if let Some(known) = self.known.get(pointer) {
            return known.clone();
        }
        match global_name(pointer) {
            Some(name) => self.variables.origin(name),
            None => Origin { base: pointer.to_string(), object: None, array: None },
        }
    }

    /// Records the provenance of the result of `line`. The returned lines, behind it, maintain a shadow variable.
    pub(super) fn follow(&mut self, line: &'m str) -> String {
        let text = line.trim_start();
        if let Some((name, rest)) = text.split_once(" = ").filter(|(name, _)| name.starts_with('%')) {
            if let Some(origin) = self.derived_origin(rest) {
                self.known.insert(name, origin);
            }
            if self.tracked.contains(name) {
                return format!("  {} = alloca ptr, align 8\n", shadow(name));
            }
            let from = rest.strip_prefix("load ").and_then(loaded_pointer);
            if let Some(from) = from.filter(|from| self.tracked.contains(from)) {
                let base = format!("%offload.base.{}", name.trim_start_matches('%'));
                let text = format!("  {base} = load ptr, ptr {}, align 8\n", shadow(from));
                self.known.insert(name, Origin { base, object: None, array: None });
                return text;
            }
        }
        match stored_pointer(text).filter(|stored| self.tracked.contains(stored.to)) {
            Some(stored) => {
                let base = self.origin(stored.value).base;
                format!("  store ptr {base}, ptr {}, align 8\n", shadow(stored.to))
            }
            None => String::new(),
        }
    }

    /// The provenance of `getelementptr inbounds [17 x float], ptr %36, i64 0, i64 %39`.
    fn derived_origin(&self, text: &str) -> Option<Origin> {
        if let Some(rest) = text.strip_prefix("bitcast ptr ") {
            return Some(self.origin(operand(rest)?));
        }
        let mut rest = text.strip_prefix("getelementptr ")?;
        for flag in ["inbounds ", "nusw ", "nuw "] {
            rest = rest.strip_prefix(flag).unwrap_or(rest);
        }
        let ty = leading_type(rest);
        let rest = rest.get(ty.len()..)?.strip_prefix(", ptr ")?;
        let from = operand(rest)?;
        let indices = rest.get(from.len()..)?.split(", !").next()?;
        let origin = self.origin(from);
        let indices: Vec<&str> = indices.split(", ").filter(|index| !index.is_empty()).collect();
        let is_element = matches!(indices.as_slice(), ["i64 0" | "i32 0", _]) && element_count(ty) > 1;
        let is_whole_object =
            origin.base == from && origin.object.as_ref().is_some_and(|object| object.ty == ty);
        let array = (is_element && !is_whole_object)
            .then(|| EnclosingArray { start: from.to_string(), ty: ty.to_string() });
        Some(Origin { array, ..origin })
    }
}

/// The number in `[17 x float]`; 0 of another type.
fn element_count(ty: &str) -> u64 {
    let count = ty.strip_prefix('[').and_then(|ty| ty.split_once(" x "));
    count.and_then(|(count, _)| count.parse().ok()).unwrap_or(0)
}

/// The shadow variable of a pointer variable.
fn shadow(name: &str) -> String {
    format!("%offload.second.{}", name.trim_start_matches('%'))
}

/// Name and type of an alloca.
fn allocation(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim_start().split_once(" = alloca ")?;
    Some((name, leading_type(rest)))
}

/// The address that `ptr, ptr %6, align 8` loads a pointer from.
fn loaded_pointer(text: &str) -> Option<&str> {
    operand(text.strip_prefix("volatile ").unwrap_or(text).strip_prefix("ptr, ptr ")?)
}

struct StoredPointer<'a> {
    value: &'a str,
    to: &'a str,
}

fn stored_pointer(text: &str) -> Option<StoredPointer<'_>> {
    let rest = text.strip_prefix("store ")?;
    let rest = rest.strip_prefix("volatile ").unwrap_or(rest).strip_prefix("ptr ")?;
    // Also `null` and `poison`.
    let value = operand(rest).unwrap_or_else(|| rest.split(',').next().unwrap_or_default());
    let to = operand(rest.get(value.len()..)?.strip_prefix(", ptr ")?)?;
    Some(StoredPointer { value, to })
}

/// Whether a line is a debug record or a lifetime marker.
fn is_marker(line: &str) -> bool {
    line.contains("@llvm.lifetime.") || line.trim_start().starts_with("#dbg_")
}

/// The names in a line that are used otherwise than as the address of a load or store of a pointer.
fn escaping_names(line: &str) -> Vec<&str> {
    let text = line.trim_start();
    let accessed = match (stored_pointer(text), text.split_once(" = load ")) {
        (Some(stored), _) if stored.value != stored.to => Some(stored.to),
        (_, Some((_, rest))) => loaded_pointer(rest),
        _ => None,
    };
    let result = text.split_once(" = alloca ").map(|(name, _)| name);
    local_names(text).filter(|name| Some(*name) != accessed && Some(*name) != result).collect()
}

/// The local names of a line, with their `%`.
pub(super) fn local_names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('%').filter_map(|(at, _)| {
        let rest = text.get(at.saturating_add(1)..)?;
        let end = rest.find(|c: char| !is_name_character(c)).unwrap_or(rest.len());
        text.get(at..at.saturating_add(end).saturating_add(1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_the_names_of_the_source() {
        for name in
            ["kernel.tile", "kernel.tile.3", "_ZZ10block_sumsE4tile", "_ZZ3sumILi32EEffE4tile_0", "tile"]
        {
            assert_eq!(source_name(name), "tile", "{name}");
        }
        assert_eq!(source_name("_ZZ"), "_ZZ");
    }
}
