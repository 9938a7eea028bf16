//! Kinds of modules, states and devices, each with each; cuts and changed bytes everywhere before the code.

use std::collections::BTreeMap;

use super::{BundleState, GPUS, NativeImage, Requirements, SAXPY, Writer, named, prefixed, whole};
use offload_containers::syclbin::{ImageKindNumber, NewModule, write};

/// What oneAPI 2026.2 does when a byte of the file is another; `cargo xtask sycl --record` runs it and writes the table.
const CHANGES: &str = include_str!("changes.txt");

const STATES: [BundleState; 3] = [BundleState::Input, BundleState::Object, BundleState::Executable];
/// Names of devices that the test does not have.
const ELSEWHERE: [&str; 12] = [
    "intel_gpu_pvc",
    "intel_gpu_acm_g10",
    "intel_gpu_bmg_g21",
    "intel_gpu_lnl_m",
    "intel_gpu_tgllp",
    "intel_gpu_mtl_h",
    "nvidia_gpu_sm_80",
    "nvidia_gpu_sm_90",
    "amd_gpu_gfx906",
    "amd_gpu_gfx90a",
    "amd_gpu_gfx1030",
    "amd_gpu_gfx1100",
];

pub(super) fn all(writer: &Writer<'_>) {
    let spirv = prefixed(SAXPY);
    for state in STATES {
        devices(writer, state, &spirv);
        needs(writer, state, &spirv);
        pairs(writer, state, &spirv);
    }
    cuts(writer, &spirv);
    changes(writer, &spirv);
}

fn for_device<'a>(spirv: &'a [u8], device: &str) -> NewModule<'a> {
    let needs = Requirements { compile_target: Some(device.into()), ..Requirements::default() };
    named(spirv).with_requirements(&needs).with_spirv(spirv)
}

fn devices(writer: &Writer<'_>, state: BundleState, spirv: &[u8]) {
    writer.one("right", &format!("on-x86_64-{state}"), state, for_device(spirv, "x86_64"));
    for device in ELSEWHERE {
        writer.one("elsewhere", &format!("on-{device}-{state}"), state, for_device(spirv, device));
    }
}

fn needs(writer: &Writer<'_>, state: BundleState, spirv: &[u8]) {
    for aspect in [1, 6] {
        let needs = Requirements { aspects: vec![aspect], ..Requirements::default() };
        writer.one("right", &format!("aspect-{aspect}-{state}"), state, needing(spirv, &needs));
    }
    for size in [8, 16, 32] {
        let needs = Requirements { sub_group_size: Some(size), ..Requirements::default() };
        writer.one("right", &format!("sub-group-{size}-{state}"), state, needing(spirv, &needs));
    }
    for size in [7, 100, 128] {
        let needs = Requirements { sub_group_size: Some(size), ..Requirements::default() };
        writer.one("absent", &format!("sub-group-{size}-{state}"), state, needing(spirv, &needs));
    }
    for (outcome, size) in [("right", [64, 1, 1]), ("right", [16, 16, 1]), ("absent", [1 << 20, 1, 1])] {
        let needs = Requirements { work_group_size: Some(size.to_vec()), ..Requirements::default() };
        writer.one(outcome, &format!("group-{}x{}-{state}", size[0], size[1]), state, needing(spirv, &needs));
    }
}

/// A kernel that requires so much of its device.
fn needing<'t>(spirv: &'t [u8], needs: &Requirements) -> NewModule<'t> {
    named(spirv).with_requirements(needs).with_spirv(spirv)
}

/// A module for the CPU of the test beside one for another device, and beside one with code for it.
fn pairs(writer: &Writer<'_>, state: BundleState, spirv: &[u8]) {
    for device in ELSEWHERE {
        let modules = [for_device(spirv, "x86_64"), for_device(spirv, device)];
        let file = writer.file(&format!("beside-{device}-{state}"), state, &modules);
        writer.case("right", state, "saxpy", &[file]);
    }
    for NativeImage { target, arch, .. } in GPUS {
        let native = NativeImage { target, arch, image: b"\x7fELF code" };
        let module = whole(spirv).with_native(native);
        writer.one("right", &format!("with-{arch}-{state}"), state, module);
    }
}

fn cuts(writer: &Writer<'_>, spirv: &[u8]) {
    let good = write(BundleState::Executable, &[whole(spirv)], ImageKindNumber::default()).unwrap();
    for part in 1..30 {
        let size = good.len() * part / 30;
        writer.case(
            "refused",
            BundleState::Executable,
            "saxpy",
            &[writer.bytes(&format!("part-{part}"), &good[..size])],
        );
    }
}

/// Lines `OFFSET OUTCOME`.
fn changes(writer: &Writer<'_>, spirv: &[u8]) {
    let outcomes: BTreeMap<usize, &str> = CHANGES
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(offset, outcome)| Some((offset.parse().ok()?, outcome)))
        .collect();
    for (offset, bytes) in changed(spirv) {
        let outcome = match outcomes.get(&offset).copied().unwrap_or("unknown") {
            "right" => "tolerated",
            outcome => outcome,
        };
        let file = writer.bytes(&format!("change-{offset}"), &bytes);
        writer.case(outcome, BundleState::Executable, "saxpy", &[file]);
    }
}

/// Some 120 files, in each of which one bit is another, outside of the code; and in which byte it is.
fn changed(spirv: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let good = write(BundleState::Executable, &[whole(spirv)], ImageKindNumber::default()).unwrap();
    let code = good.windows(spirv.len()).position(|window| window == spirv).unwrap();
    let offsets: Vec<usize> = (0..code).chain(code + spirv.len()..good.len()).collect();
    let step = (offsets.len() / 120).max(1);
    let mut changed = Vec::new();
    for offset in offsets.into_iter().step_by(step) {
        let mut bytes = good.clone();
        bytes[offset] ^= 1;
        changed.push((offset, bytes));
    }
    changed
}
