//! Renaming of kernels, and additional entry points.

use std::collections::BTreeSet;

use super::Module;
use super::stream::{
    self, Instruction, LINKAGE_ATTRIBUTES, MODEL_KERNEL, OP_DECORATE, OP_ENTRY_POINT, OP_NAME,
};
use offload_format::{Error, ErrorKind, Limits};

/// A copy of `module` in which every kernel `k` is renamed to `prefix` + `k`, unless it has the prefix.
///
/// The debug name and the linkage name of the function change with the entry point's: consumers differ in which of them is
/// the kernel's name, and a consumer that finds two entry points for a function may drop one.
///
/// SYCL runtimes look for a kernel only under `__sycl_kernel_` and its name.
///
/// # Errors
/// Those of [`Module::parse`]; [`ErrorKind::TooLarge`] for a name that no instruction can hold.
pub fn with_prefixed_kernels(module: &[u8], prefix: &str) -> Result<Vec<u8>, Error> {
    let parsed = Module::parse(module, &Limits::default())?;
    let plain = parsed.kernels().iter().filter(|kernel| !kernel.name.starts_with(prefix));
    let functions: BTreeSet<u32> = plain.map(|kernel| kernel.function).collect();
    let mut out = stream::header_bytes(module)?.to_vec();
    for instruction in stream::instructions(module) {
        let instruction = instruction?;
        match name_position(&instruction, &functions) {
            Some(at) => out.extend(add_prefix(&instruction, at, prefix)?),
            None => out.extend_from_slice(instruction.bytes),
        }
    }
    Ok(out)
}

/// A copy of `module` in which every kernel `k` has a second entry point `prefix` + `k`, unless there is one: OpenCL
/// programs look the kernel up by its plain name, SYCL programs by the prefixed one.
///
/// Intel's runtimes accept such a module; a consumer with one entry point for each function may drop either name.
///
/// # Errors
/// Those of [`Module::parse`]; [`ErrorKind::TooLarge`] for a name that no instruction can hold.
pub fn with_added_entry_points(module: &[u8], prefix: &str) -> Result<Vec<u8>, Error> {
    let parsed = Module::parse(module, &Limits::default())?;
    let names: BTreeSet<&str> = parsed.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
    let mut out = stream::header_bytes(module)?.to_vec();
    for instruction in stream::instructions(module) {
        let instruction = instruction?;
        out.extend_from_slice(instruction.bytes);
        if instruction.opcode != OP_ENTRY_POINT || instruction.word(0)? != MODEL_KERNEL {
            continue;
        }
        let (name, _) = instruction.text(2)?;
        if !name.starts_with(prefix) && !names.contains(format!("{prefix}{name}").as_str()) {
            out.extend(add_prefix(&instruction, 2, prefix)?);
        }
    }
    Ok(out)
}

/// The operand index of the name, if the instruction names one of `functions`.
fn name_position(instruction: &Instruction<'_>, functions: &BTreeSet<u32>) -> Option<u64> {
    let (id, at) = match instruction.opcode {
        OP_ENTRY_POINT if instruction.word(0) == Ok(MODEL_KERNEL) => (1, 2),
        OP_NAME => (0, 1),
        OP_DECORATE if instruction.word(1) == Ok(LINKAGE_ATTRIBUTES) => (0, 2),
        _ => return None,
    };
    functions.contains(&instruction.word(id).ok()?).then_some(at)
}

fn add_prefix(instruction: &Instruction<'_>, at: u64, prefix: &str) -> Result<Vec<u8>, Error> {
    let (name, after) = instruction.text(at)?;
    let mut text = format!("{prefix}{name}").into_bytes();
    // A terminating zero, then zeros to a whole word.
    text.resize(text.len() / 4 * 4 + 4, 0);
    let before = (0..at).map(|index| instruction.word(index)).collect::<Result<Vec<_>, _>>()?;
    let after = instruction.words_from(after);
    let words = 1 + before.len() + text.len() / 4 + after.len();
    let count = u16::try_from(words).map_err(|_| ErrorKind::TooLarge {
        what: "an instruction of a SPIR-V module",
        size: words as u64 * 4,
        limit: u64::from(u16::MAX) * 4,
    })?;
    let first = u32::from(count) << 16 | u32::from(instruction.opcode);
    Ok([to_bytes(&[first]), to_bytes(&before), text, to_bytes(&after)].concat())
}

fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::SAMPLE;
    use super::*;

    #[test]
    fn every_name_of_a_kernel_changes() {
        let renamed = with_prefixed_kernels(SAMPLE, "__sycl_kernel_").unwrap();
        let old = Module::parse(SAMPLE, &Limits::default()).unwrap();
        let new = Module::parse(&renamed, &Limits::default()).unwrap();
        let names: Vec<_> = new.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["__sycl_kernel_saxpy", "__sycl_kernel_reduce"]);
        for (old, new) in old.kernels().iter().zip(new.kernels()) {
            assert_eq!((old.function, &old.interface), (new.function, &new.interface));
            assert_eq!(old.required_work_group, new.required_work_group);
        }
        // The entry point and the debug name.
        let count = String::from_utf8_lossy(&renamed).matches("__sycl_kernel_saxpy\0").count();
        assert_eq!(count, String::from_utf8_lossy(SAMPLE).matches("\0saxpy\0").count());
        assert!(count >= 2);
    }

    #[test]
    fn a_second_entry_point_is_of_the_same_function() {
        let both = with_added_entry_points(SAMPLE, "__sycl_kernel_").unwrap();
        let old = Module::parse(SAMPLE, &Limits::default()).unwrap();
        let new = Module::parse(&both, &Limits::default()).unwrap();
        let names: Vec<_> = new.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["saxpy", "__sycl_kernel_saxpy", "reduce", "__sycl_kernel_reduce"]);
        for (old, new) in old.kernels().iter().zip(new.kernels().chunks(2)) {
            assert!(new.iter().all(|new| new.function == old.function && new.interface == old.interface));
            assert!(new.iter().all(|new| new.required_work_group == old.required_work_group));
        }
        assert_eq!(with_added_entry_points(&both, "__sycl_kernel_").unwrap(), both);
    }

    #[test]
    fn the_second_time_changes_nothing() {
        let once = with_prefixed_kernels(SAMPLE, "__sycl_kernel_").unwrap();
        assert_ne!(once, SAMPLE);
        assert_eq!(with_prefixed_kernels(&once, "__sycl_kernel_").unwrap(), once);
    }

    #[test]
    fn names_of_every_length_are_padded() {
        for length in 1..9 {
            let renamed = with_prefixed_kernels(SAMPLE, &"p".repeat(length)).unwrap();
            let module = Module::parse(&renamed, &Limits::default()).unwrap();
            assert_eq!(module.kernels()[0].name.len(), length + "saxpy".len());
        }
    }

    #[test]
    fn a_prefix_that_no_instruction_holds_is_an_error() {
        let error = with_prefixed_kernels(SAMPLE, &"p".repeat(300_000)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooLarge { .. }));
    }
}
