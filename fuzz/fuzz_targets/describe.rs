//! Fuzzes what images say of themselves.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::describe(file);
});
