//! From which pointer, of which variable, an address was computed.
//!
//! Addresses are followed through `getelementptr` and through pointers of a function that nobody else sees, each of which
//! gets a second variable with what its value was computed from. Any other pointer (a parameter, a value from memory) is
//! taken for one into what is meant.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::access::{leading_type, operand};
use crate::ir::global_name;
use crate::ir::rewrite::local_arrays;

/// Bytes before and behind a local array, which lies beside others. Larger than any alignment.
const ZONE: u64 = 128;

/// What an address was computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// An operand: a pointer into what is meant.
    pub(super) base: String,
    /// What `base` is the start of, if the module says it.
    pub(super) object: Option<Object>,
    /// An array in it that the address has to be in.
    pub(super) row: Option<Row>,
}

/// A variable of a function or of a program, by its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) ty: String,
    pub(super) name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) start: String,
    pub(super) ty: String,
}

/// The alignment in a definition.
fn alignment(line: &str) -> Option<u64> {
    let (_, rest) = line.rsplit_once(", align ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The variables of a module that functions do not have for themselves.
pub(super) struct Variables<'m> {
    types: BTreeMap<&'m str, &'m str>,
    local: BTreeSet<&'m str>,
    /// Bytes of the zones around local arrays that are aligned to more than others.
    zones: BTreeMap<&'m str, u64>,
}

impl<'m> Variables<'m> {
    pub(super) fn of(module: &'m str) -> Variables<'m> {
        let local = local_arrays(module);
        let (mut types, mut zones) = (BTreeMap::new(), BTreeMap::new());
        for line in module.lines() {
            let Some((name, ty)) = definition(line) else { continue };
            types.insert(name, ty);
            let alignment = alignment(line).filter(|alignment| *alignment > ZONE && local.contains(name));
            zones.extend(alignment.map(|alignment| (name, alignment)));
        }
        Variables { types, local, zones }
    }

    fn zone(&self, name: &str) -> u64 {
        self.zones.get(name).copied().unwrap_or(ZONE)
    }

    /// The definition of a variable; a local array lies between zones, so that its end is not the next one's start.
    pub(super) fn zoned(&self, line: &str) -> String {
        let Some((name, ty)) = definition(line).filter(|(name, _)| self.local.contains(name)) else {
            return line.to_string();
        };
        let zone = self.zone(name);
        let zoned =
            line.replacen(&format!(" {ty} "), &format!(" <{{ [{zone} x i8], {ty}, [{zone} x i8] }}> "), 1);
        match zoned.split_once(", align ") {
            Some((start, rest)) => {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                format!("{start}, align {zone}{rest}")
            }
            None => format!("{zoned}, align {zone}"),
        }
    }

    /// `text` with the addresses that local arrays have between zones.
    pub(super) fn moved(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('@') {
            out.push_str(before);
            let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && !"._$-".contains(c));
            let (name, after) = behind.split_at(end.unwrap_or(behind.len()));
            let _ = match self.local.contains(name) {
                true => write!(out, "getelementptr (i8, ptr @{name}, i64 {})", self.zone(name)),
                false => write!(out, "@{name}"),
            };
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// The local arrays that a function mentions, with their types.
    pub(super) fn local_in(&self, body: &[&str]) -> BTreeMap<&'m str, &'m str> {
        let mut found = BTreeMap::new();
        for line in body {
            let mut rest = *line;
            while let Some((name, tail)) = global_name(rest) {
                found.extend(self.local.get(name).and_then(|name| self.types.get_key_value(name)));
                rest = tail;
            }
        }
        found
    }

    /// What the module says of `@name`; a local array is compared where it is known to be in use.
    fn origin(&self, name: &str) -> Origin {
        let ty = self.types.get(name).filter(|_| !self.local.contains(name));
        let object = ty.map(|ty| Object { ty: (*ty).to_string(), name: own_name(name).to_string() });
        Origin { base: format!("@{name}"), object, row: None }
    }
}

/// `tile` of `kernel.tile` and `kernel.tile.3`.
pub(super) fn own_name(name: &str) -> &str {
    let mut parts = name.split('.').filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or(name);
    parts.next().unwrap_or(first)
}

/// Name and type of a variable at program scope that the module defines.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix('@')?.split_once(" = ")?;
    let (words, value) = rest.split_once(" global ").or_else(|| rest.split_once(" constant "))?;
    let is_plain = words.split(' ').all(|word| !word.is_empty() && word != "external" && !word.contains('"'));
    is_plain.then(|| (name, leading_type(value)))
}

/// What is known of a function's addresses, line by line.
pub(super) struct Origins<'o, 'm> {
    variables: &'o Variables<'m>,
    /// What is allocated, with its type.
    allocated: BTreeMap<&'m str, &'m str>,
    /// Pointers that only this function loads and stores.
    followed: BTreeSet<&'m str>,
    known: BTreeMap<&'m str, Origin>,
}

impl<'o, 'm> Origins<'o, 'm> {
    /// `named`: what debug information calls a variable.
    pub(super) fn of(
        body: &[&'m str],
        variables: &'o Variables<'m>,
        named: &BTreeMap<&str, &str>,
    ) -> Origins<'o, 'm> {
        let mut origins = Origins {
            variables,
            allocated: body.iter().filter_map(|line| allocation(line)).collect(),
            followed: BTreeSet::new(),
            known: BTreeMap::new(),
        };
        let pointers = origins.allocated.iter().filter(|(_, ty)| **ty == "ptr").map(|(name, _)| *name);
        origins.followed = pointers.filter(|name| !name.contains('"')).collect();
        for line in body.iter().filter(|line| !is_note(line)) {
            for name in shared_by(line) {
                origins.followed.remove(name);
            }
        }
        let named = |name: &str| named.get(name).copied().unwrap_or_default().to_string();
        let object = |name: &str, ty: &str| Object { ty: ty.to_string(), name: named(name) };
        let known = origins.allocated.iter().map(|(name, ty)| {
            let origin = Origin { base: (*name).to_string(), object: Some(object(name, ty)), row: None };
            (*name, origin)
        });
        origins.known = known.collect();
        origins
    }

    /// Whether `pointer` is a variable itself, and no local array.
    pub(super) fn is_whole_variable(&self, pointer: &str) -> bool {
        match pointer.strip_prefix('@') {
            Some(name) => !self.variables.local.contains(name),
            None => self.allocated.contains_key(pointer),
        }
    }

    pub(super) fn origin(&self, pointer: &str) -> Origin {
        if let Some(known) = self.known.get(pointer) {
            return known.clone();
        }
        match global_name(pointer) {
            Some((name, _)) => self.variables.origin(name),
            None => Origin { base: pointer.to_string(), object: None, row: None },
        }
    }

    /// Notes what `line` computes; returns the lines behind it that follow a pointer.
    pub(super) fn follow(&mut self, line: &'m str) -> String {
        let text = line.trim_start();
        if let Some((name, rest)) = text.split_once(" = ").filter(|(name, _)| name.starts_with('%')) {
            if let Some(origin) = self.computed(rest) {
                self.known.insert(name, origin);
            }
            if self.followed.contains(name) {
                return format!("  {} = alloca ptr, align 8\n", second(name));
            }
            let from = rest.strip_prefix("load ").and_then(|rest| loaded_pointer(rest));
            if let Some(from) = from.filter(|from| self.followed.contains(from)) {
                let base = format!("%offload.base.{}", name.trim_start_matches('%'));
                let text = format!("  {base} = load ptr, ptr {}, align 8\n", second(from));
                self.known.insert(name, Origin { base, object: None, row: None });
                return text;
            }
        }
        match stored_pointer(text).filter(|stored| self.followed.contains(stored.to)) {
            Some(stored) => {
                let base = self.origin(stored.value).base;
                format!("  store ptr {base}, ptr {}, align 8\n", second(stored.to))
            }
            None => String::new(),
        }
    }

    /// What `getelementptr inbounds [17 x float], ptr %36, i64 0, i64 %39` comes from.
    fn computed(&self, text: &str) -> Option<Origin> {
        if let Some(rest) = text.strip_prefix("bitcast ptr ") {
            return Some(self.origin(operand(rest)?));
        }
        let rest = text.strip_prefix("getelementptr ")?;
        let rest = ["inbounds ", "nusw ", "nuw "]
            .iter()
            .fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
        let ty = leading_type(rest);
        let rest = rest.get(ty.len()..)?.strip_prefix(", ptr ")?;
        let from = operand(rest)?;
        let indices = rest.get(from.len()..)?.split(", !").next()?;
        let origin = self.origin(from);
        let indices: Vec<&str> = indices.split(", ").filter(|index| !index.is_empty()).collect();
        let is_element = matches!(indices.as_slice(), ["i64 0" | "i32 0", _]) && elements(ty) > 1;
        let is_all = origin.base == from && origin.object.as_ref().is_some_and(|object| object.ty == ty);
        let row = (is_element && !is_all).then(|| Row { start: from.to_string(), ty: ty.to_string() });
        Some(Origin { row, ..origin })
    }
}

/// The number in `[17 x float]`; 0 of what is no array.
fn elements(ty: &str) -> u64 {
    let count = ty.strip_prefix('[').and_then(|ty| ty.split_once(" x "));
    count.and_then(|(count, _)| count.parse().ok()).unwrap_or(0)
}

fn second(name: &str) -> String {
    format!("%offload.second.{}", name.trim_start_matches('%'))
}

fn allocation(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim_start().split_once(" = alloca ")?;
    Some((name, leading_type(rest)))
}

/// The address that `ptr, ptr %6, align 8` reads a pointer from.
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

/// What only describes a variable.
fn is_note(line: &str) -> bool {
    line.contains("@llvm.lifetime.") || line.trim_start().starts_with("#dbg_")
}

/// The names in a line by which more can happen to a variable than that a pointer in it is loaded or stored.
fn shared_by(line: &str) -> Vec<&str> {
    let text = line.trim_start();
    let own = match (stored_pointer(text), text.split_once(" = load ")) {
        (Some(stored), _) if stored.value != stored.to => Some(stored.to),
        (_, Some((_, rest))) => loaded_pointer(rest),
        _ => None,
    };
    let result = text.split_once(" = alloca ").map(|(name, _)| name);
    names(text).filter(|name| Some(*name) != own && Some(*name) != result).collect()
}

/// The words of a line that begin with `%`.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('%').filter_map(|(at, _)| {
        let rest = text.get(at.saturating_add(1)..)?;
        let end =
            rest.find(|c: char| !c.is_ascii_alphanumeric() && !"._$-".contains(c)).unwrap_or(rest.len());
        text.get(at..at.saturating_add(end).saturating_add(1))
    })
}
