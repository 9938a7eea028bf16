//! The environment variables that a build script without a compiler reads or sets. The book has the table of all variables
//! of the project.

/// The cargo that runs the build script.
pub(crate) const CARGO: &str = "CARGO";
/// The path of `cargo-offload`, where it is not that in `PATH`.
#[cfg(not(feature = "compiler"))]
pub(crate) const CARGO_OFFLOAD: &str = "OFFLOAD_CARGO_OFFLOAD";
/// The build script that `cargo-offload` compiles for.
#[cfg(not(feature = "compiler"))]
pub(crate) const BUILD_SCRIPT: &str = "OFFLOAD_BUILD_SCRIPT";
/// Where cargo runs, for `cargo-offload` that compiles for a build script.
pub(crate) const CARGO_DIRECTORY: &str = "OFFLOAD_CARGO_DIRECTORY";
/// Whether output has no colours.
pub(crate) const NO_COLOR: &str = "NO_COLOR";
/// The shell's directory.
pub(crate) const PWD: &str = "PWD";
