//! Compilers on this machine, and the tools that targets lack.

mod need;

use std::path::Path;

use offload_build::shared::toolchain::{Component, ToolLocation, Toolchain};
use offload_build::targets::members;
use offload_format::TargetSet;

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
}

/// Looks for every tool, as a build script of a package in `directory` would, for `targets` (or sets of them).
///
/// # Errors
/// If a target is unknown, or there is no place for temporary files. A missing tool is no error.
pub(crate) fn examine(directory: &Path, targets: &[&str]) -> Result<Examination> {
    let wanted = targets.iter().map(|text| needs(text)).collect::<Result<Vec<_>>>()?;
    let toolchain = Toolchain::for_directory(directory).map_err(Error::from_build)?;
    let tools: Vec<ExaminedTool> =
        need::EXAMINED.into_iter().map(|component| examine_tool(&toolchain, component)).collect();
    let targets = targets
        .iter()
        .zip(wanted)
        .map(|(text, needs)| Buildable {
            target: (*text).to_string(),
            needs: names(&tools, &needs.needed),
            lacks: missing(&tools, &needs.needed),
            better_with: missing(&tools, &needs.useful),
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

/// The required and optional tools of a target or a set of targets.
fn needs(text: &str) -> Result<Needs> {
    let targets = match text.parse::<TargetSet>() {
        Ok(set) => members(set).map_err(Error::from_build)?,
        Err(_) => {
            vec![
                text.parse()
                    .map_err(|error: offload_format::UnknownTarget| Error::usage(error.to_string()))?,
            ]
        }
    };
    let mut all = Needs::default();
    for needs in targets.iter().map(Needs::for_target) {
        all.needed.extend(needs.needed);
        all.useful.extend(needs.useful);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_need_what_their_members_need() {
        let needed = needs("all-nvidia").unwrap().needed;
        assert!(needed.contains(&Component::Ptxas) && needed.contains(&Component::LibclcNvidia));
        assert!(!needs("nvptx:sm_75").unwrap().needed.contains(&Component::Ptxas));
        assert!(needs("intel:pcv").unwrap_err().to_string().contains("intel:pvc"));
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
