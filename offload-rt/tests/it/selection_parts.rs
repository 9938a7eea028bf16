//! Selection in modules that are split, have variants, or need aspects of the device.

use crate::common::TestPack;
use offload_format::pack::{KernelInfo, NewImage};
use offload_rt::{Aspects, DeviceDescription, OpenClDescription, Registry, Selection, SpirvVersion, Variant};

/// A part of the module `m`: target, name, kernels.
type Part = (&'static str, &'static str, &'static [&'static str]);

fn kernel(name: &&str) -> KernelInfo {
    let mut info = KernelInfo::new((*name).to_string());
    info.remark = "known".into();
    info
}

fn image((target, part, kernels): &Part) -> NewImage {
    let kernels = kernels.iter().map(kernel).collect();
    NewImage { part: (*part).into(), kernels, ..NewImage::new("m", target.parse().unwrap()) }
}

fn registry(images: impl IntoIterator<Item = NewImage>) -> Registry {
    let pack = images.into_iter().enumerate().fold(TestPack::new("p"), |pack, (index, image)| {
        pack.image(image, format!("image {index}").as_bytes())
    });
    Registry::from_pack(pack.bytes())
}

fn parts(parts: &[Part]) -> Registry {
    registry(parts.iter().map(image))
}

/// It takes SPIR-V 1.2, OpenCL C and the native code of Intel 12.60.7.
fn gpu() -> OpenClDescription {
    OpenClDescription::new("gpu", "vendor").opencl_c().spirv(&[SpirvVersion::V1_2]).intel_ip([12, 60, 7])
}

/// `kernel=target[part]` of each kernel, and the number of images.
fn chosen(selection: &Selection) -> (Vec<String>, usize) {
    let shown = selection.kernels().iter().map(|kernel| {
        let entry = selection.entry_for(&kernel.name).unwrap();
        format!("{}={}[{}]", kernel.name, entry.target_text(), entry.part())
    });
    (shown.collect(), selection.entries().len())
}

fn candidates(selection: &Selection) -> Vec<String> {
    selection.candidates().iter().map(ToString::to_string).collect()
}

#[test]
fn each_kernel_gets_the_best_image_that_has_it() {
    let cases: [(&[Part], &[&str], usize); 6] = [
        // Both parts of the best target.
        (
            &[("intel:pvc", "", &["a"]), ("intel:pvc", "large-grf", &["b"]), ("spirv64", "", &["a", "b"])],
            &["a=intel:pvc[]", "b=intel:pvc[large-grf]"],
            2,
        ),
        // A native image for one kernel only.
        (&[("intel:pvc", "a", &["a"]), ("spirv64", "", &["a", "b"])], &["a=intel:pvc[a]", "b=spirv64[]"], 2),
        // One whole image is as good as parts of a worse class.
        (
            &[("opencl-c", "", &["a", "b"]), ("spirv64", "a", &["a"]), ("spirv64", "b", &["b"])],
            &["a=spirv64[a]", "b=spirv64[b]"],
            2,
        ),
        (&[("opencl-c", "", &["a", "b"])], &["a=opencl-c[]", "b=opencl-c[]"], 1),
        // Equally good (two names of one architecture): the target that has both, though it comes later.
        (
            &[("intel:12.60.7", "", &["a"]), ("intel:pvc", "", &["a", "b"])],
            &["a=intel:pvc[]", "b=intel:pvc[]"],
            1,
        ),
        // Equally good for as many: the first.
        (&[("intel:12.60.7", "", &["a"]), ("intel:pvc", "", &["a"])], &["a=intel:12.60.7[]"], 1),
    ];
    for (images, expected, count) in cases {
        let selection = parts(images).request("m").select(&DeviceDescription::from(gpu())).unwrap();
        assert_eq!(chosen(&selection), (expected.iter().map(ToString::to_string).collect(), count));
        let first = selection.entry();
        let entries = selection.entries();
        assert_eq!(first.to_string(), entries[0].to_string());
    }
}

#[test]
fn images_without_records_count_as_having_all_kernels() {
    let device = DeviceDescription::from(gpu());
    let silent =
        parts(&[("intel:pvc", "", &[]), ("spirv64", "", &["a"])]).request("m").select(&device).unwrap();
    assert_eq!(silent.entry_for("a").unwrap().target_text(), "intel:pvc");
    assert_eq!(silent.entry_for("any other").unwrap().target_text(), "intel:pvc");
    assert_eq!((silent.entries().len(), silent.kernels().len()), (1, 0));
    // It has the kernel, but a better one does too.
    let better =
        parts(&[("intel:pvc", "", &["a"]), ("spirv64", "", &[])]).request("m").select(&device).unwrap();
    assert_eq!(chosen(&better), (vec!["a=intel:pvc[]".to_string()], 1));
    let error = better.entry_for("b").unwrap_err().to_string();
    assert!(error.contains("kernel `b`: kernel module `m` has no such kernel\nhint: it has a"), "{error}");
    let none = parts(&[("opencl-c", "", &[]), ("spirv64", "", &[])]).request("m").select(&device).unwrap();
    assert_eq!(none.entry_for("x").unwrap().target_text(), "spirv64");
}

#[test]
fn every_part_is_a_candidate() {
    let registry = parts(&[
        ("intel:acm-g10", "", &["a", "b", "c"]),
        ("intel:pvc", "large-grf", &["a"]),
        ("spirv64", "", &["a", "b"]),
        ("opencl-c", "", &["a", "b", "c"]),
        ("spirv64:v1.4", "", &["b"]),
    ]);
    let device =
        OpenClDescription::new("gpu", "v").spirv(&[SpirvVersion::V1_2, SpirvVersion::new(4).unwrap()]);
    let selection = registry
        .request("m")
        .select(&DeviceDescription::from(device.opencl_c().intel_ip([12, 60, 7])))
        .unwrap();
    assert_eq!(
        candidates(&selection),
        [
            "spirv64: less preferred: intermediate code comes after native code for exactly this architecture",
            "spirv64:v1.4: picked: intermediate code",
            "intel:acm-g10: refused: it is for Intel 12.55.8, the device is 12.60.7",
            "intel:pvc [large-grf]: picked: native code for exactly this architecture",
            "opencl-c: picked: source, for c",
        ]
    );
    let equal = parts(&[("intel:12.60.7", "", &["a"]), ("intel:pvc", "", &["a", "b"])]);
    let equal = candidates(&equal.request("m").select(&DeviceDescription::from(gpu())).unwrap());
    assert!(
        equal[0].ends_with("less preferred: it fits equally well, and its target has fewer kernels"),
        "{equal:?}"
    );
    let equal = parts(&[("intel:12.60.7", "", &["a"]), ("intel:pvc", "", &["a"])]);
    let equal = candidates(&equal.request("m").select(&DeviceDescription::from(gpu())).unwrap());
    assert!(equal[1].ends_with("less preferred: it fits equally well and comes later"), "{equal:?}");
}

#[test]
fn one_kernel_with_fp64_does_not_take_the_others_along() {
    fn fp64(part: &Part) -> NewImage {
        NewImage { aspects: Aspects::FP64, ..image(part) }
    }
    let split = registry([
        image(&("spirv64", "basic", &["plain"])),
        fp64(&("spirv64", "fp64", &["precise"])),
        fp64(&("opencl-c", "", &["plain", "precise"])),
    ]);
    let full = split.request("m").select(&DeviceDescription::from(gpu().aspects(Aspects::FP64))).unwrap();
    assert_eq!(chosen(&full).0, ["plain=spirv64[basic]", "precise=spirv64[fp64]"]);

    let small = split.request("m").select(&DeviceDescription::from(gpu())).unwrap();
    assert_eq!(chosen(&small), (vec!["plain=spirv64[basic]".to_string()], 1));
    let error = small.entry_for("precise").unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(
        [lines[1], lines[2], lines[3], lines[4]],
        [
            "refused:",
            "  spirv64 [fp64]: it needs fp64, which the device lacks",
            "  opencl-c: it needs fp64, which the device lacks",
            "hint: add a target that fits, or use the other kernels: plain"
        ]
    );
    assert!(
        lines[0].starts_with(
            "kernel `precise`: no image of kernel module `m` that has it fits OpenCL device gpu"
        )
    );

    // No kernel fits: the module does not.
    let none = registry([fp64(&("spirv64", "fp64", &["precise"]))])
        .request("m")
        .select(&DeviceDescription::from(gpu()))
        .unwrap_err();
    assert!(none.to_string().contains("no image of kernel module `m` fits"), "{none}");
}

#[test]
fn aspects_are_compared_with_the_device() {
    let all = Aspects::FP16 | Aspects::FP64 | Aspects::ATOMIC64;
    let cases = [
        (
            "spirv64",
            Aspects::FP16 | Aspects::FP64,
            DeviceDescription::from(gpu().aspects(Aspects::FP64)),
            Some("it needs fp16, which"),
        ),
        ("opencl-c", Aspects::ATOMIC64, gpu().into(), Some("it needs atomic64, which the device lacks")),
        ("intel:pvc", all, gpu().into(), Some("it needs fp16, fp64, atomic64, which the device lacks")),
        ("intel:pvc", all, gpu().aspects(all).into(), None),
        ("host", all, DeviceDescription::host(), None),
        (
            "host",
            Aspects::from_bits(1 << 30),
            DeviceDescription::host(),
            Some("it needs unknown(0x40000000), which is newer than this release of offload-rt"),
        ),
        ("cubin:sm_90", all, offload_rt::CudaDescription::new("h", [9, 0]).into(), None),
        // The target is checked first.
        ("host", all, gpu().into(), Some("it is for the host CPU")),
    ];
    for (target, aspects, device, refused) in cases {
        let image = NewImage { aspects, ..NewImage::new("m", target.parse().unwrap()) };
        let outcome =
            registry([image]).request("m").select(&device).map(drop).map_err(|error| error.to_string());
        match refused {
            None => assert_eq!(outcome, Ok(()), "{target} {device}"),
            Some(reason) => assert!(outcome.unwrap_err().contains(&format!("{target}: {reason}"))),
        }
    }
}

fn variants() -> Registry {
    let values = ["HEAD_DIM=64", "HEAD_DIM=128"]
        .iter()
        .flat_map(|dim| ["half", "float"].map(|t| format!("{dim},T={t}")));
    registry(values.flat_map(|variant| {
        ["host", "opencl-c"].map(|target| NewImage {
            variant: variant.clone(),
            ..NewImage::new("m", target.parse().unwrap())
        })
    }))
}

#[test]
fn a_variant_is_chosen_by_its_values() {
    let registry = variants();
    let selection = registry
        .request("m")
        .variant("T", "float")
        .variant("HEAD_DIM", 128)
        .select(&DeviceDescription::from(gpu()))
        .unwrap();
    assert_eq!(selection.entry().to_string(), "m/HEAD_DIM=128,T=float for opencl-c");
    assert_eq!(selection.candidates().len(), 2, "images of the other variants are not candidates");
    let all: Vec<String> = registry.variants("m").iter().map(Variant::to_string).collect();
    assert_eq!(
        all,
        ["HEAD_DIM=128,T=float", "HEAD_DIM=128,T=half", "HEAD_DIM=64,T=float", "HEAD_DIM=64,T=half"]
    );
    assert_eq!(registry.variants("m")[0].get("T"), Some("float"));
    assert_eq!((registry.variants("other"), parts(&[("host", "", &[])]).variants("m")), (vec![], vec![]));

    let nothing_takes_it = DeviceDescription::from(OpenClDescription::new("none", "v"));
    let request = registry.request("m").variant("T", "float").variant("HEAD_DIM", 64);
    let error = request.select(&nothing_takes_it);
    assert!(
        error.unwrap_err().to_string().contains("no image of kernel module `m/HEAD_DIM=64,T=float` fits")
    );
}

#[test]
fn values_that_do_not_choose_a_variant_are_refused_with_those_there_are() {
    let cases: [(&[(&str, &str)], &str); 8] = [
        (&[], "kernel module `m` has variants, and none is chosen\n"),
        (&[("T", "half")], "kernel module `m` has variants by `HEAD_DIM`, and no value is given for it\n"),
        (&[("T", "half"), ("HEAD_DIM", "96")], "kernel module `m` has no variant with `HEAD_DIM=96`\n"),
        (&[("T", "half"), ("HEAD_DIM", "64"), ("X", "1")], "kernel module `m` has no variants by `X`\n"),
        (&[("t", "half")], "has no variants by `t`"),
        (&[("T", "half"), ("T", "half")], "the name is defined twice"),
        (&[("T", "half,HEAD_DIM=64")], "name and value need"),
        (&[("\x1b[31m", "1")], "name and value need"),
    ];
    for (values, problem) in cases {
        let registry = variants();
        let request = registry.request("m").variants(values.iter().copied());
        let error = request.select(&DeviceDescription::host()).unwrap_err().to_string();
        assert!(error.contains(problem) && !error.contains('\x1b'), "{values:?}: {error}");
        assert!(
            error.ends_with(
                "\nhint: choose one by `.variant(NAME, VALUE)` of the request; there are HEAD_DIM = 64 or 128, T = half or float"
            ),
            "{error}"
        );
    }
    // Not every combination is there.
    let some = ["A=1,B=1", "A=2,B=2"]
        .map(|variant| NewImage { variant: variant.into(), ..NewImage::new("m", "host".parse().unwrap()) });
    let registry = registry(some);
    let request = registry.request("m").variant("A", 1).variant("B", 2);
    let error = request.select(&DeviceDescription::host()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("has no variant `A=1,B=2`") && error.ends_with("there are A=1,B=1, A=2,B=2"),
        "{error}"
    );

    let plain = parts(&[("host", "", &[])]);
    let error =
        plain.request("m").variant("A", 1).select(&DeviceDescription::host()).unwrap_err().to_string();
    assert!(
        error.contains("kernel module `m` has no variants, `A=1` is asked for\nhint: ask for the module without `.variant(...)`"),
        "{error}"
    );
}

#[test]
fn a_variant_of_a_later_release_is_refused() {
    let later = NewImage { variant: "double".into(), ..NewImage::new("m", "host".parse().unwrap()) };
    let error =
        registry([later.clone()]).request("m").select(&DeviceDescription::host()).unwrap_err().to_string();
    assert!(error.contains("host: its variant is newer than this release of offload-rt"), "{error}");
    let plain = NewImage::new("m", "host".parse().unwrap());
    let selection = registry([later, plain]).request("m").select(&DeviceDescription::host()).unwrap();
    assert_eq!(selection.entry().variant(), "");
}
