//! Table of guarantees, each with the task that verifies it and the figure of other tools.
//!
//! The figures of others were measured with LLVM 19.1.7 on small files, or are what their authors say.

use super::check::{Check, Shown};

const IT: &[&str] = &["--test", "it"];
const LIB: &[&str] = &["--lib"];

const fn tests(names: &'static [&'static str]) -> Shown {
    Shown::Tests { programs: IT, names }
}

/// In the order of the rows.
pub(crate) const CHECKS: &[Check] = &[
    Check {
        row: "R1",
        group: "malformed",
        promise: "no damaged file makes a reader panic, or take 100 ms or memory out of proportion",
        anchor: "LLVM 19: 7.9 % of 27,000 end in a memory error",
        shown: Shown::Task { full: &["damage"], quick: Some(&["damage", "2000"]) },
    },
    Check {
        row: "R2",
        group: "integrity",
        promise: "every changed byte of what is written here is refused, or changes no image",
        anchor: "LLVM, zstd CCOB: 65 % of flipped bits give other images with exit 0",
        shown: tests(&[
            "pack::every_changed_byte",
            "codec::every_flipped_byte",
            "pages::changed_bytes",
            "offload_binary::every_damaged_byte",
            "ccob::damage_in_a_large_bundle",
        ]),
    },
    Check {
        row: "R3",
        group: "malformed",
        promise: "libFuzzer finds nothing in ten minutes for each reader, with what it learnt before",
        anchor: "zstd: 20 targets; LLVM: none for these formats",
        shown: Shown::Task { full: &["fuzz"], quick: None },
    },
    Check {
        row: "R4",
        group: "malformed",
        promise: "LLVM's tools and this project read the same of 300 sets of images",
        anchor: "no published figure",
        shown: Shown::Task { full: &["interop"], quick: None },
    },
    Check {
        row: "R4",
        group: "malformed",
        promise: "the same damaged containers kill no command here, and with a checksum none writes other bytes",
        anchor: "LLVM 19: 6.8 % die, 24.5 % give other bytes with exit 0",
        shown: tests(&["beside_llvm::"]),
    },
    Check {
        row: "R5",
        group: "bombs",
        promise: "a file of kilobytes that claims gigabytes is refused in 50 ms and 32 MiB, by every command",
        anchor: "LLVM 19: 131 kB take 8.45 GB and 25.8 s, exit 0",
        shown: Shown::Task { full: &["bombs"], quick: Some(&["bombs", "--quick"]) },
    },
    Check {
        row: "R6",
        group: "memory",
        promise: "packing takes no memory by the number or the size of images",
        anchor: "LLVM 19: 2.1 to 6.1 times the image",
        shown: Shown::Tests { programs: &["--test", "packer_memory"], names: &[] },
    },
    Check {
        row: "R6",
        group: "memory",
        promise: "a compressed bundle of 530 MiB is listed and extracted in 192 MiB, of which 128 are zstd's window",
        anchor: "LLVM 19: 3.1 times the image",
        shown: tests(&["memory::"]),
    },
    Check {
        row: "R6",
        group: "memory",
        promise: "`--deep` finds all images among a library's constants in 64 MiB and 5 KiB for each",
        anchor: "LLVM: known sections alone",
        shown: tests(&["deep::thousands_of_images"]),
    },
    Check {
        row: "R6",
        group: "memory",
        promise: "a program with 3 GiB of images runs in 64 MiB",
        anchor: "llvm-objcopy holds 3.1 times what it adds, clang's .incbin 2.1 times",
        shown: Shown::Task { full: &["linkers", "--large"], quick: None },
    },
    Check {
        row: "R7",
        group: "kill",
        promise: "a change of a program that is killed at any step leaves all images, and is finished by a rerun",
        anchor: "bundler 5 of 84 torn, GNU objcopy 23 of 96",
        shown: tests(&["interrupted::a_change_that_is_ended"]),
    },
    Check {
        row: "R7",
        group: "kill",
        promise: "the same of builds, settings, extract, vendor and toolchain install: nothing is torn, the next run makes the same bytes",
        anchor: "packager 0 of 83, bundler -compress 9 of 86 torn",
        shown: tests(&["that_is_killed_anywhere"]),
    },
    Check {
        row: "R8",
        group: "syscalls",
        promise: "a system call that fails is an error, or the result is right; the next run makes it good",
        anchor: "packager and lld die of SIGBUS, bundler destroys the old file",
        shown: tests(&["whose_system_calls_fail"]),
    },
    Check {
        row: "R9",
        group: "cache-stress",
        promise: "eight processes build with one cache that is spoiled meanwhile: no wrong image, no failed build",
        anchor: "bundler: 46 % of reads bad while others write",
        shown: tests(&["cache_stress::"]),
    },
    Check {
        row: "R10",
        group: "cache-stress",
        promise: "damaged, cut and exchanged entries of the compile cache are rebuilt",
        anchor: "ccache: a miss, by a checksum over each entry",
        shown: Shown::Tests {
            programs: LIB,
            names: &["cache::", "packing::tests::images_for_other_targets"],
        },
    },
    Check {
        row: "R10",
        group: "cache-stress",
        promise: "the same in builds",
        anchor: "ccache: a miss",
        shown: tests(&["rebuild::a_damaged_or_emptied_cache", "rebuild::exchanged_entries"]),
    },
    Check {
        row: "R11",
        group: "threads",
        promise: "64 threads that use images first get one result; a process that is forked meanwhile has it too",
        anchor: "intel/llvm#20762: a crash",
        shown: tests(&[
            "registry::sixty_four_threads",
            "registry::a_damaged_image_is_an_error_that_stays",
            "threads::a_process_that_is_forked",
        ]),
    },
    Check {
        row: "R12",
        group: "unload",
        promise: "images of a library that was closed stay, and nothing else does",
        anchor: "NVIDIA/cccl#9367, intel/llvm#16031: use after unload",
        shown: tests(&[
            "linked::images_of_a_plugin_outlive_it",
            "linked::plugins_that_come_and_go",
            "versions::a_plugin_with_another_version",
        ]),
    },
    Check {
        row: "R12",
        group: "unload",
        promise: "a device library stays as long as images that import it, whatever was closed",
        anchor: "intel/llvm#17447, #17461: use after unload",
        shown: tests(&["shared_library::"]),
    },
    Check {
        row: "R13",
        group: "abi",
        promise: "packs of later minor versions are read, and unknown tables and codecs are skipped",
        anchor: "SYCL had to read two forms at once (intel/llvm#17109)",
        shown: tests(&[
            "a_pack_of_a_later_minor_version_is_read",
            "the_sample_pack_is_decoded",
            "registry::images_of_later_releases",
            "linked::the_sample_is_what_a_build_makes",
            "versions::two_versions",
        ]),
    },
    Check {
        row: "R14",
        group: "linkers",
        promise: "all images are found with every linker in every profile",
        anchor: "a plain static archive: dropped 12 of 12",
        shown: Shown::Task { full: &["linkers", "--small"], quick: Some(&["linkers", "--quick"]) },
    },
    Check {
        row: "R15",
        group: "reproducible",
        promise: "builds that differ in place, user, home, time, locale, umask, processors and order make the same bytes",
        anchor: "clang's bitcode names the source's directory",
        shown: tests(&["reproducible::"]),
    },
    Check {
        row: "R16",
        group: "names",
        promise: "no name leaves the directory, forges a line or steers a terminal",
        anchor: "packager wrote outside, objdump prints escapes",
        shown: tests(&[
            "names::",
            "foreign::names_in_a_file",
            "foreign::hostile_names",
            "foreign::a_link_is_replaced",
        ]),
    },
    Check {
        row: "R17",
        group: "surroundings",
        promise: "no program of the current directory runs, and compilers get listed variables alone",
        anchor: "-",
        shown: tests(&["surroundings::programs_in", "surroundings::compilers_get"]),
    },
    Check {
        row: "R18",
        group: "surroundings",
        promise: "tools that are missing, old, failing, lying or hanging are errors that name the next step",
        anchor: "sccache#2122: an empty object was kept for good",
        shown: tests(&["errors::", "surroundings::a_build_succeeds", "surroundings::an_interrupt"]),
    },
    Check {
        row: "R19",
        group: "stale",
        promise: "exactly what depends on an edit is built again, and what goes leaves the program",
        anchor: "cargo leaves old files in OUT_DIR (cargo#16332)",
        shown: tests(&["rebuild::", "stale::"]),
    },
    Check {
        row: "R20",
        group: "deny",
        promise: "the crates of formats do no I/O and have no unsafe code",
        anchor: "cargo-auditable: no unsafe code",
        shown: tests(&["tidy::"]),
    },
    Check {
        row: "R20",
        group: "deny",
        promise: "an interpreter sees no undefined behaviour in tests of readers and of the registry",
        anchor: "-",
        shown: Shown::Task { full: &["miri"], quick: None },
    },
    Check {
        row: "R21",
        group: "deny",
        promise: "the published crates build with the Rust that they promise",
        anchor: "object: MSRV in CI",
        shown: Shown::Task { full: &["msrv"], quick: None },
    },
    Check {
        row: "R21",
        group: "deny",
        promise: "they build with the oldest dependencies that their manifests allow",
        anchor: "-",
        shown: Shown::Task { full: &["minimal-versions"], quick: None },
    },
    Check {
        row: "R21",
        group: "deny",
        promise: "licences, sources, versions and known faults of all dependencies are within the policy",
        anchor: "-",
        shown: Shown::Task { full: &["dependencies"], quick: None },
    },
    Check {
        row: "R22",
        group: "integrity",
        promise: "`verify` says of SYCLBIN files what Intel's runtimes do with them",
        anchor: "Intel's runtimes: no message",
        shown: tests(&["sycl_verdicts::"]),
    },
    Check {
        row: "R22",
        group: "integrity",
        promise: "`verify` tells every damaged byte of images and every flipped bit of what leads to them",
        anchor: "LLVM: nothing is compared",
        shown: tests(&["commands::verify_finds_every_damaged_byte", "references::verify_tells_damage"]),
    },
    Check {
        row: "R22",
        group: "integrity",
        promise: "a program that `verify` accepts has all its images, whatever was damaged",
        anchor: "LLVM: nothing is compared",
        shown: tests(&["damaged::"]),
    },
];
