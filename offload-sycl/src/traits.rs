//! Device traits, the input of the rules: plain data, so that the rules can be tested for any device.

use offload_format::{Aspects, IntelArch, SpirvVersion, Target};

use offload_rt::OpenClDescription;
use offload_rt::opencl::{DeviceType, Properties};

/// A device as SYCL describes one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traits {
    pub(crate) arch: DeviceArch,
    /// Numbers of `sycl::aspect`
    /// (<https://github.com/intel/llvm/blob/sycl/sycl/include/sycl/info/aspects.def>).
    pub(crate) aspects: Vec<u32>,
    /// Work-items of the largest work-group, and its largest extent in each dimension.
    pub(crate) work_group: (u64, [u64; 3]),
    pub(crate) sub_groups: Vec<u32>,
    pub(crate) spirv: Vec<SpirvVersion>,
}

/// The architecture, by which native code is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DeviceArch {
    /// An x86-64 CPU.
    Cpu,
    /// An Intel GPU of this IP version.
    IntelGpu([u32; 3]),
    /// One that takes no native code of SYCL through OpenCL.
    #[default]
    Other,
}

impl Traits {
    /// The traits of a device, from its description and its driver's properties.
    pub(crate) fn new(device: &OpenClDescription, properties: &Properties) -> Traits {
        Traits {
            arch: DeviceArch::new(properties.device_type, device),
            aspects: aspects(device, properties),
            work_group: (properties.max_work_group, properties.max_work_items),
            sub_groups: properties.sub_group_sizes.clone(),
            spirv: device.spirv_versions().to_vec(),
        }
    }
}

/// The numbers of SYCL's aspects that OpenCL can report; a module that needs another one is left out.
fn aspects(device: &OpenClDescription, properties: &Properties) -> Vec<u32> {
    let all = [
        (1, properties.device_type == DeviceType::Cpu),
        (2, properties.device_type == DeviceType::Gpu),
        (3, properties.device_type == DeviceType::Accelerator),
        (5, supports(device, Aspects::FP16)),
        (6, supports(device, Aspects::FP64)),
        // Images; an online compiler and linker; profiling of queues, which every OpenCL device has.
        (9, properties.images),
        (10, device.takes_opencl_c()),
        (11, properties.linker),
        (12, true),
        (28, supports(device, Aspects::ATOMIC64)),
    ];
    all.into_iter().filter_map(|(aspect, present)| present.then_some(aspect)).collect()
}

fn supports(device: &OpenClDescription, aspect: Aspects) -> bool {
    aspect.missing_from(device.supported_aspects()).is_empty()
}

impl DeviceArch {
    fn new(device_type: DeviceType, device: &OpenClDescription) -> DeviceArch {
        match device.intel_ip_version() {
            Some(ip) if device_type == DeviceType::Gpu => DeviceArch::IntelGpu(ip),
            _ if device_type == DeviceType::Cpu && cfg!(target_arch = "x86_64") => DeviceArch::Cpu,
            _ => DeviceArch::Other,
        }
    }

    /// Whether SYCL calls the device so, in `compile_target` and `arch`.
    pub(crate) fn is_called(self, name: &str) -> bool {
        match self {
            DeviceArch::Cpu => matches!(name, "x86_64" | "spir64_x86_64"),
            DeviceArch::IntelGpu(ip) => {
                let rest = name.strip_prefix("intel_gpu_");
                // Names have dashes where numbers have dots.
                rest.is_some_and(|rest| {
                    ["-", "."].iter().any(|with| ip_of(&rest.replace('_', with)) == Some(ip))
                })
            }
            DeviceArch::Other => false,
        }
    }

    /// Whether it takes native code for a triple that starts so.
    pub(crate) fn takes(self, triple_arch: &str) -> bool {
        match triple_arch {
            "spir64" => true,
            "spir64_x86_64" => self == DeviceArch::Cpu,
            "spir64_gen" => matches!(self, DeviceArch::IntelGpu(_)),
            _ => false,
        }
    }

    /// The triple and the name that native code for it gets; none if SYCL has no name for it.
    pub(crate) fn native_names(self) -> Option<(&'static str, String)> {
        match self {
            DeviceArch::Cpu => Some(("spir64_x86_64-unknown-unknown", "x86_64".to_string())),
            DeviceArch::IntelGpu([architecture, release, revision]) => {
                Some(("spir64_gen-unknown-unknown", format!("intel_gpu_{architecture}_{release}_{revision}")))
            }
            DeviceArch::Other => None,
        }
    }
}

fn ip_of(name: &str) -> Option<[u32; 3]> {
    match format!("intel:{name}").parse() {
        Ok(Target::Intel(arch)) => IntelArch::ip_version(&arch),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_the_extension_s_names() {
        let pvc = DeviceArch::IntelGpu([12, 60, 7]);
        for (name, fits) in [
            ("intel_gpu_pvc", true),
            ("intel_gpu_12_60_7", true),
            ("intel_gpu_bmg_g21", false),
            ("intel_gpu_", false),
            ("pvc", false),
            ("x86_64", false),
            ("", false),
        ] {
            assert_eq!(pvc.is_called(name), fits, "{name}");
        }
        assert!(DeviceArch::IntelGpu([12, 55, 8]).is_called("intel_gpu_acm_g10"));
        assert!(DeviceArch::Cpu.is_called("x86_64") && DeviceArch::Cpu.is_called("spir64_x86_64"));
        assert!(!DeviceArch::Cpu.is_called("intel_cpu_spr") && !DeviceArch::Other.is_called("x86_64"));
    }

    #[test]
    fn native_code_is_taken_by_the_start_of_the_triple() {
        let gpu = DeviceArch::IntelGpu([12, 60, 7]);
        for (triple, expected) in [
            ("spir64", [true, true, true]),
            ("spir64_x86_64", [true, false, false]),
            ("spir64_gen", [false, true, false]),
            ("nvptx64", [false; 3]),
        ] {
            assert_eq!([DeviceArch::Cpu, gpu, DeviceArch::Other].map(|arch| arch.takes(triple)), expected);
        }
    }

    #[test]
    fn native_names_round_trip() {
        for arch in [DeviceArch::Cpu, DeviceArch::IntelGpu([12, 60, 7])] {
            let (triple, name) = arch.native_names().unwrap();
            assert!(arch.is_called(&name) && arch.takes(triple.split_once('-').unwrap().0));
        }
        assert_eq!(DeviceArch::Other.native_names(), None);
    }

    fn properties(device_type: DeviceType, images: bool, linker: bool) -> Properties {
        let mut properties = Properties::unknown(device_type);
        (properties.images, properties.linker) = (images, linker);
        properties
    }

    #[test]
    fn aspects_have_sycl_s_numbers() {
        let device = OpenClDescription::new("a", "b").aspects(Aspects::FP64).opencl_c();
        assert_eq!(aspects(&device, &properties(DeviceType::Cpu, false, true)), [1, 6, 10, 11, 12]);
        let device = OpenClDescription::new("a", "b").aspects(Aspects::FP16 | Aspects::ATOMIC64);
        assert_eq!(aspects(&device, &properties(DeviceType::Gpu, true, false)), [2, 5, 9, 12, 28]);
    }

    #[test]
    fn a_gpu_is_recognised_by_its_version() {
        let gpu = OpenClDescription::new("a", "b").intel_ip([12, 60, 7]);
        assert_eq!(DeviceArch::new(DeviceType::Gpu, &gpu), DeviceArch::IntelGpu([12, 60, 7]));
        let unknown = OpenClDescription::new("a", "b");
        assert_eq!(DeviceArch::new(DeviceType::Gpu, &unknown), DeviceArch::Other);
    }
}
