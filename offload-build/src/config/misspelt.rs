//! Modules that `offload.toml` names and no build script compiles.

use std::path::Path;

use super::Config;
use crate::env::CargoEnv;
use crate::fs;
use crate::request::KernelModule;

/// Warns of settings for modules that are none of `modules`, where no other build script can be meant.
pub(crate) fn tell(env: &CargoEnv, config: &Config, modules: &[KernelModule<'_>]) {
    let own: Vec<&str> = modules.iter().map(|module| module.name).collect();
    // A later call of the same script may compile it.
    let script = fs::read_text(&env.manifest_dir.join("build.rs"));
    let (Some(file), Ok(script)) = (&config.file, script) else { return };
    let alone = has_one_build_script(file);
    for name in config.modules.keys().filter(|name| !own.contains(&name.as_str())) {
        let near = own.iter().find(|other| reads_like(name, other));
        let may_be_made = own.iter().any(|other| without_digits(other) == without_digits(name));
        if may_be_made || script.contains(&format!("\"{name}\"")) || (near.is_none() && !alone) {
            continue;
        }
        let suggestion = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("{} compiles {}", env.package, own.join(", ")),
        };
        env.warn(&format!("`{}`: no kernel module is called `{name}`; {suggestion}", file.display()));
    }
}

/// Whether one package alone compiles kernels, as the lock file beside `offload.toml` has it.
fn has_one_build_script(file: &Path) -> bool {
    let lock = fs::read_text(&file.with_file_name("Cargo.lock")).unwrap_or_default();
    lock.lines().filter(|line| line.trim_start().starts_with("\"offload-build")).count() == 1
}

fn without_digits(name: &str) -> String {
    name.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Whether two names differ in one place alone, by two letters at most.
fn reads_like(name: &str, other: &str) -> bool {
    let a: Vec<char> = name.chars().collect();
    let b: Vec<char> = other.chars().collect();
    let shorter = a.len().min(b.len());
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let end = a.iter().rev().zip(b.iter().rev()).take(shorter - start).take_while(|(a, b)| a == b).count();
    let differing = a.len().max(b.len()) - start - end;
    differing <= 2 && start + end > 0 && shorter > 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        for (given, meant) in [
            ("blass", "blas"),
            ("bals", "blas"),
            ("vecop", "vecops"),
            ("atention", "attention"),
            ("tow", "two"),
        ] {
            assert!(reads_like(given, meant) && reads_like(meant, given), "{given} {meant}");
        }
        for (given, other) in [("fft", "blas"), ("a", "b"), ("stats", "blas"), ("", "a")] {
            assert!(!reads_like(given, other), "{given} {other}");
        }
    }
}
