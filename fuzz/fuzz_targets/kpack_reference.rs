//! Fuzzes the reader of kpack references.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::kpack_reference(file);
});
