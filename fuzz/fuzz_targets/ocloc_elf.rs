//! Fuzzes the reader of ELF files of Intel's OpenCL.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::ocloc_elf(file);
});
