//! Cubins of ptxas 12.9 and 13.5; the expected values are from `ptxas -v` and `cuobjdump -elf`.
#![cfg(feature = "cubin")]

use offload_format::ErrorKind;
use offload_images::cubin::{self, Cubin, CubinKernel};

const OLD: &[u8] = include_bytes!("../../../tests/data/device-12.9-sm_80.cubin");
const OLD_ACCELERATED: &[u8] = include_bytes!("../../../tests/data/device-12.9-sm_90a.cubin");
const NEW_ACCELERATED: &[u8] = include_bytes!("../../../tests/data/device-13.5-sm_90a.cubin");
const CALLS: &[u8] = include_bytes!("../../../tests/data/calls-12.9-sm_100a.cubin");
const FAMILY: &[u8] = include_bytes!("../../../tests/data/family-12.9-sm_100f.cubin");
const SAMPLES: [&[u8]; 2] = [NEW_ACCELERATED, CALLS];

fn read(image: &[u8]) -> Cubin {
    cubin::info(image).unwrap()
}

fn kernel<'a>(cubin: &'a Cubin, name: &str) -> &'a CubinKernel {
    cubin.kernels.iter().find(|kernel| kernel.name == name).unwrap()
}

/// Offsets and sizes.
fn parameters(kernel: &CubinKernel) -> Vec<(u64, u64)> {
    let parameters = kernel.parameters.as_ref().unwrap();
    parameters.iter().map(|parameter| (parameter.offset, parameter.size)).collect()
}

#[test]
fn both_layouts_have_the_architecture() {
    for (image, arch, accelerated, abi_version, toolkit) in [
        (OLD, "sm_80", false, 7, 129),
        (OLD_ACCELERATED, "sm_90a", true, 7, 129),
        (NEW_ACCELERATED, "sm_90a", true, 8, 135),
        (CALLS, "sm_100a", true, 8, 129),
        (FAMILY, "sm_100f", false, 8, 129),
    ] {
        let cubin = read(image);
        assert_eq!((cubin.arch().as_str(), cubin.accelerated), (arch, Some(accelerated)));
        assert_eq!((cubin.abi_version, cubin.toolkit), (abi_version, Some(toolkit)), "{arch}");
    }
    assert!(read(FAMILY).family && !read(CALLS).family);
}

#[test]
fn kernels_use_what_ptxas_prints() {
    for image in [OLD, OLD_ACCELERATED, NEW_ACCELERATED] {
        let cubin = read(image);
        assert_eq!(cubin.kernels.len(), 3);
        for (name, registers, shared_memory, stack_frame) in
            [("saxpy", 10, 0, 0), ("clip", 14, 512, 0), ("stacked", 11, 0, 160)]
        {
            let kernel = kernel(&cubin, name);
            assert_eq!(kernel.registers, Some(registers), "{name}");
            assert_eq!(kernel.shared_memory, shared_memory, "{name}");
            assert_eq!(kernel.stack_frame, Some(stack_frame), "{name}");
            assert_eq!(kernel.stack_size, kernel.stack_frame, "{name}");
        }
    }
}

#[test]
fn reserved_shared_memory_is_separate() {
    assert!(read(OLD).kernels.iter().all(|kernel| kernel.reserved_shared_memory == 0));
    for image in [OLD_ACCELERATED, NEW_ACCELERATED] {
        assert!(read(image).kernels.iter().all(|kernel| kernel.reserved_shared_memory == 1024));
    }
}

#[test]
fn parameters_and_limits_are_read() {
    for (image, bank) in [(OLD, 352), (OLD_ACCELERATED, 528), (NEW_ACCELERATED, 528)] {
        let cubin = read(image);
        let saxpy = kernel(&cubin, "saxpy");
        let clip = kernel(&cubin, "clip");
        assert_eq!(parameters(saxpy), [(0, 4), (8, 8), (16, 8), (24, 4)]);
        assert_eq!(parameters(clip), [(0, 12), (16, 8), (24, 2)]);
        assert_eq!((saxpy.constant_bank, clip.constant_bank), (Some(bank + 28), Some(bank + 26)));
        assert_eq!((saxpy.max_threads, clip.max_threads), (None, Some([256, 1, 1])));
        assert_eq!(clip.required_work_group, None);
    }
    let calls = read(CALLS);
    assert_eq!(calls.kernels[0].required_work_group, Some([64, 2, 1]));
    assert_eq!(parameters(&calls.kernels[0]), [(0, 8), (8, 1)]);
    assert_eq!(calls.kernels[0].registers, Some(24));
    assert_eq!((calls.kernels[0].shared_memory, calls.kernels[0].reserved_shared_memory), (1100, 0));
    assert_eq!((calls.kernels[0].stack_frame, calls.kernels[0].stack_size), (Some(0), None));
}

#[test]
fn unresolved_symbols_are_the_undefined_ones_without_the_driver_s() {
    let calls = read(CALLS);
    assert!(calls.relocatable);
    assert_eq!(calls.undefined, ["outside", "vprintf"]);
    assert_eq!(calls.unresolved().collect::<Vec<_>>(), ["outside"]);
    for image in [OLD, OLD_ACCELERATED, NEW_ACCELERATED] {
        let cubin = read(image);
        assert!(cubin.undefined.is_empty() && !cubin.relocatable, "{:?}", cubin.undefined);
    }
}

#[test]
fn a_function_that_is_no_kernel_is_left_out() {
    // Byte 5 of a symbol is `st_other`, where kernels are marked.
    let mut changed = OLD.to_vec();
    let marked = (0..OLD.len() - 24).filter(|at| OLD[at + 4..at + 6] == [0x12, 0x10] && at % 8 == 0);
    let marked: Vec<usize> = marked.collect();
    assert_eq!(marked.len(), 3, "{marked:?}");
    changed[marked[0] + 5] = 0;
    assert_eq!(read(&changed).kernels.len(), 2);
}

#[test]
fn every_truncation_is_refused() {
    for sample in SAMPLES {
        for size in 0..sample.len() {
            assert!(cubin::info(&sample[..size]).is_err(), "{size} of {} bytes", sample.len());
        }
    }
}

#[test]
fn no_changed_byte_makes_it_panic() {
    for sample in SAMPLES {
        for at in 0..sample.len() {
            let mut changed = sample.to_vec();
            changed[at] = [0, 0xff, sample[at] ^ 0x01, sample[at] ^ 0x80][at % 4];
            let _either = cubin::info(&changed);
        }
    }
}

#[test]
fn an_image_may_lie_at_any_address() {
    for shift in 0..8 {
        let mut moved = vec![0; shift];
        moved.extend_from_slice(NEW_ACCELERATED);
        assert_eq!(read(&moved[shift..]), read(NEW_ACCELERATED));
    }
}

#[test]
fn other_files_are_refused() {
    let mut other = OLD.to_vec();
    other[18..20].copy_from_slice(&62_u16.to_le_bytes());
    for image in [&other[..], b"", b"\x7fELX", b"//\n.version 8.0\n"] {
        assert!(matches!(cubin::info(image).unwrap_err().kind(), ErrorKind::Magic { .. }));
    }
    let mut later = NEW_ACCELERATED.to_vec();
    later[8] = 9;
    assert!(matches!(cubin::info(&later).unwrap_err().kind(), ErrorKind::Version { found: 9, .. }));
}
