//! The end-to-end tests, in one program: it is linked once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod atomics;
mod benchmarks;
mod beside_llvm;
mod bombs;
mod build_systems;
mod builtins;
mod bundle;
mod bundles;
mod cache_stress;
mod carried;
mod completions;
mod containers;
mod cpu_languages;
mod cuda;
mod damaged;
mod debugger;
mod delegated;
mod demo;
mod development;
mod device_library;
mod dialects;
mod disturbed;
mod ended;
mod errors;
mod examples;
mod foreign;
mod foreign_reader;
mod gate;
mod guide;
mod hints;
mod hip;
mod host;
mod images;
mod inspect;
mod interrupted;
mod kernel_tests;
mod killed;
mod languages;
mod large_modules;
mod launchers;
mod life;
mod lookups;
mod macho;
mod matrix;
mod memory;
mod numpy;
mod object;
mod opencl;
mod opencl_c;
mod page;
mod prints;
mod processors;
mod prune;
mod rebuild;
mod references;
mod refused_launches;
mod reloaded;
mod remote;
mod repack;
mod reproducible;
mod sanitized;
mod second_decoder;
mod settings;
mod shared_library;
mod snapshots;
mod specialised;
mod stale;
mod static_library;
mod strip;
mod structures;
mod sub_groups;
mod support;
mod surroundings;
mod sycl_verdicts;
mod tidy;
mod typed;
mod vendor;
mod versions;
mod watched;
