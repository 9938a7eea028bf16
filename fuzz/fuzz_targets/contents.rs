//! Fuzzes the lists of containers in containers.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::contents(file);
});
