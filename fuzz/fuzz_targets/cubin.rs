//! Fuzzes the reader of cubins.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::cubin(file);
});
