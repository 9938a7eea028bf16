//! Fuzzes the reader of code objects.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::code_object(file);
});
