//! The names of an archive's members.

use std::fmt;
use std::str::FromStr;

use offload_format::{Error, ErrorKind};

/// A member of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it holds.
    pub data: &'a [u8],
}

/// What a member is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberKind<'a> {
    /// A device by its version: `64.12.60.7`.
    Device(Device),
    /// A product by its name, sometimes with its stepping: `64.dg2`.
    Product {
        /// 32 or 64.
        pointer_bits: u8,
        /// The name.
        name: &'a str,
    },
    /// SPIR-V for any device, in an ELF file.
    GenericIr,
    /// Nothing: it aligns the next member.
    Padding,
    /// Not a member that `ocloc` writes.
    Other,
}

impl<'a> Member<'a> {
    /// What it is for, by its name.
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

/// A device by its version, as `ocloc ids pvc` prints it, with the size of its pointers.
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

/// `64.12.60.7`: always with all numbers, because the driver takes the first member whose name begins with what it looks
/// for.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{}", self.pointer_bits, self.major, self.minor, self.revision)
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Device, Error> {
        let parse = || {
            let mut words = text.split('.');
            let pointer_bits = pointer_bits(words.next()?)?;
            let mut number = || words.next().filter(|word| is_number(word))?.parse().ok();
            let device = Device { pointer_bits, major: number()?, minor: number()?, revision: number()? };
            words.next().is_none().then_some(device)
        };
        parse().ok_or_else(|| ErrorKind::Text { what: "the version of an Intel device", offset: 0 }.into())
    }
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
        let kind = |name| Member { name, data: b"" }.kind();
        let pvc = Device { pointer_bits: 64, major: 12, minor: 60, revision: 7 };
        assert_eq!(kind("64.12.60.7"), MemberKind::Device(pvc));
        assert_eq!(pvc.to_string(), "64.12.60.7");
        assert_eq!(kind("64.dg2"), MemberKind::Product { pointer_bits: 64, name: "dg2" });
        assert_eq!(kind("32.tgllp.b0"), MemberKind::Product { pointer_bits: 32, name: "tgllp.b0" });
        assert_eq!(kind("64.12.60"), MemberKind::Product { pointer_bits: 64, name: "12.60" });
        assert_eq!((kind("generic_ir"), kind("pad_12")), (MemberKind::GenericIr, MemberKind::Padding));
        for other in ["pad_", "pad_x", "65.12.60.7", "main.o", "64.", ""] {
            assert_eq!(kind(other), MemberKind::Other, "{other}");
        }
        assert!("64.+1.60.7".parse::<Device>().is_err() && "64.99999.60.7".parse::<Device>().is_err());
    }
}
