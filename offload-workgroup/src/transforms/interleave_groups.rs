//! Selection of the functions in which LLVM's loop vectoriser may form interleave groups.
//!
//! Interleave groups are enabled or disabled for a whole run of clang. In a module with functions of both kinds, those that
//! may have them are optimised first, while the others are `optnone`.

use crate::analysis::conflicts::Interleaving;

/// The attribute of a work-group function in which interleave groups are useful.
const INTERLEAVED: &str = " \"offload-interleaved\"";
/// The attribute of one in which they would reorder conflicting accesses of a work-item.
const IN_ORDER: &str = " \"offload-in-order\"";
/// The attributes that exclude a function from optimisation.
const OPTNONE: [&str; 2] = [" noinline", " optnone"];

/// The work-group functions of a module that may have interleave groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterleaveGroups {
    /// Every function may have them.
    All,
    /// No function gains by them, and some must not have them.
    None,
    /// Some gain by them, and others must not have them.
    Some,
}

impl Interleaving {
    /// The attribute that marks a function, with a space before it.
    pub(crate) fn attribute(self) -> &'static str {
        match self {
            Interleaving::Useful => INTERLEAVED,
            Interleaving::Useless => "",
            Interleaving::Harmful => IN_ORDER,
        }
    }
}

impl InterleaveGroups {
    /// The functions of a module that [`generate_work_groups`](crate::generate_work_groups) has written.
    pub fn for_module(module: &str) -> InterleaveGroups {
        let mut is_useful = false;
        let mut is_harmful = false;
        for line in module.lines().filter(|line| line.starts_with("attributes #")) {
            is_useful |= line.contains(INTERLEAVED);
            is_harmful |= line.contains(IN_ORDER);
        }
        match (is_useful, is_harmful) {
            (_, false) => InterleaveGroups::All,
            (false, true) => InterleaveGroups::None,
            (true, true) => InterleaveGroups::Some,
        }
    }
}

/// A copy of `module` whose functions that must not have interleave groups are `optnone`.
pub fn disable_in_order_functions(module: &str) -> String {
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        if line.starts_with("attributes #") {
            out.push_str(&line.replacen(IN_ORDER, &format!("{}{IN_ORDER}", OPTNONE.concat()), 1));
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// A copy of `module` without the effect of [`disable_in_order_functions`].
pub fn enable_in_order_functions(module: &str) -> String {
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        let mut line = line.to_string();
        if line.starts_with("attributes #") && line.contains(IN_ORDER) {
            for word in OPTNONE {
                line = line.replacen(word, "", 1);
            }
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_with_conflicts_are_left_alone_for_a_while() {
        let module = "define void @f() #0 {\n}\nattributes #0 = { nounwind \"offload-in-order\" \"target-cpu\"=\"a\" }\n\
                      attributes #1 = { nounwind \"offload-interleaved\" }\nattributes #2 = { noinline nounwind }\n";
        assert_eq!(InterleaveGroups::for_module(module), InterleaveGroups::Some);
        let left = disable_in_order_functions(module);
        assert!(left.contains("{ nounwind noinline optnone \"offload-in-order\""), "{left}");
        // As LLVM writes it.
        let sorted = left.replace("nounwind noinline optnone", "noinline nounwind optnone");
        assert_eq!(enable_in_order_functions(&sorted), module);
        assert_eq!(InterleaveGroups::for_module(&module.replace("in-order", "x")), InterleaveGroups::All);
        assert_eq!(InterleaveGroups::for_module(&module.replace("interleaved", "x")), InterleaveGroups::None);
    }
}
