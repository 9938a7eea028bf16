//! Functions of a module in which LLVM's vectoriser may form interleave groups. Whether it does is an option of a whole run of
//! clang: where some may and others must not, those that may are optimised alone before.

use super::conflicts::Interleaving;

/// An attribute of a function that runs work-groups in which interleave groups are useful.
const INTERLEAVED: &str = " \"offload-interleaved\"";
/// An attribute of one in which they would reorder accesses of a work-item.
const IN_ORDER: &str = " \"offload-in-order\"";
/// No pass changes a function with these.
const LEFT_ALONE: [&str; 2] = [" noinline", " optnone"];

/// Which functions of a module LLVM's vectoriser may form interleave groups in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interleaved {
    All,
    None,
    /// Some, which are optimised before the others.
    Some,
}

impl Interleaving {
    pub(super) fn attribute(self) -> &'static str {
        match self {
            Interleaving::Useful => INTERLEAVED,
            Interleaving::Useless => "",
            Interleaving::Harmful => IN_ORDER,
        }
    }
}

impl Interleaved {
    /// Those of a module that [`super::run_groups`] has written.
    pub(crate) fn of_module(module: &str) -> Interleaved {
        let mut is_useful = false;
        let mut is_harmful = false;
        for line in module.lines().filter(|line| line.starts_with("attributes #")) {
            is_useful |= line.contains(INTERLEAVED);
            is_harmful |= line.contains(IN_ORDER);
        }
        match (is_useful, is_harmful) {
            (_, false) => Interleaved::All,
            (false, true) => Interleaved::None,
            (true, true) => Interleaved::Some,
        }
    }
}

/// `module`, in which passes change only functions that may have interleave groups.
pub(crate) fn without_others(module: &str) -> String {
    with_attributes(module, |line| line.replacen(IN_ORDER, &format!("{}{IN_ORDER}", LEFT_ALONE.concat()), 1))
}

/// `module`, in which passes change all functions again.
pub(crate) fn with_others(module: &str) -> String {
    with_attributes(module, |line| match line.contains(IN_ORDER) {
        true => LEFT_ALONE.iter().fold(line.to_string(), |line, word| line.replacen(word, "", 1)),
        false => line.to_string(),
    })
}

fn with_attributes(module: &str, change: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        let line = if line.starts_with("attributes #") { change(line) } else { line.to_string() };
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
        assert_eq!(Interleaved::of_module(module), Interleaved::Some);
        let left = without_others(module);
        assert!(left.contains("{ nounwind noinline optnone \"offload-in-order\""), "{left}");
        // As LLVM writes it.
        let sorted = left.replace("nounwind noinline optnone", "noinline nounwind optnone");
        assert_eq!(with_others(&sorted), module);
        assert_eq!(Interleaved::of_module(&module.replace("in-order", "x")), Interleaved::All);
        assert_eq!(Interleaved::of_module(&module.replace("interleaved", "x")), Interleaved::None);
    }
}
