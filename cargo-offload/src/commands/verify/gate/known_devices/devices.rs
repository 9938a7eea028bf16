//! Rows of the device tables.

/// An architecture, and devices that have it, without the vendor's name.
pub(super) type Devices = (&'static str, &'static [&'static str]);
