//! Expressions of `uint`: of values that are equal for a group, and of values that differ.

use super::generator::Generator;
use super::scope::{PRIVATE_ELEMENTS, Scope};
use super::shared::Mode;

/// Elements of the input, a power of two.
pub(super) const INPUT_ELEMENTS: u64 = 1024;
/// The value of the argument `n`, which compilers do not know.
pub(super) const N: u32 = 7;

impl Generator {
    /// A number that is equal for all work-items of a group, and that the compiler can see to be so.
    pub(super) fn uniform(&mut self, scope: &Scope, depth: u32) -> String {
        if depth == 0 || self.random.percent(35) {
            let number = self.random.below(12);
            return match self.random.below(4) {
                0 => format!("{number}u"),
                1 if !scope.uniform_variables.is_empty() => self.random.pick(&scope.uniform_variables),
                _ => self.random.pick(&scope.uniform_values),
            };
        }
        let next = depth.saturating_sub(1);
        let left = self.uniform(scope, next);
        let right = self.uniform(scope, next);
        self.binary(&left, &right)
    }

    /// A number that is equal for all work-items of a group, which the compiler cannot see.
    pub(super) fn equal_by_value(&mut self, scope: &Scope) -> String {
        let index = self.random.below(INPUT_ELEMENTS);
        let read_only = scope.shared.iter().find(|shared| shared.mode == Mode::ReadOnly);
        match (self.random.below(3), read_only) {
            (0, Some(shared)) => shared.element(&format!("{index}u")),
            (1, _) => {
                let varying = self.varying(scope, 1);
                format!("({} ? {index}u : n)", self.always_of(&varying))
            }
            _ => format!("in[{index}u]"),
        }
    }

    /// A number that may differ between work-items.
    pub(super) fn varying(&mut self, scope: &Scope, depth: u32) -> String {
        if depth == 0 || self.random.percent(20) {
            return self.varying_leaf(scope);
        }
        let next = depth.saturating_sub(1);
        let left = self.varying(scope, next);
        let right = self.varying(scope, next);
        match self.random.below(16) {
            0 => {
                let condition = self.condition(scope, next);
                format!("({condition} ? {left} : {right})")
            }
            1 => format!("MIN({left}, {right})"),
            2 => format!("MAX({left}, {right})"),
            3 => format!("SUB_SAT({left}, {right})"),
            4 => {
                let x = self.random.pick(&scope.varying_values);
                format!("({x} == 0u ? 0u : {x} - 1u)")
            }
            5 => {
                let x = self.random.pick(&scope.varying_values);
                let last = self.uniform(scope, 1);
                format!("({x} == {last} ? {last} : {x} + 1u)")
            }
            6 => {
                let index = self.varying(scope, 1);
                format!("in[in[({index}) & {0}u] & {0}u]", INPUT_ELEMENTS.saturating_sub(1))
            }
            _ => self.binary(&left, &right),
        }
    }

    fn varying_leaf(&mut self, scope: &Scope) -> String {
        let constant = self.random.below(40);
        let variable = self.random.pick(&scope.variables);
        match self.random.below(15) {
            0 => format!("{constant}u"),
            1 => self.uniform(scope, 0),
            2 | 3 => self.random.pick(&scope.varying_values),
            4 => {
                let place = self.random.pick(&scope.varying_values);
                let factor = self.random.pick(&[1u64, 1, 1, 2, 64, 65]);
                let mask = INPUT_ELEMENTS.saturating_sub(1);
                format!("in[({place} * {factor}u + {constant}u) & {mask}u]")
            }
            5 if !scope.arrays.is_empty() => {
                let array = self.random.pick(&scope.arrays);
                let mask = PRIVATE_ELEMENTS.saturating_sub(1);
                format!("{array}[{variable} & {mask}u]")
            }
            6 if !scope.arrays.is_empty() => {
                let array = self.random.pick(&scope.arrays);
                let index = self.random.below(u64::from(PRIVATE_ELEMENTS));
                format!("{array}[{index}]")
            }
            14 if !scope.narrow_arrays.is_empty() => {
                let array = self.random.pick(&scope.narrow_arrays);
                let mask = PRIVATE_ELEMENTS.saturating_sub(1);
                format!("(uint){array}[{variable} & {mask}u]")
            }
            7 => self.shared_value(scope).unwrap_or(variable),
            8 if !scope.outputs.is_empty() => self.own_element(scope),
            9 if !scope.vectors.is_empty() => {
                let vector = self.random.pick(&scope.vectors);
                format!("{vector}.{}", self.random.pick(&["x", "y", "z", "w"]))
            }
            10 if !scope.longs.is_empty() => {
                let long = self.random.pick(&scope.longs);
                format!("(uint)({long} >> {})", self.random.pick(&["0", "13", "32"]))
            }
            11 if !scope.floats.is_empty() => format!("(uint){}", self.random.pick(&scope.floats)),
            12 if !scope.bools.is_empty() => format!("({} ? 3u : 8u)", self.random.pick(&scope.bools)),
            13 if !scope.structures.is_empty() => {
                let structure = self.random.pick(&scope.structures);
                let field = self.random.pick(&["a", "v.y", "c[1]", "c[n & 1u]"]);
                format!("{structure}.{field}")
            }
            _ => variable,
        }
    }

    /// What a work-item may read of shared memory now.
    fn shared_value(&mut self, scope: &Scope) -> Option<String> {
        let first = self.random.below(scope.shared.len() as u64);
        let order = scope.shared.iter().cycle().skip(usize::try_from(first).unwrap_or(0));
        for shared in order.take(scope.shared.len()) {
            match &shared.mode {
                Mode::ReadOnly => {
                    let variable = self.random.pick(&scope.variables);
                    let place = self.random.pick(&scope.varying_values);
                    let number = self.random.below(shared.elements);
                    let index = match self.random.below(3) {
                        0 => variable,
                        1 => format!("{place} + {number}u"),
                        _ => format!("{place} * {}u", self.random.pick(&[2u64, 3, 64])),
                    };
                    return Some(shared.element(&index));
                }
                Mode::Own(index) => return Some(shared.element(index)),
                Mode::Closed | Mode::Combine(_) => {}
            }
        }
        None
    }

    /// An element of the output that belongs to the work-item.
    pub(super) fn own_element(&mut self, scope: &Scope) -> String {
        let pointer = self.random.pick(&scope.outputs);
        let number = self.random.below(u64::from(self.slots));
        let slot = match self.random.below(4) {
            0 => format!("({} & {}u)", self.random.pick(&scope.variables), self.slots.saturating_sub(1)),
            _ => format!("{number}u"),
        };
        if self.is_interleaved {
            format!("{pointer}[t * {}u + {slot}]", self.slots)
        } else {
            format!("{pointer}[{slot} * total + t]")
        }
    }

    /// A condition that work-items may answer differently.
    pub(super) fn condition(&mut self, scope: &Scope, depth: u32) -> String {
        let left = self.varying(scope, depth);
        let right = match self.random.below(3) {
            0 => self.varying(scope, depth.saturating_sub(1)),
            1 => self.uniform(scope, 1),
            _ => format!("{}u", self.random.below(64)),
        };
        match self.random.below(9) {
            0 => format!("({left} & 1u) != 0u"),
            1 => format!("({left}) % 3u == 1u"),
            2 => format!("(int)({left}) < (int)({right})"),
            3 => format!("{} == {}", self.random.pick(&scope.varying_values), self.uniform(scope, 1)),
            4 => format!("{} < {}", self.random.pick(&scope.varying_values), self.uniform(scope, 1)),
            5 if !scope.bools.is_empty() => self.random.pick(&scope.bools),
            6 => format!("in[in[({left}) & 1023u] & 1023u] < {right} * 64u"),
            7 => format!("({left}) > ({right})"),
            _ => format!("({left}) < ({right})"),
        }
    }

    /// A condition that is the same for a group as the compiler can see.
    pub(super) fn uniform_condition(&mut self, scope: &Scope) -> String {
        let left = self.uniform(scope, 1);
        let right = self.uniform(scope, 1);
        match self.random.below(3) {
            0 => format!("({left} & 1u) == 0u"),
            1 => format!("({left}) < ({right})"),
            _ => format!("({left}) != ({right})"),
        }
    }

    /// A condition that no work-item finds true, which depends on the work-item for the compiler.
    pub(super) fn never(&mut self, scope: &Scope) -> String {
        let varying = self.varying(scope, 1);
        match self.random.below(4) {
            0 => format!("({varying}) % 5u == n"),
            1 => format!("(({varying}) & 3u) == n"),
            2 => format!("({varying}) * {N}u % {N}u > n"),
            _ => format!("({varying}) % {N}u == n"),
        }
    }

    /// A condition that each work-item finds true, likewise.
    pub(super) fn always(&mut self, scope: &Scope) -> String {
        let varying = self.varying(scope, 1);
        self.always_of(&varying)
    }

    fn always_of(&mut self, varying: &str) -> String {
        match self.random.below(2) {
            0 => format!("(({varying}) % {N}u < n)"),
            _ => format!("((({varying}) & 3u) != n)"),
        }
    }

    fn binary(&mut self, left: &str, right: &str) -> String {
        match self.random.below(11) {
            0 | 1 => format!("({left} + {right})"),
            2 => format!("({left} - {right})"),
            3 | 4 => format!("({left} * {right})"),
            5 => format!("({left} ^ {right})"),
            6 => format!("({left} & {right})"),
            7 => format!("({left} | {right})"),
            8 => format!("({left} >> ({right} & 31u))"),
            9 => format!("({left} % (({right}) | 1u))"),
            _ => format!("({left} / (({right}) | 1u))"),
        }
    }
}
