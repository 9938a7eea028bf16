//! Unpacking packages of Debian and its descendants, on any system (<https://manpages.debian.org/deb.5>).

use std::io::Read;
use std::path::Path;

use lzma_rust2::XzReader;
use object::read::archive::ArchiveFile;
use tar::Archive;

use crate::error::{Error, Result};
use crate::files::mapping::Mapped;
use crate::files::publish::create_dir;

/// The member with the files, before what its compression adds.
const DATA: &str = "data.tar";

/// Unpacks the files of a package into `new`, and nothing else: none of its scripts runs.
pub(super) fn unpack(file: &Path, new: &Path) -> Result<()> {
    create_dir(new)?;
    let package = Mapped::open(file)?;
    let wrong = |what: String| Error::check(format!("`{}` is not a package: {what}", file.display()));
    let (name, data) = data(&package).map_err(wrong)?;
    let reader: Box<dyn Read + '_> = match name.strip_prefix(DATA) {
        Some("") => Box::new(data),
        Some(".xz") => Box::new(XzReader::new(data, true)),
        Some(".zst") => {
            let decoder = zstd::stream::read::Decoder::with_buffer(data);
            Box::new(decoder.map_err(|error| wrong(error.to_string()))?)
        }
        _ => return Err(wrong(format!("its member `{}` is compressed otherwise", name.escape_default()))),
    };
    Archive::new(reader).unpack(new).map_err(|error| Error::io("unpack", file, &error))
}

fn data(package: &[u8]) -> std::result::Result<(String, &[u8]), String> {
    let archive = ArchiveFile::parse(package).map_err(|error| error.to_string())?;
    for member in archive.members() {
        let member = member.map_err(|error| error.to_string())?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        if name.starts_with(DATA) {
            return Ok((name, member.data(package).map_err(|error| error.to_string())?));
        }
    }
    Err(format!("it has no {DATA}"))
}
