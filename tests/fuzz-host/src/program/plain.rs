//! Statements of simple kernels, which transformations are for.

use super::expressions::INPUT_ELEMENTS;
use super::generator::Generator;
use super::scope::{Context, Scope};
use super::tree::Statement;

impl Generator {
    /// A statement without control flow.
    pub(super) fn straight_statement(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        match self.random.below(12) {
            0 => vec![self.assignment(scope, context)],
            1 | 9 => vec![self.arithmetic(scope)],
            2 | 10 if !scope.outputs.is_empty() => self.neighbouring_stores(scope),
            2..=5 => vec![self.output(scope)],
            6 => vec![self.shared_store(scope).unwrap_or_else(|| self.output(scope))],
            7 if context.is_uniform && self.has_barriers => self.barrier(scope),
            8 => self.scattered_array(scope),
            _ => self.private_statement(scope, context),
        }
    }

    /// So much to compute that vectors are worth it, whatever is stored.
    fn arithmetic(&mut self, scope: &Scope) -> Statement {
        let x = self.random.pick(&scope.variables);
        let mut text = String::new();
        for _ in 0..self.random.between(4, 12) {
            let shift = self.random.pick(&["<< 13", ">> 17", "<< 5", ">> 7", "<< 11"]);
            text.push_str(&format!("{x} ^= {x} {shift}; {x} += lid; "));
        }
        Statement::simple(format!("{{ {text}}}"))
    }

    /// Stores to all output elements of the work-item, which may be joined, and loads between them of what was stored.
    fn neighbouring_stores(&mut self, scope: &Scope) -> Vec<Statement> {
        let stored = self.random.pick(&scope.outputs);
        let read = self.random.pick(&scope.outputs);
        let variable = self.random.pick(&scope.variables);
        let mut statements = Vec::new();
        for slot in 0..self.slots {
            let value = self.varying(scope, 1);
            let element = self.wide_element(&stored, u64::from(slot));
            statements.push(Statement::simple(format!("{element} = {value};")));
            if self.random.percent(60) {
                let before = self.random.below(u64::from(slot).saturating_add(1));
                let element = self.wide_element(&read, before);
                statements.push(Statement::simple(format!("{variable} += {element} * 3u;")));
            }
        }
        statements
    }

    /// The output element in the slot `slot` of the work-item, by a number of 64 bits.
    fn wide_element(&self, pointer: &str, slot: u64) -> String {
        if self.is_interleaved {
            format!("{pointer}[wide * {}u + {slot}u]", self.slots)
        } else {
            format!("{pointer}[{slot}u * total + wide]")
        }
    }

    /// A private array of which work-items access different elements, at no index that compilers know.
    fn scattered_array(&mut self, scope: &Scope) -> Vec<Statement> {
        let array = self.name("s");
        let variable = self.random.pick(&scope.variables);
        let first = self.varying(scope, 1);
        let second = self.varying(scope, 1);
        vec![
            Statement::simple(format!("uint {array}[8];")),
            Statement::simple(format!("{array}[t & 7u] = {first};")),
            Statement::simple(format!("{array}[(t + 1u) & 7u] = {second};")),
            Statement::simple(format!("{variable} += {array}[(t + (n & 1u)) & 7u];")),
        ]
    }

    /// A loop of numbers, alone, under a divergent condition, or in another loop.
    pub(super) fn plain_loop(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        if context.is_uniform && self.has_barriers && self.random.percent(20) {
            return self.barrier(scope);
        }
        let inner = match self.random.below(6) {
            0 | 1 => self.loop_that_computes(scope),
            2 => self.loop_with_one_count(scope),
            3 => self.loop_side_by_side(scope),
            4 => self.loop_that_stores(scope),
            _ => return vec![self.assignment(scope, context)],
        };
        let mut body = vec![inner];
        if self.random.percent(30) {
            body.push(self.assignment(scope, context.divergent()));
        }
        let head = match self.random.below(6) {
            0 | 1 => format!("if ({})", self.condition(scope, 1)),
            2 => {
                let counter = self.name("r");
                format!("for (uint {counter} = 0u; {counter} < (t & 3u) + 1u; {counter}++)")
            }
            _ => return body,
        };
        vec![Statement::nested(head, body)]
    }

    /// A loop that work-items leave one by one, and that writes no memory.
    fn loop_that_computes(&mut self, scope: &Scope) -> Statement {
        let counter = self.name("k");
        let variable = self.random.pick(&scope.variables);
        let other = self.random.pick(&scope.variables);
        let most = self.random.between(3, 40);
        let bits = self.random.pick(&[3u32, 7, 15]);
        let value = self.uniform(scope, 1);
        let step = Statement::simple(format!("{variable} = {variable} * 5u + {other} + {value};"));
        let mut body = vec![step];
        if self.random.percent(40) {
            body.push(Statement::simple(format!("{other} += {counter} ^ {variable};")));
        }
        let head = match self.random.below(3) {
            0 => format!(
                "for (uint {counter} = 0u; {counter} < {most}u && ({variable} & {bits}u) != 1u; {counter}++)"
            ),
            1 => format!("for (uint {counter} = 0u; {counter} < (t & {bits}u) + 1u; {counter}++)"),
            _ => {
                let leave = Statement::simple("break;");
                body.push(Statement::nested(format!("if (({variable} & {bits}u) == 2u)"), vec![leave]));
                format!("for (uint {counter} = 0u; {counter} < {most}u; {counter}++)")
            }
        };
        Statement::nested(head, body)
    }

    /// A loop that all work-items go round equally often.
    fn loop_with_one_count(&mut self, scope: &Scope) -> Statement {
        let counter = self.name("k");
        let variable = self.random.pick(&scope.variables);
        let count = self.uniform(scope, 1);
        let mask = INPUT_ELEMENTS.saturating_sub(1);
        let step = self.random.pick(&["1u", "3u", "n", "64u"]);
        let load = format!("in[(t + {counter} * {step}) & {mask}u]");
        let body = vec![Statement::simple(format!("{variable} = {variable} * 3u + {load};"))];
        Statement::nested(
            format!("for (uint {counter} = 0u; {counter} < (({count}) & 7u); {counter}++)"),
            body,
        )
    }

    /// A loop over elements that lie side by side for neighbours.
    fn loop_side_by_side(&mut self, scope: &Scope) -> Statement {
        let counter = self.name("k");
        let variable = self.random.pick(&scope.variables);
        let last = self.random.pick(&["n * 9u", "items * 3u", "items + n", "100u", "lid + n"]);
        let mask = INPUT_ELEMENTS.saturating_sub(1);
        let mut body = vec![Statement::simple(format!("{variable} += in[{counter} & {mask}u];"))];
        if self.random.percent(40) {
            let element = self.own_element(scope);
            body.push(Statement::simple(format!("{element} ^= {variable} + {counter};")));
        }
        Statement::nested(format!("for (uint {counter} = lid; {counter} < {last}; {counter} += items)"), body)
    }

    /// A loop that work-items leave one by one, and that changes memory in each round.
    fn loop_that_stores(&mut self, scope: &Scope) -> Statement {
        let counter = self.name("k");
        let variable = self.random.pick(&scope.variables);
        let element = self.own_element(scope);
        let value = self.random.pick(&[variable.clone(), counter.clone(), "3u".to_string()]);
        let body = vec![
            Statement::simple(format!("{variable} = {variable} * 5u + {counter};")),
            Statement::simple(format!("{element} = {element} * 3u + {value};")),
        ];
        let head =
            format!("for (uint {counter} = 0u; {counter} < 9u && ({variable} & 7u) != 3u; {counter}++)");
        Statement::nested(head, body)
    }

    /// A value that a comparison of a position chooses.
    pub(super) fn edge_statement(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let position = self.position(scope);
        let edge = match self.random.below(4) {
            0 => self.random.pick(&["0u", "1u", "LSIZE(0) - 1u", "LSIZE(0)", "n", "0xffffffffu"]).to_string(),
            1 => self.random.below(40).to_string() + "u",
            _ => self.uniform(scope, 1),
        };
        let mask = INPUT_ELEMENTS.saturating_sub(1);
        let variable = self.random.pick(&scope.variables);
        let relation = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let signed = self.random.percent(30);
        let (one, other) = if signed {
            (format!("(int)({position})"), format!("(int)({edge})"))
        } else {
            (format!("({position})"), format!("({edge})"))
        };
        let condition = if self.random.percent(50) {
            format!("{one} {relation} {other}")
        } else {
            format!("{other} {relation} {one}")
        };
        let load = match self.random.below(4) {
            0 => format!("in[MIN({position}, {edge}) & {mask}u]"),
            1 => format!("in[MAX({position}, {edge}) & {mask}u]"),
            2 => format!("in[SUB_SAT({position}, {edge}) & {mask}u]"),
            _ => format!("in[({position}) & {mask}u]"),
        };
        if context.is_uniform && self.has_barriers && self.random.percent(50) {
            // The index is live across the barrier.
            let index = self.name("at");
            let mut statements = vec![Statement::simple(format!(
                "const uint {index} = {position} - (({condition}) ? 0u : 1u);"
            ))];
            let store = self.shared_store(scope).unwrap_or_else(|| self.output(scope));
            statements.push(Statement::nested(format!("if ({condition})"), vec![store]));
            statements.extend(self.barrier(scope));
            statements.push(Statement::simple(format!("{variable} += in[{index} & {mask}u];")));
            return statements;
        }
        match self.random.below(3) {
            0 => vec![Statement::nested(
                format!("if ({condition})"),
                vec![Statement::simple(format!("{variable} += {load};"))],
            )],
            1 => vec![Statement::simple(format!("{variable} ^= {condition} ? {load} : 5u;"))],
            _ => {
                vec![Statement::simple(format!("{variable} = {variable} * 3u + {load};")), self.output(scope)]
            }
        }
    }

    /// A number that moves along a row, up or down, and may wrap in it.
    fn position(&mut self, scope: &Scope) -> String {
        let base = self.random.pick(&["LID(0)", "LID(0)", "t", "POSITION(0)"]);
        let by = match self.random.below(3) {
            0 => format!("{}u", self.random.below(20)),
            _ => self.uniform(scope, 1),
        };
        match self.random.below(6) {
            0 => base.to_string(),
            1 | 2 => format!("{base} + {by}"),
            3 | 4 => format!("{base} - {by}"),
            _ => format!("{by} - {base}"),
        }
    }
}
