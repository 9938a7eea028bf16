//! AMD code objects without what only tools read: symbol table, line tables, the compiler's name.
//!
//! Drivers find kernels through the dynamic symbols and the metadata note, which stay.

use offload_format::Target;
use offload_images::code_object;

use super::action::{Arg, Step, texts};
use super::supply::Results;
use super::{Compiled, Session};
use crate::cache::Blob;
use crate::error::{Error, Result};

/// What was compiled, with the images for AMD stripped if that was asked for.
pub(super) fn all(session: &Session<'_>, results: Results) -> Results {
    if session.sources.options.strip != Some(true) {
        return results;
    }
    let one = |compiled: Compiled| Ok(Compiled { raw: stripped(session, &compiled)?, ..compiled });
    let each = |result: Result<Vec<Compiled>>| result?.into_iter().map(one).collect();
    results.into_iter().map(each).collect()
}

/// The bytes of `compiled`, stripped if it is code for AMD.
fn stripped(session: &Session<'_>, compiled: &Compiled) -> Result<Blob> {
    let Target::Amdgcn(_) = compiled.image.target else { return Ok(compiled.raw.clone()) };
    let tool = session.finder.paired(session.llvm()?, "llvm-strip", "OFFLOAD_STRIP")?;
    let before = code_object::info(&compiled.raw.read()?)?;
    let args = texts(["--strip-all", "--remove-section=.comment", "-o"]);
    let args = args.chain([Arg::Output, Arg::Input(0)]).collect();
    let inputs = vec![(&compiled.raw, ".hsaco")];
    let step = Step { name: "stripped AMD code object", tool: &tool, args, inputs, files: vec![] };
    let same = |bytes: &[u8]| match code_object::info(bytes)? == before {
        true => Ok(()),
        false => Err(Error::new("its kernels are not those that there were")),
    };
    session.step(&step, same)
}
