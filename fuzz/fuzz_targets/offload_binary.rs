//! Fuzzes the reader of OffloadBinary.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::offload_binary(file);
});
