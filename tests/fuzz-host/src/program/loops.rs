//! Loops of work-items and of groups, and branches around barriers.

use super::generator::Generator;
use super::scope::{Context, Scope};
use super::tree::Statement;

impl Generator {
    /// A loop that has no barrier.
    pub(super) fn work_item_loop(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        match self.random.below(9) {
            0..=2 => self.counted_loop(scope, context),
            3 => self.strided_loop(scope),
            4 => self.search_loop(scope),
            5 => self.loop_of_several_exits(scope, context),
            _ => self.tested_last_loop(scope, context),
        }
    }

    fn counted_loop(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let counter = self.name("i");
        if self.random.percent(15) {
            // Signed, from below zero.
            let body = self.loop_body(scope, Context { in_loop: true, ..context.divergent() });
            let bound = self.random.between(1, 9);
            let start = format!("(long)({}) - 5", self.random.pick(&["lid & 7u", "n & 3u"]));
            let head = format!("for (long {counter} = {start}; {counter} < {bound}; {counter}++)");
            return vec![Statement::nested(head, body)];
        }
        let (count, is_varying) = match self.random.below(6) {
            0 => (format!("{}u", self.random.between(1, 9)), false),
            1 => (format!("({}) % 9u", self.uniform(scope, 1)), false),
            2 if context.depth < 2 => ("lid".to_string(), true),
            3 => (format!("({}) % 13u", self.equal_by_value(scope)), false),
            _ => (format!("({}) % 11u", self.varying(scope, 1)), true),
        };
        let step = self.random.pick(&["++", " += 2u", " += 3u"]);
        let head = format!("for (uint {counter} = 0u; {counter} < {count}; {counter}{step})");
        let mut inner_scope = scope.clone();
        if is_varying {
            inner_scope.varying_values.push(counter)
        } else {
            inner_scope.uniform_values.push(counter)
        }
        // The count may be assigned in the loop: it is computed again in each round, and stays below its bound.
        let inner = Context { in_loop: true, ..context.divergent() };
        let body = self.loop_body(&mut inner_scope, inner);
        vec![Statement::nested(head, body)]
    }

    /// Mostly few and simple statements: loops with them are the ones that are interchanged with those of work-items.
    fn loop_body(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        if self.random.percent(45) {
            return self.block(scope, context);
        }
        let mut body = Vec::new();
        for _ in 0..self.random.between(1, 3) {
            body.push(match self.random.below(4) {
                0 => self.output(scope),
                _ => self.assignment(scope, context),
            });
        }
        if self.random.percent(30) {
            let condition = self.condition(scope, 1);
            let statement = self.assignment(scope, context);
            body.push(Statement::nested(format!("if ({condition})"), vec![statement]));
        }
        body
    }

    /// Neighbours read, and write, side by side.
    fn strided_loop(&mut self, scope: &mut Scope) -> Vec<Statement> {
        let counter = self.name("j");
        let bound = self.random.between(1, 250);
        let variable = self.random.pick(&scope.variables);
        let value = self.varying(scope, 1);
        let place = self.random.pick(&["lid", "t"]);
        let near = format!("{variable} += in[{counter} & 1023u] * ({value});");
        let far = format!("{variable} ^= in[({place} * 64u + {counter}) & 1023u];");
        let (head, statement) = match self.random.below(3) {
            0 => (format!("for (uint {counter} = 0u; {counter} < 16u; {counter}++)"), far),
            1 => (format!("for (uint {counter} = lid; {counter} < {bound}u; {counter} += 32u)"), near),
            _ => (
                format!("for (uint {counter} = 0u; {counter} < {}u; {counter}++)", bound % 20),
                format!("{variable} += in[({place} + {counter}) & 1023u];"),
            ),
        };
        vec![Statement::nested(head, vec![Statement::simple(statement)])]
    }

    /// Data that other data leads to decides what is stored.
    fn search_loop(&mut self, scope: &mut Scope) -> Vec<Statement> {
        let counter = self.name("j");
        let start = self.random.pick(&scope.variables);
        let bound = format!("{}u", self.random.below(40).saturating_mul(1600));
        let found = format!("in[in[({start} + {counter}) & 1023u] & 1023u]");
        let comparison = self.random.pick(&["<", ">", "=="]);
        let mut stores = vec![self.output(scope)];
        if self.random.percent(50) {
            stores.push(self.output(scope));
        }
        if self.random.percent(40) {
            let variable = self.random.pick(&scope.variables);
            stores
                .push(Statement::simple(format!("{variable} = {};", self.random.pick(&["5u", "n", "lid"]))));
        }
        let mut body = vec![Statement::nested(format!("if ({found} {comparison} {bound})"), stores)];
        if self.random.percent(40) {
            let otherwise = vec![self.output(scope)];
            body.push(Statement::nested("else", otherwise));
        }
        if self.random.percent(40) {
            body.push(self.output(scope));
        }
        vec![Statement::nested(format!("for (uint {counter} = 0u; {counter} < 9u; {counter}++)"), body)]
    }

    fn loop_of_several_exits(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let counter = self.name("x");
        let inner = Context { in_loop: true, ..context.divergent() };
        let mut inner_scope = scope.clone();
        inner_scope.varying_values.push(counter.clone());
        let step = self.random.below(3);
        let variable = self.random.pick(&scope.variables);
        let mut body = vec![Statement::simple(format!("{counter} += 1u + ({variable} & {step}u);"))];
        for _ in 0..self.random.between(1, 3) {
            body.extend(self.leave(&mut inner_scope, inner));
            body.extend(self.loop_body(&mut inner_scope, inner));
        }
        let condition = match self.random.below(3) {
            0 => format!("{counter} < 20u"),
            1 => format!("{counter} < 20u && {}", self.always(scope)),
            _ => format!("{counter} < lid + 3u"),
        };
        let start = Statement::simple(format!("uint {counter} = 0u;"));
        vec![Statement::nested("", vec![start, Statement::nested(format!("while ({condition})"), body)])]
    }

    /// `do`, with exits that are never taken, or are.
    fn tested_last_loop(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let counter = self.name("x");
        let step = self.random.between(1, 5);
        let inner = Context { in_loop: true, ..context.divergent() };
        let mut inner_scope = scope.clone();
        inner_scope.varying_values.push(counter.clone());
        let mut body = vec![Statement::simple(format!("{counter} += {step}u;"))];
        if self.random.percent(40) {
            body.extend(self.loop_body(&mut inner_scope, inner));
        }
        if self.random.percent(70) {
            let way = if context.in_kernel {
                self.random.pick(&["return;", "return;", "break;"])
            } else {
                "break;"
            };
            let exit = self.never_leave(&inner_scope, way);
            body.push(exit);
        }
        if self.random.percent(30) {
            body.extend(self.leave(&mut inner_scope, inner));
        }
        let condition = match self.random.below(4) {
            0 => format!("{counter} < ({}) % 23u", self.uniform(scope, 1)),
            1 => format!("{counter} < ({}) % 23u", self.varying(scope, 1)),
            2 => format!("{counter} < 9u && {}", self.condition(scope, 1)),
            _ => format!("{counter} < (lid & 63u) * 2u"),
        };
        let variable = self.random.pick(&scope.variables);
        let construct =
            Statement::Nested { head: "do".to_string(), body, tail: format!("}} while ({condition});") };
        let start = Statement::simple(format!("uint {counter} = 0u;"));
        let result = Statement::simple(format!("{variable} += {counter};"));
        vec![Statement::nested("", vec![start, construct, result])]
    }

    /// A number below four that is equal for the group.
    fn group_count(&mut self, scope: &Scope) -> String {
        match self.random.below(3) {
            0 => format!("{}u", self.random.between(1, 3)),
            1 => format!("({}) % 4u", self.uniform(scope, 1)),
            _ => format!("({}) % 4u", self.equal_by_value(scope)),
        }
    }

    /// A loop in whose rounds all work-items of the group wait.
    pub(super) fn barrier_loop(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let counter = self.name("r");
        let before = scope.clone();
        let count = self.group_count(scope);
        let bound = self.name("bound");
        let mut inner_scope = scope.clone();
        inner_scope.uniform_values.push(counter.clone());
        let inner = Context { in_loop: false, ..context.nested() };
        let mut body = Vec::new();
        if self.random.percent(40) {
            let way = self.barrier_loop_exit(context);
            body.push(self.never_leave(&inner_scope, &way));
        }
        body.extend(self.barrier(&mut inner_scope));
        body.extend(self.block(&mut inner_scope, inner));
        body.extend(self.barrier_back(&mut inner_scope, &before));
        if self.random.percent(40) {
            let way = self.barrier_loop_exit(context);
            body.push(self.never_leave(&inner_scope, &way));
        }
        let start = vec![Statement::simple(format!("uint {bound} = {count};"))];
        match self.random.below(4) {
            0 => self.barrier_loop_tested_last(&counter, &bound, start, body, &inner_scope),
            1 => self.barrier_loop_of_goto(&counter, &bound, start, body),
            _ => {
                let mut condition = format!("{counter} < {bound}");
                if self.random.percent(30) {
                    condition.push_str(&format!(" && {}", self.always(&before)));
                }
                let mut head = format!("for (uint {counter} = 0u; {condition}; {counter}++)");
                if self.random.percent(25) {
                    let end =
                        Statement::nested(format!("if (!({condition}))"), vec![Statement::simple("break;")]);
                    body.insert(0, end);
                    head = format!("for (uint {counter} = 0u;; {counter}++)");
                }
                let mut statements = start;
                statements.push(Statement::nested(head, body));
                vec![Statement::nested("", statements)]
            }
        }
    }

    /// A scan of the group between two local arrays, whose pointers are swapped in each round.
    pub(super) fn double_buffered_loop(
        &mut self,
        scope: &mut Scope,
        buffers: &[String; 2],
    ) -> Vec<Statement> {
        let [ping, pong] = buffers;
        let front = self.name("front");
        let back = self.name("back");
        let counter = self.name("d");
        let count = self.group_count(scope);
        let variable = self.random.pick(&scope.variables);
        let value = self.varying(scope, 1);
        let mut round = vec![
            Statement::simple(format!(
                "{back}[lid] = {front}[lid] + (lid >= {counter} ? {front}[lid - {counter}] : 3u);"
            )),
            Statement::simple("BARRIER();"),
            Statement::simple(format!("LOCAL uint *other = {front};")),
            Statement::simple(format!("{front} = {back};")),
            Statement::simple(format!("{back} = other;")),
        ];
        if self.random.percent(30) {
            round.push(self.never_leave(scope, "break;"));
        }
        let head = format!("for (uint {counter} = 1u; {counter} <= {count}; {counter} *= 2u)");
        let scan = vec![
            Statement::simple(format!("LOCAL uint *{front} = {ping};")),
            Statement::simple(format!("LOCAL uint *{back} = {pong};")),
            Statement::simple(format!("{front}[lid] = {value};")),
            Statement::simple("BARRIER();"),
            Statement::nested(head, round),
            Statement::simple(format!("{variable} += {front}[lid];")),
        ];
        let mut statements = self.barrier(scope);
        statements.push(Statement::nested("", scan));
        // The next scan begins with the first array, whichever this one has ended with.
        statements.extend(self.barrier(scope));
        statements
    }

    fn barrier_loop_exit(&mut self, context: Context) -> String {
        if context.in_kernel {
            self.random.pick(&["return;", "break;"]).to_string()
        } else {
            "break;".to_string()
        }
    }

    fn barrier_loop_tested_last(
        &mut self,
        counter: &str,
        bound: &str,
        mut start: Vec<Statement>,
        mut body: Vec<Statement>,
        scope: &Scope,
    ) -> Vec<Statement> {
        start.push(Statement::simple(format!("uint {counter} = 0u;")));
        body.push(Statement::simple(format!("{counter}++;")));
        let mut condition = format!("{counter} < {bound}");
        if self.random.percent(40) {
            condition.push_str(&format!(" && !({})", self.never(scope)));
        }
        let tail = format!("}} while ({condition});");
        start.push(Statement::Nested { head: "do".to_string(), body, tail });
        vec![Statement::nested("", start)]
    }

    fn barrier_loop_of_goto(
        &mut self,
        counter: &str,
        bound: &str,
        mut start: Vec<Statement>,
        body: Vec<Statement>,
    ) -> Vec<Statement> {
        let label = self.name("again");
        let end = self.name("done");
        start.push(Statement::simple(format!("uint {counter} = 0u;")));
        start.push(Statement::simple(format!("{label}: ;")));
        start.push(Statement::nested("", body.into_iter().map(|one| with_jump(one, &end)).collect()));
        start.push(Statement::simple(format!("if (++{counter} < {bound}) goto {label};")));
        start.push(Statement::simple(format!("{end}: ;")));
        vec![Statement::nested("", start)]
    }

    /// A branch around barriers that all work-items of the group take alike.
    pub(super) fn barrier_branch(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let before = scope.clone();
        let condition = match self.random.below(4) {
            0 => self.always(scope),
            1 => self.never(scope),
            2 => format!("({}) % 2u == 1u", self.equal_by_value(scope)),
            _ => self.uniform_condition(scope),
        };
        let inner = Context { in_loop: false, ..context.nested() };
        if self.random.percent(25) {
            return self.barrier_switch(scope, inner);
        }
        let then = self.guarded_block(scope, inner, &before);
        let mut statements = vec![Statement::nested(format!("if ({condition})"), then)];
        if self.random.percent(40) {
            let otherwise = self.guarded_block(scope, inner, &before);
            statements.push(Statement::nested("else", otherwise));
        }
        statements
    }

    fn barrier_switch(&mut self, scope: &mut Scope, inner: Context) -> Vec<Statement> {
        let before = scope.clone();
        let value = match self.random.below(2) {
            0 => self.uniform(scope, 1),
            _ => self.equal_by_value(scope),
        };
        let mut cases = Vec::new();
        for label in ["case 0u:", "case 2u:", "default:"] {
            cases.push(Statement::simple(label));
            cases.extend(self.guarded_block(scope, inner, &before));
            if self.random.percent(75) {
                cases.push(Statement::simple("break;"));
            }
        }
        vec![Statement::nested(format!("switch (({value}) & 3u)"), cases)]
    }

    /// Statements between two barriers, behind which shared memory is used as before.
    fn guarded_block(&mut self, scope: &mut Scope, inner: Context, before: &Scope) -> Vec<Statement> {
        let mut body = Vec::new();
        if self.random.percent(30) {
            let statement = self.assignment(scope, inner);
            body.push(statement);
        }
        body.extend(self.barrier(scope));
        body.extend(self.block(scope, inner));
        body.extend(self.barrier_back(scope, before));
        body
    }
}

/// `statement` in a loop of `goto`, where `break` has no meaning.
fn with_jump(statement: Statement, end: &str) -> Statement {
    match statement {
        Statement::Nested { head, body, tail } if body == [Statement::simple("break;")] => {
            Statement::Nested { head, body: vec![Statement::simple(format!("goto {end};"))], tail }
        }
        other => other,
    }
}
