//! `features`: each published crate builds alone, with every single feature, with none, and with all, and is documented.

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::{Workspace, seconds};
use serde_json::Value;

pub(crate) const HELP: &str =
    "features [--quick] [CRATE]...  check each published crate with no, each single and all features

Each crate is checked alone, so that feature unification with another crate hides no error, and documented with all
features. Fails on a warning. --quick checks no features alone, of the crates that have any; clippy checks all of them
together.";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let metadata = metadata(workspace)?;
    let packages = published(&metadata)?;
    let quick = args.iter().any(|arg| arg == "--quick");
    let names: Vec<&String> = args.iter().filter(|arg| *arg != "--quick").collect();
    if let Some(unknown) = names.iter().find(|name| !packages.contains_key(**name)) {
        let error = Error::new(format!("no published crate is named `{unknown}`"));
        return Err(error.hint(packages.into_keys().collect::<Vec<_>>().join(", ")));
    }
    let mut failures = Vec::new();
    for (name, features) in &packages {
        if !names.is_empty() && !names.contains(&name) {
            continue;
        }
        let start = std::time::Instant::now();
        let mut sets = sets(name, features);
        if quick && features.is_empty() {
            continue;
        }
        if quick {
            sets.truncate(1);
        }
        for set in &sets {
            failures.extend(check(workspace, name, set)?);
        }
        if !quick {
            failures.extend(document(workspace, name)?);
        }
        println!("{name}: {} sets of features in {}", sets.len(), seconds(start.elapsed()));
    }
    if failures.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::new(failures.join("\n"))) }
}

/// What cargo says of this workspace.
pub(crate) fn metadata(workspace: &Workspace) -> Result<String> {
    Ok(workspace.cargo().args(["metadata", "--no-deps", "--format-version=1"]).quiet().read()?)
}

/// The oldest Rust that the packages promise; they have one.
pub(crate) fn rust_version(metadata: &str) -> Result<String> {
    let metadata: Option<Value> = serde_json::from_str(metadata).ok();
    let version = metadata.as_ref().and_then(|value| value.pointer("/packages/0/rust_version")?.as_str());
    Ok(version.ok_or_else(|| Error::new("the packages have no `rust-version`"))?.to_string())
}

/// The features of each package that is published.
pub(crate) fn published(metadata: &str) -> Result<BTreeMap<String, Vec<String>>> {
    let metadata: Option<Value> = serde_json::from_str(metadata).ok();
    let packages = metadata.as_ref().and_then(|value| value.get("packages")?.as_array());
    let packages = packages.ok_or_else(|| Error::new("`cargo metadata` lists no packages"))?;
    let own = packages.iter().filter(|package| package.get("publish").is_none_or(Value::is_null));
    Ok(own.filter_map(features).filter(|(name, _)| name != "example-app").collect())
}

/// The name of a package and its features.
fn features(package: &Value) -> Option<(String, Vec<String>)> {
    let features = package.get("features")?.as_object()?;
    Some((package.get("name")?.as_str()?.to_string(), features.keys().cloned().collect()))
}

/// The options for each check; the first are those for no feature, or for the decoder alone that a crate cannot be without.
fn sets(name: &str, features: &[String]) -> Vec<Vec<String>> {
    let mut none = vec!["--no-default-features".to_string()];
    if name == "offload-rt" {
        none.push("--features=pure".to_string());
    }
    let single = features.iter().map(|feature| {
        let mut set = none.clone();
        set.push(format!("--features={feature}"));
        set
    });
    let mut sets = vec![none.clone()];
    sets.extend(single);
    sets.push(vec!["--all-features".to_string()]);
    sets
}

/// The failure of one feature set, if any. Prints the compiler output.
fn check(workspace: &Workspace, name: &str, set: &[String]) -> Result<Option<String>> {
    let cargo = workspace.cargo().args(["check", "--package", name]).args(set);
    let output = Command::from(cargo).env("CARGO_TERM_COLOR", "never").output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.success() && !warns(&stderr) {
        return Ok(None);
    }
    eprint!("{stderr}");
    Ok(Some(format!("{name} {}: see above", set.join(" "))))
}

/// The failure of the crate's documentation, if any. Prints the output of rustdoc.
fn document(workspace: &Workspace, name: &str) -> Result<Option<String>> {
    let cargo = workspace.cargo().args(["doc", "--no-deps", "--all-features", "--package", name]);
    let status = Command::from(cargo).env("RUSTDOCFLAGS", "-Dwarnings").status()?;
    Ok((!status.success()).then(|| format!("documentation of {name}: see above")))
}

/// Whether a line starts as those of warnings do; cargo repeats them where nothing is compiled again.
fn warns(stderr: &str) -> bool {
    stderr.lines().any(|line| line.starts_with("warning: ") || line.starts_with("warning["))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_packages_have_their_features() {
        let text = r#"{"packages":[
            {"name":"a","publish":null,"features":{"x":[],"default":["x"]}},
            {"name":"b","publish":[],"features":{}}]}"#;
        let packages = published(text).unwrap();
        assert_eq!(
            packages.into_iter().collect::<Vec<_>>(),
            [("a".into(), vec!["default".into(), "x".into()])]
        );
        assert!(published("{}").is_err());
    }

    #[test]
    fn none_each_and_all_are_checked() {
        let sets = sets("a", &["x".to_string(), "y".to_string()]);
        let lines: Vec<String> = sets.iter().map(|set| set.join(" ")).collect();
        let none = "--no-default-features";
        let each = ["x", "y"].map(|feature| format!("{none} --features={feature}"));
        assert_eq!(lines, [none.to_string(), each[0].clone(), each[1].clone(), "--all-features".to_string()]);
    }

    #[test]
    fn warnings_are_seen() {
        assert!(warns("   Compiling a\nwarning: unused import\n"));
        assert!(!warns("    Checking warnings v1.0.0\n"));
    }
}
