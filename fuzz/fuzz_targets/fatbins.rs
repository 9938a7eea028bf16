//! Fuzzes the reader of fatbins, and that what it reads is written and read the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::fatbins(file);
    offload_fuzz::round_trip::fatbin(file);
});
