//! Declarations of clang's modules, and damaged modules.

use super::super::tests::{ASPECTS_SAMPLE, IMPORT, SAMPLE};
use super::*;

#[test]
fn a_module_of_clang_is_read() {
    let module = Module::parse(SAMPLE, &Limits::default()).unwrap();
    let names: Vec<_> = module.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["saxpy", "reduce"]);
    assert_eq!(module.version(), 0x0001_0200);
    assert_eq!(module.kernels()[0].required_work_group, None);
    assert_eq!(module.kernels()[1].required_work_group, Some([64, 1, 1]));
    assert!(module.imports().is_empty(), "{:?}", module.imports());
    assert!(module.capabilities().contains(&6), "Kernel is declared");
}

#[test]
fn capabilities_become_aspects() {
    let needed = Module::parse(ASPECTS_SAMPLE, &Limits::default()).unwrap().aspects();
    assert_eq!(needed, Aspects::FP16 | Aspects::FP64 | Aspects::ATOMIC64);
    assert!(Module::parse(SAMPLE, &Limits::default()).unwrap().aspects().is_empty());
}

#[test]
fn imports_are_named_without_built_ins() {
    assert_eq!(Module::parse(IMPORT, &Limits::default()).unwrap().imports(), ["elsewhere"]);
}

#[test]
fn exports_generator_and_modes_are_read() {
    let module = Module::parse(SAMPLE, &Limits::default()).unwrap();
    // The copies of the kernels' bodies that clang emits.
    assert_eq!(module.exports(), ["__clang_ocl_kern_imp_saxpy", "__clang_ocl_kern_imp_reduce"]);
    assert_eq!(module.generator().tool, 43, "LLVM's back end");
    let size = module.execution_modes().find(|mode| mode.mode == MODE_LOCAL_SIZE).unwrap();
    assert_eq!((size.function, &size.operands[..]), (module.kernels()[1].function, &[64, 1, 1][..]));
    assert!(!size.by_id);
}

#[test]
fn no_more_is_declared_than_the_limit() {
    let few = Limits::default().with_entries(3);
    assert!(matches!(Module::parse(SAMPLE, &few).unwrap_err().kind(), ErrorKind::TooMany { .. }));
}

#[test]
fn every_truncation_that_matters_is_refused() {
    let kernels_end = end_of_kernels(SAMPLE);
    for size in 0..SAMPLE.len() {
        let parsed = Module::parse(&SAMPLE[..size], &Limits::default());
        assert!(parsed.is_err() || size >= kernels_end, "{size} of {} bytes parse", SAMPLE.len());
    }
}

/// clang leaves an unused copy behind its kernels: truncation there loses nothing.
fn end_of_kernels(module: &[u8]) -> usize {
    let kernels = Module::parse(module, &Limits::default()).unwrap();
    let last = kernels.kernels().last().unwrap().function;
    let mut inside = false;
    for instruction in stream::instructions(module).map(Result::unwrap) {
        inside |= instruction.opcode == OP_FUNCTION && instruction.word(1) == Ok(last);
        if inside && instruction.opcode == OP_FUNCTION_END {
            return instruction.offset as usize + 4;
        }
    }
    panic!("the kernel has no end");
}

#[test]
fn a_source_without_functions_is_whole() {
    // As DPC++ 2026 writes it: capabilities, the import of OpenCL.std, the memory model, the source.
    #[rustfmt::skip]
    let words = [
        0x0723_0203, 0x0001_0000, 0x0006_000e, 2, 0, 0x0002_0011, 4, 0x0002_0011, 5, 0x0002_0011, 6,
        0x0005_000b, 1, 0x6e65_704f, 0x732e_4c43, 0x6474, 0x0003_000e, 2, 2, 0x0003_0003, 4, 100_000,
    ];
    let module: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    let read = Module::parse(&module, &Limits::default()).unwrap();
    assert!(read.kernels().is_empty() && read.capabilities() == [4, 5, 6]);
    for cut in 0..module.len() {
        assert!(Module::parse(&module[..cut], &Limits::default()).is_err(), "cut at {cut}");
    }
}

#[test]
fn other_bytes_are_refused() {
    assert!(matches!(
        Module::parse(b"\x7fELF", &Limits::default()).unwrap_err().kind(),
        ErrorKind::Magic { .. }
    ));
    assert!(Module::parse(b"BC\xc0\xde", &Limits::default()).is_err());
    let mut odd = SAMPLE.to_vec();
    odd.push(0);
    assert!(Module::parse(&odd, &Limits::default()).is_err());
    let mut no_words = SAMPLE.to_vec();
    no_words[22..24].fill(0);
    assert!(matches!(
        Module::parse(&no_words, &Limits::default()).unwrap_err().kind(),
        ErrorKind::Invalid { .. }
    ));
}

#[test]
fn big_endian_is_refused_by_name() {
    let swapped: Vec<u8> = SAMPLE.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
    assert!(Module::parse(&swapped, &Limits::default()).unwrap_err().to_string().contains("big-endian"));
}
