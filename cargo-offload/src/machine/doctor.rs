//! Compilers on this machine, and the tools that targets lack.

mod need;

use std::path::Path;

use offload_build::shared::toolchain::{Component, ToolLocation, Toolchain};
use offload_build::targets::members;
use offload_format::{Target, TargetSet};

use self::need::Needs;
use crate::error::{Error, Result};

/// The outcome of [`examine`].
#[derive(Debug)]
pub(crate) struct Examination {
    /// Every tool, wanted or not.
    pub(crate) tools: Vec<ExaminedTool>,
    /// The targets that were asked for.
    pub(crate) targets: Vec<Buildable>,
}

/// A tool or a library, and what was found of it.
#[derive(Debug)]
pub(crate) struct ExaminedTool {
    pub(crate) component: Component,
    /// Its usual name.
    pub(crate) name: &'static str,
    /// Purpose.
    pub(crate) purpose: &'static str,
    /// Location, or the reason why it cannot be used, with a hint that installs it.
    pub(crate) outcome: std::result::Result<ToolLocation, offload_build::Error>,
}

/// A target, and what it lacks.
#[derive(Debug)]
pub(crate) struct Buildable {
    /// As it was asked for.
    pub(crate) target: String,
    /// Names of the tools that it takes.
    pub(crate) needs: Vec<&'static str>,
    /// Names of tools without which it cannot be built.
    pub(crate) lacks: Vec<&'static str>,
    /// Names of tools without which some kernels cannot be built, or are not checked.
    pub(crate) better_with: Vec<&'static str>,
    /// Why the clang that is installed has no code for it, with a hint.
    pub(crate) unserved: Option<offload_build::Error>,
}

/// What a target lacks that the installed clang has no code for.
const LATER_CLANG: &str = "a later clang";

/// Looks for every tool, as a build script of a package in `directory` would, for `targets` (or sets of them).
///
/// # Errors
/// If a target is unknown, or there is no place for temporary files. A missing tool is no error.
pub(crate) fn examine(directory: &Path, targets: &[&str]) -> Result<Examination> {
    let wanted = targets.iter().map(|text| members_of(text)).collect::<Result<Vec<_>>>()?;
    let toolchain = Toolchain::for_directory(directory).map_err(Error::from_build)?;
    let tools: Vec<ExaminedTool> =
        need::EXAMINED.into_iter().map(|component| examine_tool(&toolchain, component)).collect();
    let targets = targets
        .iter()
        .zip(wanted)
        .map(|(text, members)| {
            let needs = needs(&members);
            let mut lacks = missing(&tools, &needs.needed);
            let mut unserved = None;
            // Without a clang that is what it lacks; and a set has what clang knows.
            let is_set_of_known = matches!(text.parse(), Ok(TargetSet::AllNvidia | TargetSet::AllAmd));
            if !is_set_of_known && !lacks.contains(&need::describe(Component::Clang).0) {
                unserved = members.iter().find_map(|target| toolchain.compiles_for(target).err());
            }
            lacks.extend(unserved.is_some().then_some(LATER_CLANG));
            Buildable {
                target: (*text).to_string(),
                needs: names(&tools, &needs.needed),
                lacks,
                better_with: missing(&tools, &needs.useful),
                unserved,
            }
        })
        .collect();
    Ok(Examination { targets, tools })
}

/// Looks for these tools alone.
///
/// # Errors
/// There is no place for temporary files.
pub(crate) fn examine_tools(directory: &Path, components: &[Component]) -> Result<Vec<ExaminedTool>> {
    let toolchain = Toolchain::for_directory(directory).map_err(Error::from_build)?;
    Ok(components.iter().map(|component| examine_tool(&toolchain, *component)).collect())
}

fn examine_tool(toolchain: &Toolchain, component: Component) -> ExaminedTool {
    let (name, purpose) = need::describe(component);
    ExaminedTool { component, name, purpose, outcome: toolchain.find(component) }
}

fn names(tools: &[ExaminedTool], of: &[Component]) -> Vec<&'static str> {
    tools.iter().filter(|tool| of.contains(&tool.component)).map(|tool| tool.name).collect()
}

fn missing(tools: &[ExaminedTool], of: &[Component]) -> Vec<&'static str> {
    let missing = tools.iter().filter(|tool| tool.outcome.is_err() && of.contains(&tool.component));
    missing.map(|tool| tool.name).collect()
}

/// The targets of a set, or the one target of this name.
fn members_of(text: &str) -> Result<Vec<Target>> {
    match text.parse::<TargetSet>() {
        Ok(set) => members(set).map_err(Error::from_build),
        Err(_) => {
            let target = text.parse();
            Ok(vec![target.map_err(|error: offload_format::UnknownTarget| Error::usage(error.to_string()))?])
        }
    }
}

/// The required and optional tools of targets.
fn needs(targets: &[Target]) -> Needs {
    let mut all = Needs::default();
    for needs in targets.iter().map(Needs::for_target) {
        all.needed.extend(needs.needed);
        all.useful.extend(needs.useful);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_need_what_their_members_need() {
        let needed = needs(&members_of("all-nvidia").unwrap()).needed;
        assert!(needed.contains(&Component::Ptxas) && needed.contains(&Component::LibclcNvidia));
        let needed = needs(&members_of("nvptx:sm_75").unwrap()).needed;
        assert!(!needed.contains(&Component::Ptxas));
        assert!(members_of("intel:pcv").unwrap_err().to_string().contains("intel:pvc"));
    }

    #[test]
    fn nothing_that_is_missing_keeps_it_from_answering() {
        let examination = examine(Path::new("."), &["intel:pvc", "host", "spirv64"]).unwrap();
        assert_eq!(examination.targets.len(), 3);
        assert_eq!(examination.targets[0].needs, ["clang", "ocloc"]);
        assert_eq!(examination.tools.len(), need::EXAMINED.len());
        for tool in &examination.tools {
            if let Err(missing) = &tool.outcome {
                assert!(missing.hint().is_some() && missing.message().contains("looked for"), "{missing:?}");
            }
        }
        let clang = examination.tools.iter().find(|tool| tool.name == "clang").unwrap();
        assert_eq!(clang.outcome.is_err(), examination.targets[2].lacks.contains(&"clang"));
    }
}
