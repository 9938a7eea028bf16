//! Errors for a file without images, with the command that reads it.

use std::path::Path;

use offload_containers::carrier;
use offload_format::Limits;

use crate::error::{Error, Result};
use crate::files::mapping::Mapped;
use crate::read::files;

/// The reason why a command finds no image in `path`.
pub(crate) fn error(path: &Path, limits: &Limits) -> Error {
    describe(path, limits).unwrap_or_else(|error| error)
}

fn describe(path: &Path, limits: &Limits) -> Result<Error> {
    let shown = path.display();
    if path.is_dir() {
        return Ok(Error::io("open", path, &std::io::Error::other("it is a directory")));
    }
    if files::is_archive(path)? {
        let error = Error::check(format!("`{shown}` is an archive, and this command reads a single file"));
        return Ok(error.hint(format!(
            "`cargo offload extract {shown}` writes its images to files; inspect, report, size and verify read archives too"
        )));
    }
    let file = Mapped::open(path)?;
    if file.starts_with(THIN) {
        let error = Error::check(format!("`{shown}` is a thin archive, whose members are other files"));
        return Ok(error.hint("name the members, which `ar t` lists"));
    }
    if carrier::find(&file, limits).is_ok_and(|found| !found.is_empty()) {
        let error =
            Error::check(format!("`{shown}` has images of other toolchains, but none of cargo-offload"));
        return Ok(error.hint(format!(
            "`cargo offload extract {shown}` writes them to files; inspect, report, size, verify and export read them too"
        )));
    }
    let error = Error::check(format!("`{shown}` has no device images"));
    Ok(match object::FileKind::parse(&*file) {
        Ok(_) => error.hint(
            "a crate's kernels are linked only if the program references it: `use the_crate as _;`; there \
             are none in the known sections, and `cargo offload inspect --deep` searches all bytes",
        ),
        Err(_) if file.is_empty() => Error::check(format!("`{shown}` is empty")),
        Err(_) => error.hint("it is not a program, a library or a known container"),
    })
}

const THIN: &[u8] = b"!<thin>\n";
