//! Fuzzes the reader of SPIR-V.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::spirv(file);
});
