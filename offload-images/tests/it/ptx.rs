//! PTX of clang, nvcc and Triton, and other text.
#![cfg(feature = "ptx")]

use offload_format::{ErrorKind, PtxVersion};
use offload_images::ptx::{Ptx, PtxKernel, StateSpace};

const CLANG: &[u8] = include_bytes!("../../../tests/data/device-clang.ptx");
const NVCC: &[u8] = include_bytes!("../../../tests/data/device-nvcc.ptx");
const TRITON: &[u8] = include_bytes!("../../../tests/data/triton-add.ptx");
const CALLS: &[u8] = include_bytes!("../../../tests/data/calls.ptx");
const SAMPLES: [&[u8]; 2] = [NVCC, CALLS];

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn names<'a>(module: &'a Ptx<'a>) -> Vec<&'a str> {
    module.kernels().iter().map(|entry| entry.name).collect()
}

fn sizes(entry: &PtxKernel<'_>) -> Vec<Option<u64>> {
    entry.parameters.iter().map(|parameter| parameter.size).collect()
}

#[test]
fn a_module_of_clang_is_read() {
    let module = Ptx::parse(CLANG).unwrap();
    assert_eq!(module.version(), PtxVersion { major: 7, minor: 0 });
    assert_eq!(module.version().word(), 0x0007_0000);
    assert_eq!((module.target(), module.address_size()), ("sm_80", 64));
    assert_eq!(names(&module), ["saxpy", "clip", "stacked"]);
    let [saxpy, clip, stacked] = module.kernels() else { panic!("three kernels") };
    assert_eq!(sizes(saxpy), [Some(4), Some(8), Some(8), Some(4)]);
    assert_eq!(sizes(clip), [Some(12), Some(8), Some(2)]);
    assert_eq!(saxpy.parameters[1].pointer, Some(StateSpace::Generic));
    assert_eq!((clip.max_threads, clip.required_work_group), (Some([256, 1, 1]), None));
    assert_eq!((stacked.max_threads, stacked.max_registers), (None, None));
    assert!(module.externs().is_empty(), "{:?}", module.externs());
    assert!(module.uses_dynamic_shared_memory());
}

#[test]
fn a_module_of_nvcc_is_read() {
    let module = Ptx::parse(NVCC).unwrap();
    assert_eq!((module.version().word(), module.target()), (0x0009_0500, "sm_90a"));
    assert_eq!(names(&module), ["saxpy", "clip", "stacked"]);
    assert_eq!(sizes(&module.kernels()[1]), [Some(12), Some(8), Some(2)]);
    assert_eq!(module.kernels()[1].max_threads, Some([256, 1, 1]));
    assert!(module.externs().is_empty() && module.uses_dynamic_shared_memory());
}

#[test]
fn a_module_of_triton_is_read() {
    let module = Ptx::parse(TRITON).unwrap();
    assert_eq!((module.version().word(), module.target()), (0x0009_0400, "sm_90a"));
    let [add] = module.kernels() else { panic!("one kernel") };
    assert_eq!((add.name, add.required_work_group), ("add_kernel", Some([128, 1, 1])));
    assert_eq!(sizes(add), [Some(8), Some(8), Some(8), Some(4), Some(8), Some(8)]);
    assert_eq!(add.parameters[0].pointer, Some(StateSpace::Global));
    assert_eq!(add.parameters[3].pointer, None);
    assert!(module.uses_dynamic_shared_memory());
}

#[test]
fn unresolved_functions_are_the_undefined_ones_without_the_driver_s() {
    let module = Ptx::parse(CALLS).unwrap();
    assert_eq!(module.externs(), ["outside", "vprintf"]);
    assert_eq!(module.unresolved().collect::<Vec<_>>(), ["outside"]);
    let calls = &module.kernels()[0];
    assert_eq!((sizes(calls), calls.required_work_group), (vec![Some(8), Some(1)], Some([64, 2, 1])));
}

#[test]
fn only_undefined_symbols_are_extern() {
    let text = format!(
        "{HEADER}.extern .global .align 4 .b32 a, b[2];\n.extern .const .f32 c;\n.visible .func late(.param .b32 x);\n\
         .visible .func never(.param .b32 x)\n;\n.func other;\n.visible .func late(.param .b32 x) {{ ret; }}\n\
         .extern .func (.param .b32 r) again;\n.extern .func (.param .b32 r) again;\n.alias other, late;\n\
         .visible .global .align 4 .b32 a = 1;\n.global .b64 d[2] = {{generic(a), c}}, e;\n\
         .visible .entry k() {{ ret; }}\n"
    );
    let module = Ptx::parse(text.as_bytes()).unwrap();
    assert_eq!(module.externs(), ["b", "c", "never", "again"]);
    assert_eq!(names(&module), ["k"]);
    assert!(module.kernels()[0].parameters.is_empty() && !module.uses_dynamic_shared_memory());
}

#[test]
fn braces_in_comments_and_strings_do_not_count() {
    let text = format!(
        "// {{\n/* }} .entry no */ {HEADER}.file 1 \"a{{.cu\"\n.visible .entry k(.param .u32 /* ) */ x)\n\
         .pragma \"}}\";\n.maxnreg 0x20 {{ // }}\n.loc 1 2 3\nret;\n}}\n.section .debug_str {{ .b8 1 }}\n"
    );
    let module = Ptx::parse(text.as_bytes()).unwrap();
    assert_eq!((names(&module), module.kernels()[0].max_registers), (vec!["k"], Some(32)));
    assert_eq!(module.kernels()[0].parameters[0].name, "x");
}

#[test]
fn parameters_of_every_form_are_measured() {
    let forms = [
        (".param .b8 x[6]", Some(6)),
        (".param .align 64 .b8 x[128]", Some(128)),
        (".param.f64 x", Some(8)),
        (".param .b32 x[0x3]", Some(12)),
        (".param .u64 .ptr.shared.align 4 x", Some(8)),
        (".param .texref x", None),
        (".param .align 8 .b8 x[]", None),
    ];
    for (form, size) in forms {
        let text = format!("{HEADER}.visible .entry k({form}, .param .s16 y) {{ ret; }}\n");
        let module = Ptx::parse(text.as_bytes()).unwrap();
        assert_eq!(sizes(&module.kernels()[0]), [size, Some(2)], "{form}");
    }
    let huge = format!("{HEADER}.visible .entry k(.param .b64 x[0xffffffff][0xffffffff]) {{ }}\n");
    assert!(matches!(Ptx::parse(huge.as_bytes()).unwrap_err().kind(), ErrorKind::Text { .. }));
}

#[test]
fn zeros_at_the_end_belong_to_the_container() {
    let text = format!("{HEADER}.visible .entry k() {{ ret; }}\0\0");
    assert_eq!(names(&Ptx::parse(text.as_bytes()).unwrap()), ["k"]);
}

#[test]
fn a_module_without_address_size_has_32_bits() {
    assert_eq!(Ptx::parse(b".version 1.4\n.target sm_10\n").unwrap().address_size(), 32);
}

#[test]
fn a_cut_is_an_error_or_loses_whole_declarations() {
    for sample in SAMPLES {
        let whole = Ptx::parse(sample).unwrap();
        let mut refused = 0;
        for size in 0..sample.len() {
            match Ptx::parse(&sample[..size]) {
                Err(_) => refused += 1,
                Ok(part) => {
                    assert!(whole.kernels().starts_with(part.kernels()), "{size} of {} bytes", sample.len());
                }
            }
        }
        // Between declarations there are few places.
        assert!(refused * 100 > sample.len() * 95, "{refused} of {} cuts are refused", sample.len());
    }
}

#[test]
fn a_cut_body_is_a_truncation() {
    let end = CLANG.iter().position(|byte| *byte == b'}').unwrap() - 40;
    assert!(matches!(Ptx::parse(&CLANG[..end]).unwrap_err().kind(), ErrorKind::Truncated { .. }));
    assert!(matches!(
        Ptx::parse(b".version 8.0\n.target sm_80\n.address_size 6").unwrap_err().kind(),
        ErrorKind::Truncated { .. }
    ));
}

#[test]
fn no_changed_byte_makes_it_panic() {
    for sample in SAMPLES {
        for at in 0..sample.len() {
            let mut changed = sample.to_vec();
            changed[at] = [0, b'{', b'}', b'"', b';', sample[at] ^ 0xff][at % 6];
            let _either = Ptx::parse(&changed);
        }
    }
}

#[test]
fn other_text_is_refused() {
    for other in [&b""[..], b"\0", b"\x7fELF", b".target sm_80\n", b"define void @k() { }\n"] {
        let error = Ptx::parse(other).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Magic { .. }), "{other:?}: {error}");
    }
    for malformed in [".version x\n", ".version 8\n", ".version 8.0\n.target ;\n"] {
        let error = Ptx::parse(malformed.as_bytes()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Text { .. }), "{malformed:?}: {error}");
    }
}
