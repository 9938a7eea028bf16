//! Options that cargo has too, with the same meaning.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// Package selection and build options.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cargo options")]
pub(crate) struct Cargo {
    #[command(flatten)]
    pub(crate) package: Package,
    /// Build for the target triple.
    #[arg(long, value_name = "TRIPLE")]
    pub(crate) target: Option<String>,
}

/// [`Cargo`] without `--target`, for commands where that is a kernel target. Cargo's configuration sets the triple.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cargo options")]
pub(crate) struct Package {
    #[command(flatten)]
    pub(crate) project: Project,
    #[command(flatten)]
    pub(crate) cargo_target: CargoTarget,
    /// Build with the release profile.
    #[arg(long, short, conflicts_with = "profile")]
    pub(crate) release: bool,
    /// Build with the given profile.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Directory for all generated artifacts.
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    /// Number of parallel jobs.
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<String>,
}

/// Options of `cargo metadata`, which reads a project without a build.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cargo options")]
pub(crate) struct Project {
    /// Path to Cargo.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// Package to use.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) package: Option<String>,
    /// Features to activate, separated by spaces or commas.
    #[arg(long, short = 'F', value_name = "FEATURES")]
    pub(crate) features: Vec<String>,
    /// Activate all available features.
    #[arg(long)]
    pub(crate) all_features: bool,
    /// Do not activate the `default` feature.
    #[arg(long)]
    pub(crate) no_default_features: bool,
    /// Require that Cargo.lock stays unchanged.
    #[arg(long)]
    pub(crate) locked: bool,
    /// Run without accessing the network.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Equivalent to `--locked` and `--offline`.
    #[arg(long)]
    pub(crate) frozen: bool,
}

/// Cargo target of a package.
#[derive(Clone, Debug, Default, Args)]
#[group(multiple = false)]
pub(crate) struct CargoTarget {
    /// Use only the given binary.
    #[arg(long, value_name = "NAME")]
    pub(crate) bin: Option<String>,
    /// Use only the given example.
    #[arg(long, value_name = "NAME")]
    pub(crate) example: Option<String>,
    /// Use only the library.
    #[arg(long)]
    pub(crate) lib: bool,
}

impl Cargo {
    /// The arguments for cargo's command line.
    pub(crate) fn args(&self) -> Vec<OsString> {
        let Package { project, cargo_target, release, profile, target_dir, jobs } = &self.package;
        let mut args = Arguments::default();
        args.option("--manifest-path", &project.manifest_path);
        args.option("--package", &project.package);
        args.option("--bin", &cargo_target.bin);
        args.option("--example", &cargo_target.example);
        args.option("--profile", profile);
        args.option("--target", &self.target);
        args.option("--target-dir", target_dir);
        args.option("--jobs", jobs);
        args.flags([Flag("--lib", cargo_target.lib), Flag("--release", *release)]);
        args.0.extend(project.args());
        args.0
    }
}

impl From<&Package> for Cargo {
    fn from(package: &Package) -> Cargo {
        Cargo { package: package.clone(), target: None }
    }
}

impl Package {
    /// Whether an option selects a package or a cargo target.
    pub(crate) fn is_named(&self) -> bool {
        self.project.is_named() || self.names_target()
    }

    /// Whether an option selects a cargo target.
    pub(crate) fn names_target(&self) -> bool {
        let CargoTarget { bin, example, lib } = &self.cargo_target;
        bin.is_some() || example.is_some() || *lib
    }
}

impl Project {
    /// The feature and network options, which every cargo command takes.
    pub(crate) fn args(&self) -> Vec<OsString> {
        let mut args = Arguments::default();
        for features in &self.features {
            args.option("--features", &Some(features));
        }
        args.flags([
            Flag("--all-features", self.all_features),
            Flag("--no-default-features", self.no_default_features),
            Flag("--locked", self.locked),
            Flag("--offline", self.offline),
            Flag("--frozen", self.frozen),
        ]);
        args.0
    }

    /// Whether an option selects a package.
    pub(crate) fn is_named(&self) -> bool {
        self.package.is_some() || self.manifest_path.is_some()
    }
}

/// An option without a value, and whether it is set.
struct Flag(&'static str, bool);

/// Builder of a command line.
#[derive(Debug, Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn option<T: Into<OsString> + Clone>(&mut self, name: &str, value: &Option<T>) {
        if let Some(value) = value {
            self.0.extend([name.into(), value.clone().into()]);
        }
    }

    fn flags<const COUNT: usize>(&mut self, flags: [Flag; COUNT]) {
        self.0.extend(flags.iter().filter(|flag| flag.1).map(|flag| OsString::from(flag.0)));
    }
}
