//! Generated modules of kernels, with the results that the kernels must have.
//!
//! Compile times of large modules are measured with them: the number of kernels, their size, and how many barriers and
//! calls of helper functions they have are parameters. A seed gives the same module everywhere.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are those of work-items, and of variables by the generator"
)]

use std::fmt::Write;

/// Work-items of a group.
pub const GROUP: usize = 64;
/// Values of each kernel.
const VARIABLES: usize = 4;

/// The parameters of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Decides everything else.
    pub seed: u64,
    /// The number of kernels.
    pub kernels: usize,
    /// Statements of each kernel, without barriers and calls.
    pub statements: usize,
    /// Exchanges of values between the work-items of a group, each with two barriers.
    pub barriers: usize,
    /// Helper functions of each kernel, called once each.
    pub calls: usize,
}

/// A module of kernels `k0(__global const uint *x, __global uint *y)`, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelModule {
    kernels: Vec<Vec<Statement>>,
}

/// A statement on the values of a work-item.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Statement {
    /// `a = b * FACTOR + a`.
    Multiply(Update),
    /// `a ^= b >> SHIFT`.
    Shift(Update),
    /// `a += x[(i + OFFSET) % n]`.
    Load(Update),
    /// `if (b & 4) a = a * FACTOR`.
    Branch(Update),
    /// A loop with up to seven iterations.
    Loop(Update),
    /// A call of a helper function of the kernel.
    Call(Update),
    /// An exchange through local memory.
    Exchange(Update),
}

/// The operands of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Update {
    to: usize,
    from: usize,
    constant: u32,
}

impl KernelModule {
    /// The module of a shape.
    pub fn generate(shape: Shape) -> KernelModule {
        let mut numbers = Numbers(shape.seed);
        let mut kernels = Vec::new();
        for _ in 0..shape.kernels {
            kernels.push(statements(&mut numbers, shape));
        }
        KernelModule { kernels }
    }

    /// The number of kernels.
    pub fn kernels(&self) -> usize {
        self.kernels.len()
    }

    /// Changes a constant of one kernel.
    pub fn edit(&mut self, kernel: usize) {
        if let Some(update) = self.kernels.get_mut(kernel).and_then(|statements| statements.first_mut()) {
            let (Statement::Multiply(update)
            | Statement::Shift(update)
            | Statement::Load(update)
            | Statement::Branch(update)
            | Statement::Loop(update)
            | Statement::Call(update)
            | Statement::Exchange(update)) = update;
            update.constant = update.constant.wrapping_add(2);
        }
    }

    /// The module in OpenCL C.
    pub fn source(&self) -> String {
        let mut source = String::new();
        for (number, statements) in self.kernels.iter().enumerate() {
            write_kernel(&mut source, number, statements);
        }
        source
    }

    /// What a kernel writes to `y` for `x`, whose length is a multiple of [`GROUP`].
    pub fn run(&self, kernel: usize, x: &[u32]) -> Vec<u32> {
        let mut y = Vec::new();
        let Some(statements) = self.kernels.get(kernel) else { return y };
        for first in (0..x.len()).step_by(GROUP) {
            let mut group: Vec<WorkItem> =
                (first..first + GROUP).map(|id| WorkItem::new(kernel, id, x)).collect();
            for statement in statements {
                execute(statement, &mut group, x);
            }
            y.extend(group.iter().map(WorkItem::result));
        }
        y
    }
}

fn statements(numbers: &mut Numbers, shape: Shape) -> Vec<Statement> {
    let mut statements = Vec::new();
    for _ in 0..shape.statements {
        let kind = numbers.below(8);
        let update = numbers.update();
        statements.push(match kind {
            0 | 1 => Statement::Shift(update),
            2 => Statement::Load(update),
            3 => Statement::Branch(update),
            4 if shape.statements > 1 => Statement::Loop(update),
            _ => Statement::Multiply(update),
        });
    }
    for _ in 0..shape.calls {
        let at = numbers.below(statements.len() + 1);
        statements.insert(at, Statement::Call(numbers.update()));
    }
    for _ in 0..shape.barriers {
        let at = numbers.below(statements.len() + 1);
        statements.insert(at, Statement::Exchange(numbers.update()));
    }
    statements
}

fn write_kernel(source: &mut String, kernel: usize, statements: &[Statement]) {
    for (number, statement) in statements.iter().enumerate() {
        if let Statement::Call(Update { constant, .. }) = statement {
            let _ = write!(
                source,
                "static uint h{kernel}_{number}(uint v, uint w) {{\n  \
                 if (v & 16) w += v * {constant}u;\n  return w ^ (v >> 3);\n}}\n"
            );
        }
    }
    let _ = writeln!(source, "__kernel void k{kernel}(__global const uint *x, __global uint *y) {{");
    if statements.iter().any(|statement| matches!(statement, Statement::Exchange(_))) {
        let _ = writeln!(source, "  __local uint tile[{GROUP}];\n  uint l = get_local_id(0);");
    }
    let _ = writeln!(source, "  uint i = get_global_id(0), n = get_global_size(0);");
    let _ = writeln!(source, "  uint v0 = x[i], v1 = i, v2 = {}u, v3 = n;", kernel % 7);
    for (number, statement) in statements.iter().enumerate() {
        let _ = writeln!(source, "  {}", text(statement, kernel, number));
    }
    let _ = writeln!(source, "  y[i] = v0 ^ v1 ^ v2 ^ v3;\n}}");
}

fn text(statement: &Statement, kernel: usize, number: usize) -> String {
    match statement {
        Statement::Multiply(Update { to, from, constant }) => {
            format!("v{to} = v{from} * {constant}u + v{to};")
        }
        Statement::Shift(Update { to, from, constant }) => format!("v{to} ^= v{from} >> {};", constant % 32),
        Statement::Load(Update { to, constant, .. }) => format!("v{to} += x[(i + {}u) % n];", constant % 256),
        Statement::Branch(Update { to, from, constant }) => {
            format!("if (v{from} & 4) v{to} = v{to} * {constant}u;")
        }
        Statement::Loop(Update { to, from, constant }) => {
            format!("for (uint j = 0, end = v{from} & 7; j < end; j++) v{to} = (v{to} ^ j) * {constant}u;")
        }
        Statement::Call(Update { to, from, .. }) => format!("v{to} = h{kernel}_{number}(v{to}, v{from});"),
        Statement::Exchange(Update { to, from, constant }) => format!(
            "tile[l] = v{from}; barrier(CLK_LOCAL_MEM_FENCE); v{to} += tile[(l + {}u) % {GROUP}]; \
             barrier(CLK_LOCAL_MEM_FENCE);",
            constant % 64
        ),
    }
}

/// One work-item while its group runs.
struct WorkItem {
    id: usize,
    values: [u32; VARIABLES],
}

impl WorkItem {
    fn new(kernel: usize, id: usize, x: &[u32]) -> WorkItem {
        WorkItem { id, values: [x[id], id as u32, (kernel % 7) as u32, x.len() as u32] }
    }

    fn result(&self) -> u32 {
        self.values.iter().fold(0, |all, value| all ^ value)
    }

    /// Executes a statement that concerns this work-item alone.
    fn execute(&mut self, statement: &Statement, x: &[u32]) {
        let v = &mut self.values;
        match *statement {
            Statement::Multiply(Update { to, from, constant }) => {
                v[to] = v[from].wrapping_mul(constant).wrapping_add(v[to]);
            }
            Statement::Shift(Update { to, from, constant }) => v[to] ^= v[from] >> (constant % 32),
            Statement::Load(Update { to, constant, .. }) => {
                let loaded = x[(self.id + constant as usize % 256) % x.len()];
                v[to] = v[to].wrapping_add(loaded);
            }
            Statement::Branch(Update { to, from, constant }) => {
                if v[from] & 4 != 0 {
                    v[to] = v[to].wrapping_mul(constant);
                }
            }
            Statement::Loop(Update { to, from, constant }) => {
                for j in 0..v[from] & 7 {
                    v[to] = (v[to] ^ j).wrapping_mul(constant);
                }
            }
            Statement::Call(Update { to, from, constant }) => {
                let [value, mut other] = [v[to], v[from]];
                if value & 16 != 0 {
                    other = other.wrapping_add(value.wrapping_mul(constant));
                }
                v[to] = other ^ (value >> 3);
            }
            Statement::Exchange(_) => {}
        }
    }
}

fn execute(statement: &Statement, group: &mut [WorkItem], x: &[u32]) {
    for item in group.iter_mut() {
        item.execute(statement, x);
    }
    if let Statement::Exchange(Update { to, from, constant }) = *statement {
        let tile: Vec<u32> = group.iter().map(|item| item.values[from]).collect();
        for (local, item) in group.iter_mut().enumerate() {
            let other = tile[(local + constant as usize % 64) % GROUP];
            item.values[to] = item.values[to].wrapping_add(other);
        }
    }
}

/// Pseudo-random numbers: SplitMix64 (<https://prng.di.unimi.it/splitmix64.c>).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn update(&mut self) -> Update {
        let to = self.below(VARIABLES);
        let from = (to + 1 + self.below(VARIABLES - 1)) % VARIABLES;
        Update { to, from, constant: (self.next() >> 32) as u32 | 1 }
    }
}
