//! Images that the driver links with a device library when they are loaded.

use offload_format::{Aspects, Import};
use offload_rt::{Arg, Device, Error, KernelInfo, NdRange, Program, Registry};

use super::gpu;
use crate::common::TestPack;
use offload_format::pack::NewImage;

const IMPORTER: &str = "\
.version 6.0
.target sm_50
.address_size 64
.extern .func (.param .b32 result) more(.param .b32 number);
.visible .entry count(.param .u64 numbers)
{
    .reg .b32 %number;
    .reg .b64 %at;
    ld.param.u64 %at, [numbers];
    ld.global.u32 %number, [%at];
    {
        .param .b32 given;
        .param .b32 got;
        st.param.b32 [given], %number;
        call (got), more, (given);
        ld.param.b32 %number, [got];
    }
    st.global.u32 [%at], %number;
    ret;
}
";

const LIBRARY: &str = "\
.version 6.0
.target sm_50
.address_size 64
.visible .func (.param .b32 result) more(.param .b32 number)
{
    .reg .b32 %number;
    ld.param.b32 %number, [number];
    add.u32 %number, %number, 1;
    st.param.b32 [result], %number;
    ret;
}
";

fn registry(library: &str) -> Registry {
    fn image(module: &str) -> NewImage {
        NewImage { aspects: Aspects::LINKER, ..NewImage::new(module, "nvptx:sm_50".parse().unwrap()) }
    }
    fn importer(module: &str) -> NewImage {
        NewImage {
            imports: Import::list("num=num-device@1.0.0"),
            kernels: vec![KernelInfo::new("count")],
            ..image(module)
        }
    }
    let provider = NewImage { exports: vec!["more".into()], ..image("num") };
    Registry::from_packs([
        TestPack::new("num-device").image(provider, library.as_bytes()).bytes(),
        TestPack::new("app")
            .image(importer("a"), IMPORTER.as_bytes())
            .image(importer("b"), IMPORTER.as_bytes())
            .bytes(),
    ])
}

fn open(registry: &Registry, module: &str, device: &Device) -> Result<Program, Error> {
    device.open_selection(&registry.request(module).select(device)?)
}

fn launched(program: &Program) -> u32 {
    let mut numbers = [41u32];
    // SAFETY: one work-item has one number.
    unsafe { program.launch("count", NdRange::linear_at_least(1, 1), &mut [Arg::in_out(&mut numbers)]) }
        .unwrap();
    numbers[0]
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_driver_links_what_an_image_imports() {
    let device = gpu();
    let registry = registry(LIBRARY);
    let first = open(&registry, "a", &device).unwrap();
    assert_eq!(launched(&first), 42);
    let second = open(&registry, "b", &device).unwrap();
    drop(first);
    drop(registry);
    assert_eq!(launched(&second), 42);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_library_without_the_function_is_told_with_the_linkers_message() {
    let device = gpu();
    let registry = registry(&LIBRARY.replace("more", "less"));
    let error = open(&registry, "a", &device).unwrap_err().to_string();
    assert!(error.contains("cannot load a for nvptx:sm_50"), "{error}");
    assert!(error.contains("more"), "{error}");
}
