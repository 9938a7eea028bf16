//! Code objects of clang 22; the expected values are from `llvm-readelf --notes`.
#![cfg(feature = "code-object")]

use offload_format::ErrorKind;
use offload_images::code_object::{self, AddressSpace, CodeObject, ValueKind};

const GFX90A: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce-gfx90a.co");
const GFX906: &[u8] = include_bytes!("../../../tests/data/device-gfx906.co");
const GFX1100: &[u8] = include_bytes!("../../../tests/data/device-gfx1100.co");
const GENERIC: &[u8] = include_bytes!("../../../tests/data/device-gfx11-generic.co");
const IMPORT: &[u8] = include_bytes!("../../../tests/data/import-gfx90a.co");
const SAMPLES: [&[u8]; 2] = [GFX90A, IMPORT];

fn read(image: &[u8]) -> CodeObject {
    code_object::info(image).unwrap()
}

fn names(object: &CodeObject) -> Vec<&str> {
    object.kernels.iter().map(|kernel| kernel.name.as_str()).collect()
}

#[test]
fn the_target_is_in_the_header() {
    for (image, target_id, version, generic_version) in [
        (GFX90A, "gfx90a:xnack+", 5, None),
        (GFX906, "gfx906:sramecc-:xnack-", 6, None),
        (GFX1100, "gfx1100", 6, None),
        (GENERIC, "gfx11-generic", 6, Some(1)),
    ] {
        let object = read(image);
        assert_eq!(object.target_id, target_id);
        assert_eq!((object.version, object.generic_version), (version, generic_version), "{target_id}");
    }
}

/// Sets the flags of a code object and its ABI version.
fn with_flags(flags: u32, abi: u8) -> Vec<u8> {
    let mut image = GFX90A.to_vec();
    image[48..52].copy_from_slice(&flags.to_le_bytes());
    image[8] = abi;
    image
}

#[test]
fn flags_are_named_as_clang_22_sets_them() {
    let cases = [
        (0x13f | 0x400, 4, "gfx90a"),
        (0xe3f, 4, "gfx90a:sramecc+:xnack-"),
        (0xb3f, 2, "gfx90a:sramecc-:xnack+"),
        (0x33f, 1, "gfx90a:sramecc+:xnack+"),
        (0x13f, 1, "gfx90a:xnack+"),
        (0x3a, 4, "gfx602"),
        (0x54c, 4, "gfx942"),
        (0x54f, 4, "gfx950"),
        (0x36, 4, "gfx1030"),
        (0x45, 4, "gfx1036"),
        (0x58, 4, "gfx1153"),
        (0x4e, 4, "gfx1201"),
        (0x55a, 4, "gfx1251"),
        (0x0100_055f, 4, "gfx9-4-generic"),
        (0x0100_0059, 4, "gfx12-generic"),
    ];
    for (flags, abi, target) in cases {
        assert_eq!(read(&with_flags(flags, abi)).target_id, target, "{flags:#x}");
    }
}

#[test]
fn a_processor_of_a_later_release_is_named_by_the_notes() {
    assert_eq!(read(&with_flags(0x3fe, 4)).target_id, "gfx90a:xnack+");
    let mut unnamed = with_flags(0x3fe, 4);
    let at = unnamed.windows(9).position(|window| window == b"sa--gfx90").unwrap();
    unnamed[at + 4] = b'h';
    assert!(matches!(
        code_object::info(&unnamed).unwrap_err().kind(),
        ErrorKind::Unsupported { value: 0xfe, .. }
    ));
}

#[test]
fn kernels_of_opencl_are_read() {
    let object = read(GFX90A);
    assert_eq!(names(&object), ["saxpy", "reduce"]);
    let [saxpy, reduce] = &object.kernels[..] else { panic!("two kernels") };
    assert_eq!((saxpy.vgpr_count, saxpy.agpr_count, saxpy.sgpr_count), (Some(6), Some(0), Some(12)));
    assert_eq!((reduce.vgpr_count, reduce.agpr_count, reduce.sgpr_count), (Some(5), Some(0), Some(16)));
    assert_eq!((saxpy.wavefront_size, saxpy.kernarg_segment_size), (Some(64), Some(288)));
    assert_eq!((saxpy.max_flat_workgroup_size, reduce.max_flat_workgroup_size), (Some(256), Some(64)));
    assert_eq!((saxpy.reqd_workgroup_size, reduce.reqd_workgroup_size), (None, Some([64, 1, 1])));
    assert_eq!((saxpy.vgpr_spill_count, saxpy.sgpr_spill_count), (Some(0), Some(0)));
    assert!(saxpy.has_descriptor && reduce.has_descriptor);
    assert!(object.undefined.is_empty(), "{:?}", object.undefined);
}

#[test]
fn arguments_are_read() {
    let object = read(GFX90A);
    let [saxpy, reduce] = &object.kernels[..] else { panic!("two kernels") };
    assert_eq!((saxpy.args.len(), reduce.args.len()), (17, 17));
    let a = &saxpy.args[0];
    assert_eq!((a.offset, a.size, &a.value_kind, &a.address_space), (0, 4, &ValueKind::ByValue, &None));
    let x = &saxpy.args[1];
    assert_eq!((x.offset, x.size, &x.value_kind), (8, 8, &ValueKind::GlobalBuffer));
    assert_eq!(
        (x.address_space.as_ref(), x.type_name.as_deref()),
        (Some(&AddressSpace::Global), Some("float*"))
    );
    let t = &reduce.args[2];
    assert_eq!(
        (&t.value_kind, t.address_space.as_ref()),
        (&ValueKind::DynamicSharedPointer, Some(&AddressSpace::Local))
    );
    assert_eq!(reduce.args[3].value_kind, ValueKind::Hidden("hidden_block_count_x".to_string()));
}

#[test]
fn kernels_of_hip_are_read() {
    for (image, used) in [(GFX1100, [(4, 18), (8, 9), (2, 12)]), (GENERIC, [(4, 18), (8, 9), (2, 12)])] {
        let object = read(image);
        assert_eq!(names(&object), ["saxpy", "clip", "stacked"]);
        for (kernel, (vgprs, sgprs)) in object.kernels.iter().zip(used) {
            assert_eq!((kernel.vgpr_count, kernel.sgpr_count), (Some(vgprs), Some(sgprs)), "{}", kernel.name);
            assert_eq!((kernel.agpr_count, kernel.wavefront_size), (None, Some(32)));
            assert!(kernel.has_descriptor);
        }
        let segments = object.kernels.iter().map(|kernel| {
            (kernel.group_segment_fixed_size.unwrap(), kernel.private_segment_fixed_size.unwrap())
        });
        assert_eq!(segments.collect::<Vec<_>>(), [(0, 0), (512, 0), (0, 176)]);
    }
}

#[test]
fn all_notes_and_undefined_symbols_are_read() {
    let object = read(IMPORT);
    assert_eq!(names(&object), ["calls", "again"]);
    assert_eq!(object.undefined, ["elsewhere", "_Z13get_global_idj"]);
}

#[test]
fn a_kernel_without_descriptor_is_marked() {
    let name = GFX90A.windows(10).position(|window| window == b"\0reduce.kd").unwrap();
    let mut renamed = GFX90A.to_vec();
    // The string table of the dynamic symbols comes first in the file, after the notes.
    renamed[name + 1] = b's';
    let have_descriptor: Vec<bool> =
        read(&renamed).kernels.iter().map(|kernel| kernel.has_descriptor).collect();
    assert_eq!(have_descriptor, [true, false]);
}

#[test]
fn every_truncation_is_refused() {
    for sample in SAMPLES {
        for size in 0..sample.len() {
            assert!(code_object::info(&sample[..size]).is_err(), "{size} of {} bytes", sample.len());
        }
    }
}

#[test]
fn no_changed_byte_makes_it_panic() {
    for sample in SAMPLES {
        for at in 0..sample.len() {
            let mut changed = sample.to_vec();
            changed[at] = [0, 0xff, sample[at] ^ 0x01, sample[at] ^ 0x80][at % 4];
            let _either = code_object::info(&changed);
        }
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let start = GFX90A.windows(7).position(|window| window == b"AMDGPU\0").unwrap() + 8;
    let mut nested = GFX90A.to_vec();
    nested[start] = 0x81;
    // A map of one pair, whose value is an array of an array, and so on to the end of the note.
    nested[start + 1..start + 3].copy_from_slice(&[0xa1, b'x']);
    nested[start + 3..start + 2700].fill(0x91);
    assert!(matches!(code_object::info(&nested).unwrap_err().kind(), ErrorKind::Text { .. }));
}

#[test]
fn an_image_may_lie_at_any_address() {
    for shift in 0..8 {
        let mut moved = vec![0; shift];
        moved.extend_from_slice(GENERIC);
        assert_eq!(read(&moved[shift..]), read(GENERIC));
    }
}

#[test]
fn other_files_are_refused() {
    let mut other = GFX1100.to_vec();
    other[18..20].copy_from_slice(&62_u16.to_le_bytes());
    for image in [&other[..], b"", b"\x7fELX", b"!<arch>\n"] {
        assert!(matches!(code_object::info(image).unwrap_err().kind(), ErrorKind::Magic { .. }));
    }
    for abi in [0, 5] {
        assert!(matches!(
            code_object::info(&with_flags(0x3f, abi)).unwrap_err().kind(),
            ErrorKind::Version { .. }
        ));
    }
}
