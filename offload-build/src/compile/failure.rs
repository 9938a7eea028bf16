//! What a person reads first when a kernel module does not compile: which one, for what.

use super::Sources;
use crate::config::WantedTarget;
use crate::error::Error;

/// How many targets are named.
const NAMED: usize = 3;

/// `error` below a line with the module, and the targets that it was to be compiled for.
pub(super) fn of(sources: &Sources, targets: &[WantedTarget], error: Error) -> Error {
    let values: Vec<String> = sources.variant.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let variant = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
    let module = &sources.module;
    error.below(format!("cannot compile kernel module `{module}`{variant} for {}", list(targets)))
}

/// The targets as a sentence has them; of many the first.
fn list(targets: &[WantedTarget]) -> String {
    let names: Vec<String> = targets.iter().map(|wanted| format!("`{}`", wanted.target)).collect();
    match names.as_slice() {
        [] => "no target".to_string(),
        [only] => only.clone(),
        [first, others @ ..] if others.len() >= NAMED => {
            format!("{first} and {} other targets", others.len())
        }
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Presence;

    fn listed(names: &[&str]) -> String {
        let wanted =
            |name: &&str| WantedTarget { target: name.parse().unwrap(), presence: Presence::Required };
        list(&names.iter().map(wanted).collect::<Vec<_>>())
    }

    #[test]
    fn of_many_targets_the_first_is_named() {
        assert_eq!(listed(&["host"]), "`host`");
        assert_eq!(listed(&["host", "spirv64", "opencl-c"]), "`host`, `spirv64` and `opencl-c`");
        assert_eq!(listed(&["host", "spirv64", "opencl-c", "nvptx:sm_75"]), "`host` and 3 other targets");
    }
}
