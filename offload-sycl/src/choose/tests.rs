//! Both tables, case by case.

use offload_containers::syclbin::{
    ImageKindNumber, NativeImage, NewModule, Payload, PropertySets, PropertyValue, Requirements, parse, write,
};
use offload_format::{Limits, SpirvVersion};

use super::*;
use crate::rules::check_file;
use crate::traits::DeviceArch;

/// SPIR-V 1.2.
const SPIRV: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce.spv");

fn cpu() -> Traits {
    Traits {
        arch: DeviceArch::Cpu,
        aspects: vec![1, 5, 6, 28],
        work_group: (256, [256, 256, 256]),
        sub_groups: vec![8, 16],
        spirv: vec![SpirvVersion::new(0).unwrap(), SpirvVersion::V1_2],
    }
}

fn gpu() -> Traits {
    Traits { arch: DeviceArch::IntelGpu([12, 60, 7]), ..cpu() }
}

/// The selections of both rule sets: the extension's, then the runtime's.
fn both(module: NewModule<'_>, state: BundleState, device: &Traits) -> [Result<Form, Unfit>; 2] {
    let file = write(state, &[module], ImageKindNumber::default()).unwrap();
    let file = parse(&file, &Limits::default()).unwrap();
    [Rules::Spec, Rules::Runtime].map(|rules| choose(rules, &file.modules[0], state, device))
}

fn native(target: &'static str, arch: &'static str) -> NativeImage<'static> {
    NativeImage { target, arch, image: b"native" }
}

/// SPIR-V, and native images with their targets and architectures.
fn module(natives: &[(&'static str, &'static str)]) -> NewModule<'static> {
    natives.iter().fold(NewModule::default().with_spirv(SPIRV), |module, (target, arch)| {
        module.with_native(native(target, arch))
    })
}

fn needing(sets: &str) -> NewModule<'static> {
    let sets: PropertySets<'_> = sets.parse().unwrap();
    NewModule::default().with_metadata(&sets).with_spirv(SPIRV)
}

fn with_needs(needs: Requirements) -> NewModule<'static> {
    NewModule::default().with_requirements(&needs).with_spirv(SPIRV)
}

const PVC: (&str, &str) = ("spir64_gen-unknown-unknown", "intel_gpu_pvc");
const BMG: (&str, &str) = ("spir64_gen-unknown-unknown", "intel_gpu_bmg_g21");
const SM_90: (&str, &str) = ("nvptx64-nvidia-cuda", "sm_90");
const X86: (&str, &str) = ("spir64-unknown-unknown", "x86_64");

#[test]
fn the_runtime_reads_its_own_envelope_alone() {
    fn refused(bytes: &[u8]) -> [bool; 2] {
        let file = parse(bytes, &Limits::default()).unwrap();
        [Rules::Spec, Rules::Runtime].map(|rules| check_file(rules, &file).is_err())
    }
    let later = write(BundleState::Input, &[module(&[])], ImageKindNumber::ONEAPI_2025_3).unwrap();
    let bare = write(BundleState::Input, &[module(&[])], ImageKindNumber::ONEAPI_2026).unwrap();
    assert_eq!(refused(&bare), [false, false]);
    assert_eq!(refused(&later), [false, true]);
    let at = bare.windows(4).position(|window| window == b"IBYS").unwrap();
    assert_eq!(refused(&bare[at..]), [false, true]);
}

#[test]
fn native_code_goes_before_ir() {
    let second = [Ok(Form::Native(1)), Ok(Form::Native(1))];
    assert_eq!(both(module(&[SM_90, PVC]), BundleState::Executable, &gpu()), second);
    assert_eq!(both(module(&[PVC, X86]), BundleState::Executable, &cpu()), second);
}

#[test]
fn ir_serves_where_no_native_code_fits() {
    let ir = [Ok(Form::Ir(0)), Ok(Form::Ir(0))];
    assert_eq!(both(module(&[PVC, SM_90]), BundleState::Executable, &cpu()), ir);
    assert_eq!(
        both(module(&[("spir64", "x86_64")]), BundleState::Executable, &cpu()),
        ir,
        "no dash, no target"
    );
    for state in [BundleState::Input, BundleState::Object] {
        assert_eq!(both(module(&[X86]), state, &cpu()), ir);
    }
}

#[test]
fn the_runtime_does_not_look_at_the_architecture() {
    let found = both(module(&[BMG, PVC]), BundleState::Executable, &gpu());
    assert_eq!(found, [Ok(Form::Native(1)), Ok(Form::Native(0))]);
    let found = both(module(&[BMG]), BundleState::Executable, &gpu());
    assert_eq!(found, [Ok(Form::Ir(0)), Ok(Form::Native(0))]);
}

#[test]
fn a_native_image_without_a_target_fails_in_the_runtime() {
    let mut module = module(&[]);
    module.native.push(Payload::new(PropertySets::default().set(sets::NATIVE), b"native"));
    let [spec, runtime] = both(module, BundleState::Object, &cpu());
    assert_eq!(spec, Ok(Form::Ir(0)));
    assert_eq!(runtime, Err(Unfit::refused("a native image has no target")));
}

#[test]
fn the_type_and_version_of_ir_count_by_the_extension() {
    let ptx = PropertySets::default().set(sets::IR).property("type", PropertyValue::Number(1)).unwrap();
    let mut module = NewModule::default();
    module.ir.push(Payload::new(ptx, b".version 7.0"));
    module = module.with_spirv(SPIRV);
    assert_eq!(both(module, BundleState::Object, &cpu()), [Ok(Form::Ir(1)), Ok(Form::Ir(0))]);

    let old = Traits { spirv: vec![SpirvVersion::new(0).unwrap()], ..cpu() };
    let [spec, runtime] = both(self::module(&[]), BundleState::Executable, &old);
    assert!(matches!(spec, Err(Unfit::Missing(reason)) if reason.contains("version")));
    assert_eq!(runtime, Ok(Form::Ir(0)));
}

#[test]
fn modules_without_a_form_are_skipped() {
    let lone = NewModule::default().with_native(native(PVC.0, PVC.1));
    for (module, state, reason) in [
        (lone.clone(), BundleState::Executable, "none of 1 native images is for the device"),
        (lone, BundleState::Object, "native code does not count in state object"),
        (NewModule::default(), BundleState::Input, "neither IR nor native code"),
    ] {
        for found in both(module, state, &cpu()) {
            assert!(matches!(&found, Err(Unfit::Missing(text)) if text.contains(reason)), "{found:?}");
        }
    }
}

#[test]
fn requirements_leave_modules_out() {
    fn sizes(sizes: &[u64]) -> Requirements {
        Requirements { work_group_size: Some(sizes.to_vec()), ..Requirements::default() }
    }
    fn sub_group(size: u32) -> Requirements {
        Requirements { sub_group_size: Some(size), ..Requirements::default() }
    }
    fn aspects(aspects: &[u32]) -> Requirements {
        Requirements { aspects: aspects.to_vec(), ..Requirements::default() }
    }
    fn target(name: &str) -> Requirements {
        Requirements { compile_target: Some(name.to_string()), ..Requirements::default() }
    }
    for (needs, reason) in [
        (aspects(&[1, 5, 6, 28]), None),
        (aspects(&[6, 2]), Some("aspect gpu")),
        (aspects(&[99]), Some("aspect 99")),
        (target("x86_64"), None),
        (target("intel_gpu_pvc"), Some("it is for `intel_gpu_pvc`")),
        (target(""), Some("it is for ``")),
        (sub_group(16), None),
        (sub_group(64), Some("sub-groups of 64")),
        (sizes(&[16, 16]), None),
        (sizes(&[256, 2, 1]), Some("work-groups of [256, 2, 1]")),
        (sizes(&[512]), Some("work-groups of [512]")),
        (sizes(&[1 << 63, 2, 1]), Some("work-groups")),
        (sizes(&[1, 1, 1, 1]), Some("one to three")),
    ] {
        for found in both(with_needs(needs.clone()), BundleState::Executable, &cpu()) {
            match reason {
                None => assert_eq!(found, Ok(Form::Ir(0)), "{needs:?}"),
                Some(reason) => assert!(
                    matches!(&found, Err(Unfit::Missing(text)) if text.contains(reason)),
                    "{needs:?}: {found:?}"
                ),
            }
        }
    }
}

#[test]
fn malformed_requirements_are_told_apart() {
    // 16 as bytes, as the design document writes it.
    let bytes = PropertySets::default()
        .set(sets::REQUIREMENTS)
        .property("reqd_sub_group_size", PropertyValue::numbers(&[16]))
        .unwrap();
    let module = NewModule::default().with_metadata(&bytes).with_spirv(SPIRV);
    let [spec, runtime] = both(module, BundleState::Executable, &cpu());
    assert_eq!(spec, Ok(Form::Ir(0)));
    assert!(matches!(runtime, Err(Unfit::Missing(reason)) if reason.contains("sub-group")));

    let [spec, runtime] = both(
        with_needs(Requirements { aspects: vec![7777], ..Requirements::default() }),
        BundleState::Input,
        &cpu(),
    );
    assert!(matches!(spec, Err(Unfit::Missing(reason)) if reason.contains("7777")));
    assert!(matches!(runtime, Err(Unfit::Refused(reason)) if reason.contains("7777")));

    let number = needing("[SYCL/device requirements]\naspects=1|6\n");
    for found in both(number, BundleState::Executable, &cpu()) {
        assert_eq!(found, Err(Unfit::refused("its aspects are not a list of numbers")));
    }
}
