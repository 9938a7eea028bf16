//! The rules of selection for CUDA devices, each with a device for which it decides.

use crate::common::TestPack;
use offload_format::pack::NewImage;
use offload_rt::{CudaDescription, DeviceDescription, OpenClDescription, Registry, SpirvVersion};

/// A target with the version word of its image, 0 for unknown.
type Image = (&'static str, u32);

const PTX_5_0: u32 = 0x0005_0000;
const PTX_8_4: u32 = 0x0008_0400;
const PTX_8_8: u32 = 0x0008_0800;

fn registry(images: &[Image]) -> Registry {
    let pack = images.iter().fold(TestPack::new("p"), |pack, (target, format_version)| {
        let image = NewImage {
            format_version: Some(*format_version).filter(|word| *word != 0),
            ..NewImage::new("m", target.parse().unwrap())
        };
        pack.image(image, format!("{target} {format_version}").as_bytes())
    });
    Registry::from_pack(pack.bytes())
}

fn gpu(major: u32, minor: u32) -> CudaDescription {
    CudaDescription::new("gpu", [major, minor])
}

fn picked(images: &[Image], device: &CudaDescription) -> Image {
    let selection = registry(images).request("m").select(&DeviceDescription::from(device.clone())).unwrap();
    let target = selection.entry().target_text();
    *images
        .iter()
        .find(|image| image.0 == target && image.1 == selection.entry().format_version().unwrap_or(0))
        .unwrap()
}

fn refusal(image: Image, device: CudaDescription) -> String {
    let error =
        registry(&[image]).request("m").select(&DeviceDescription::from(device)).unwrap_err().to_string();
    assert!(error.contains("no image of kernel module `m` fits CUDA device gpu (sm_"), "{error}");
    error
}

#[test]
fn the_hint_names_a_target_for_the_device() {
    let opencl = OpenClDescription::new("d", "v").opencl_c();
    for (device, target) in [
        (DeviceDescription::from(gpu(7, 5)), "nvptx:sm_75"),
        (opencl.clone().into(), "opencl-c"),
        (opencl.spirv(&[SpirvVersion::V1_2]).into(), "spirv64"),
        (DeviceDescription::host(), "host"),
    ] {
        let error = registry(&[("amdgcn:gfx90a", 0)]).request("m").select(&device).unwrap_err().to_string();
        let hint = format!(
            "hint: add a target that fits, as with `cargo offload targets add {target}`, and rebuild"
        );
        assert!(error.ends_with(&hint), "{error}");
        let fits = registry(&[(target, 0)]).request("m").select(&device);
        assert!(fits.is_ok(), "{target}: {}", fits.unwrap_err());
    }
}

#[test]
fn the_hint_is_right_where_another_target_does_not_help() {
    fn hint(images: &[Image], device: DeviceDescription) -> String {
        registry(images).request("m").select(&device).unwrap_err().hint().unwrap()
    }
    fn by_vendor(vendor: &str) -> OpenClDescription {
        OpenClDescription::new("d", vendor).opencl_c()
    }
    // The images are for this GPU, through another driver.
    let nvidia = hint(&[("cubin:sm_90", 7)], by_vendor("NVIDIA Corporation").into());
    assert!(nvidia.starts_with("take the device from `offload_rt::cuda::devices()`"), "{nvidia}");
    assert!(nvidia.ends_with("for OpenCL, `cargo offload targets add opencl-c`"), "{nvidia}");
    let amd = hint(&[("amdgcn:gfx1100", 5)], by_vendor("Advanced Micro Devices, Inc.").into());
    assert!(amd.starts_with("take the device from `offload_rt::hip::devices()`"), "{amd}");
    assert!(hint(&[("amdgcn:gfx1100", 5)], by_vendor("NVIDIA Corporation").into()).contains("add opencl-c`"));
    // The driver is too old for the newest PTX: the target is one that it knows.
    let old = hint(&[("nvptx:sm_90", PTX_8_4)], gpu(9, 0).driver_version(11040).into());
    assert!(old.contains("`cargo offload targets add nvptx:sm_87`"), "{old}");
    // Such an image is there, and refused for another reason.
    let there = hint(&[("nvptx:sm_90", PTX_8_8)], gpu(9, 0).driver_version(12040).into());
    assert!(there.starts_with("an image of a target that the device takes is there"), "{there}");
}

#[test]
fn the_best_image_of_a_fat_program_wins() {
    let everything: &[Image] = &[
        ("host", 0),
        ("opencl-c", 0),
        ("spirv64", 0),
        ("nvptx:sm_50", PTX_5_0),
        ("nvptx:sm_80", 0),
        ("nvptx:sm_90", PTX_8_4),
        ("nvptx:sm_90a", PTX_8_4),
        ("nvptx:sm_100f", PTX_8_8),
        ("cubin:sm_80", 7),
        ("cubin:sm_86", 7),
        ("cubin:sm_90", 7),
        ("cubin:sm_100f", 7),
        ("cubin:sm_120", 8),
    ];
    for ((major, minor), expected) in [
        // Exactly this architecture.
        ((8, 0), "cubin:sm_80"),
        ((8, 6), "cubin:sm_86"),
        ((9, 0), "cubin:sm_90"),
        ((12, 0), "cubin:sm_120"),
        // The newest of the older minor versions.
        ((8, 9), "cubin:sm_86"),
        ((10, 3), "cubin:sm_100f"),
        ((12, 1), "cubin:sm_120"),
        // No native code: the newest PTX.
        ((7, 5), "nvptx:sm_50"),
        ((8, 7), "nvptx:sm_80"),
        ((11, 0), "nvptx:sm_90"),
    ] {
        let device = gpu(major, minor).driver_version(13000);
        assert_eq!(picked(everything, &device).0, expected, "{major}.{minor}");
    }
}

#[test]
fn among_equals_the_special_and_the_older_language_win() {
    let driver = gpu(9, 0).driver_version(12090);
    let special: &[Image] = &[("cubin:sm_90", 7), ("cubin:sm_90a", 7), ("nvptx:sm_90", 0)];
    assert_eq!(picked(special, &driver), ("cubin:sm_90a", 7));
    let special: &[Image] = &[("nvptx:sm_90", PTX_8_4), ("nvptx:sm_90a", PTX_8_8)];
    assert_eq!(picked(special, &driver), ("nvptx:sm_90a", PTX_8_8));
    let languages: &[Image] = &[("nvptx:sm_80", 0), ("nvptx:sm_80", PTX_8_8), ("nvptx:sm_80", PTX_8_4)];
    assert_eq!(picked(languages, &driver), ("nvptx:sm_80", PTX_8_4));
    // The newer architecture counts more than the older language.
    let both: &[Image] = &[("nvptx:sm_80", PTX_5_0), ("nvptx:sm_89", PTX_8_8)];
    assert_eq!(picked(both, &driver), ("nvptx:sm_89", PTX_8_8));
    // A driver that does not take the better one gets the other.
    assert_eq!(picked(both, &gpu(9, 0).driver_version(12040)), ("nvptx:sm_80", PTX_5_0));
}

#[test]
fn cubins_that_do_not_fit_are_refused_with_the_reason() {
    fn new(major: u32, minor: u32) -> CudaDescription {
        gpu(major, minor).driver_version(13000)
    }
    for (image, device, reason) in [
        (
            ("cubin:sm_80", 7),
            new(9, 0),
            "native code for sm_80, the device is sm_90, of another major version",
        ),
        (("cubin:sm_90", 7), new(8, 9), "the device is sm_89, of another major version"),
        (("cubin:sm_100", 8), new(12, 0), "the device is sm_120, of another major version"),
        (("cubin:sm_89", 7), new(8, 6), "native code for sm_89, the device is only sm_86"),
        (("cubin:sm_100f", 8), new(12, 0), "the device is sm_120, of another major version"),
        (("cubin:sm_103f", 8), new(10, 0), "native code for sm_103f, the device is only sm_100"),
        (("cubin:sm_100a", 8), new(10, 3), "sm_100a, which runs on sm_100 only, the device is sm_103"),
        (("cubin:sm_80", 7), new(8, 7), "the device is sm_87; one of them is a Tegra GPU"),
        (("cubin:sm_87", 7), new(8, 9), "the device is sm_89; one of them is a Tegra GPU"),
        (
            ("cubin:sm_90", 8),
            gpu(9, 0).driver_version(12090),
            "a cubin of ABI 8, which needs CUDA driver 13.0, the driver is 12.9",
        ),
    ] {
        let error = refusal(image, device);
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn ptx_that_does_not_fit_is_refused_with_the_reason() {
    fn old(major: u32, minor: u32) -> CudaDescription {
        gpu(major, minor).driver_version(12040)
    }
    for (image, device, reason) in [
        (("nvptx:sm_90", PTX_8_4), old(8, 0), "it is PTX for sm_90, the device is only sm_80"),
        (("nvptx:sm_90a", PTX_8_4), old(10, 0), "sm_90a, which runs on sm_90 only, the device is sm_100"),
        (("nvptx:sm_100f", 0), old(12, 0), "sm_100f, which runs on its family only, the device is sm_120"),
        (("nvptx:sm_100f", 0), old(10, 1), "sm_100f, which runs on its family only, the device is sm_101"),
        (("nvptx:sm_90", PTX_8_8), old(9, 0), "it is PTX 8.8, the driver (CUDA 12.4) takes up to 8.4"),
        (
            ("nvptx:sm_50", PTX_5_0),
            gpu(6, 0).driver_version(7050),
            "it is PTX 5.0, the driver (CUDA 7.5) takes none of it",
        ),
        (("spirv64", 0), old(9, 0), "it is for an OpenCL device, not for this CUDA device"),
        (("amdgcn:gfx90a", 0), old(9, 0), "it is for an AMD GPU, not for this CUDA device"),
    ] {
        let error = refusal(image, device);
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn what_is_not_known_refuses_nothing() {
    // No version in the pack, then none of the driver.
    assert_eq!(picked(&[("nvptx:sm_90", 0)], &gpu(9, 0).driver_version(9000)).0, "nvptx:sm_90");
    assert_eq!(picked(&[("nvptx:sm_90", PTX_8_8)], &gpu(9, 0)).0, "nvptx:sm_90");
    assert_eq!(picked(&[("cubin:sm_90", 8)], &gpu(9, 0)).0, "cubin:sm_90");
}

#[test]
fn a_device_says_what_it_takes() {
    fn described(device: CudaDescription) -> String {
        DeviceDescription::from(device).to_string()
    }
    assert_eq!(
        described(CudaDescription::new("A\x1b[31m", [12, 1]).driver_version(13010)),
        "CUDA device A\\u{1b}[31m (sm_121, CUDA driver 13.1, takes PTX up to 9.1)"
    );
    assert!(described(gpu(3, 5).driver_version(7050)).ends_with("(sm_35, CUDA driver 7.5, takes no PTX)"));
    assert_eq!(described(gpu(8, 0)), "CUDA device gpu (sm_80)");
}
