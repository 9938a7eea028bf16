//! The description of a HIP device: its target ID decides which code objects it takes.

use std::fmt;

use offload_format::{AmdArch, Aspects, Target};

use crate::text::escape;

/// The description of a HIP device.
///
/// ```
/// use offload_rt::{DeviceDescription, HipDescription};
///
/// let device = HipDescription::new("MI250X", "gfx90a:sramecc+:xnack-").runtime_version(60_342_134);
/// assert_eq!(DeviceDescription::from(device).to_string(), "HIP device MI250X (gfx90a:sramecc+:xnack-, HIP 6.3)");
/// ```
#[derive(Clone, Debug)]
pub struct HipDescription {
    pub(crate) name: String,
    target_id: String,
    /// The target ID, if this release can read it.
    pub(crate) arch: Option<AmdArch>,
    /// The runtime's version; `None` refuses nothing.
    pub(crate) runtime: Option<HipVersion>,
    /// The release of ROCm that was named. The driver of a device of this machine supports it, whatever its release.
    rocm: Option<HipVersion>,
}

/// The first release of ROCm for a processor: "Supported GPUs" of
/// <https://rocm.docs.amd.com/projects/install-on-linux/en/latest/reference/system-requirements.html> in its releases, and
/// the release notes of <https://github.com/ROCm/ROCm/releases>. Processors are left out that AMD supports later than its
/// runtime loads code for them. There is no last release: code for processors whose support has ended, as `gfx906`, is
/// still loaded.
const FIRST_ROCM: [(&str, HipVersion); 9] = [
    ("gfx908", HipVersion(4, 0)),
    ("gfx90a", HipVersion(4, 5)),
    ("gfx942", HipVersion(6, 0)),
    ("gfx950", HipVersion(7, 0)),
    ("gfx1100", HipVersion(5, 5)),
    ("gfx1101", HipVersion(5, 5)),
    ("gfx1102", HipVersion(5, 5)),
    ("gfx1200", HipVersion(6, 4)),
    ("gfx1201", HipVersion(6, 4)),
];

/// A version of HIP: major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HipVersion(u32, u32);

impl HipDescription {
    /// A device of this target ID (<https://llvm.org/docs/AMDGPUUsage.html#target-id>), as the runtime gives it in
    /// `gcnArchName`: with the state of each feature that the processor has.
    pub fn new(name: &str, target_id: &str) -> HipDescription {
        let name = name.to_string();
        let target_id = target_id.to_string();
        HipDescription { name, arch: arch(&target_id), target_id, runtime: None, rocm: None }
    }

    /// The same device with this target ID: in other modes.
    #[must_use]
    pub fn target_id(self, target_id: &str) -> HipDescription {
        HipDescription { arch: arch(target_id), target_id: target_id.to_string(), ..self }
    }

    /// The version of HIP's runtime, as HIP counts it: 60342134 is 6.3.42134.
    #[must_use]
    pub fn runtime_version(mut self, version: u32) -> HipDescription {
        self.runtime = Some(HipVersion::from_number(version));
        self.rocm = None;
        self
    }

    /// Its runtime is of this release of ROCm, as 6 and 3. One that does not support the device's processor takes no image.
    ///
    /// ```
    /// use offload_rt::{DeviceDescription, HipDescription};
    ///
    /// let device = HipDescription::new("MI300X", "gfx942:sramecc+:xnack-").rocm_release(6, 3);
    /// assert!(DeviceDescription::from(device).to_string().contains("HIP 6.3"));
    /// ```
    #[must_use]
    pub fn rocm_release(self, major: u32, minor: u32) -> HipDescription {
        let rocm = Some(HipVersion(major, minor));
        HipDescription { runtime: rocm, rocm, ..self }
    }

    /// Why the release of ROCm that was named does not support the device.
    pub(crate) fn unsupported(&self) -> Option<String> {
        let rocm = self.rocm?;
        let processor = self.arch.as_ref()?.processor();
        let (_, first) = FIRST_ROCM.iter().find(|(known, _)| *known == processor)?;
        (rocm < *first)
            .then(|| format!("ROCm {rocm} does not support {processor}: {first} is the first that does"))
    }

    /// The aspects of the device: every processor has 64-bit floating point and atomics, and those since gfx8 16-bit floating
    /// point (<https://llvm.org/docs/AMDGPUUsage.html#processors>). Images are for graphics alone here.
    pub(crate) fn aspects(&self) -> Aspects {
        let is_old = self.arch.as_ref().is_some_and(|arch| {
            let processor = arch.processor();
            processor.starts_with("gfx6") || processor.starts_with("gfx7")
        });
        let always = Aspects::FP64 | Aspects::ATOMIC64;
        if is_old { always } else { always | Aspects::FP16 }
    }

    /// The target ID, safe to show.
    pub(crate) fn shown_target_id(&self) -> String {
        escape(&self.target_id)
    }
}

fn arch(target_id: &str) -> Option<AmdArch> {
    match format!("amdgcn:{target_id}").parse() {
        Ok(Target::Amdgcn(arch)) => Some(arch),
        _ => None,
    }
}

impl HipVersion {
    pub(crate) const fn new(major: u32, minor: u32) -> HipVersion {
        HipVersion(major, minor)
    }

    /// `HIP_VERSION` (<https://rocm.docs.amd.com/projects/HIP/en/latest/doxygen/html/group___driver.html>).
    pub(crate) fn from_number(version: u32) -> HipVersion {
        HipVersion(version / 10_000_000, version / 100_000 % 100)
    }
}

impl fmt::Display for HipDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HIP device {} ({}", escape(&self.name), self.shown_target_id())?;
        match self.runtime {
            Some(version) => write!(f, ", HIP {version})"),
            None => f.write_str(")"),
        }
    }
}

impl fmt::Display for HipVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_rocm_support_processors() {
        fn supports(target: &str, (major, minor): (u32, u32)) -> bool {
            HipDescription::new("d", target).rocm_release(major, minor).unsupported().is_none()
        }
        for (target, yes, no) in [
            ("gfx90a:sramecc+:xnack-", (5, 0), (4, 3)),
            ("gfx942", (6, 0), (5, 7)),
            ("gfx950", (7, 0), (6, 4)),
            ("gfx1100", (5, 7), (5, 4)),
            ("gfx1201", (6, 4), (6, 3)),
        ] {
            assert!(supports(target, yes) && !supports(target, no), "{target}");
        }
        // What the runtime of a device of this machine says is no name of a release.
        assert_eq!(HipDescription::new("d", "gfx1201").runtime_version(60_000_000).unsupported(), None);
    }
}
