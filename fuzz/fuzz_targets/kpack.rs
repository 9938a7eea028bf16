//! Fuzzes the reader of kpacks.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::kpack(file);
});
