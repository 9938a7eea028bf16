//! Options that mean what they mean to cargo.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// Which package, and how cargo builds it.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Package and build, as in cargo")]
pub(crate) struct Cargo {
    #[command(flatten)]
    pub(crate) package: Package,
    /// Build for this triple.
    #[arg(long, value_name = "TRIPLE")]
    pub(crate) target: Option<String>,
}

/// The same where `--target` means something else: cargo's settings tell the triple.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Package and build, as in cargo")]
pub(crate) struct Package {
    #[command(flatten)]
    pub(crate) project: Project,
    #[command(flatten)]
    pub(crate) cargo_target: CargoTarget,
    /// Build with the profile `release`.
    #[arg(long, short, conflicts_with = "profile")]
    pub(crate) release: bool,
    /// Build with this profile.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// The directory for everything that cargo builds.
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    /// Run this many jobs at once.
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<String>,
}

/// What cargo has to know to read a project, without building it.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Package and build, as in cargo")]
pub(crate) struct Project {
    /// The Cargo.toml of the package or workspace.
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// The package.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) package: Option<String>,
    /// Features to activate.
    #[arg(long, short = 'F', value_name = "FEATURES")]
    pub(crate) features: Vec<String>,
    /// Activate all features.
    #[arg(long)]
    pub(crate) all_features: bool,
    /// Do not activate the feature `default`.
    #[arg(long)]
    pub(crate) no_default_features: bool,
    /// Fail if Cargo.lock would change.
    #[arg(long)]
    pub(crate) locked: bool,
    /// Use no network.
    #[arg(long)]
    pub(crate) offline: bool,
    /// The same as `--locked` with `--offline`.
    #[arg(long)]
    pub(crate) frozen: bool,
}

/// Which of a package's targets.
#[derive(Clone, Debug, Default, Args)]
#[group(multiple = false)]
pub(crate) struct CargoTarget {
    /// The binary.
    #[arg(long, value_name = "NAME")]
    pub(crate) bin: Option<String>,
    /// The example.
    #[arg(long, value_name = "NAME")]
    pub(crate) example: Option<String>,
    /// The library.
    #[arg(long)]
    pub(crate) lib: bool,
}

impl Cargo {
    /// Everything, as cargo's command line has it.
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
    /// Whether a project or a part of it was named.
    pub(crate) fn is_named(&self) -> bool {
        self.project.is_named() || self.names_target()
    }

    /// Whether one of a package's targets was named.
    pub(crate) fn names_target(&self) -> bool {
        let CargoTarget { bin, example, lib } = &self.cargo_target;
        bin.is_some() || example.is_some() || *lib
    }
}

impl Project {
    /// Features and whether cargo may use the network, as the command line of every command of cargo has them.
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

    /// Whether a project was named.
    pub(crate) fn is_named(&self) -> bool {
        self.package.is_some() || self.manifest_path.is_some()
    }
}

/// An option without a value, and whether it is set.
struct Flag(&'static str, bool);

/// A command line in the making.
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
