//! The flow with a driver that only writes down what it is asked.

use std::cell::RefCell;

use super::*;

/// The usage of a kernel: registers, spilled bytes, largest work-group.
type Usage = (u32, u64, u32);

/// A kernel with its name and its usage with the default and the large register file.
type Code = (&'static str, Usage, Usage);

struct Fake {
    code: Vec<Code>,
    /// The options with which it fails.
    refused: Vec<&'static str>,
    built: RefCell<Vec<String>>,
}

impl Build for Fake {
    type Program = String;

    fn build(&self, options: &str) -> Result<String, Error> {
        self.built.borrow_mut().push(options.to_string());
        if self.refused.contains(&options) {
            Err(Error::device("fake", "unrecognized build options"))
        } else {
            Ok(options.to_string())
        }
    }

    fn kernel_names(&self, _: &String) -> Vec<String> {
        self.code.iter().map(|(name, ..)| name.to_string()).collect()
    }

    fn usage(&self, program: &String, kernel: &str) -> KernelInfo {
        let (_, default, large) = self.code.iter().find(|(name, ..)| *name == kernel).unwrap();
        let (registers, spilled, most) = if program.is_empty() { *default } else { *large };
        {
            let mut info = KernelInfo::default();
            info.registers = Some(registers);
            info.spilled = Some(spilled);
            info.max_work_group = Some(most);
            info.sub_group_size = Some(32);
            info
        }
    }
}

fn fake(code: &[Code], refused: &[&'static str]) -> Fake {
    Fake { code: code.to_vec(), refused: refused.to_vec(), built: RefCell::default() }
}

/// The records that a pack has of `fake`'s kernels.
fn records(fake: &Fake) -> Vec<KernelInfo> {
    fake.code.iter().map(|(name, ..)| KernelInfo::new(name.to_string())).collect()
}

fn built(fake: &Fake) -> BuiltImage<String> {
    without_spills(fake, &records(fake)).unwrap()
}

const GOOD: Code = ("good", (128, 0, 1024), (256, 0, 512));
const BETTER: Code = ("better", (128, 640, 1024), (256, 64, 512));
const EQUAL: Code = ("equal", (128, 640, 1024), (256, 640, 512));

#[test]
fn nothing_is_built_again_without_a_spill() {
    let fake = fake(&[GOOD], &[]);
    let built = built(&fake);
    assert_eq!(*fake.built.borrow(), [""]);
    let [kernel] = built.kernels() else { panic!("one kernel") };
    assert_eq!((kernel.spilled, kernel.registers, kernel.max_work_group), (Some(0), Some(128), Some(1024)));
    assert_eq!((kernel.remark.as_str(), kernel.sub_group_size), ("", None));
}

#[test]
fn each_kernel_comes_from_its_better_build() {
    let fake = fake(&[GOOD, BETTER, EQUAL], &[]);
    let built = built(&fake);
    assert_eq!(*fake.built.borrow(), ["", LARGE[0]]);
    let from: Vec<&str> = ["good", "better", "equal"].map(|name| built.program_for(name, 64).as_str()).into();
    assert_eq!(from, ["", LARGE[0], ""]);
    let usages: Vec<_> = built.kernels().iter().map(|kernel| (kernel.registers, kernel.spilled)).collect();
    assert_eq!(usages, [(Some(128), Some(0)), (Some(256), Some(64)), (Some(128), Some(640))]);
    let remarks: Vec<&str> = built.kernels().iter().map(|kernel| kernel.remark.as_str()).collect();
    assert_eq!(
        remarks,
        [
            "",
            "256 registers: spills 64 bytes, with 128 registers 640",
            "128 registers: spills 640 bytes, with 256 registers 640"
        ]
    );
}

#[test]
fn larger_work_groups_are_launched_from_the_default_build() {
    let built = built(&fake(&[BETTER], &[]));
    assert_eq!(built.program_for("better", 512), LARGE[0]);
    assert_eq!(built.program_for("better", 513), "");
    assert_eq!(built.kernels()[0].max_work_group, Some(512));
}

#[test]
fn a_required_work_group_that_is_too_large_keeps_the_default() {
    let fake = fake(&[BETTER], &[]);
    let records = vec![{
        let mut info = records(&fake).remove(0);
        info.required_work_group = Some([32, 32, 1]);
        info
    }];
    let built = without_spills(&fake, &records).unwrap();
    assert_eq!(built.program_for("better", 1), "");
    assert!(built.large.is_none());
    let [kernel] = built.kernels() else { panic!("one kernel") };
    assert_eq!((kernel.spilled, kernel.max_work_group), (Some(640), Some(1024)));
    assert!(kernel.remark.ends_with("at most 512 work-items, 1024 are required"), "{}", kernel.remark);
}

#[test]
fn the_other_option_is_tried_and_then_the_first_build_stays() {
    let second = fake(&[BETTER], &LARGE[..1]);
    assert_eq!(built(&second).program_for("better", 1), LARGE[1]);
    let none = fake(&[GOOD, BETTER], &LARGE);
    let built = built(&none);
    assert_eq!(*none.built.borrow(), ["", LARGE[0], LARGE[1]]);
    assert_eq!(built.program_for("better", 1), "");
    assert_eq!(built.kernels()[0].remark, "");
    assert_eq!(built.kernels()[1].remark, "the driver has no large register file");
    assert_eq!(built.kernels()[1].spilled, Some(640));
}

#[test]
fn a_second_build_that_no_kernel_is_taken_from_is_dropped() {
    assert!(built(&fake(&[EQUAL], &[])).large.is_none());
    assert!(built(&fake(&[EQUAL, BETTER], &[])).large.is_some());
}

#[test]
fn an_image_without_records_is_repaired_all_the_same() {
    let fake = fake(&[BETTER], &[]);
    let built = without_spills(&fake, &[]).unwrap();
    assert_eq!(built.program_for("better", 1), LARGE[0]);
    assert!(built.kernels().is_empty());
}

#[test]
fn a_first_build_that_fails_is_the_error() {
    let error = without_spills(&fake(&[BETTER], &[""]), &[]).map(drop).unwrap_err().to_string();
    assert_eq!(error, "fake: unrecognized build options");
}
