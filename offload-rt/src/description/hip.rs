//! The description of a HIP device: its target ID decides which code objects it takes.

use std::fmt;

use offload_format::{AmdArch, Aspects, Target};

use crate::text::escape;

/// What a HIP device accepts.
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
    /// What the runtime says; `None` refuses nothing.
    pub(crate) runtime: Option<HipVersion>,
}

/// A version of HIP: major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HipVersion(u32, u32);

impl HipDescription {
    /// A device of this target ID (<https://llvm.org/docs/AMDGPUUsage.html#target-id>), as the runtime gives it in
    /// `gcnArchName`: with the state of each feature that the processor has.
    pub fn new(name: &str, target_id: &str) -> HipDescription {
        let arch = match format!("amdgcn:{target_id}").parse() {
            Ok(Target::Amdgcn(arch)) => Some(arch),
            _ => None,
        };
        HipDescription { name: name.to_string(), target_id: target_id.to_string(), arch, runtime: None }
    }

    /// The version of HIP's runtime, as HIP counts it: 60342134 is 6.3.42134.
    #[must_use]
    pub fn runtime_version(mut self, version: u32) -> HipDescription {
        self.runtime = Some(HipVersion::from_number(version));
        self
    }

    /// What images may use: every processor has 64-bit floating point and atomics, and those since gfx8 16-bit floating
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

impl HipVersion {
    pub(crate) const fn new(major: u32, minor: u32) -> HipVersion {
        HipVersion(major, minor)
    }

    /// `HIP_VERSION` (<https://rocm.docs.amd.com/projects/HIP/en/latest/doxygen/html/group___driver.html>).
    fn from_number(version: u32) -> HipVersion {
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
