//! Selection where specialisation constants have values: an image has them, takes them, or is refused.

use crate::common::TestPack;
use offload_format::pack::NewImage;
use offload_rt::{
    DeviceDescription, Error, ErrorKind, HostLevel, OpenClDescription, Registry, SpecConstant,
    Specialization, SpirvVersion,
};

/// The images of a module: target, variant, constants.
fn registry(images: &[(&str, &str, &str)]) -> Registry {
    let pack = images.iter().fold(TestPack::new("p"), |pack, (target, variant, spec)| {
        let variant = variant.to_string();
        let spec = SpecConstant::list(spec);
        let image = NewImage { variant, spec, ..NewImage::new("m", target.parse().unwrap()) };
        pack.image(image, target.as_bytes())
    });
    Registry::from_pack(pack.bytes())
}

fn gpu() -> DeviceDescription {
    let gpu = OpenClDescription::new("gpu", "vendor").opencl_c().spirv(&[SpirvVersion::V1_2]);
    gpu.intel_ip([12, 60, 7]).into()
}

fn host() -> DeviceDescription {
    DeviceDescription::host_with_level(HostLevel::Baseline)
}

/// The target and the variant that are chosen for this value of `TILE`.
fn chosen(registry: &Registry, tile: i32, device: &DeviceDescription) -> Result<String, Error> {
    let spec = Specialization::new().with("TILE", tile);
    let selection = registry.request("m").spec(spec).select(device)?;
    Ok(format!("{} {}", selection.entry().target_text(), selection.entry().variant()))
}

#[test]
fn native_code_serves_its_own_value_and_the_driver_compiles_others() {
    let images = registry(&[
        ("intel:pvc", "", "TILE:int=16"),
        ("opencl-c", "", "TILE@0:int=16"),
        ("spirv64", "", "TILE@0:int=16"),
    ]);
    assert_eq!(chosen(&images, 16, &gpu()).unwrap(), "intel:pvc ");
    assert_eq!(chosen(&images, 32, &gpu()).unwrap(), "spirv64 ");
    assert_eq!(images.request("m").select(&gpu()).unwrap().entry().target_text(), "intel:pvc");
    let spec = Specialization::new().with("TILE", 32);
    let selection = images.request("m").spec(spec).select(&gpu()).unwrap();
    let candidates: Vec<String> = selection.candidates().iter().map(ToString::to_string).collect();
    let refused = "intel:pvc: refused: it was compiled with TILE = 16, and 32 is asked for".to_string();
    assert!(candidates.contains(&refused), "{candidates:?}");
}

#[test]
fn variants_are_images_with_their_own_values() {
    let images = registry(&[
        ("host", "TILE=16", "TILE:int=16"),
        ("spirv64", "TILE=16", "TILE@0:int=16"),
        ("host", "TILE=32", "TILE:int=32"),
        ("spirv64", "TILE=32", "TILE@0:int=32"),
    ]);
    assert_eq!(chosen(&images, 32, &host()).unwrap(), "host TILE=32");
    assert_eq!(chosen(&images, 32, &gpu()).unwrap(), "spirv64 TILE=32");
    // Of a value without a variant any serves that takes it.
    assert_eq!(chosen(&images, 64, &gpu()).unwrap(), "spirv64 TILE=16");
    let error = chosen(&images, 64, &host()).unwrap_err();
    let text = error.to_string();
    assert_eq!(error.kind(), ErrorKind::NoFit);
    assert!(text.contains("host: it was compiled with TILE = 16, and 64 is asked for"), "{text}");
    assert!(error.hint().unwrap().contains("`.variants(\"TILE\", [16, 32])`"), "{text}");
}

#[test]
fn what_no_image_has_is_refused() {
    let images = registry(&[("spirv64", "", "TILE@0:uint=16"), ("opencl-c", "", "")]);
    let text = chosen(&images, 16, &gpu()).unwrap_err().to_string();
    assert!(
        text.contains("spirv64: its specialisation constant `TILE` is of the type `uint`, not `int`"),
        "{text}"
    );
    assert!(text.contains("opencl-c: it has no specialisation constant `TILE`"), "{text}");
    let unused = registry(&[("spirv64", "", "TILE@:int=16")]);
    assert_eq!(chosen(&unused, 99, &gpu()).unwrap(), "spirv64 ");
}
