//! Command line and measurement plan of `bench pack`.

use std::path::PathBuf;

use offload_tests::error::{Error, Result};

/// The command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) extent: Extent,
    /// A second copy of the samples.
    pub(super) json: Option<PathBuf>,
    /// Packages whose images are measured as well, as `NAME==VERSION`.
    pub(super) wheels: Vec<String>,
    /// The sets whose names start so; all if there are none.
    pub(super) only: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    Quick,
}

/// Many SPIR-V images, images with symbol tables, and small sets.
pub(super) const WHEELS: [&str; 5] = [
    "dpnp==0.20.0",
    "cupy-rocm-5-0==13.3.0",
    "torch-cluster-rocm==1.6.3.post7",
    "torch-sparse-rocm==0.6.18.post7",
    "jax-rocm7-plugin==0.10.2",
];

impl Plan {
    pub(super) fn parse(args: &[String]) -> Result<Plan> {
        let mut plan = Plan { extent: Extent::Whole, json: None, wheels: Vec::new(), only: Vec::new() };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--quick" => plan.extent = Extent::Quick,
                "--json" => plan.json = Some(value(&mut args, arg)?.into()),
                "--wheel" => plan.wheels.push(wheel(value(&mut args, arg)?)?),
                "--set" => plan.only.push(value(&mut args, arg)?),
                other => {
                    let text = format!("`bench pack` does not know `{}`", other.escape_debug());
                    return Err(Error::new(text).hint(super::HELP));
                }
            }
        }
        if plan.extent == Extent::Whole && plan.wheels.is_empty() {
            plan.wheels = WHEELS.map(str::to_string).to_vec();
        }
        Ok(plan)
    }

    pub(super) fn wants(&self, set: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|start| set.starts_with(start.as_str()))
    }
}

/// An exact version, so that everyone measures the same files; the text is also the name of a directory.
fn value(args: &mut std::slice::Iter<'_, String>, arg: &str) -> Result<String> {
    let value = args.next().cloned();
    value.ok_or_else(|| Error::new(format!("`{arg}` takes a value")).hint(super::HELP))
}

fn wheel(text: String) -> Result<String> {
    match text.split_once("==") {
        Some((name, version)) if is_part(name) && is_part(version) => Ok(text),
        _ => Err(Error::new(format!("`{}` is no package with a version", text.escape_debug()))
            .hint("write NAME==VERSION")),
    }
}

/// Whether this can be a name or a version.
fn is_part(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Plan> {
        Plan::parse(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn the_whole_run_has_its_wheels() {
        assert_eq!(parse(&[]).unwrap().wheels, WHEELS);
        let plan = parse(&["--quick", "--json", "out.json"]).unwrap();
        assert_eq!((plan.extent, plan.wheels.len(), plan.json), (Extent::Quick, 0, Some("out.json".into())));
        assert_eq!(parse(&["--wheel", "a_b==1.0"]).unwrap().wheels, ["a_b==1.0"]);
    }

    #[test]
    fn sets_are_chosen_by_the_start_of_their_name() {
        let plan = parse(&["--set", "hip"]).unwrap();
        assert!(plan.wants("hip25") && !plan.wants("cuda") && parse(&[]).unwrap().wants("cuda"));
    }

    #[test]
    fn nonsense_is_refused() {
        for words in
            [&["--quik"][..], &["--json"], &["--wheel", "dpnp"], &["--wheel", "../x==1"], &["--wheel", "a=="]]
        {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
