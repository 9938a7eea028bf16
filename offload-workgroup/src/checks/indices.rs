//! Signed arithmetic whose result becomes an index: through variables, calls and results of functions.

use std::collections::{BTreeMap, BTreeSet};

use super::access::{arguments, operand};
use super::origins::names;
use super::sites::Arithmetic;
use crate::ir::global_name;

/// `mul nsw i32 %22, %23`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation<'a> {
    pub(super) kind: Arithmetic,
    /// 32 or 64.
    pub(super) bits: u64,
    pub(super) left: &'a str,
    pub(super) right: &'a str,
}

/// The operation in `line`, if it must not overflow.
pub(super) fn operation(line: &str) -> Option<Operation<'_>> {
    let (_, text) = line.split_once(" = ")?;
    let (word, rest) = text.split_once(' ')?;
    let kind = match word {
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
    Some(Operation { kind, bits, left: operands.next()?, right: operands.next()? })
}

/// The lines of a module that compute indices.
pub(super) struct Indices<'m>(BTreeMap<&'m str, BTreeSet<&'m str>>);

impl<'m> Indices<'m> {
    pub(super) fn of(module: &'m str) -> Indices<'m> {
        let functions = functions(module);
        let mut wanted = Wanted::default();
        loop {
            let before = wanted.clone();
            let indices = functions.iter().map(|function| (function.name, function.indices(&mut wanted)));
            let indices: BTreeMap<_, _> = indices.collect();
            if wanted == before {
                return Indices(indices);
            }
        }
    }

    /// Whether the result of `line`, of the function `name`, becomes an index.
    pub(super) fn is_index(&self, name: &str, line: &str) -> bool {
        self.0.get(name).is_some_and(|lines| lines.contains(line.trim_start()))
    }
}

/// What becomes an index in other functions than where it is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Wanted<'m> {
    /// Functions whose results do.
    results: BTreeSet<&'m str>,
    /// Parameters, by function and number.
    parameters: BTreeSet<(&'m str, usize)>,
}

struct Function<'m> {
    name: &'m str,
    parameters: Vec<&'m str>,
    /// The line that computes a value.
    definitions: BTreeMap<&'m str, &'m str>,
    /// What is stored to each variable.
    stored: BTreeMap<&'m str, Vec<&'m str>>,
    lines: Vec<&'m str>,
}

fn functions(module: &str) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    let mut lines = module.lines();
    while let Some(line) = lines.next() {
        let Some((name, rest)) = line.starts_with("define ").then(|| global_name(line)).flatten() else {
            continue;
        };
        let parameters = arguments(rest).into_iter();
        let parameters = parameters.map(|text| text.rsplit(' ').next().unwrap_or_default()).collect();
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").map(str::trim_start).collect();
        let mut function = Function {
            name,
            parameters,
            definitions: body.iter().filter_map(|line| Some((line.split_once(" = ")?.0, *line))).collect(),
            stored: BTreeMap::new(),
            lines: body,
        };
        for line in &function.lines {
            // `store i32 %19, ptr %12, align 4`
            if let Some((value, to)) = line.strip_prefix("store ").and_then(|rest| rest.split_once(", ptr "))
            {
                let to = to.split([',', ' ']).next().unwrap_or_default();
                function.stored.entry(to).or_default().extend(names(value));
            }
        }
        found.push(function);
    }
    found
}

impl<'m> Function<'m> {
    /// The lines that compute indices.
    fn indices(&self, wanted: &mut Wanted<'m>) -> BTreeSet<&'m str> {
        let mut open: Vec<&str> = self.lines.iter().flat_map(|line| self.seeds(line, wanted)).collect();
        let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
        while let Some(name) = open.pop() {
            if !seen.insert(name) {
                continue;
            }
            if let Some(number) = self.parameters.iter().position(|parameter| *parameter == name) {
                wanted.parameters.insert((self.name, number));
            }
            let Some(line) = self.definitions.get(name) else { continue };
            found.insert(*line);
            let Some((_, definition)) = line.split_once(" = ") else { continue };
            open.extend(self.operands(definition));
            if definition.contains("call ") {
                wanted.results.extend(global_name(definition).map(|(name, _)| name));
            }
        }
        found
    }

    /// What a line uses as an index, or hands to where it becomes one.
    fn seeds(&self, line: &'m str, wanted: &Wanted<'m>) -> Vec<&'m str> {
        if let Some((_, rest)) = line.split_once(" = getelementptr ") {
            let indices = rest.split_once(", ptr ").and_then(|(_, rest)| rest.get(operand(rest)?.len()..));
            return indices.map(|indices| names(indices).collect()).unwrap_or_default();
        }
        if let Some(value) = line.strip_prefix("ret ") {
            return names(value).filter(|_| wanted.results.contains(self.name)).collect();
        }
        let called = line.contains("call ").then(|| global_name(line)).flatten();
        let Some((name, rest)) = called else { return Vec::new() };
        let numbered = arguments(rest).into_iter().enumerate();
        let handed = numbered.filter(|(number, _)| wanted.parameters.contains(&(name, *number)));
        handed.flat_map(|(_, argument)| names(argument)).collect()
    }

    /// What an integer is computed from: nothing that was compared, or read from anywhere but a variable.
    fn operands(&self, definition: &'m str) -> Vec<&'m str> {
        if let Some(rest) = definition.strip_prefix("load ") {
            let from = rest.split_once(", ptr ").and_then(|(_, rest)| rest.split([',', ' ']).next());
            return from.and_then(|from| self.stored.get(from)).cloned().unwrap_or_default();
        }
        let ends = ["icmp ", "fcmp ", "fpto", "alloca ", "getelementptr ", "ptrtoint "];
        match ends.iter().any(|word| definition.starts_with(word)) {
            true => Vec::new(),
            false => names(definition).collect(),
        }
    }
}
