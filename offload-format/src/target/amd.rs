//! AMD target IDs: processors and features.

use std::fmt;

/// An AMD target ID (<https://llvm.org/docs/AMDGPUUsage.html#target-id>): `gfx90a:sramecc+:xnack-`.
///
/// A feature that is not specified may be on or off.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AmdArch {
    processor: String,
    sramecc: Option<bool>,
    xnack: Option<bool>,
}

impl AmdArch {
    pub(super) const KNOWN: [&'static str; 39] = [
        "gfx803",
        "gfx900",
        "gfx902",
        "gfx904",
        "gfx906",
        "gfx908",
        "gfx909",
        "gfx90a",
        "gfx90c",
        "gfx942",
        "gfx950",
        "gfx1010",
        "gfx1011",
        "gfx1012",
        "gfx1013",
        "gfx1030",
        "gfx1031",
        "gfx1032",
        "gfx1033",
        "gfx1034",
        "gfx1035",
        "gfx1036",
        "gfx1100",
        "gfx1101",
        "gfx1102",
        "gfx1103",
        "gfx1150",
        "gfx1151",
        "gfx1152",
        "gfx1153",
        "gfx1200",
        "gfx1201",
        "gfx1250",
        "gfx9-generic",
        "gfx9-4-generic",
        "gfx10-1-generic",
        "gfx10-3-generic",
        "gfx11-generic",
        "gfx12-generic",
    ];

    /// Every known processor, without features.
    pub fn known() -> impl Iterator<Item = AmdArch> {
        AmdArch::KNOWN.iter().filter_map(|name| AmdArch::parse(name))
    }

    /// Whether this is a generic processor, whose images run on all processors of a family
    /// (<https://llvm.org/docs/AMDGPUUsage.html#amdgpu-generic-processor-table>).
    pub fn is_generic(&self) -> bool {
        self.processor.ends_with("-generic")
    }

    /// The generic processor whose images run on this one, if there is one
    /// (<https://llvm.org/docs/AMDGPUUsage.html#amdgpu-generic-processor-table>).
    ///
    /// ```
    /// use offload_format::Target;
    ///
    /// let Target::Amdgcn(arch) = "amdgcn:gfx1036".parse()? else { panic!() };
    /// assert_eq!(arch.generic(), Some("gfx10-3-generic"));
    /// # Ok::<(), offload_format::UnknownTarget>(())
    /// ```
    pub fn generic(&self) -> Option<&'static str> {
        Some(match self.processor.as_str() {
            "gfx900" | "gfx902" | "gfx904" | "gfx906" | "gfx909" | "gfx90c" => "gfx9-generic",
            "gfx940" | "gfx941" | "gfx942" | "gfx950" => "gfx9-4-generic",
            "gfx1010" | "gfx1011" | "gfx1012" | "gfx1013" => "gfx10-1-generic",
            "gfx1030" | "gfx1031" | "gfx1032" | "gfx1033" | "gfx1034" | "gfx1035" | "gfx1036" => {
                "gfx10-3-generic"
            }
            "gfx1100" | "gfx1101" | "gfx1102" | "gfx1103" | "gfx1150" | "gfx1151" | "gfx1152" | "gfx1153" => {
                "gfx11-generic"
            }
            "gfx1200" | "gfx1201" => "gfx12-generic",
            _ => return None,
        })
    }

    /// The processor, as `gfx90a` or `gfx11-generic`.
    pub fn processor(&self) -> &str {
        &self.processor
    }

    /// The required setting of ECC for SRAM, if any.
    pub fn sramecc(&self) -> Option<bool> {
        self.sramecc
    }

    /// The required setting of XNACK replay, if any.
    pub fn xnack(&self) -> Option<bool> {
        self.xnack
    }

    /// The same processor with ECC for SRAM on, off, or unspecified.
    #[must_use]
    pub fn with_sramecc(self, sramecc: Option<bool>) -> AmdArch {
        AmdArch { sramecc, ..self }
    }

    /// The same processor with XNACK replay on, off, or unspecified.
    #[must_use]
    pub fn with_xnack(self, xnack: Option<bool>) -> AmdArch {
        AmdArch { xnack, ..self }
    }

    pub(super) fn parse(text: &str) -> Option<AmdArch> {
        let mut parts = text.split(':');
        let processor = parts.next()?;
        let digits = processor.strip_prefix("gfx")?;
        let is_plain = digits.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let has_number = digits.len() >= 3 && digits.starts_with(|c: char| c.is_ascii_digit());
        if !is_plain || !has_number {
            return None;
        }
        let mut arch = AmdArch { processor: processor.to_string(), sramecc: None, xnack: None };
        for part in parts {
            let on = part.ends_with('+');
            let slot = match part.strip_suffix(['+', '-'])? {
                "sramecc" => &mut arch.sramecc,
                "xnack" => &mut arch.xnack,
                _ => return None,
            };
            if slot.replace(on).is_some() {
                return None;
            }
        }
        Some(arch)
    }
}

impl fmt::Display for AmdArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        for (name, value) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            if let Some(on) = value {
                write!(f, ":{name}{}", if on { '+' } else { '-' })?;
            }
        }
        Ok(())
    }
}
