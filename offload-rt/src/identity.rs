//! Identities of devices: PCI addresses and UUIDs, by which two drivers mean the same device.

use std::error::Error as StdError;
use std::fmt;
use std::str::FromStr;

/// The address of a device on PCI, as `lspci -D` and `nvidia-smi` show it.
///
/// ```
/// use offload_rt::PciAddress;
///
/// let address: PciAddress = "0001:3b:00.0".parse()?;
/// assert_eq!((address.domain, address.bus), (1, 0x3b));
/// assert_eq!(address.to_string(), "0001:3b:00.0");
/// assert_eq!("3b:00.0".parse::<PciAddress>()?.domain, 0);
/// # Ok::<(), offload_rt::PciAddressError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddress {
    /// The domain, also called the segment: 16 bits on PCI, 32 where a hypervisor makes domains.
    pub domain: u32,
    /// The bus.
    pub bus: u8,
    /// The device on the bus, also called the slot: 0 to 31.
    pub device: u8,
    /// The function of the device: 0 to 7.
    pub function: u8,
}

/// A text that is no PCI address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PciAddressError {
    text: String,
}

/// The UUID of a device: 16 bytes that its driver chooses, the same in each process and after each start.
///
/// NVIDIA's are UUIDs of RFC 9562 (<https://www.rfc-editor.org/rfc/rfc9562>); HIP has 16 hexadecimal digits as text. Both
/// are shown as `nvidia-smi -L` and `rocminfo` have them, without `GPU-` in front.
///
/// ```
/// use offload_rt::DeviceUuid;
///
/// let uuid = DeviceUuid::from_bytes([0x9d, 0x1f, 0, 0, 0xab, 0xcd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
/// assert_eq!(uuid.to_string(), "9d1f0000-abcd-0001-0203-040506070809");
/// assert_eq!(DeviceUuid::from_bytes(*b"18bd6f1a2c3d4e5f").to_string(), "18bd6f1a2c3d4e5f");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceUuid([u8; 16]);

/// What two drivers tell of the same device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceIdentity {
    pub(crate) driver: DriverId,
    pub(crate) pci: Option<PciAddress>,
    pub(crate) uuid: Option<DeviceUuid>,
}

/// A driver; each platform of OpenCL is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DriverId {
    /// As `CUDA`.
    pub(crate) interface: &'static str,
    /// The handle of OpenCL's platform; 0 for others.
    pub(crate) platform: usize,
}

impl DeviceIdentity {
    /// A device of a driver that has no other identity.
    pub(crate) fn unknown(interface: &'static str) -> DeviceIdentity {
        DeviceIdentity { driver: DriverId { interface, platform: 0 }, pci: None, uuid: None }
    }

    /// Whether both are one device, shown by two drivers.
    ///
    /// Devices of one driver are different, also with the same address: tiles and partitions of a GPU share it. UUIDs may
    /// differ where the addresses are equal: that of CUDA is of an instance of the GPU, where it has instances.
    #[allow(dead_code, reason = "it is unused without the feature of a back end")]
    pub(crate) fn is_same_device(&self, other: &DeviceIdentity) -> bool {
        let same_uuid = self.uuid.is_some() && self.uuid == other.uuid;
        let same_address = self.pci.is_some() && self.pci == other.pci;
        self.driver != other.driver && (same_uuid || same_address)
    }
}

impl DeviceUuid {
    /// The UUID of these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> DeviceUuid {
        DeviceUuid(bytes)
    }

    /// The bytes, as the driver has them.
    pub fn bytes(self) -> [u8; 16] {
        self.0
    }

    /// A driver's answer: all zero is none.
    #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
    pub(crate) fn from_driver(bytes: [u8; 16]) -> Option<DeviceUuid> {
        (bytes != [0; 16]).then_some(DeviceUuid(bytes))
    }
}

impl fmt::Display for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.iter().all(u8::is_ascii_hexdigit) {
            return self.0.iter().try_for_each(|digit| write!(f, "{}", char::from(*digit)));
        }
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PciAddress { domain, bus, device, function } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
    }
}

impl FromStr for PciAddress {
    type Err = PciAddressError;

    /// Reads `DOMAIN:BUS:DEVICE.FUNCTION` in hexadecimal digits; without a domain it is 0.
    fn from_str(text: &str) -> Result<PciAddress, PciAddressError> {
        parse_address(text).ok_or_else(|| PciAddressError { text: text.to_string() })
    }
}

fn parse_address(text: &str) -> Option<PciAddress> {
    let (place, function) = text.rsplit_once('.')?;
    let (bus, device) = place.rsplit_once(':')?;
    let (domain, bus) = bus.rsplit_once(':').unwrap_or(("0", bus));
    let address = PciAddress {
        domain: hexadecimal(domain)?,
        bus: u8::try_from(hexadecimal(bus)?).ok()?,
        device: u8::try_from(hexadecimal(device)?).ok()?,
        function: u8::try_from(hexadecimal(function)?).ok()?,
    };
    (address.device < 32 && address.function < 8).then_some(address)
}

/// Digits alone: `from_str_radix` takes a sign too.
fn hexadecimal(digits: &str) -> Option<u32> {
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

impl fmt::Display for PciAddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no PCI address, as 0000:01:00.0", crate::text::escape(&self.text))
    }
}

impl StdError for PciAddressError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_round_trip() {
        for text in ["0000:00:00.0", "0001:3b:1f.7", "ffff:ff:00.0", "10000:e1:00.0"] {
            assert_eq!(text.parse::<PciAddress>().unwrap().to_string(), text);
        }
        // As CUDA writes domains, and as `lspci` leaves them out.
        let same = "0000:3b:00.0".parse::<PciAddress>().unwrap();
        for text in ["00000000:3B:00.0", "3b:00.0", "0:3b:0.0"] {
            assert_eq!(text.parse::<PciAddress>().unwrap(), same);
        }
    }

    #[test]
    fn other_texts_are_no_addresses() {
        for text in [
            "",
            ".",
            ":",
            "3b",
            "3b:00",
            "3b.0",
            "0000:3b:20.0",
            "0000:3b:00.8",
            "0000:100:00.0",
            "0:0:3b:00.0",
            "0000:+b:00.0",
            "0000:3b:00.0 ",
            "100000000:3b:00.0",
            "0000::00.0",
        ] {
            assert!(text.parse::<PciAddress>().is_err(), "{text}");
        }
    }

    fn identity(interface: &'static str, pci: Option<&str>, uuid: Option<u8>) -> DeviceIdentity {
        DeviceIdentity {
            pci: pci.map(|text| text.parse().unwrap()),
            uuid: uuid.map(|byte| DeviceUuid([byte; 16])),
            ..DeviceIdentity::unknown(interface)
        }
    }

    #[test]
    fn a_device_of_two_drivers_is_recognised_by_its_address_or_its_uuid() {
        let cuda = identity("CUDA", Some("3b:00.0"), Some(1));
        for (other, is_same) in [
            (identity("OpenCL", Some("3b:00.0"), Some(1)), true),
            (identity("OpenCL", None, Some(1)), true),
            (identity("OpenCL", Some("3b:00.0"), None), true),
            (identity("OpenCL", Some("3b:00.0"), Some(2)), true),
            (identity("OpenCL", Some("1:3b:00.0"), None), false),
            (identity("OpenCL", None, Some(2)), false),
            (identity("OpenCL", None, None), false),
            // Partitions of one GPU.
            (identity("CUDA", Some("3b:00.0"), Some(2)), false),
        ] {
            assert_eq!(cuda.is_same_device(&other), is_same, "{other:?}");
        }
        let unknown = identity("HIP", None, None);
        assert!(!unknown.is_same_device(&identity("OpenCL", None, None)));
    }
}
