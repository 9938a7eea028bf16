//! Arguments of `report --matrix`, a tool and the compilers to compare.

use std::str::FromStr;

use offload_protocol::variable;

/// A tool, and the programs that are used for it in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) tool: Tool,
    /// Names in `PATH`, or paths.
    pub(crate) programs: Vec<String>,
}

/// A tool that an environment variable replaces in a build script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tool {
    Clang,
    Ptxas,
    Ocloc,
    Nvcc,
    Hipcc,
    Icpx,
}

impl Tool {
    const ALL: [Tool; 6] = [Tool::Clang, Tool::Ptxas, Tool::Ocloc, Tool::Nvcc, Tool::Hipcc, Tool::Icpx];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Tool::Clang => "clang",
            Tool::Ptxas => "ptxas",
            Tool::Ocloc => "ocloc",
            Tool::Nvcc => "nvcc",
            Tool::Hipcc => "hipcc",
            Tool::Icpx => "icpx",
        }
    }

    /// The variable that names the tool to `offload-build`.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Tool::Clang => variable::CLANG,
            Tool::Ptxas => variable::PTXAS,
            Tool::Ocloc => variable::OCLOC,
            Tool::Nvcc => variable::NVCC,
            Tool::Hipcc => variable::HIPCC,
            Tool::Icpx => variable::ICPX,
        }
    }
}

impl FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> Result<Axis, String> {
        let (tool, programs) =
            text.split_once('=').ok_or("expected TOOL=PROGRAM,PROGRAM, such as clang=clang-19,clang-22")?;
        let tool = Tool::ALL.into_iter().find(|known| known.name() == tool).ok_or_else(|| {
            format!("unknown tool `{tool}`; the tools are {}", Tool::ALL.map(Tool::name).join(", "))
        })?;
        let mut axis = Axis { tool, programs: Vec::new() };
        for program in programs.split(',') {
            if program.is_empty() {
                return Err("the name of a program is empty".to_string());
            }
            if axis.programs.iter().any(|other| other == program) {
                return Err(format!("`{program}` is listed twice"));
            }
            axis.programs.push(program.to_string());
        }
        Ok(axis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_a_tool_and_its_programs() {
        let axis: Axis = "clang=clang-19,/opt/llvm/bin/clang".parse().unwrap();
        assert_eq!((axis.tool, axis.programs.len()), (Tool::Clang, 2));
        for (text, part) in [
            ("clang", "expected TOOL="),
            ("gcc=a,b", "the tools are clang, ptxas"),
            ("ptxas=", "the name of a program is empty"),
            ("ptxas=a,,b", "the name of a program is empty"),
            ("ptxas=a,a", "`a` is listed twice"),
        ] {
            assert!(text.parse::<Axis>().unwrap_err().contains(part), "{text}");
        }
    }
}
