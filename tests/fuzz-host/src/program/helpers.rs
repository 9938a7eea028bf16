//! Functions that a kernel calls.

use super::generator::Generator;
use super::scope::{Context, PRIVATE_ELEMENTS, Scope};
use super::shared::permutation;
use super::tree::Statement;

impl Generator {
    /// A call of a function that computes with a private array and a number.
    pub(super) fn helper(&mut self, scope: &mut Scope) -> Statement {
        let name = self.name("helper");
        let inline = self.random.pick(&["", "NOINLINE "]);
        let mut inner = Scope {
            variables: vec!["v0".to_string(), "x".to_string()],
            uniform_values: vec!["n".to_string(), "3u".to_string()],
            varying_values: vec!["lid".to_string(), "t".to_string(), "LID(0)".to_string()],
            arrays: vec!["array".to_string()],
            ..Scope::default()
        };
        let context =
            Context { is_uniform: false, may_return: false, in_loop: false, depth: 2, in_kernel: false };
        let mut body = vec![Statement::simple("uint v0 = x ^ lid;")];
        let count = self.random.between(1, 3);
        for _ in 0..count {
            body.extend(self.statement(&mut inner, context));
        }
        body.push(Statement::simple("return v0 + array[x & 7u];"));
        let parameters = "GLOBAL const uint *in, uint *array, uint x, uint lid, uint t, uint n";
        self.helpers.push(Statement::nested(format!("static {inline}uint {name}({parameters})"), body));
        let variable = self.random.pick(&scope.variables);
        let value = self.varying(scope, 1);
        if scope.arrays.is_empty() {
            let call = format!("{variable} += {name}(in, private_array, {value}, lid, t, n);");
            let declaration = format!("uint private_array[{PRIVATE_ELEMENTS}] = {{0u, lid, 2u, 3u}};");
            Statement::nested("", vec![Statement::simple(declaration), Statement::simple(call)])
        } else {
            let array = self.random.pick(&scope.arrays);
            Statement::simple(format!("{variable} ^= {name}(in, {array}, {value}, lid, t, n);"))
        }
    }

    /// A call of a function that has a barrier.
    pub(super) fn barrier_helper(&mut self, scope: &mut Scope) -> Statement {
        let Some(shared) = scope.shared.first().cloned() else { return Statement::simple("BARRIER();") };
        let name = self.name("exchange");
        let own = permutation(&mut self.random, shared.elements);
        let mask = shared.elements.saturating_sub(1);
        let distance = self.random.between(1, 5);
        let mut body = vec![
            Statement::simple("BARRIER();"),
            Statement::simple(format!("tile[({own}) & {mask}u] = x;")),
            Statement::simple("BARRIER();"),
        ];
        if self.random.percent(40) {
            body.push(Statement::nested("if (x % 5u == n)", vec![Statement::simple("return 9u;")]));
            body.push(Statement::simple("BARRIER();"));
        }
        body.push(Statement::simple(format!("uint y = tile[(lid + {distance}u) & {mask}u];")));
        body.push(Statement::simple("BARRIER();"));
        body.push(Statement::simple("return y + x;"));
        let parameters = "LOCAL uint *tile, uint x, uint lid, uint n";
        self.helpers.push(Statement::nested(format!("static uint {name}({parameters})"), body));
        let _ = self.barrier(scope);
        let variable = self.random.pick(&scope.variables);
        let value = self.varying_without_shared(scope);
        let tile = shared.access.trim_end_matches('[');
        Statement::simple(format!("{variable} = {name}({tile}, {value}, lid, n);"))
    }

    /// A number that reads no shared memory, whose use behind a barrier is another.
    pub(super) fn varying_without_shared(&mut self, scope: &Scope) -> String {
        let scope = Scope { shared: Vec::new(), ..scope.clone() };
        self.varying(&scope, 1)
    }
}
