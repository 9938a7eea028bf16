//! The generator of kernels.

use super::expressions::{INPUT_ELEMENTS, N};
use super::random::Random;
use super::scope::{Context, PRIVATE_ELEMENTS, Scope};
use super::shared::{Mode, random_mode};
use super::tree::{Program, Statement};
use crate::case::{CaseArg, Language, Range};

/// The deepest nesting of constructs.
const MAX_DEPTH: u32 = 4;
/// Elements of the last buffer that all groups count in, behind the parts of groups.
const COUNTERS: u64 = 4;

/// The program with this number of the sequence that `seed` begins.
pub fn generate(seed: u64, number: u64, language: Language) -> Program {
    let mut random = Random::new(seed, number);
    let is_large = random.percent(3);
    let mut range = random_range(&mut random, language);
    if is_large {
        range.global = range.local;
        range.global[0] = range.local[0].saturating_mul(64);
    }
    let style = random.pick(&[
        Style::General,
        Style::General,
        Style::General,
        Style::General,
        Style::General,
        Style::Straight,
        Style::Loops,
        Style::Edges,
        Style::Edges,
    ]);
    let generator = Generator {
        style,
        has_barriers: random.percent(if style == Style::Edges { 50 } else { 75 }),
        prints: random.percent(6),
        is_interleaved: random.percent(60),
        slots: random.pick(&[1u32, 2, 4, 8]),
        random,
        number,
        language,
        names: 0,
        helpers: Vec::new(),
        globals: Vec::new(),
        budget: 0,
    };
    generator.program(range, is_large)
}

/// What a program is full of. Most transformations are for simple kernels, and what a general one has rules them out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    #[default]
    General,
    /// Statements without control flow, of which loops over work-items become vectors.
    Straight,
    /// Loops of numbers, which can be interchanged with the loop over work-items.
    Loops,
    /// Comparisons of positions.
    Edges,
}

/// What a program is made from.
#[derive(Debug)]
pub(super) struct Generator {
    pub(super) random: Random,
    pub(super) number: u64,
    pub(super) language: Language,
    pub(super) style: Style,
    /// Whether the kernel has barriers.
    pub(super) has_barriers: bool,
    pub(super) prints: bool,
    /// Whether the output elements of a work-item lie side by side.
    pub(super) is_interleaved: bool,
    /// Output elements of each work-item.
    pub(super) slots: u32,
    pub(super) names: u64,
    pub(super) helpers: Vec<Statement>,
    pub(super) globals: Vec<Statement>,
    /// So many statements may still be made.
    pub(super) budget: u32,
}

/// Groups of at most 128 work-items in all, with sizes that are no multiple of a vector, too.
fn random_range(random: &mut Random, language: Language) -> Range {
    let local = match random.below(10) {
        0 | 1 => [random.pick(&[2u64, 4, 5]), random.pick(&[2u64, 3, 8]), 1],
        2 => [random.pick(&[1u64, 4, 16]), random.pick(&[1u64, 2]), random.pick(&[2u64, 3])],
        _ => [random.pick(&[1u64, 3, 5, 8, 16, 16, 17, 24, 32, 33, 48, 64, 100]), 1, 1],
    };
    let dimensions = if local[2] > 1 { 3 } else { 1 + usize::from(local[1] > 1) };
    let mut global = local;
    for (size, dimension) in global.iter_mut().zip(0..dimensions) {
        let most = if dimension == 0 { 4 } else { 2 };
        *size = size.saturating_mul(random.between(1, most));
    }
    let mut offset = [0; 3];
    if language == Language::OpenClC && random.percent(35) {
        for (offset, _) in offset.iter_mut().zip(0..dimensions) {
            *offset = random.pick(&[0u64, 1, 5, 64, 0x7fff_fff0, 0x7fff_ffff, 0xffff_fff8]);
        }
    }
    Range { dimensions, offset, global, local }
}

impl Generator {
    fn program(mut self, range: Range, is_large: bool) -> Program {
        let items: u64 = range.local.iter().product();
        let total: u64 = range.global.iter().product();
        let groups = total.checked_div(items).unwrap_or(1);
        let elements = items.next_power_of_two().max(16);
        let mut scope = Scope::default();
        let mut body = self.prologue(range, elements, &mut scope);
        let context =
            Context { is_uniform: true, may_return: false, in_loop: false, depth: 0, in_kernel: true };
        let (fewest, most) = if self.style == Style::General { (6, 26) } else { (1, 6) };
        self.budget = u32::try_from(self.random.between(fewest, most)).unwrap_or(6);
        if self.has_barriers {
            body.extend(self.initialisation(&mut scope));
            body.extend(self.block(&mut scope, context));
        }
        // No barrier follows: work-items may return one by one.
        let (fewest, most) = if self.style == Style::General { (3, 14) } else { (2, 6) };
        self.budget = u32::try_from(self.random.between(fewest, most)).unwrap_or(3);
        let tail = Context { is_uniform: false, may_return: true, ..context };
        body.extend(self.block(&mut scope, tail));
        if is_large {
            // Groups on several threads meet here.
            let first = groups.saturating_mul(elements);
            let counter = format!("data[{first}u + (lid & 1u)]");
            let add = Statement::simple(format!("ATOMIC_ADD(&{counter}, 1u + (v0 & 3u));"));
            body.push(Statement::nested("for (uint i = 0u; i < 40u; i++)", vec![add]));
        }
        body.extend(self.epilogue(&scope));
        let mut random = self.random.clone();
        let buffers = vec![
            words(&mut random, total.saturating_mul(u64::from(self.slots))),
            words(&mut random, INPUT_ELEMENTS),
            words(&mut random, groups.saturating_mul(elements).saturating_add(COUNTERS)),
        ];
        let most = u32::try_from(total).unwrap_or(u32::MAX);
        let mut args = vec![
            CaseArg::Buffer(0),
            CaseArg::Buffer(0),
            CaseArg::Buffer(1),
            CaseArg::Buffer(2),
            CaseArg::Value(vec![N]),
            CaseArg::Value(vec![most]),
            CaseArg::Value(vec![0x1234_5678, 0x9abc_def0]),
        ];
        if self.language == Language::OpenClC {
            args.push(CaseArg::Local(usize::try_from(elements).unwrap_or(0)));
        }
        Program {
            number: self.number,
            language: self.language,
            globals: self.globals,
            helpers: self.helpers,
            body,
            buffers,
            args,
            range,
        }
    }

    /// A name that no other thing of the program has.
    pub(super) fn name(&mut self, stem: &str) -> String {
        self.names = self.names.saturating_add(1);
        format!("{stem}@_{}", self.names)
    }

    /// Positions, and the variables of the kernel.
    fn prologue(&mut self, range: Range, elements: u64, scope: &mut Scope) -> Vec<Statement> {
        let mut body = Vec::new();
        let [width, height, _] = range.global;
        let (lid, group, t) = match range.dimensions {
            1 => ("LID(0)".to_string(), "GROUP(0)".to_string(), position(range, 0)),
            2 => (
                "LID(1) * LSIZE(0) + LID(0)".to_string(),
                "GROUP(1) * GROUPS(0) + GROUP(0)".to_string(),
                format!("{} * {width}u + {}", position(range, 1), position(range, 0)),
            ),
            _ => (
                "(LID(2) * LSIZE(1) + LID(1)) * LSIZE(0) + LID(0)".to_string(),
                "(GROUP(2) * GROUPS(1) + GROUP(1)) * GROUPS(0) + GROUP(0)".to_string(),
                format!(
                    "({} * {height}u + {}) * {width}u + {}",
                    position(range, 2),
                    position(range, 1),
                    position(range, 0)
                ),
            ),
        };
        body.push(Statement::simple(format!("uint lid = {lid};")));
        body.push(Statement::simple(format!("uint g = {group};")));
        body.push(Statement::simple(format!("uint t = {t};")));
        // Compilers know of its multiples that they do not wrap.
        let wide = match range.dimensions {
            1 => format!("WIDE_POSITION(0) - {}ul", range.offset[0]),
            _ => "t".to_string(),
        };
        body.push(Statement::simple(format!("ulong wide = {wide};")));
        body.push(Statement::simple("uint items = LSIZE(0) * LSIZE(1) * LSIZE(2);"));
        body.push(Statement::simple("uint total = m;"));
        for value in ["n", "n", "g", "items", "LSIZE(0)", "GROUP(0)", "(uint)w"] {
            scope.uniform_values.push(value.to_string());
        }
        for value in ["lid", "t", "LID(0)", "POSITION(0)", "t"] {
            scope.varying_values.push(value.to_string());
        }
        scope.outputs = vec!["out".to_string()];
        if self.random.percent(50) {
            scope.outputs.push("alias".to_string());
        }
        if self.random.percent(30) {
            body.push(Statement::simple(format!("GLOBAL uint *own = out + (n - {N}u);")));
            scope.outputs.push("own".to_string());
        }
        if self.random.percent(25) {
            // A guard that every work-item passes, and one that a whole group may fail.
            let guard = if self.has_barriers {
                self.random.pick(&["t >= m", "g == 3u", "t + n > m + n"])
            } else {
                self.random.pick(&["t >= m", "g == 3u", "t + n > m", "POSITION(0) == n"])
            };
            body.push(Statement::nested(format!("if ({guard})"), vec![Statement::simple("return;")]));
        }
        self.declare(scope, &mut body);
        if self.has_barriers {
            self.declare_shared(elements, scope, &mut body);
        }
        body
    }

    /// A barrier, behind which shared memory is used in other ways.
    pub(super) fn barrier(&mut self, scope: &mut Scope) -> Vec<Statement> {
        for shared in &mut scope.shared {
            shared.mode = random_mode(&mut self.random, shared.elements);
        }
        vec![Statement::simple("BARRIER();")]
    }

    /// A barrier behind which shared memory is used as it was in `before`.
    pub(super) fn barrier_back(&mut self, scope: &mut Scope, before: &Scope) -> Vec<Statement> {
        scope.shared.clone_from(&before.shared);
        vec![Statement::simple("BARRIER();")]
    }

    /// Writes all variables to the output, so that each is live to the end.
    fn epilogue(&mut self, scope: &Scope) -> Vec<Statement> {
        let mut sum: Vec<String> = scope.variables.clone();
        sum.extend(scope.uniform_variables.iter().cloned());
        sum.extend(scope.arrays.iter().map(|array| format!("{array}[lid & 7u]")));
        sum.extend(scope.narrow_arrays.iter().map(|array| format!("(uint){array}[t & 7u]")));
        sum.extend(scope.vectors.iter().map(|vector| format!("{vector}.x + {vector}.w")));
        sum.extend(scope.longs.iter().map(|long| format!("(uint)({long} >> 9)")));
        sum.extend(scope.floats.iter().map(|float| format!("(uint){float}")));
        sum.extend(scope.bools.iter().map(|bool| format!("({bool} ? 77u : 0u)")));
        sum.extend(scope.structures.iter().map(|name| format!("{name}.a + {name}.v.z + (uint){name}.b")));
        let keep = self.random.percent(85);
        sum.retain(|_| keep || self.random.percent(50));
        sum.push("n".to_string());
        let own = self.own_element(scope);
        vec![Statement::simple(format!("{own} += {};", sum.join(" + ")))]
    }

    /// Statements in sequence.
    pub(super) fn block(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let mut statements = Vec::new();
        let count = match context.depth {
            0 => u64::from(self.budget),
            _ => self.random.between(1, 4),
        };
        for _ in 0..count {
            if self.budget == 0 {
                break;
            }
            self.budget = self.budget.saturating_sub(1);
            statements.extend(self.statement(scope, context));
        }
        if statements.is_empty() {
            statements.push(self.assignment(scope, context));
        }
        statements
    }

    pub(super) fn statement(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        match self.style {
            Style::General => {}
            Style::Straight => return self.straight_statement(scope, context),
            Style::Loops => return self.plain_loop(scope, context),
            Style::Edges => return self.edge_statement(scope, context),
        }
        let is_deep = context.depth >= MAX_DEPTH;
        let with_barrier = context.is_uniform && self.has_barriers;
        match self.random.below(30) {
            0..=4 => vec![self.assignment(scope, context)],
            5 | 6 => vec![self.output(scope)],
            7 => vec![self.shared_store(scope).unwrap_or_else(|| self.output(scope))],
            8 => self.private_statement(scope, context),
            9..=11 if with_barrier => self.barrier(scope),
            12 | 13 if with_barrier && !is_deep => self.barrier_loop(scope, context),
            14 if with_barrier && !is_deep => self.barrier_branch(scope, context),
            15 if with_barrier => match scope.buffers.clone() {
                Some(buffers) if self.random.percent(60) => self.double_buffered_loop(scope, &buffers),
                _ => vec![self.barrier_helper(scope)],
            },
            16..=18 if !is_deep => self.branch(scope, context),
            19..=23 if !is_deep => self.work_item_loop(scope, context),
            24 if !is_deep => self.switch(scope, context),
            25 if !is_deep => self.forward_goto(scope, context),
            26 => self.leave(scope, context),
            27 => vec![self.helper(scope)],
            28 if self.prints && context.in_kernel => vec![self.print(scope)],
            _ => vec![self.assignment(scope, context)],
        }
    }

    /// Assigns a variable.
    pub(super) fn assignment(&mut self, scope: &mut Scope, context: Context) -> Statement {
        let operator = self.random.pick(&["=", "+=", "^=", "*=", "-="]);
        let is_uniform = context.is_uniform && self.random.percent(25);
        if is_uniform && !scope.uniform_variables.is_empty() {
            let variable = self.random.pick(&scope.uniform_variables);
            let value = self.uniform(scope, 2);
            return Statement::simple(format!("{variable} {operator} {value};"));
        }
        let variable = self.random.pick(&scope.variables);
        if self.random.percent(20) {
            // Uniform as a value, and not where branches of which it is one meet.
            let value = self.uniform(scope, 1);
            return Statement::simple(format!("{variable} = {value};"));
        }
        let value = self.varying(scope, 2);
        Statement::simple(format!("{variable} {operator} {value};"))
    }

    /// Writes an element of the output.
    pub(super) fn output(&mut self, scope: &Scope) -> Statement {
        if scope.outputs.is_empty() {
            let value = self.varying(scope, 2);
            return Statement::simple(format!("v0 += {value};"));
        }
        let element = self.own_element(scope);
        let operator = self.random.pick(&["=", "=", "+=", "^="]);
        let value = self.varying(scope, 2);
        Statement::simple(format!("{element} {operator} {value};"))
    }

    pub(super) fn shared_store(&mut self, scope: &Scope) -> Option<Statement> {
        let value = self.varying(scope, 2);
        let index = self.varying(scope, 1);
        for shared in &scope.shared {
            match &shared.mode {
                Mode::Own(own) => {
                    let operator = self.random.pick(&["=", "+=", "^="]);
                    return Some(Statement::simple(format!("{} {operator} {value};", shared.element(own))));
                }
                Mode::Combine(operation) => {
                    let element = shared.element(&index);
                    return Some(Statement::simple(format!("{operation}(&{element}, ({value}) & 255u);")));
                }
                Mode::Closed | Mode::ReadOnly => {}
            }
        }
        None
    }

    /// Something with private memory, or with a variable of another type.
    pub(super) fn private_statement(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let value = self.varying(scope, 2);
        let mut choices = Vec::new();
        for array in &scope.arrays {
            let mask = PRIVATE_ELEMENTS.saturating_sub(1);
            let index = self.random.pick(&scope.variables);
            choices.push(format!("{array}[{index} & {mask}u] += {value};"));
            choices.push(format!("{array}[{}] = {value};", self.random.below(u64::from(PRIVATE_ELEMENTS))));
        }
        for array in &scope.narrow_arrays {
            let mask = PRIVATE_ELEMENTS.saturating_sub(1);
            let index = self.random.pick(&scope.variables);
            choices.push(format!("{array}[{index} & {mask}u] ^= {value};"));
        }
        for pointer in &scope.pointers {
            choices.push(format!("{pointer} = ({value}) % 3u == 0u ? a0 : a1;"));
        }
        for vector in &scope.vectors {
            choices.push(format!("{vector} = {vector} * 3u + MAKE4({value}, 1u, lid, n);"));
            choices.push(format!("{vector}.z = {value};"));
        }
        for long in &scope.longs {
            choices.push(format!("{long} = {long} * 0x100000001ul + ({value});"));
        }
        for float in &scope.floats {
            choices.push(format!("{float} = {float} * 0.5f + (float)(({value}) & 63u);"));
        }
        for boolean in &scope.bools {
            choices.push(format!("{boolean} = ({value}) % 3u == 1u;"));
        }
        for structure in &scope.structures {
            choices.push(format!("{structure}.c[v0 % 3u] ^= {value};"));
            choices.push(format!("{structure}.b += {value};"));
        }
        if choices.is_empty() {
            return vec![self.assignment(scope, context)];
        }
        vec![Statement::simple(self.random.pick(&choices))]
    }

    fn branch(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let inner = context.divergent();
        let condition = match self.random.below(4) {
            0 => self.uniform_condition(scope),
            1 => self.always(scope),
            _ => self.condition(scope, 2),
        };
        let then = self.block(scope, inner);
        let mut statements = vec![Statement::nested(format!("if ({condition})"), then)];
        if self.random.percent(40) {
            let otherwise = self.block(scope, inner);
            statements.push(Statement::nested("else", otherwise));
        }
        statements
    }

    fn switch(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let value = self.varying(scope, 2);
        let inner = Context { in_loop: false, ..context.divergent() };
        let mut cases = Vec::new();
        for label in ["case 0u:", "case 1u:", "case 5u:", "default:"] {
            cases.push(Statement::simple(label));
            cases.extend(self.block(scope, inner));
            if self.random.percent(70) {
                cases.push(Statement::simple("break;"));
            }
        }
        vec![Statement::nested(format!("switch (({value}) & 7u)"), cases)]
    }

    /// Jumps over statements.
    fn forward_goto(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let label = self.name("skip");
        let inner = context.divergent();
        let condition = self.condition(scope, 1);
        let jump = Statement::simple(format!("goto {label};"));
        let mut statements = vec![Statement::nested(format!("if ({condition})"), vec![jump.clone()])];
        let mut skipped = self.block(scope, inner);
        if self.random.percent(40) {
            let condition = self.condition(scope, 1);
            skipped.insert(0, Statement::nested(format!("if ({condition})"), vec![jump]));
        }
        statements.push(Statement::nested("", skipped));
        statements.push(Statement::simple(format!("{label}: ;")));
        statements
    }

    /// Leaves a loop or the kernel, in fact or only as far as the compiler knows.
    pub(super) fn leave(&mut self, scope: &mut Scope, context: Context) -> Vec<Statement> {
        let condition = if context.may_return || (context.in_loop && self.random.percent(60)) {
            self.condition(scope, 1)
        } else {
            self.never(scope)
        };
        let way = match (context.in_loop, self.random.below(4)) {
            (true, 0) => "continue;",
            (true, 1 | 2) => "break;",
            _ if context.in_kernel && (context.may_return || !context.in_loop) => "return;",
            (true, _) => "break;",
            _ => "v0 += 1u;",
        };
        vec![Statement::nested(format!("if ({condition})"), vec![Statement::simple(way)])]
    }

    /// Leaves the kernel or the loop under a condition that never holds.
    pub(super) fn never_leave(&mut self, scope: &Scope, way: &str) -> Statement {
        let condition = self.never(scope);
        Statement::nested(format!("if ({condition})"), vec![Statement::simple(way)])
    }

    fn print(&mut self, scope: &Scope) -> Statement {
        let value = self.varying(scope, 1);
        let place = self.name("");
        Statement::simple(format!("printf(\"%u: at {place} %u\\n\", t, {value});"))
    }
}

fn words(random: &mut Random, count: u64) -> Vec<u32> {
    (0..count).map(|_| u32::try_from(random.below(1 << 16)).unwrap_or(0)).collect()
}

/// The position of a work-item in a dimension, without the offset of the range.
fn position(range: Range, dimension: usize) -> String {
    let offset = range.offset.get(dimension).copied().unwrap_or(0);
    format!("(POSITION({dimension}) - {offset}u)")
}
