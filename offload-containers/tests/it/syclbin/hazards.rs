//! Hazards of SYCLBIN files, by release and by use.

use super::*;

fn problems(state: BundleState, modules: &[NewModule<'_>]) -> Vec<Problem> {
    problems_of(state, modules, ImageKindNumber::default(), &Usage::default())
}

fn problems_of(
    state: BundleState,
    modules: &[NewModule<'_>],
    kind: ImageKindNumber,
    usage: &Usage,
) -> Vec<Problem> {
    let bytes = write(state, modules, kind).unwrap();
    hazards_of(&read(&bytes), usage).into_iter().map(|hazard| hazard.problem).collect()
}

/// A native image in a format that drivers load.
const ELF: &[u8] = b"\x7fELF code";

#[test]
fn a_file_without_hazards_has_none() {
    let spirv = renamed();
    for state in [BundleState::Input, BundleState::Object, BundleState::Executable] {
        assert_eq!(problems(state, &[module(&spirv)]), []);
    }
    let pvc = NativeImage { target: "spir64_gen-unknown-unknown", arch: "intel_gpu_pvc", image: ELF };
    let needs = Requirements { compile_target: Some("intel_gpu_pvc".into()), ..Requirements::default() };
    let gated = module(&spirv).with_requirements(&needs).with_native(pvc);
    assert_eq!(problems(BundleState::Executable, &[gated]), []);
}

fn native<'a>(target: &'a str, image: &'a [u8]) -> NativeImage<'a> {
    NativeImage { target, arch: "", image }
}

fn problems_of_natives(state: BundleState, natives: &[NativeImage<'_>]) -> Vec<Problem> {
    let spirv = renamed();
    let mut module = module(&spirv);
    for native in natives {
        module = module.with_native(*native);
    }
    problems(state, &[module])
}

#[test]
fn hazards_of_natives() {
    use Problem::*;
    let pvc = native("spir64_gen-unknown-unknown", ELF);
    let once = [NativeForEveryDevice("spir64_gen".into())];
    assert_eq!(problems_of_natives(BundleState::Executable, &[pvc]), once);
    let twice = [NativesOfOneTarget("spir64_gen".into()), NativeForEveryDevice("spir64_gen".into())];
    assert_eq!(problems_of_natives(BundleState::Executable, &[pvc, pvc]), twice);
    let cpu = native("spir64_x86_64-unknown-unknown", ELF);
    let ignored = [NativeIgnored(BundleState::Input)];
    let in_object = [NativeInObject("spir64_x86_64".into())];
    assert_eq!(problems_of_natives(BundleState::Executable, &[cpu]), []);
    assert_eq!(problems_of_natives(BundleState::Input, &[cpu]), ignored);
    assert_eq!(problems_of_natives(BundleState::Object, &[cpu]), in_object);
    for (image, problem) in [
        (&b"no code"[..], NativeUnknown("spir64_x86_64".into())),
        (b"\x28\xb5\x2f\xfd....", NativeCompressed("spir64_x86_64".into())),
    ] {
        let native = native("spir64_x86_64-unknown-unknown", image);
        assert_eq!(problems_of_natives(BundleState::Executable, &[native]), [problem]);
    }
    let empty = native("spir64_x86_64-", b"");
    assert_eq!(problems_of_natives(BundleState::Executable, &[empty]), [NativeEmpty]);
    // A triple without `-`, and a part that no runtime knows.
    for target in ["amdgcn", "spirv64-unknown-unknown", ""] {
        let found = problems_of_natives(BundleState::Executable, &[native(target, b"1")]);
        assert_eq!(found, [NativeTarget(target.into())]);
    }
    let spirv = renamed();
    let mut bare = module(&spirv);
    bare.native.push(Payload::new(PropertySets::default(), b"1"));
    assert_eq!(problems(BundleState::Executable, &[bare]), [NativeWithoutTarget]);
    assert_eq!(NativeWithoutTarget.consequence(), Consequence::Fails);
}

fn named(name: &str) -> NewModule<'static> {
    NewModule::default().with_kernels([name]).unwrap()
}

#[test]
fn hazards_of_kernels_and_ir() {
    use Problem::*;
    let spirv = renamed();
    assert_eq!(
        problems(BundleState::Executable, &[named("saxpy").with_spirv(SPIRV)]),
        [KernelWithoutPrefix("saxpy".into())]
    );
    let missing = named("__sycl_kernel_other").with_spirv(&spirv);
    assert_eq!(problems(BundleState::Executable, &[missing]), [KernelMissing("__sycl_kernel_other".into())]);
    let none = NewModule::default().with_spirv(&spirv);
    assert_eq!(problems(BundleState::Executable, &[none]), [NoKernels]);
    let twice = named("__sycl_kernel_saxpy").with_spirv(&spirv);
    assert_eq!(
        problems(BundleState::Executable, &[twice.clone(), twice]),
        [KernelTwice("__sycl_kernel_saxpy".into())]
    );
    for bytes in [&b"\x28\xb5\x2f\xfd"[..], b"BC\xc0\xde", b"", &spirv[..100]] {
        let found = problems(BundleState::Executable, &[named("__sycl_kernel_saxpy").with_spirv(bytes)]);
        assert!(matches!(found[..], [IrMalformed(_)]), "{found:?}");
    }
    let mut ptx = module(&spirv);
    ptx.ir[0].metadata =
        PropertySets::default().set(sets::IR).property("type", PropertyValue::Number(1)).unwrap();
    assert_eq!(problems(BundleState::Executable, &[ptx]), [IrType(1)]);
    assert_eq!(problems(BundleState::Executable, &[]), [NoModules]);
    assert_eq!(problems(BundleState::Executable, &[named("__sycl_kernel_saxpy")]), [NoImages]);
}

/// The problems but for kernels that the SPIR-V lacks.
fn problems_of_link(state: BundleState, modules: &[NewModule<'_>], usage: &Usage) -> Vec<Problem> {
    let mut found = problems_of(state, modules, ImageKindNumber::default(), usage);
    found.retain(|problem| !matches!(problem, Problem::KernelMissing(_)));
    found
}

#[test]
fn hazards_of_links() {
    use Problem::*;
    let spirv = renamed();
    let user = module(IMPORT).with_imported(["elsewhere"]).unwrap();
    let library = NewModule::default().with_exported(["elsewhere"]).unwrap().with_spirv(&spirv);
    let linked = [user.clone(), library.clone()];
    let exported_twice = [user.clone(), library.clone(), library];
    let user = [user];
    for (state, modules, problems) in [
        (BundleState::Object, &linked[..], vec![]),
        (BundleState::Object, &user, vec![NeedsExporter("elsewhere".into())]),
        (BundleState::Input, &user, vec![NeedsExporter("elsewhere".into())]),
        (BundleState::Input, &linked, vec![]),
        (BundleState::Object, &exported_twice, vec![ExportedTwice("elsewhere".into())]),
        (BundleState::Executable, &linked, vec![NotLinked("elsewhere".into(), BundleState::Executable)]),
        // The SPIR-V says so as well.
        (BundleState::Object, &[module(IMPORT)], vec![NeedsExporter("elsewhere".into())]),
    ] {
        assert_eq!(problems_of_link(state, modules, &Usage::default()), problems, "{state:?}");
    }
    assert_eq!(NeedsExporter("elsewhere".into()).consequence(), Consequence::Restricts);
    // Once it is known what it will be linked with, the symbol is there or it is not.
    for (exported, problems) in [("elsewhere", vec![]), ("other", vec![NotExported("elsewhere".into())])] {
        let usage = Usage::default().linked_with([exported.to_string()]);
        assert_eq!(problems_of_link(BundleState::Object, &user, &usage), problems, "{exported}");
    }
}

fn problems_of_kernels(names: [&str; 2]) -> Vec<Problem> {
    let spirv = renamed();
    let module = NewModule::default().with_kernels(names).unwrap().with_spirv(&spirv);
    problems(BundleState::Executable, &[module])
}

/// Files of Intel's own run-time compiler list a kernel under two names; its SPIR-V has the first.
#[test]
fn aliases_of_intel_s_writer_are_no_hazards() {
    assert_eq!(problems_of_kernels(["rtc_0$__sycl_kernel_saxpy", "__sycl_kernel_saxpy"]), []);
    assert_eq!(problems_of_kernels(["rtc_12$__sycl_kernel_saxpy", "__sycl_kernel_saxpy"]), []);
    for other in ["rtc_0$__sycl_kernel_none", "rtc_$__sycl_kernel_saxpy", "rtc_0__sycl_kernel_saxpy"] {
        let found = problems_of_kernels([other, "__sycl_kernel_saxpy"]);
        assert!(found.contains(&Problem::KernelWithoutPrefix(other.into())), "{found:?}");
    }
}

/// Of modules for different devices each device takes its own.
#[test]
fn a_kernel_may_be_in_modules_for_different_devices() {
    let spirv = renamed();
    let [pvc, bmg, any] = [Some("intel_gpu_pvc"), Some("intel_gpu_bmg_g21"), None].map(|target| {
        let needs = Requirements { compile_target: target.map(Into::into), ..Requirements::default() };
        module(&spirv).with_requirements(&needs)
    });
    let twice = ["reduce", "saxpy"].map(|name| Problem::KernelTwice(format!("__sycl_kernel_{name}")));
    for state in [BundleState::Input, BundleState::Object, BundleState::Executable] {
        assert_eq!(problems(state, &[pvc.clone(), bmg.clone()]), []);
        assert_eq!(problems(state, &[pvc.clone(), bmg.clone(), pvc.clone()]), twice);
        assert_eq!(problems(state, &[pvc.clone(), any.clone()]), twice);
    }
}

/// The number of hazards, and the worst consequence.
fn judge(bytes: &[u8], release: Option<Release>) -> (usize, Option<Consequence>) {
    let usage = release.map_or(Usage::default(), |release| Usage::default().for_release(release));
    let found = hazards_of(&read(bytes), &usage);
    let worst = found.iter().map(|hazard| hazard.problem.consequence()).max();
    (found.len(), worst)
}

/// The hazards of an envelope for any release, and for each known one.
#[test]
fn a_release_reads_its_own_envelopes() {
    let spirv = renamed();
    let [old, new] = [Release::Oneapi2025_3, Release::Oneapi2026_2].map(Some);
    let none = (0, None);
    let fails = (1, Some(Consequence::Fails));
    let restricts = (1, Some(Consequence::Restricts));
    for (kind, version, [any, by_old, by_new]) in [
        (7, 1, [none, fails, none]),
        (6, 1, [restricts, none, fails]),
        (7, 2, [restricts, fails, none]),
        (6, 2, [fails, fails, fails]),
        (5, 1, [fails, fails, fails]),
    ] {
        let mut bytes = write(BundleState::Executable, &[module(&spirv)], ImageKindNumber(kind)).unwrap();
        if version == 2 {
            bytes = in_version_2(&inner(&bytes));
            bytes[32] = kind as u8;
        }
        let found = [None, old, new].map(|release| judge(&bytes, release));
        assert_eq!(found, [any, by_old, by_new], "kind {kind} in version {version}");
    }
}

/// A native image for the CPU in an object crashes one release.
#[test]
fn natives_in_objects_are_judged_by_release() {
    let spirv = renamed();
    let cpu = "spir64_x86_64-unknown-unknown";
    let gpu = "spir64_gen-unknown-unknown";
    for (target, release, kind, consequence) in [
        (cpu, Release::Oneapi2025_3, 6, Consequence::Crashes),
        (cpu, Release::Oneapi2026_2, 7, Consequence::Restricts),
        (gpu, Release::Oneapi2025_3, 6, Consequence::Restricts),
        (gpu, Release::Oneapi2026_2, 7, Consequence::Restricts),
    ] {
        let usage = Usage::default().for_release(release);
        let module = module(&spirv).with_native(native(target, ELF));
        let found = problems_of(BundleState::Object, &[module], ImageKindNumber(kind), &usage);
        let worst = found.iter().map(Problem::consequence).max();
        assert_eq!(worst, Some(consequence), "{target} {release}: {found:?}");
    }
}

fn problems_of_requirement(property: &str) -> Vec<Problem> {
    let spirv = renamed();
    let sets: PropertySets<'_> = format!("[SYCL/device requirements]\n{property}\n").parse().unwrap();
    let module = NewModule::default().with_kernels(["__sycl_kernel_saxpy"]).unwrap().with_metadata(&sets);
    problems(BundleState::Executable, &[module.with_spirv(&spirv)])
}

fn work_group(sizes: &[u64]) -> String {
    let bytes = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
    format!("reqd_work_group_size_uint64_t={}", PropertyValue::Bytes(bytes))
}

#[test]
fn hazards_of_requirements() {
    use Problem::*;
    let odd = PropertyValue::Bytes(vec![6, 0, 0]);
    let unknown = PropertyValue::numbers(&[6, 4000]);
    for line in [
        "aspects=1|6".to_string(),
        format!("aspects={odd}"),
        format!("aspects={unknown}"),
        format!("reqd_work_group_size_uint64_t={}", PropertyValue::numbers(&[16])),
        "compile_target=1|1".to_string(),
    ] {
        let found = problems_of_requirement(&line);
        assert!(matches!(found[..], [Requirement(_)]), "{line}: {found:?}");
    }
    assert_eq!(problems_of_requirement(&format!("aspects={}", PropertyValue::numbers(&[6]))), []);
    assert_eq!(problems_of_requirement("reqd_sub_group_size=1|16"), []);
    assert_eq!(problems_of_requirement(&work_group(&[1024, 8, 1])), []);
    for line in [
        "reqd_sub_group_size=1|7".to_string(),
        "reqd_sub_group_size=1|0".to_string(),
        "reqd_sub_group_size=1|128".to_string(),
        format!("reqd_sub_group_size={}", PropertyValue::numbers(&[16])),
        work_group(&[1 << 20, 1, 1]),
        work_group(&[1 << 63, 1 << 63, 4]),
    ] {
        let found = problems_of_requirement(&line);
        assert!(matches!(found[..], [NoDevice(_)]), "{line}: {found:?}");
        assert_eq!(found[0].consequence(), Consequence::Ignores);
    }
    for (target, problems) in
        [("intel_gpu_pvc", vec![]), ("intel_gpu_none", vec![CompileTarget("intel_gpu_none".into())])]
    {
        let property = format!("compile_target={}", PropertyValue::text(target));
        assert_eq!(problems_of_requirement(&property), problems);
    }
}

fn problems_of_file(file: &[u8]) -> Vec<Problem> {
    hazards(&read(file)).into_iter().map(|hazard| hazard.problem).collect()
}

#[test]
fn hazards_of_the_file() {
    use Problem::{BadState, Draft, EnvelopeVersion, NoEnvelope};
    let spirv = renamed();
    let bytes = write(BundleState::Executable, &[module(&spirv)], ImageKindNumber::ONEAPI_2025_3).unwrap();
    assert_eq!(problems_of_file(&bytes), [Problem::ImageKind(6)]);
    assert_eq!(problems_of_file(&inner(&bytes)), [NoEnvelope]);
    assert_eq!(problems_of_file(&in_version_2(&inner(&bytes))), [EnvelopeVersion(2)]);
    let mut of_none = in_version_2(&inner(&bytes));
    of_none[32] = 6;
    assert_eq!(problems_of_file(&of_none), [Problem::Envelope { version: 2, kind: 6 }]);
    let text = String::from_utf8_lossy(&bytes).find("state=1|2").unwrap();
    assert!(text > 0);
    let at = bytes.windows(9).position(|window| window == b"state=1|2").unwrap();
    let mut bad = bytes.clone();
    bad[at + 8] = b'3';
    let other_state = BadState(Some(PropertyValue::Number(3)));
    assert_eq!(problems_of_file(&bad), [Problem::ImageKind(6), other_state]);
    assert!(read(&bad).state().is_err());
    bad[at] = b'S';
    assert_eq!(problems_of_file(&bad), [Problem::ImageKind(6), BadState(None)]);
    assert!(problems_of_file(&draft(&pieces())).contains(&Draft));
    assert_eq!(EnvelopeVersion(2).consequence(), Consequence::Restricts);
}

#[test]
fn hazards_are_sentences_without_control_characters() {
    let module = NewModule::default().with_kernels(["evil\u{1b}[31m"]).unwrap();
    let bytes = write(BundleState::Executable, &[module], ImageKindNumber::default()).unwrap();
    let hazard = hazards(&read(&bytes)).remove(0);
    assert_eq!(
        hazard.to_string(),
        "module 0: no program can ask for kernel `evil\\u{1b}[31m`: its name lacks `__sycl_kernel_`"
    );
}
