//! What compilers other than LLVM's have in common here: one run makes the image of a target from all files.

use offload_format::Target;
use offload_format::pack::NewImage;

use super::action::{self, FrontEnd};
use super::unit::Unit;
use super::{Compiled, Session, describe, opencl_c};
use crate::error::Result;
use crate::report;

/// All files as one translation unit: device code of several files is linked only at a cost in speed.
pub(super) fn translation_unit(session: &Session<'_>) -> Result<String> {
    let files = session.sources.files.iter();
    files.map(|file| Ok(format!("#include \"{}\"\n", opencl_c::quotable(&file.path)?))).collect()
}

/// Runs `action`, and describes its output as the image of `target`.
pub(super) fn compile(session: &Session<'_>, target: &Target, action: &FrontEnd<'_>) -> Result<Compiled> {
    let (raw, said) = session.front_end_said(action)?;
    session.env.warn(&warnings_of(&said));
    let described = describe::image(target, &raw.read()?).map_err(|error| {
        let tool = action.tool.path.display();
        error.context(format!("`{tool}` exited with success, but its output is not usable"))
    })?;
    let mut image = NewImage {
        format_version: described.format_version,
        aspects: described.aspects,
        kernels: described.kernels,
        ..Unit::whole(&[]).image(session, target.clone())
    };
    report::add_ptxas(&mut image.kernels, &said);
    Ok(Compiled { image, raw })
}

/// The warnings in what a compiler printed, without its reports.
pub(super) fn warnings_of(said: &str) -> String {
    action::warnings(said)
}
