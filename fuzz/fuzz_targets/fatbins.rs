//! Fuzzes the reader of fatbins.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::fatbins(file);
});
