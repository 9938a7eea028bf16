//! `doctor cuda`: every way to compile CUDA C++, what this machine lacks for it, and the next command.

use std::path::Path;

use offload_build::shared::toolchain::Component;
use serde::Serialize;

use super::verdict::verdict;
use crate::error::{ExitStatus, Result};
use crate::machine::doctor::{Examined, examine_tools};
use crate::print::output::Output;
use crate::print::table::Table;

/// What the command line calls it.
pub(super) const TOPIC: &str = "cuda";

/// Everything that a way may take.
const TOOLS: [Component; 4] = [Component::Clang, Component::CudaSdk, Component::Nvcc, Component::Ptxas];

/// A way to compile CUDA C++.
struct Route {
    name: &'static str,
    /// What stands below `[modules.NAME]` in offload.toml.
    setting: &'static str,
    takes: &'static [Component],
    /// Which sources it compiles.
    sources: &'static str,
}

const ROUTES: [Route; 4] = [
    Route {
        name: "clang",
        setting: "",
        takes: &[Component::Clang],
        sources: "without headers of CUDA: built-in variables, shuffles, atomics, mathematics",
    },
    Route {
        name: "clang with headers",
        setting: "cuda-sdk = true",
        takes: &[Component::Clang, Component::CudaSdk],
        sources: "with cuda_fp16.h, cuda_runtime.h",
    },
    Route {
        name: "nvcc",
        setting: "compiler = \"nvcc\"",
        takes: &[Component::Nvcc],
        sources: "with anything that nvcc takes, such as CUTLASS",
    },
    Route { name: "ready-made", setting: "", takes: &[], sources: ".ptx and .cubin files, made elsewhere" },
];

#[derive(Debug, Serialize)]
struct RouteMessage {
    reason: &'static str,
    route: &'static str,
    setting: &'static str,
    ready: bool,
    lacks: Vec<&'static str>,
    sources: String,
}

pub(super) fn run(output: &Output) -> Result<ExitStatus> {
    let tools = examine_tools(Path::new("."), &TOOLS)?;
    let routes: Vec<RouteMessage> = ROUTES.iter().map(|route| route.message(&tools)).collect();
    let mut table = Table::of_sentences(&["way", "ready", "in offload.toml", "compiles sources"]);
    for route in &routes {
        let setting = if route.setting.is_empty() { "-" } else { route.setting };
        let cells =
            [route.route.to_string(), verdict(&route.lacks), setting.to_string(), route.sources.clone()];
        table.row(cells.into());
        if !route.ready {
            table.problem("ready");
        }
    }
    output.table(&routes, &table)?;
    output.space()?;
    tell_tools(output, &tools)?;
    // Files that are ready-made take nothing.
    let compiles = routes.iter().any(|route| route.ready && route.route != "ready-made");
    Ok(if compiles { ExitStatus::Success } else { ExitStatus::CheckFailed })
}

impl Route {
    fn message(&self, tools: &[Examined]) -> RouteMessage {
        let missing =
            tools.iter().filter(|tool| self.takes.contains(&tool.component) && tool.outcome.is_err());
        let lacks: Vec<&'static str> = missing.map(|tool| tool.name).collect();
        let cccl = self.takes.contains(&Component::CudaSdk).then(|| cccl(tools)).flatten();
        let sources = format!("{}{}", self.sources, cccl.unwrap_or_default());
        let (route, setting) = (self.name, self.setting);
        RouteMessage { reason: "cuda-route", route, setting, ready: lacks.is_empty(), lacks, sources }
    }
}

/// Since CUDA 13 the headers of CCCL have a directory of their own, which some packages of the toolkit lack.
fn cccl(tools: &[Examined]) -> Option<&'static str> {
    let sdk = tools.iter().find(|tool| tool.component == Component::CudaSdk)?.outcome.as_ref().ok()?;
    let has = |name: &str| sdk.path.join("include").join(name).is_dir();
    Some(if has("cccl") || has("cuda/std") {
        ", cuda/std, CUB, Thrust"
    } else {
        "; this one lacks cuda/std, CUB, Thrust"
    })
}

/// Where each tool is, or the command that installs it; then how native code is made.
fn tell_tools(output: &Output, tools: &[Examined]) -> Result<()> {
    for tool in tools {
        match &tool.outcome {
            Ok(found) => output.remark(&format!("{}: {}", tool.name, found.path.display()))?,
            Err(missing) => {
                let hint = missing.hint().unwrap_or_else(|| missing.message());
                output.remark(&format!("hint: for {}: {hint}", tool.name))?;
            }
        }
    }
    output.remark("PTX (`nvptx:` targets) needs nothing more; native code (`cubin:` targets) needs ptxas")
}
