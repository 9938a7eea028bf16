//! What this machine has of the tools that compile kernels, and what targets lack.

mod need;

use std::path::{Path, PathBuf};

use offload_format::TargetSet;

use self::need::Need;
use crate::cache::Cache;
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::flight::Flights;
use crate::fs;
use crate::jobs::Jobs;
use crate::targets;
use crate::tool::Runner;
use crate::toolchain::{Finder, Known};

/// The outcome of [`examine`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Examination {
    /// Every tool, wanted or not.
    pub tools: Vec<Examined>,
    /// The targets that were asked for.
    pub targets: Vec<Buildable>,
}

/// A tool or a library, and what was found of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Examined {
    /// Its usual name.
    pub name: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// Where it is, or why it cannot be used.
    pub outcome: std::result::Result<Found, Missing>,
}

/// Where a tool is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The program, library or directory.
    pub path: PathBuf,
    /// The line of what it says of itself that has its version, if any.
    pub version: Option<String>,
}

/// Why a tool cannot be used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Missing {
    /// Where it was looked for.
    pub reason: String,
    /// The command that installs it on this system.
    pub remedy: Option<String>,
}

/// A target, and what it lacks.
#[derive(Debug)]
#[non_exhaustive]
pub struct Buildable {
    /// As it was asked for.
    pub target: String,
    /// Names of the tools that it takes.
    pub needs: Vec<&'static str>,
    /// Names of tools without which it cannot be built.
    pub lacks: Vec<&'static str>,
    /// Names of tools without which some kernels cannot be built, or are not checked.
    pub better_with: Vec<&'static str>,
}

/// Looks for every tool, as a build script of a package in `directory` would, for `targets` (or sets of them).
///
/// # Errors
/// If a target is unknown, or there is no place for temporary files. A missing tool is no error.
///
/// ```
/// let examination = offload_build::doctor::examine(".".as_ref(), &["spirv64"]).unwrap();
/// let clang = examination.tools.iter().find(|tool| tool.name == "clang").unwrap();
/// let lacks = &examination.targets[0].lacks;
/// assert_eq!(clang.outcome.is_err(), lacks.contains(&"clang"));
/// ```
pub fn examine(directory: &Path, targets: &[&str]) -> std::result::Result<Examination, Error> {
    let wanted = targets.iter().map(|text| needs(text)).collect::<Result<Vec<_>>>()?;
    let scratch = fs::scratch_anywhere()?;
    let env = CargoEnv::of_machine(directory, scratch.path());
    let cache = Cache::open(&env)?;
    let jobs = Jobs::alone();
    let runner = Runner { env: &env, jobs: &jobs };
    let flights = Flights::default();
    let (tools, files) = (Known::default(), Known::default());
    let finder = Finder { env: &env, cache: &cache, runner: &runner, flights: &flights, tools, files };
    let examined: Vec<(Need, Examined)> =
        Need::ALL.into_iter().map(|need| (need, need.examined(&finder))).collect();
    let missing = |needs: &[Need]| {
        let missing = examined.iter().filter(|(need, tool)| tool.outcome.is_err() && needs.contains(need));
        missing.map(|(_, tool)| tool.name).collect()
    };
    let names = |needs: &[Need]| {
        let needed = examined.iter().filter(|(need, _)| needs.contains(need));
        needed.map(|(_, tool)| tool.name).collect()
    };
    let buildable = |(text, (needed, useful)): (&&str, (Vec<Need>, Vec<Need>))| Buildable {
        target: (*text).to_string(),
        needs: names(&needed),
        lacks: missing(&needed),
        better_with: missing(&useful),
    };
    let targets = targets.iter().zip(wanted).map(buildable).collect();
    Ok(Examination { targets, tools: examined.into_iter().map(|(_, tool)| tool).collect() })
}

/// The folder into which `cargo offload toolchain install` unpacks compilers, and in which build scripts of packages in
/// `directory` look for them last. There need be no such folder.
pub fn toolchain_folder(directory: &Path) -> Option<PathBuf> {
    CargoEnv::of_machine(directory, directory).toolchain_folder()
}

/// What a target or a set of targets needs, and what makes it better.
fn needs(text: &str) -> Result<(Vec<Need>, Vec<Need>)> {
    let members = match text.parse::<TargetSet>() {
        Ok(set) => targets::possible(set)?,
        Err(_) => vec![targets::target(text)?],
    };
    let (needed, useful): (Vec<_>, Vec<_>) = members.iter().map(need::of).unzip();
    Ok((needed.concat(), useful.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_need_what_their_members_need() {
        let (needed, _) = needs("all-nvidia").unwrap();
        assert!(needed.contains(&Need::Ptxas) && needed.contains(&Need::LibclcNvidia));
        assert!(!needs("nvptx:sm_75").unwrap().0.contains(&Need::Ptxas));
        assert!(needs("intel:pcv").unwrap_err().to_string().contains("intel:pvc"));
    }

    #[test]
    fn nothing_that_is_missing_keeps_it_from_answering() {
        let examination = examine(Path::new("."), &["intel:pvc", "host"]).unwrap();
        assert_eq!(examination.targets.len(), 2);
        assert_eq!(examination.targets[0].needs, ["clang", "ocloc"]);
        assert_eq!(examination.tools.len(), Need::ALL.len());
        for tool in &examination.tools {
            if let Err(missing) = &tool.outcome {
                assert!(missing.remedy.is_some() && missing.reason.contains("looked for"), "{missing:?}");
            }
        }
    }
}
