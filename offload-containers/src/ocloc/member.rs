//! Members of an archive, and the devices in their names.

use std::fmt;
use std::str::FromStr;

use offload_format::{Error, ErrorKind};

/// A member of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its content.
    pub data: &'a [u8],
}

/// The kind of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberKind<'a> {
    /// A native image for a device by version: `64.12.60.7`.
    Device(Device),
    /// A native image for a product by name, sometimes with its stepping: `64.dg2`.
    Product {
        /// 32 or 64.
        pointer_bits: u8,
        /// The name.
        name: &'a str,
    },
    /// SPIR-V for any device, in an ELF file.
    GenericIr,
    /// Padding that aligns the next member.
    Padding,
    /// A member of another tool.
    Other,
}

impl<'a> Member<'a> {
    /// The kind, by the name.
    pub fn kind(&self) -> MemberKind<'a> {
        if self.name == "generic_ir" {
            return MemberKind::GenericIr;
        }
        if self.name.strip_prefix("pad_").is_some_and(is_number) {
            return MemberKind::Padding;
        }
        if let Ok(device) = self.name.parse() {
            return MemberKind::Device(device);
        }
        let product = self.name.split_once('.').and_then(|(bits, name)| Some((pointer_bits(bits)?, name)));
        match product.filter(|(_, name)| !name.is_empty()) {
            Some((pointer_bits, name)) => MemberKind::Product { pointer_bits, name },
            None => MemberKind::Other,
        }
    }
}

/// A device by version, as `ocloc ids pvc` prints it, with the pointer size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    /// 32 or 64.
    pub pointer_bits: u8,
    /// The architecture.
    pub major: u16,
    /// Its release.
    pub minor: u16,
    /// The stepping.
    pub revision: u16,
}

/// `64.12.60.7`: always with all numbers, because the driver takes the first member whose name has its device as a prefix.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{}", self.pointer_bits, self.major, self.minor, self.revision)
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Device, Error> {
        let device = parse_device(text);
        device.ok_or_else(|| ErrorKind::Text { what: "the version of an Intel device", offset: 0 }.into())
    }
}

fn parse_device(text: &str) -> Option<Device> {
    let (bits, version) = text.split_once('.')?;
    let (major, version) = version.split_once('.')?;
    let (minor, revision) = version.split_once('.')?;
    Some(Device {
        pointer_bits: pointer_bits(bits)?,
        major: number(major)?,
        minor: number(minor)?,
        revision: number(revision)?,
    })
}

/// Digits alone: `parse` would accept a sign.
fn number(text: &str) -> Option<u16> {
    if is_number(text) { text.parse().ok() } else { None }
}

fn pointer_bits(text: &str) -> Option<u8> {
    matches!(text, "32" | "64").then(|| text.parse().ok())?
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_members() {
        let pvc = Device { pointer_bits: 64, major: 12, minor: 60, revision: 7 };
        assert_eq!(pvc.to_string(), "64.12.60.7");
        for (name, kind) in [
            ("64.12.60.7", MemberKind::Device(pvc)),
            ("64.dg2", MemberKind::Product { pointer_bits: 64, name: "dg2" }),
            ("32.tgllp.b0", MemberKind::Product { pointer_bits: 32, name: "tgllp.b0" }),
            ("64.12.60", MemberKind::Product { pointer_bits: 64, name: "12.60" }),
            ("generic_ir", MemberKind::GenericIr),
            ("pad_12", MemberKind::Padding),
            ("pad_", MemberKind::Other),
            ("pad_x", MemberKind::Other),
            ("65.12.60.7", MemberKind::Other),
            ("main.o", MemberKind::Other),
            ("64.", MemberKind::Other),
            ("", MemberKind::Other),
        ] {
            assert_eq!(Member { name, data: b"" }.kind(), kind, "{name}");
        }
        assert!("64.+1.60.7".parse::<Device>().is_err() && "64.99999.60.7".parse::<Device>().is_err());
    }
}
