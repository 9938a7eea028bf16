//! Requests on their way to the compiler: here, or in an installed `cargo-offload`.

#[cfg(not(feature = "compiler"))]
use crate::delegate;
#[cfg(feature = "compiler")]
use crate::embed::Owner;
use crate::error::Result;
#[cfg(feature = "compiler")]
use crate::flow;
use crate::request::Request;

/// Compiles and embeds what `request` asks for.
#[cfg(feature = "compiler")]
pub(crate) fn run(request: Request<'_>) -> Result<()> {
    match request {
        Request::Module(module) => flow::run(&[module], Owner::Module(module.name)),
        Request::Package(modules) => flow::run(modules, Owner::Package),
        Request::Library { module, headers } => flow::export(module, headers),
    }
}

/// Has `cargo-offload` compile and embed what `request` asks for.
#[cfg(not(feature = "compiler"))]
pub(crate) fn run(request: Request<'_>) -> Result<()> {
    delegate::run(request)
}
