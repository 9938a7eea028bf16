//! Declarations of a kernel: private variables of every kind, local memory, and their first values.

use super::expressions::INPUT_ELEMENTS;
use super::generator::{Generator, Style};
use super::scope::{PRIVATE_ELEMENTS, Scope};
use super::shared::{Mode, Shared};
use super::tree::Statement;
use crate::case::Language;

impl Generator {
    /// Variables, which all have a value.
    pub(super) fn declare(&mut self, scope: &mut Scope, body: &mut Vec<Statement>) {
        scope.variables.push("v0".to_string());
        body.push(Statement::simple("uint v0 = lid * 3u;"));
        for number in 1..self.random.between(2, 5) {
            let value = self.varying(scope, 1);
            body.push(Statement::simple(format!("uint v{number} = {value};")));
            scope.variables.push(format!("v{number}"));
        }
        for number in 0..self.random.between(1, 2) {
            let value = self.uniform(scope, 1);
            body.push(Statement::simple(format!("uint u{number} = {value};")));
            scope.uniform_variables.push(format!("u{number}"));
        }
        // Loops over work-items with anything else seldom become vectors.
        let has_numbers_alone = match self.style {
            Style::General => false,
            Style::Straight => self.random.percent(70),
            Style::Loops | Style::Edges => true,
        };
        if has_numbers_alone {
            return;
        }
        if self.random.percent(50) {
            self.declare_arrays(scope, body);
        }
        if self.random.percent(20) {
            let ty = self.random.pick(&["unsigned char", "unsigned short"]);
            body.push(Statement::simple(format!("{ty} h0[{PRIVATE_ELEMENTS}];")));
            let fill = Statement::simple("h0[i] = i * 37u + lid;");
            let head = format!("for (uint i = 0u; i < {PRIVATE_ELEMENTS}u; i++)");
            body.push(Statement::nested(head, vec![fill]));
            scope.narrow_arrays.push("h0".to_string());
        }
        if self.random.percent(25) {
            let value = self.varying(scope, 1);
            body.push(Statement::simple(format!("uint4 q0 = MAKE4(lid, {value}, n, v0);")));
            scope.vectors.push("q0".to_string());
        }
        if self.random.percent(25) {
            let value = self.varying(scope, 1);
            body.push(Statement::simple(format!("ulong z0 = w * ({value});")));
            scope.longs.push("z0".to_string());
        }
        if self.random.percent(20) {
            let value = self.varying(scope, 0);
            body.push(Statement::simple(format!("float f0 = (float)(({value}) & 255u);")));
            scope.floats.push("f0".to_string());
        }
        if self.random.percent(25) {
            let value = self.condition(scope, 1);
            body.push(Statement::simple(format!("bool b0 = {value};")));
            scope.bools.push("b0".to_string());
        }
        if self.random.percent(20) {
            self.declare_structure(scope, body);
        }
    }

    pub(super) fn declare_arrays(&mut self, scope: &mut Scope, body: &mut Vec<Statement>) {
        for name in ["a0", "a1"] {
            let value = self.varying(scope, 1);
            body.push(Statement::simple(format!("uint {name}[{PRIVATE_ELEMENTS}];")));
            let fill = Statement::simple(format!("{name}[i] = i * 5u + ({value});"));
            body.push(Statement::nested(
                format!("for (uint i = 0u; i < {PRIVATE_ELEMENTS}u; i++)"),
                vec![fill],
            ));
            scope.arrays.push(name.to_string());
        }
        if self.random.percent(50) {
            let condition = self.condition(scope, 0);
            body.push(Statement::simple(format!("uint *p0 = {condition} ? a0 : a1;")));
            scope.arrays.push("p0".to_string());
            scope.pointers.push("p0".to_string());
        }
        if self.random.percent(30) {
            // Pointers in memory, where no analysis follows them.
            body.push(Statement::simple("uint *pp[2];"));
            body.push(Statement::simple("pp[lid & 1u] = a0;"));
            body.push(Statement::simple("pp[(lid & 1u) ^ 1u] = a1;"));
            scope.arrays.push("pp[n & 1u]".to_string());
            scope.arrays.push("pp[v0 & 1u]".to_string());
        }
    }

    pub(super) fn declare_structure(&mut self, scope: &mut Scope, body: &mut Vec<Statement>) {
        let name = "S@";
        let fields = ["uint a;", "uint4 v;", "ulong b;", "uint c[3];"].map(Statement::simple);
        let mut structure = Statement::nested(format!("struct {name}"), fields.to_vec());
        if let Statement::Nested { tail, .. } = &mut structure {
            *tail = "};".to_string();
        }
        self.globals.push(structure);
        body.push(Statement::simple(format!("struct {name} s0;")));
        for field in ["s0.a = v0;", "s0.v = MAKE4(lid, t, n, v0);", "s0.b = w;", "s0.c[0] = lid;"] {
            body.push(Statement::simple(field));
        }
        body.push(Statement::simple("s0.c[1] = v0 + 1u;"));
        body.push(Statement::simple("s0.c[2] = n;"));
        scope.structures.push("s0".to_string());
    }

    pub(super) fn declare_shared(&mut self, elements: u64, scope: &mut Scope, body: &mut Vec<Statement>) {
        let tile = self.name("tile");
        if self.language == Language::Cpp {
            self.globals.push(Statement::simple(format!("static LOCAL uint {tile}[{elements}];")));
        } else {
            body.push(Statement::simple(format!("LOCAL uint {tile}[{elements}];")));
        }
        let mut accesses = vec![format!("{tile}[")];
        if self.language == Language::OpenClC && self.random.percent(40) {
            accesses.push("scratch[".to_string());
        }
        if self.random.percent(40) {
            body.push(Statement::simple(format!("GLOBAL uint *part = data + g * {elements}u;")));
            accesses.push("part[".to_string());
        }
        for access in accesses {
            scope.shared.push(Shared { access, elements, mode: Mode::Closed });
        }
        if self.random.percent(25) {
            let names = [self.name("ping"), self.name("pong")];
            for name in &names {
                if self.language == Language::Cpp {
                    self.globals.push(Statement::simple(format!("static LOCAL uint {name}[{elements}];")));
                } else {
                    body.push(Statement::simple(format!("LOCAL uint {name}[{elements}];")));
                }
            }
            scope.buffers = Some(names);
        }
    }

    /// Writes every element of local memory, and waits.
    pub(super) fn initialisation(&mut self, scope: &mut Scope) -> Vec<Statement> {
        let mut body = Vec::new();
        for shared in scope.shared.clone() {
            let elements = shared.elements;
            let value = format!("in[(i * 7u + g) & {}u]", INPUT_ELEMENTS.saturating_sub(1));
            let store = Statement::simple(format!("{} = {value};", shared.element("i")));
            body.push(Statement::nested(
                format!("for (uint i = lid; i < {elements}u; i += items)"),
                vec![store],
            ));
        }
        body.extend(self.barrier(scope));
        body
    }
}
