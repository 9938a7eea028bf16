//! Requests that a build script without a compiler sends.

use std::path::PathBuf;

use crate::build::Build;
use crate::error::{Error, Result};
use crate::options::{Definition, Options};
use crate::settings::{self, Table, Value};

/// A request that was read.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) goal: Goal,
    pub(super) modules: Vec<ReceivedModule>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Goal {
    Module,
    Package,
    Library { headers: PathBuf },
}

#[derive(Debug)]
pub(super) struct ReceivedModule {
    pub(super) name: String,
    pub(super) build: Build,
}

/// Carries out the request `text` of a build script in whose environment this process runs.
///
/// # Errors
/// If the build script has another version of this crate, and for every reason of [`Build::try_compile`].
pub fn run_received(text: &str) -> std::result::Result<(), Error> {
    let request = Received::read(text)?;
    let mut modules = Vec::new();
    for module in &request.modules {
        modules.push((module.name.as_str(), &module.build));
    }
    match (&request.goal, modules.as_slice()) {
        (Goal::Package, _) => crate::build::try_compile_all(modules),
        (Goal::Module, [(name, build)]) => build.try_compile(name),
        (Goal::Library { headers }, [(name, build)]) => build.try_export(name, headers),
        (Goal::Module | Goal::Library { .. }, _) => {
            Err(Error::new(format!("the request has {} modules in place of one", modules.len())))
        }
    }
}

impl Received {
    pub(super) fn read(text: &str) -> Result<Received> {
        settings::read(text, |table| {
            refuse_other_version(table.required("version")?.str()?)?;
            let goal = match table.required("request")?.str()? {
                "module" => Goal::Module,
                "package" => Goal::Package,
                "library" => Goal::Library { headers: table.required("headers")?.str()?.into() },
                other => return Err(Error::new(format!("`{}` is no request", other.escape_default()))),
            };
            let modules = table.optional("modules", |modules| modules.each(module))?;
            Ok(Received { goal, modules: modules.unwrap_or_default() })
        })
    }
}

/// Images and generated Rust are those of one version.
fn refuse_other_version(version: &str) -> Result<()> {
    let own = env!("CARGO_PKG_VERSION");
    if version == own {
        return Ok(());
    }
    let error =
        format!("the build script has offload-build {version}, and the installed cargo-offload is {own}");
    Err(Error::new(error).with_hint(format!("cargo install cargo-offload@{version} --locked")))
}

fn module(value: Value<'_>) -> Result<ReceivedModule> {
    let table = value.table()?;
    let mut options = Options::read(table.required("options")?)?;
    options.defines = definitions(table)?;
    let mut files = Vec::new();
    for file in table.required("files")?.each(Value::string)? {
        files.push(PathBuf::from(file));
    }
    let name = table.required("name")?.string()?;
    Ok(ReceivedModule { name, build: Build::from_parts(files, options) })
}

fn definitions(table: Table<'_>) -> Result<Vec<Definition>> {
    let mut definitions = Vec::new();
    for pair in table.required("definitions")?.each(|pair| pair.each(Value::string))? {
        let [name, value] = <[String; 2]>::try_from(pair)
            .map_err(|pair| Error::new(format!("`{pair:?}` is no definition of a macro")))?;
        definitions.push(Definition { name, value });
    }
    Ok(definitions)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use offload_format::SpecValue;

    use super::*;
    use crate::options::{Compiler, Grf, Link, OpenClStd, SpillBudget, Split, SyclState, TargetKind};
    use crate::request::Request;

    fn full() -> Build {
        let mut build = Build::new();
        build.file("kernels/a \"b\".cl").file("c.cl").include("inc").include("i2");
        build.define("TILE", "16").define("A", "x\ny").define("TILE", "8").flag("-O1").flag("-DX=\"1\"");
        build.variants("T", ["half", "float"]).variants("N", [1, 2]).variants("EMPTY", [0; 0]);
        build.spec("A", i32::MIN).spec("B", u64::MAX).spec("C", 1e-45f32).spec("D", f64::MAX).spec("E", true);
        build.spec("F", i64::MIN).spec("G", u32::MAX).spec("H", -0.0f32);
        build.compiler(Compiler::Nvcc).split(Split::Kernel).cuda_sdk().cuda_arch(700).launchers().strip();
        build.std(OpenClStd::C30).only([TargetKind::Nvptx, TargetKind::Cubin]).max_registers(64);
        build.kernel_max_registers("a.b", 32).kernel_targets("saxpy", [TargetKind::Host]);
        // SAFETY: nothing is launched.
        #[allow(unsafe_code, reason = "declares bounds")]
        unsafe {
            build.kernel_bounds("saxpy", [("x", "n * \"2\""), ("a.b", "n")])
        };
        build.grf(Grf::Large).max_spills(SpillBudget::WarnAbove(1 << 40)).syclbin(SyclState::Object);
        build.syclbin_library("library.spv").import("bf16").link(Link::Load);
        build
    }

    #[test]
    fn a_request_arrives_as_it_was_sent() {
        let builds = [full(), Build::new()];
        for budget in [SpillBudget::Any, SpillBudget::AtMost(0)] {
            let mut build = full();
            build.max_spills(budget);
            let module = build.module("m");
            let received = Received::read(&Request::Module(module).to_toml().unwrap()).unwrap();
            assert_eq!(received.goal, Goal::Module);
            assert_eq!(received.modules[0].build.module("m").options, module.options);
        }
        let modules = [builds[0].module("first"), builds[1].module("second")];
        let received = Received::read(&Request::Package(&modules).to_toml().unwrap()).unwrap();
        assert_eq!((received.goal, received.modules.len()), (Goal::Package, 2));
        for (sent, received) in modules.iter().zip(&received.modules) {
            let build = received.build.module(&received.name);
            assert_eq!((build.name, build.files, build.options), (sent.name, sent.files, sent.options));
        }
        let negative_zero = received.modules[0].build.module("m").options.spec["H"];
        assert_eq!(negative_zero.bits(), SpecValue::Float(-0.0).bits());
        let headers = Path::new("include/my dir");
        let library = Request::Library { module: modules[0], headers };
        let received = Received::read(&library.to_toml().unwrap()).unwrap();
        assert_eq!(received.goal, Goal::Library { headers: headers.into() });
    }

    #[test]
    fn a_request_of_another_version_is_refused_with_the_command_for_it() {
        let text = Request::Package(&[]).to_toml().unwrap().replace(env!("CARGO_PKG_VERSION"), "9.8.7");
        let error = Received::read(&text).unwrap_err();
        assert_eq!(error.hint(), Some("cargo install cargo-offload@9.8.7 --locked"));
    }

    #[test]
    fn requests_with_missing_parts_are_errors() {
        let version = format!("version = \"{}\"\n", env!("CARGO_PKG_VERSION"));
        for rest in ["", "request = \"x\"", "request = \"library\"", "request = \"module\"\nmodules = [{}]"] {
            assert!(Received::read(&format!("{version}{rest}")).is_err(), "{rest}");
        }
        assert!(run_received(&format!("{version}request = \"module\"")).is_err());
        let pair = "request = \"module\"\n[[modules]]\nname = \"m\"\nfiles = []\ndefinitions = [[\"a\"]]\n[modules.options]";
        assert!(Received::read(&format!("{version}{pair}")).is_err());
    }
}
