//! `doctor cuda`: the compilers for CUDA C++, the tools that each lacks, and the next command.

use std::path::Path;

use offload_build::shared::toolchain::Component;
use serde::Serialize;

use super::verdict::verdict;
use crate::error::{ExitStatus, Result};
use crate::machine::doctor::{ExaminedTool, examine_tools};
use crate::print::output::Output;
use crate::print::table::Table;

/// Name on the command line.
pub(super) const TOPIC: &str = "cuda";

/// Everything that a way may take.
const TOOLS: [Component; 4] = [Component::Clang, Component::CudaSdk, Component::Nvcc, Component::Ptxas];

/// A way to compile CUDA C++.
struct Route {
    name: &'static str,
    /// Setting below `[modules.NAME]` in offload.toml.
    setting: &'static str,
    takes: &'static [Component],
    /// Sources that it compiles.
    sources: &'static str,
}

const ROUTES: [Route; 4] = [
    Route {
        name: "clang",
        setting: "",
        takes: &[Component::Clang],
        sources: "with headers of its own: cuda_fp16.h, cuda_bf16.h, mma.h, blocks of CUB",
    },
    Route {
        name: "clang with headers",
        setting: "cuda-sdk = true",
        takes: &[Component::Clang, Component::CudaSdk],
        sources: "with NVIDIA's headers",
    },
    Route {
        name: "nvcc",
        setting: "compiler = \"nvcc\"",
        takes: &[Component::Nvcc],
        sources: "everything that nvcc accepts, such as CUTLASS",
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
    let mut table = Table::with_wrapped_cells(&["way", "ready", "in offload.toml", "compiles sources"]);
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
    print_tools(output, &tools)?;
    // Files that are ready-made take nothing.
    let compiles = routes.iter().any(|route| route.ready && route.route != "ready-made");
    Ok(if compiles { ExitStatus::Success } else { ExitStatus::CheckFailed })
}

impl Route {
    fn message(&self, tools: &[ExaminedTool]) -> RouteMessage {
        let missing =
            tools.iter().filter(|tool| self.takes.contains(&tool.component) && tool.outcome.is_err());
        let lacks: Vec<&'static str> = missing.map(|tool| tool.name).collect();
        let cccl = self.takes.contains(&Component::CudaSdk).then(|| cccl(tools)).flatten();
        let sources = format!("{}{}", self.sources, cccl.unwrap_or_default());
        let route = self.name;
        let setting = self.setting;
        RouteMessage { reason: "cuda-route", route, setting, ready: lacks.is_empty(), lacks, sources }
    }
}

/// Since CUDA 13 the headers of CCCL have a directory of their own, which some packages of the toolkit lack.
fn cccl(tools: &[ExaminedTool]) -> Option<&'static str> {
    let sdk = tools.iter().find(|tool| tool.component == Component::CudaSdk)?.outcome.as_ref().ok()?;
    let include = sdk.path.join("include");
    Some(if include.join("cccl").is_dir() || include.join("cuda/std").is_dir() {
        ", cuda/std, CUB, Thrust"
    } else {
        "; this one lacks cuda/std, CUB, Thrust"
    })
}

/// Prints the path of each tool, or the command that installs it, and the tool for native code.
fn print_tools(output: &Output, tools: &[ExaminedTool]) -> Result<()> {
    for tool in tools {
        match &tool.outcome {
            Ok(found) => output.remark(&format!("{}: {}", tool.name, found.path.display()))?,
            Err(missing) => {
                let hint = missing.hint().unwrap_or_else(|| missing.message());
                output.remark(&format!("hint: for {}: {hint}", tool.name))?;
            }
        }
    }
    output.remark("PTX (`nvptx:` targets) needs no other tool; native code (`cubin:` targets) needs ptxas")
}
