//! The rules of selection, each with a device for which it decides.

use crate::common::TestPack;
use offload_format::pack::{Missing, MissingKind};
use offload_rt::{DeviceDescription, HostLevel, OpenClDescription, Outcome, Registry, SpirvVersion};

fn registry(targets: &[&str]) -> Registry {
    Registry::from_pack(TestPack::new("p").targets("m", targets).bytes())
}

fn gpu() -> OpenClDescription {
    OpenClDescription::new("gpu", "vendor")
}

fn spirv(minors: &[u8]) -> Vec<SpirvVersion> {
    minors.iter().map(|minor| SpirvVersion::new(*minor).unwrap()).collect()
}

fn picked(targets: &[&str], device: impl Into<DeviceDescription>) -> Option<String> {
    let selection = registry(targets).request("m").select(&device.into()).ok()?;
    Some(selection.entry().target_text().to_string())
}

#[test]
fn the_best_class_wins_then_the_best_of_the_class() {
    let everything = [
        "host",
        "host:x86-64-v2",
        "host:x86-64-v3",
        "host:x86-64-v4",
        "host:armv8.2-a",
        "host:armv8.2-a+sve",
        "opencl-c",
        "spirv64",
        "spirv64:v1.0",
        "spirv64:v1.4",
        "intel:pvc",
        "intel:12.60.3",
        "intel:12.60.5",
        "intel:xe-hpc",
        "intel:acm-g10",
        "nvptx:sm_90",
        "cubin:sm_90",
        "amdgcn:gfx90a",
    ];
    let full = gpu().opencl_c().spirv(&spirv(&[0, 1, 2]));
    let cases: [(DeviceDescription, &str); 18] = [
        (DeviceDescription::host_with_level(HostLevel::Baseline), "host"),
        (DeviceDescription::host_with_level(HostLevel::X86V2), "host:x86-64-v2"),
        (DeviceDescription::host_with_level(HostLevel::X86V3), "host:x86-64-v3"),
        (DeviceDescription::host_with_level(HostLevel::X86V4), "host:x86-64-v4"),
        (DeviceDescription::host_with_level(HostLevel::Arm82), "host:armv8.2-a"),
        (DeviceDescription::host_with_level(HostLevel::Arm82Sve), "host:armv8.2-a+sve"),
        // Exactly this architecture, by name and by number.
        (full.clone().intel_ip([12, 60, 7]).into(), "intel:pvc"),
        (full.clone().intel_ip([12, 55, 8]).into(), "intel:acm-g10"),
        // The newest of the older steppings, then the family.
        (full.clone().intel_ip([12, 60, 6]).into(), "intel:12.60.5"),
        (full.clone().intel_ip([12, 60, 4]).into(), "intel:12.60.3"),
        (full.clone().intel_ip([12, 60, 1]).into(), "intel:xe-hpc"),
        (full.clone().intel_ip([12, 61, 7]).into(), "intel:xe-hpc"),
        // No native image: intermediate code of the highest listed version, whatever the order of the list.
        (full.clone().intel_ip([20, 1, 0]).into(), "spirv64"),
        (gpu().opencl_c().spirv(&spirv(&[4, 0, 2])).into(), "spirv64:v1.4"),
        (gpu().opencl_c().spirv(&spirv(&[0])).into(), "spirv64:v1.0"),
        // Drivers that list the newest version alone take the earlier ones.
        (gpu().opencl_c().spirv(&spirv(&[3])).into(), "spirv64"),
        (gpu().opencl_c().spirv(&spirv(&[1])).into(), "spirv64:v1.0"),
        (gpu().opencl_c().into(), "opencl-c"),
    ];
    for (device, expected) in cases {
        assert_eq!(picked(&everything, device.clone()).as_deref(), Some(expected), "{device}");
    }
}

#[test]
fn a_range_serves_the_devices_within() {
    for (target, inside) in
        [("intel:acm-g10:pvc", [12, 57, 0]), ("intel:xe2-lpg:", [30, 0, 4]), ("intel:*", [8, 0, 0])]
    {
        assert_eq!(picked(&[target], gpu().intel_ip(inside)).as_deref(), Some(target));
    }
    for (target, outside) in [("intel:acm-g10:pvc", [20, 1, 0]), ("intel:xe2-lpg:", [12, 60, 7])] {
        assert_eq!(picked(&[target], gpu().intel_ip(outside)), None, "{target}");
    }
}

#[test]
fn what_a_device_cannot_take_is_refused_with_the_reason() {
    let intel = gpu().intel_ip([12, 60, 6]);
    let cases: [(&str, DeviceDescription, &str); 11] = [
        (
            "host:x86-64-v4",
            DeviceDescription::host_with_level(HostLevel::X86V3),
            "needs x86-64-v4, the CPU has x86-64-v3",
        ),
        ("spirv64", DeviceDescription::host(), "for an OpenCL device, not for the host CPU"),
        ("host", gpu().opencl_c().into(), "for the host CPU, not for this OpenCL device"),
        ("spirv64", gpu().opencl_c().into(), "takes no SPIR-V"),
        ("spirv64:v1.4", gpu().spirv(&spirv(&[2, 3])).into(), "is SPIR-V v1.4, the device takes v1.2, v1.3"),
        ("opencl-c", gpu().spirv(&spirv(&[2])).into(), "no compiler for OpenCL C"),
        ("intel:pvc", gpu().opencl_c().into(), "not known as an Intel GPU"),
        ("intel:pvc", intel.clone().into(), "for Intel 12.60.7, the device is 12.60.6"),
        ("intel:xe-hpg", intel.into(), "for the Intel family xe-hpg, the device is 12.60.6"),
        ("cubin:sm_90", gpu().into(), "for an NVIDIA GPU"),
        ("amdgcn:gfx90a", gpu().into(), "for an AMD GPU"),
    ];
    for (target, device, reason) in cases {
        let error = registry(&[target]).request("m").select(&device).unwrap_err().to_string();
        assert!(error.contains("no image of kernel module `m` fits"), "{error}");
        assert!(
            error.contains(&format!("\n  {target}: it is")) || error.contains(&format!("\n  {target}: "))
        );
        assert!(error.contains(reason) && error.contains("\nhint: "), "{target}: {error}");
    }
}

#[test]
fn every_image_is_a_candidate() {
    let registry = registry(&["host", "opencl-c", "spirv64", "spirv64:v1.0"]);
    let device = DeviceDescription::from(gpu().opencl_c().spirv(&spirv(&[0, 2])));
    let selection = registry.request("m").select(&device).unwrap();
    let shown: Vec<String> = selection.candidates().iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "host: refused: it is for the host CPU, not for this OpenCL device",
            "spirv64:v1.0: less preferred: there is newer intermediate code",
            "spirv64: picked: intermediate code",
            "opencl-c: less preferred: source comes after intermediate code",
        ]
    );
    assert!(matches!(selection.candidates()[2].outcome(), Outcome::Picked(_)));
    assert_eq!(selection.candidates()[2].entry().hash(), selection.entry().hash());
}

#[test]
fn an_unknown_module_lists_those_there_are() {
    let pack = TestPack::new("p").targets("blas", &["host"]).targets("fft", &["host", "opencl-c"]);
    let registry = Registry::from_pack(pack.bytes());
    let error = registry.request("\x1b[31mblas").select(&DeviceDescription::host()).unwrap_err().to_string();
    assert!(error.contains("hint: there are `blas`, `fft`") && !error.contains('\x1b'), "{error}");
    let error =
        Registry::default().request("blas").select(&DeviceDescription::host()).unwrap_err().to_string();
    assert!(error.contains("no kernel modules at all") && error.contains("use my_kernels as _;"), "{error}");
}

#[test]
fn what_the_build_left_out_is_told() {
    let mut pack = TestPack::new("p").targets("m", &["opencl-c"]);
    let missing = Missing::new(MissingKind::Target, "m").with_target("intel:pvc");
    pack.builder().missing(missing.with_reason("ocloc is not installed"));
    let missing = Missing::new(MissingKind::Build, "other");
    pack.builder().missing(missing.with_reason("OFFLOAD_SKIP is set"));
    let registry = Registry::from_pack(pack.bytes());
    assert_eq!(registry.missing().len(), 2);
    let error = registry.request("m").select(&DeviceDescription::host()).unwrap_err().to_string();
    assert!(
        error.contains("intel:pvc: ocloc is not installed") && !error.contains("OFFLOAD_SKIP"),
        "{error}"
    );
    let error = registry.request("other").select(&DeviceDescription::host()).unwrap_err().to_string();
    assert!(error.contains("every target: OFFLOAD_SKIP is set"), "{error}");
}
