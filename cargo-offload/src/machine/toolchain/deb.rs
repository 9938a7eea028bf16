//! Unpacking of Debian packages on any system (<https://manpages.debian.org/deb.5>).

use std::io::{self, Read};
use std::path::Path;

use lzma_rust2::XzReader;
use object::read::archive::ArchiveFile;
use offload_format::Limits;
use tar::Archive;

use crate::error::{Error, IoContext, Result};
use crate::files::mapping::Mapped;
use crate::files::publish::create_dir;

/// The members with what the package says of itself and with the files, before what their compression adds.
const CONTROL: &str = "control.tar";
const DATA: &str = "data.tar";

/// Maximum dictionary size of a decoder in KiB: twice that of `xz -9`. The recorded size is untrusted.
const DICTIONARY: u32 = 128 << 10;
/// Maximum size of the control archive.
const CONTROL_SIZE: u64 = 8 << 20;

/// Unpacks the files of a package into `new`, and nothing else: none of its scripts runs.
pub(super) fn unpack(file: &Path, new: &Path) -> Result<()> {
    create_dir(new)?;
    let package = Mapped::open(file)?;
    let limit = allowed_size(&package);
    let data = member(&package, DATA).and_then(|data| data.ok_or_else(|| format!("it has no {DATA}")));
    let reader = LimitReader {
        reader: data
            .map_err(|what| Error::check(format!("`{}` is not a package: {what}", file.display())))?,
        left: limit,
        limit,
    };
    Archive::new(reader).unpack(new).io_context("unpack", file)
}

/// Maximum unpacked size of `package`: the recorded size, within the decoding limits of its file size.
fn allowed_size(package: &[u8]) -> u64 {
    let most = Limits::default().allowance(package.len() as u64);
    installed_size(package).map_or(most, |recorded| most.min(recorded))
}

/// The size that a package records, with what an archive has beside the content of files
/// (<https://www.debian.org/doc/debian-policy/ch-controlfields.html#installed-size>): `Installed-Size` counts KiB, a part of one as a
/// whole, and a header takes up to 1.5 KiB.
fn installed_size(package: &[u8]) -> Option<u64> {
    let control = member(package, CONTROL).ok()??;
    let mut archive = Archive::new(control.take(CONTROL_SIZE));
    for entry in archive.entries().ok()? {
        let mut entry = entry.ok()?;
        if entry.path().is_ok_and(|path| path.file_name().is_some_and(|name| name == "control")) {
            let mut text = String::new();
            entry.read_to_string(&mut text).ok()?;
            let size = text.lines().find_map(|line| line.strip_prefix("Installed-Size:"))?;
            let size: u64 = size.trim().parse().ok()?;
            return Some(size.saturating_mul(4 << 10).saturating_add(1 << 20));
        }
    }
    None
}

/// The content of a member whose name starts with `start`, without its compression.
fn member<'p>(package: &'p [u8], start: &str) -> std::result::Result<Option<Box<dyn Read + 'p>>, String> {
    let archive = ArchiveFile::parse(package).map_err(|error| error.to_string())?;
    for member in archive.members() {
        let member = member.map_err(|error| error.to_string())?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let Some(ending) = name.strip_prefix(start) else { continue };
        let data = member.data(package).map_err(|error| error.to_string())?;
        return Ok(Some(match ending {
            "" => Box::new(data),
            ".xz" => Box::new(XzReader::new_mem_limit(data, true, DICTIONARY)),
            ".zst" => {
                let decoder = zstd::stream::read::Decoder::with_buffer(data);
                Box::new(decoder.map_err(|error| error.to_string())?)
            }
            _ => {
                return Err(format!("its member `{}` has an unsupported compression", name.escape_default()));
            }
        }));
    }
    Ok(None)
}

/// A reader that fails once more than `limit` came from it.
struct LimitReader<R> {
    reader: R,
    left: u64,
    limit: u64,
}

impl<R: Read> Read for LimitReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(out)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::other(format!(
                "it unpacks to more than {} bytes, which its size does not allow",
                self.limit
            ))
        })?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use lzma_rust2::{XzOptions, XzWriter};

    use super::*;

    fn tar_of(name: &str, content: &[u8]) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, content).unwrap();
        archive.into_inner().unwrap()
    }

    fn xz(bytes: &[u8]) -> Vec<u8> {
        let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    fn deb(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut package = b"!<arch>\n".to_vec();
        for (name, content) in members {
            package.extend(
                format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, content.len())
                    .into_bytes(),
            );
            package.extend(*content);
            package.resize(package.len().next_multiple_of(2), b'\n');
        }
        package
    }

    fn control(size: u64) -> Vec<u8> {
        let text = format!("Package: x\nInstalled-Size: {size}\n");
        xz(&tar_of("./control", text.as_bytes()))
    }

    #[test]
    fn a_package_unpacks_to_what_its_size_allows() {
        let dir = tempfile::tempdir().unwrap();
        for (recorded, size, fits) in [
            (Some(4), 4096, true),
            (None, 4096, true),
            // Kilobytes that become many megabytes.
            (None, 64 << 20, false),
            (Some(64 << 10), 64 << 20, false),
            // More than is recorded.
            (Some(4), 4 << 20, false),
        ] {
            let mut members = vec![("debian-binary", b"2.0\n".to_vec())];
            members.extend(recorded.map(|size| ("control.tar.xz", control(size))));
            members.push(("data.tar.xz", xz(&tar_of("./usr/lib/x", &vec![0; size]))));
            let members: Vec<(&str, &[u8])> =
                members.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
            let file = dir.path().join("x.deb");
            std::fs::write(&file, deb(&members)).unwrap();
            let new = dir.path().join("new");
            let outcome = unpack(&file, &new);
            assert_eq!(outcome.is_ok(), fits, "{recorded:?} {size}: {outcome:?}");
            let written = std::fs::metadata(new.join("usr/lib/x")).map_or(0, |file| file.len());
            assert!(written <= 9 << 20, "{written}");
            std::fs::remove_dir_all(&new).unwrap();
        }
    }
}
