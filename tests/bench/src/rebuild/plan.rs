//! Command line of `bench rebuild`: project size and number of runs.

use super::measure::Scenario;
use offload_tests::error::{Error, Result};
use offload_tests::gemm::TARGETS;

/// Sizes of the project and numbers of runs.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) kernels: Language,
    pub(crate) files: usize,
    pub(crate) targets: Vec<&'static str>,
    pub(crate) jobs: usize,
    pub(crate) build_scripts: BuildScripts,
    /// Whether the files for AMD targets are left out, and large modules measured alone.
    pub(super) modules_alone: bool,
    extent: Extent,
}

/// What the kernel files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Matrix products in OpenCL C.
    OpenClC,
    /// The layers of a transformer, as templates in HIP C++.
    Hip,
}

/// How cargo compiles build scripts and what they use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuildScripts {
    /// The default of cargo: not optimised.
    Default,
    /// With `opt-level = 3` for them, as in new projects.
    Tuned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    Quick,
}

impl Plan {
    pub(crate) fn parse(args: &[String]) -> Result<Plan> {
        let mut extent = Extent::Whole;
        let mut build_scripts = BuildScripts::Default;
        let mut modules_alone = false;
        for arg in args {
            match arg.as_str() {
                "--quick" => extent = Extent::Quick,
                "--tuned" => build_scripts = BuildScripts::Tuned,
                "--modules" => modules_alone = true,
                _ => {
                    let error = "`bench rebuild` takes no argument but `--quick`, `--tuned` and `--modules`";
                    return Err(Error::new(error));
                }
            }
        }
        let (files, targets) = if extent == Extent::Quick { (2, 4) } else { (8, TARGETS.len()) };
        Ok(Plan {
            kernels: Language::OpenClC,
            files,
            targets: TARGETS.into_iter().take(targets).collect(),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            build_scripts,
            modules_alone,
            extent,
        })
    }

    /// The least speed of a full build beside ninja's: few files leave little to share.
    pub(super) fn least_speed(&self) -> f64 {
        if self.is_quick() { 1.0 } else { 1.5 }
    }

    pub(super) fn is_quick(&self) -> bool {
        self.extent == Extent::Quick
    }

    pub(super) fn runs(&self, scenario: Scenario) -> usize {
        let whole = self.extent == Extent::Whole;
        match scenario {
            Scenario::Full | Scenario::NewProfile => {
                if whole {
                    3
                } else {
                    1
                }
            }
            Scenario::OneChanged => {
                if whole {
                    8
                } else {
                    2
                }
            }
            Scenario::Unchanged => {
                if whole {
                    15
                } else {
                    3
                }
            }
        }
    }

    /// Whether processes are counted: in a quick run only where there should be none.
    pub(super) fn counts(&self, scenario: Scenario) -> bool {
        self.extent == Extent::Whole || matches!(scenario, Scenario::Unchanged | Scenario::NewProfile)
    }

    /// The names of the kernel files and modules: one of each for each file; in OpenCL C also of their kernels.
    pub(crate) fn modules(&self) -> impl Iterator<Item = String> {
        let name = match self.kernels {
            Language::OpenClC => "gemm",
            Language::Hip => "layers",
        };
        (0..self.files).map(move |index| format!("{name}{index}"))
    }

    /// The targets as offload.toml names them.
    pub(super) fn target_names(&self) -> Vec<String> {
        self.targets.iter().map(|target| format!("amdgcn:{target}")).collect()
    }

    pub(super) fn images(&self) -> usize {
        self.files * self.targets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_arguments_are_refused() {
        assert!(Plan::parse(&["--quik".to_string()]).is_err());
        assert_eq!(Plan::parse(&["--quick".to_string()]).unwrap().images(), 8);
        assert_eq!(Plan::parse(&[]).unwrap().images(), 176);
    }
}
