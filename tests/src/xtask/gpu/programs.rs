//! The programs of the folder, each built below `gpu` in the target directory.

use std::fs;
use std::path::PathBuf;

use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::workspace::Workspace;

use crate::candle;

/// Native code for Hopper, PTX that newer GPUs compile, and the CPU's own.
const TARGETS: &str = "host,nvptx:sm_75,cubin:sm_90";

/// The examples with a CUDA back end.
const EXAMPLES: [&str; 5] = ["with-cudarc", "conjugate-gradient", "image-filter", "decode", "stencil"];

/// The example `bf16-vectors`: how it gets its device library, and for which targets.
struct DeviceLibrary {
    program: &'static str,
    link: &'static str,
    targets: &'static str,
}

/// From the build as native code; linked at load, with the instructions of Hopper; and without them.
const DEVICE_LIBRARIES: [DeviceLibrary; 3] = [
    DeviceLibrary { program: "bf16-build", link: "build", targets: "\"nvptx:sm_75\", \"cubin:sm_90\"" },
    DeviceLibrary { program: "bf16-load", link: "load", targets: "\"nvptx:sm_75\", \"nvptx:sm_90\"" },
    DeviceLibrary { program: "bf16-fallback", link: "load", targets: "\"nvptx:sm_75\"" },
];

/// How programs are built.
pub(super) struct Programs<'a> {
    pub(super) workspace: &'a Workspace,
    /// The root of a CUDA toolkit with nvcc.
    pub(super) cuda: PathBuf,
    /// The target directory of all of them, so that what they share is built once.
    pub(super) target: PathBuf,
}

/// A fixture, and what its program is called.
struct Fixture {
    name: &'static str,
    program: &'static str,
}

/// The kernels of another project, whose sources are not part of the fixture.
const CANDLE: Fixture = Fixture { name: "candle", program: "offload-candle" };

impl Programs<'_> {
    /// The program with kernels.
    pub(super) fn kernels(&self) -> Result<PathBuf> {
        self.fixture(&Fixture { name: "gpu", program: "offload-gpu" })
    }

    pub(super) fn all(&self) -> Result<Vec<PathBuf>> {
        let mut programs = vec![self.kernels()?];
        programs.push(self.fixture(&Fixture { name: "launch", program: "offload-launch" })?);
        programs.push(self.fixture(&Fixture { name: "decode", program: "offload-decode" })?);
        programs.push(self.fixture(&Fixture { name: "typed", program: "offload-typed" })?);
        programs.push(self.fixture(&Fixture { name: "launchers", program: "offload-launchers" })?);
        programs.push(self.fixture(&Fixture { name: "numbers", program: "offload-numbers" })?);
        programs.push(self.fixture(&Fixture { name: "warps", program: "offload-warps" })?);
        programs.push(self.fixture(&Fixture { name: "inline-ptx", program: "offload-inline-ptx" })?);
        programs.push(self.sub_groups()?);
        programs.push(self.candle()?);
        programs.push(self.fixture(&Fixture { name: "prints", program: "offload-prints" })?);
        programs.push(self.fixture(&Fixture { name: "prints-linked", program: "offload-prints-linked" })?);
        programs.extend(self.examples()?);
        for library in &DEVICE_LIBRARIES {
            programs.push(self.device_library(library)?);
        }
        programs.push(self.tests()?);
        Ok(programs)
    }

    fn sub_groups(&self) -> Result<PathBuf> {
        // The CPU has other sizes of sub-groups than GPUs.
        let variables = [("OFFLOAD_TARGETS", PathBuf::from("nvptx:sm_80"))];
        self.fixture_with(&Fixture { name: "sub-groups", program: "offload-sub-groups" }, &variables)
    }

    fn candle(&self) -> Result<PathBuf> {
        let kernels = candle::sources(self.workspace)?;
        // The CPU's code would take minutes, and does not run on a GPU.
        let variables = [(candle::KERNELS_VAR, kernels), ("OFFLOAD_TARGETS", PathBuf::from("nvptx:sm_80"))];
        self.fixture_with(&CANDLE, &variables)
    }

    fn fixture(&self, fixture: &Fixture) -> Result<PathBuf> {
        self.fixture_with(fixture, &[])
    }

    /// Builds a copy of the fixture; the same place each time, so that little is built again.
    fn fixture_with(&self, fixture: &Fixture, variables: &[(&str, PathBuf)]) -> Result<PathBuf> {
        let dir = self.workspace.target_dir.join("gpu").join(fixture.name);
        let dir = self.workspace.shell.create_dir(dir)?;
        fixture::copy(self.workspace, fixture.name, &dir)?;
        let _in = self.workspace.shell.push_dir(&dir);
        let cargo = self.workspace.cargo().args(["build", "--release", "--bin", fixture.program]);
        // Not the targets of this checkout, in which the copy lies: the fixture has its own.
        let cargo = cargo.env("OFFLOAD_CONFIG", dir.join("offload.toml")).env_remove("OFFLOAD_TARGETS");
        let cargo = cargo.env("CARGO_TARGET_DIR", &self.target).env("CUDA_PATH", &self.cuda);
        let cargo = cargo.envs(variables.iter().map(|(name, value)| (name, value)));
        cargo.env_remove("RUSTFLAGS").run()?;
        Ok(self.target.join("release").join(fixture.program))
    }

    fn examples(&self) -> Result<Vec<PathBuf>> {
        let packages = EXAMPLES.iter().flat_map(|example| ["--package", example]);
        let cargo = self.workspace.cargo().args(["build", "--release"]).args(packages);
        let cargo =
            cargo.args(["--features", "conjugate-gradient/cuda,image-filter/cuda,decode/cuda,stencil/cuda"]);
        let cargo = cargo.env("CARGO_TARGET_DIR", &self.target).env("CUDA_PATH", &self.cuda);
        cargo.env("OFFLOAD_TARGETS", TARGETS).env_remove("RUSTFLAGS").run()?;
        Ok(EXAMPLES.iter().map(|example| self.target.join("release").join(example)).collect())
    }

    fn device_library(&self, library: &DeviceLibrary) -> Result<PathBuf> {
        let DeviceLibrary { program, link, targets } = library;
        let folder = self.workspace.shell.create_dir(self.workspace.target_dir.join("gpu").join(program))?;
        let config = folder.join("offload.toml");
        let settings = format!(
            "targets = [\"host\", {targets}]\nembed = \"always\"\n\n[modules.vectors]\nlink = \"{link}\"\n"
        );
        fs::write(&config, settings)?;
        let build = ["build", "--release", "--package", "bf16-vectors", "--features", "cuda"];
        let cargo = self.workspace.cargo().args(build).env("CARGO_TARGET_DIR", &self.target);
        let cargo = cargo.env("OFFLOAD_CONFIG", &config).env("CUDA_PATH", &self.cuda);
        cargo.env_remove("OFFLOAD_TARGETS").env_remove("RUSTFLAGS").run()?;
        let copy = folder.join(program);
        fs::copy(self.target.join("release/bf16-vectors"), &copy)?;
        Ok(copy)
    }

    /// The tests of the CUDA back end, which run with a real driver as they do with its stand-in.
    fn tests(&self) -> Result<PathBuf> {
        let test = ["test", "--package", "offload-rt", "--all-features", "--test", "it", "--no-run"];
        let messages = self.workspace.cargo().args(test).arg("--message-format=json").read()?;
        executable(&messages).ok_or_else(|| Error::new("cargo names no program of the tests"))
    }
}

/// The program that cargo's messages name.
fn executable(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut built = messages.filter_map(|message| message.get("executable")?.as_str().map(PathBuf::from));
    built.next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_read_from_messages() {
        let messages =
            "{\"executable\":null}\n{\"executable\":\"/t/it-0123\"}\n{\"reason\":\"build-finished\"}\n";
        assert_eq!(executable(messages), Some(PathBuf::from("/t/it-0123")));
        assert_eq!(executable("not JSON"), None);
    }
}
