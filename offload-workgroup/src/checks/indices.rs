//! Signed arithmetic whose result is used as an index: a backward slice through variables, calls and results of functions.

use std::collections::{BTreeMap, BTreeSet};

use super::access::{arguments, operand};
use super::origins::local_names;
use super::sites::Arithmetic;
use crate::ir::{Symbol, global_name, global_symbol};

/// An operation that must not overflow: `mul nsw i32 %22, %23`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SignedOperation<'a> {
    pub(super) arithmetic: Arithmetic,
    /// 32 or 64.
    pub(super) bits: u64,
    pub(super) left: &'a str,
    pub(super) right: &'a str,
}

/// The operation in `line`, if it is `nsw`.
pub(super) fn signed_operation(line: &str) -> Option<SignedOperation<'_>> {
    let (_, text) = line.split_once(" = ")?;
    let (word, rest) = text.split_once(' ')?;
    let arithmetic = match word {
        "add" => Arithmetic::Add,
        "sub" => Arithmetic::Sub,
        "mul" => Arithmetic::Mul,
        _ => return None,
    };
    let rest = rest.strip_prefix("nuw ").unwrap_or(rest).strip_prefix("nsw ")?;
    let (ty, rest) = rest.split_once(' ')?;
    let bits = match ty {
        "i32" => 32,
        "i64" => 64,
        _ => return None,
    };
    let mut operands = rest.split(", ");
    Some(SignedOperation { arithmetic, bits, left: operands.next()?, right: operands.next()? })
}

/// The lines of a module that compute indices, by function.
pub(super) struct IndexArithmetic<'m>(BTreeMap<&'m str, BTreeSet<&'m str>>);

impl<'m> IndexArithmetic<'m> {
    pub(super) fn new(module: &'m str) -> IndexArithmetic<'m> {
        let functions = functions(module);
        let mut sinks = IndexSinks::default();
        loop {
            let before = sinks.clone();
            let mut lines = BTreeMap::new();
            for function in &functions {
                lines.insert(function.name, function.index_lines(&mut sinks));
            }
            if sinks == before {
                return IndexArithmetic(lines);
            }
        }
    }

    /// Whether the result of `line`, of the function `name`, is used as an index.
    pub(super) fn contains(&self, name: &str, line: &str) -> bool {
        self.0.get(name).is_some_and(|lines| lines.contains(line.trim_start()))
    }
}

/// Values that other functions use as indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct IndexSinks<'m> {
    /// The results of these functions.
    results: BTreeSet<&'m str>,
    /// Parameters, by function and number.
    parameters: BTreeSet<(&'m str, usize)>,
}

struct FunctionBody<'m> {
    name: &'m str,
    parameters: Vec<&'m str>,
    /// The line that defines a value.
    definitions: BTreeMap<&'m str, &'m str>,
    /// The values that are stored to each variable.
    stored: BTreeMap<&'m str, Vec<&'m str>>,
    lines: Vec<&'m str>,
}

fn functions(module: &str) -> Vec<FunctionBody<'_>> {
    let mut functions = Vec::new();
    let mut lines = module.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with("define ") {
            continue;
        }
        let Some(Symbol { name, rest }) = global_symbol(line) else { continue };
        let mut parameters = Vec::new();
        for text in arguments(rest) {
            parameters.push(text.rsplit(' ').next().unwrap_or_default());
        }
        let mut function = FunctionBody {
            name,
            parameters,
            definitions: BTreeMap::new(),
            stored: BTreeMap::new(),
            lines: lines.by_ref().take_while(|line| *line != "}").map(str::trim_start).collect(),
        };
        for line in &function.lines {
            if let Some((name, _)) = line.split_once(" = ") {
                function.definitions.insert(name, line);
            }
            // `store i32 %19, ptr %12, align 4`
            if let Some((value, to)) = line.strip_prefix("store ").and_then(|rest| rest.split_once(", ptr "))
            {
                let to = to.split([',', ' ']).next().unwrap_or_default();
                function.stored.entry(to).or_default().extend(local_names(value));
            }
        }
        functions.push(function);
    }
    functions
}

impl<'m> FunctionBody<'m> {
    /// The lines that compute indices.
    fn index_lines(&self, sinks: &mut IndexSinks<'m>) -> BTreeSet<&'m str> {
        let mut open: Vec<&str> = Vec::new();
        for line in &self.lines {
            open.extend(self.index_uses(line, sinks));
        }
        let mut seen = BTreeSet::new();
        let mut lines = BTreeSet::new();
        while let Some(name) = open.pop() {
            if !seen.insert(name) {
                continue;
            }
            if let Some(number) = self.parameters.iter().position(|parameter| *parameter == name) {
                sinks.parameters.insert((self.name, number));
            }
            let Some(line) = self.definitions.get(name) else { continue };
            lines.insert(*line);
            let Some((_, definition)) = line.split_once(" = ") else { continue };
            open.extend(self.operands(definition));
            if definition.contains("call ") {
                sinks.results.extend(global_name(definition));
            }
        }
        lines
    }

    /// The values that a line uses as indices, or passes to where they become indices.
    fn index_uses(&self, line: &'m str, sinks: &IndexSinks<'m>) -> Vec<&'m str> {
        if let Some((_, rest)) = line.split_once(" = getelementptr ") {
            let indices = rest.split_once(", ptr ").and_then(|(_, rest)| rest.get(operand(rest)?.len()..));
            return indices.map(|indices| local_names(indices).collect()).unwrap_or_default();
        }
        if let Some(value) = line.strip_prefix("ret ") {
            return local_names(value).filter(|_| sinks.results.contains(self.name)).collect();
        }
        if !line.contains("call ") {
            return Vec::new();
        }
        let Some(Symbol { name, rest }) = global_symbol(line) else { return Vec::new() };
        let mut uses = Vec::new();
        for (number, argument) in arguments(rest).into_iter().enumerate() {
            if sinks.parameters.contains(&(name, number)) {
                uses.extend(local_names(argument));
            }
        }
        uses
    }

    /// The values from which an integer is computed. Comparisons, and loads of other memory than variables, end the slice.
    fn operands(&self, definition: &'m str) -> Vec<&'m str> {
        const ENDS: [&str; 6] = ["icmp ", "fcmp ", "fpto", "alloca ", "getelementptr ", "ptrtoint "];
        if let Some(rest) = definition.strip_prefix("load ") {
            let from = rest.split_once(", ptr ").and_then(|(_, rest)| rest.split([',', ' ']).next());
            return from.and_then(|from| self.stored.get(from)).cloned().unwrap_or_default();
        }
        if ENDS.iter().any(|word| definition.starts_with(word)) {
            return Vec::new();
        }
        local_names(definition).collect()
    }
}
