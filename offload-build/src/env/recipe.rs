//! The invocation of this build script by cargo, recorded so that `cargo offload dev` can repeat it.

use std::env;
use std::path::{Path, PathBuf};

use offload_protocol::variable::{self, Purpose, Variable};

use super::{CargoEnv, Runner};
use crate::error::Result;
use crate::fs;
use crate::recipe::{FILE, Recipe};

/// What cargo sets for build scripts and no shell has
/// (<https://doc.rust-lang.org/cargo/reference/environment-variables.html#environment-variables-cargo-sets-for-build-scripts>),
/// and where programs and libraries are looked for, which cargo and rustup change.
const NAMES: &[&str] = &[
    variable::CARGO,
    "CARGO_ENCODED_RUSTFLAGS",
    "DEBUG",
    "HOST",
    "NUM_JOBS",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    variable::RUSTC,
    "RUSTC_LINKER",
    "RUSTDOC",
    "TARGET",
    variable::PATH,
    variable::LD_LIBRARY_PATH,
    variable::DYLD_LIBRARY_PATH,
];

/// What variables of cargo and of other build scripts begin with. Others, as those with passwords of registries, are not
/// written anywhere.
const BEGINNINGS: &[&str] = &["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_MANIFEST_", "CARGO_PKG_", "DEP_"];

impl CargoEnv {
    /// Leaves the recipe in `OUT_DIR`, if cargo runs this: it names places of this machine. What is not Unicode is left out: cargo sets nothing of that kind.
    pub(crate) fn write_recipe(&self) -> Result<()> {
        let script =
            self.setting(variable::BUILD_SCRIPT).map(PathBuf::from).or_else(|| env::current_exe().ok());
        let program = script.filter(|_| self.runner == Runner::Cargo);
        let Some(program) = program else { return Ok(()) };
        let texts = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let variables = texts.filter(|(name, _)| is_kept(name)).collect();
        let recipe = Recipe { program, directory: self.manifest_dir.clone(), variables };
        fs::publish_if_changed(&self.out_dir.join(FILE), recipe.to_text().as_bytes())
    }

    /// Where `cargo offload dev` wants packs, if it runs this.
    pub(crate) fn reload_packs(&self) -> Option<PathBuf> {
        let folder = self.setting(variable::RELOAD_PACKS).map(PathBuf::from);
        folder.filter(|folder: &PathBuf| Path::is_absolute(folder))
    }
}

fn is_kept(name: &str) -> bool {
    let is_cargo_s = NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    is_cargo_s || variable::ALL.iter().any(|known| is_setting(known, name))
}

/// Whether `name` is the variable, or that for one target.
fn is_setting(known: &Variable, name: &str) -> bool {
    let rest = name.strip_prefix(known.name);
    matches!(known.purpose, Purpose::Build | Purpose::Tool | Purpose::Cache)
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use super::is_kept;

    #[test]
    fn secrets_stay_where_they_are() {
        for name in ["CARGO_REGISTRIES_MINE_TOKEN", "CARGO_REGISTRY_TOKEN", "HOME", "AWS_SECRET_ACCESS_KEY"] {
            assert!(!is_kept(name), "{name}");
        }
        for name in ["OUT_DIR", "CARGO_PKG_NAME", "DEP_BF16_X", "OFFLOAD_CONFIG", "OFFLOAD_CLANG_x86_64"] {
            assert!(is_kept(name), "{name}");
        }
        // These are for one run.
        assert!(!is_kept("OFFLOAD_PROGRESS") && !is_kept("OFFLOAD_RELOAD_PACKS"));
    }
}
