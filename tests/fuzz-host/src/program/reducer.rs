//! Reduction of programs: every program that is one step simpler, the largest steps first.

use super::tree::{Program, Statement};

/// The programs that lack a run of statements of `program`, lack a construct around statements, or have a simpler value
/// somewhere. Not all of them compile or are valid.
pub fn simplifications(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for body in shorter(&program.body) {
        found.push(Program { body, ..program.clone() });
    }
    for helpers in shorter(&program.helpers) {
        found.push(Program { helpers, ..program.clone() });
    }
    for globals in shorter(&program.globals) {
        found.push(Program { globals, ..program.clone() });
    }
    for body in simpler_values(&program.body) {
        found.push(Program { body, ..program.clone() });
    }
    found.extend(smaller_launches(program));
    found
}

/// Lists that lack a part of `statements`, or of those inside of one.
fn shorter(statements: &[Statement]) -> Vec<Vec<Statement>> {
    let mut found = Vec::new();
    let count = statements.len();
    let mut length = count;
    while length > 0 {
        let mut start = 0;
        while start < count {
            found.push(without(statements, start, length));
            start = start.saturating_add(length);
        }
        length /= 2;
    }
    for (index, statement) in statements.iter().enumerate() {
        let Statement::Nested { head, body, tail } = statement else { continue };
        found.push(replaced(statements, index, body));
        for body in shorter(body) {
            let nested = Statement::Nested { head: head.clone(), body, tail: tail.clone() };
            found.push(replaced(statements, index, &[nested]));
        }
    }
    found
}

fn without(statements: &[Statement], start: usize, length: usize) -> Vec<Statement> {
    let before = statements.iter().take(start);
    let behind = statements.iter().skip(start.saturating_add(length));
    before.chain(behind).cloned().collect()
}

fn replaced(statements: &[Statement], index: usize, with: &[Statement]) -> Vec<Statement> {
    let before = statements.iter().take(index);
    let behind = statements.iter().skip(index.saturating_add(1));
    before.chain(with).chain(behind).cloned().collect()
}

/// Lists in which one assignment has a simpler value.
fn simpler_values(statements: &[Statement]) -> Vec<Vec<Statement>> {
    let mut found = Vec::new();
    for (index, statement) in statements.iter().enumerate() {
        match statement {
            Statement::Simple(text) => {
                for text in simpler_assignments(text) {
                    found.push(replaced(statements, index, &[Statement::Simple(text)]));
                }
            }
            Statement::Nested { head, body, tail } => {
                for body in simpler_values(body) {
                    let nested = Statement::Nested { head: head.clone(), body, tail: tail.clone() };
                    found.push(replaced(statements, index, &[nested]));
                }
            }
        }
    }
    found
}

fn simpler_assignments(text: &str) -> Vec<String> {
    let Some((target, value)) = text.split_once("= ") else { return Vec::new() };
    let simple = ["1u;", "lid;", "v0;"];
    if simple.contains(&value) {
        return Vec::new();
    }
    simple.iter().map(|value| format!("{target}= {value}")).collect()
}

/// The same program for one group, and without an offset.
fn smaller_launches(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    if program.range.offset != [0; 3] && program.body.iter().all(|one| !one.contains("POSITION(0) - ")) {
        let mut smaller = program.clone();
        smaller.range.offset = [0; 3];
        found.push(smaller);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_can_go_and_every_construct_be_unwrapped() {
        let [a, b, c] = ["a;", "b;", "c;"].map(Statement::simple);
        let list = [a.clone(), Statement::nested("if (x)", vec![b.clone(), c.clone()])];
        let found = shorter(&list);
        for wanted in [
            vec![],
            vec![a.clone()],
            vec![a.clone(), b.clone(), c.clone()],
            vec![a.clone(), Statement::nested("if (x)", vec![c])],
            vec![Statement::nested("if (x)", vec![b])],
        ] {
            let is_there = found.contains(&wanted) || found.iter().any(|one| one.len() == wanted.len());
            assert!(is_there, "{wanted:?} in {found:?}");
        }
        assert!(found.contains(&vec![a]));
    }

    #[test]
    fn values_become_simpler_once() {
        assert_eq!(simpler_assignments("x += y * 3u;"), ["x += 1u;", "x += lid;", "x += v0;"]);
        assert!(simpler_assignments("x = lid;").is_empty());
        assert!(simpler_assignments("return;").is_empty());
    }
}
