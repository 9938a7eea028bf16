//! Every command that a message names, and the tests that run it: a new one needs a row.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support;

/// File, command, tests. A word in capitals or braces stands for what the message puts there.
const COMMANDS: &str = "\
cargo-offload/src/cargo/additions.rs                  | cargo offload doctor                                | the_doctor_needs_no_tool
cargo-offload/src/cargo/additions.rs                  | cargo offload init DIRECTORY                        | init_names_the_directory_of_a_package
cargo-offload/src/cargo/additions.rs                  | cargo run                                           | xtask hour: init-run
cargo-offload/src/cargo/template.rs                   | cargo offload targets add TARGET                    | init_then_targets_and_compression_keep_what_people_wrote
cargo-offload/src/change/rewrite/refusal.rs           | OFFLOAD_TARGETS=host,spirv64 cargo build            | xtask hour: other-targets
cargo-offload/src/commands/dev.rs                     | cargo offload init                                  | init_then_targets_and_compression_keep_what_people_wrote
cargo-offload/src/commands/export/sources.rs          | cargo offload extract                               | images_of_other_tool_chains_are_exported
cargo-offload/src/commands/new.rs                     | cargo offload doctor                                | the_walkthrough_works_as_written, xtask hour: doctor
cargo-offload/src/commands/new.rs                     | cargo offload run                                   | the_walkthrough_works_as_written, xtask hour: run
cargo-offload/src/commands/prune.rs                   | cargo offload prune                                 | the_walkthrough_works_as_written
cargo-offload/src/commands/report/baseline.rs         | cargo offload report --update-baseline              | the_baseline_is_a_ratchet
cargo-offload/src/commands/report/matrix.rs           | OFFLOAD_CLANG=clang-22 cargo offload report --baseline FILE | a_baseline_for_each_compiler
cargo-offload/src/commands/targets.rs                 | cargo offload init                                  | init_then_targets_and_compression_keep_what_people_wrote
cargo-offload/src/commands/targets/list.rs            | cargo offload doctor TARGET                         | the_doctor_needs_no_tool
cargo-offload/src/commands/vendor/record.rs           | cargo offload vendor                                | a_damaged_pack_is_refused
cargo-offload/src/commands/verify/gate/judged.rs      | cargo offload targets add {target}                  | a_package_has_what_its_offload_toml_requires
cargo-offload/src/commands/verify/syclbin.rs          | cargo offload inspect                               | a_file_without_a_syclbin_is_inspected
cargo-offload/src/machine/toolchain/add.rs            | cargo offload toolchain install                     | packages_are_fetched_locked_and_unpacked, fresh --toolchain
cargo-offload/src/machine/toolchain/add.rs            | cargo offload toolchain list                        | what_helps_to_install_compilers
cargo-offload/src/machine/toolchain/fetch.rs          | cargo offload toolchain install --update            | what_helps_to_install_compilers
cargo-offload/src/machine/toolchain/lock.rs           | cargo offload doctor                                | what_helps_to_install_compilers
cargo-offload/src/machine/toolchain/lock.rs           | cargo offload toolchain install                     | packages_are_fetched_locked_and_unpacked, fresh --toolchain
cargo-offload/src/machine/toolchain/lock.rs           | cargo offload toolchain install --update            | what_is_not_as_locked_is_refused_and_changes_nothing
cargo-offload/src/machine/toolchain/whole.rs          | cargo offload doctor                                | what_helps_to_install_compilers
cargo-offload/src/read/inputs.rs                      | cargo offload inspect                               | every_command_that_shows_reads_archives
cargo-offload/src/read/nothing.rs                     | cargo offload extract {shown}                       | what_one_command_cannot_read_another_one_can
cargo-offload/src/read/nothing.rs                     | cargo offload inspect --deep                        | images_outside_of_the_known_sections_are_found_on_demand
cargo-offload/src/read/packs.rs                       | cargo build                                         | a_pack_that_has_left_the_cache_is_told_and_made_anew
cargo-offload/src/settings/offload_toml.rs            | cargo offload init                                  | init_then_targets_and_compression_keep_what_people_wrote
cargo-offload/src/settings/target_filter.rs           | cargo offload inspect                               | a_set_of_the_machine_is_no_filter_and_inspect_lists_the_targets
offload-build/src/compile/advice/headers.rs           | cargo offload toolchain install cuda-headers        | parts_that_share_packages_are_fetched_without_them, xtask hour: missing-header
offload-build/src/compile/route.rs                    | cargo offload targets add {example}                 | ready_made_code_that_no_target_fits
offload-build/src/compile/targets/ready_ptx.rs        | cargo offload targets add {}                        | ready_made_ptx_for_another_architecture
offload-build/src/compile/undefined.rs                | cargo offload targets remove {}                     | a_built_in_that_targets_lack
offload-build/src/config.rs                           | cargo offload init                                  | a_configuration_that_is_not_there
offload-build/src/config/place.rs                     | cargo offload init                                  | init_then_targets_and_compression_keep_what_people_wrote
offload-build/src/toolchain/pocl.rs                   | cargo offload targets remove host                   | a_build_for_another_machine_needs_pocl_for_that_machine
offload-build/src/toolchain/remedy.rs                 | cargo offload toolchain install                     | packages_are_fetched_locked_and_unpacked, fresh --toolchain
offload-build/src/toolchain/remedy.rs                 | cargo offload toolchain install {name}              | parts_are_installed_one_by_one, parts_that_share_packages_are_fetched_without_them
offload-build/src/vendor.rs                           | cargo offload vendor                                | a_damaged_pack_is_refused
offload-build/src/vendor/write.rs                     | cargo offload vendor                                | a_damaged_pack_is_refused
offload-format/src/variable.rs                        | cargo offload check                                 | a_failing_tool
offload-format/src/variable.rs                        | cargo offload dev                                   | saved_kernels_reach_the_running_program
offload-format/src/variable.rs                        | cargo offload test                                  | a_test_ends_on_each_device_in_its_own_way
offload-format/src/variable.rs                        | cargo offload test --sanitize                       | accesses_outside_of_buffers_are_found_in_development_and_release_builds
offload-format/src/variable.rs                        | cargo offload toolchain install                     | packages_are_fetched_locked_and_unpacked, fresh --toolchain
offload-format/src/variable.rs                        | cargo offload vendor                                | a_damaged_pack_is_refused
offload-rt/src/error.rs                               | cargo build                                         | a_pack_that_has_left_the_cache_is_told_and_made_anew
offload-rt/src/error.rs                               | cargo offload targets add {target}                  | a_device_that_no_image_fits_gets_one
offload-rt/src/error.rs                               | cargo offload verify PROGRAM                        | a_damaged_image_in_the_program
offload-rt/src/launch/newer.rs                        | cargo offload dev                                   | saved_kernels_reach_the_running_program
offload-rt/src/sections/sidecar.rs                    | cargo build                                         | a_pack_that_has_left_the_cache_is_told_and_made_anew
offload-rt/src/test/report.rs                         | cargo offload targets add host                      | a_device_that_no_image_is_for_is_refused_with_the_reason
";

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row<'a> {
    file: &'a str,
    command: &'a str,
}

/// The rows, each with its tests.
fn rows() -> Vec<(Row<'static>, Vec<&'static str>)> {
    let cells = |line: &'static str| line.split('|').map(str::trim).collect::<Vec<_>>();
    let row = |line| match cells(line).as_slice() {
        [file, command, tests] => (Row { file, command }, tests.split(", ").collect()),
        other => panic!("{other:?}"),
    };
    COMMANDS.lines().map(row).collect()
}

/// The commands between backticks in what the compiler sees of `text` outside of tests.
fn commands(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let quoted = lines.flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_command = |quoted: &&str| {
        let words: Vec<&str> = quoted.split(' ').skip_while(|word| word.contains('=')).collect();
        matches!(words.as_slice(), ["cargo", "offload", _, ..] | ["cargo", "build" | "run" | "check", ..])
    };
    quoted.filter(is_command).map(str::to_string).collect()
}

/// The files of the crates, by their paths from the root.
fn sources() -> Vec<String> {
    let mut files = Vec::new();
    for name in
        ["cargo-offload", "offload-build", "offload-format", "offload-images", "offload-rt", "offload-sycl"]
    {
        collect(&support::root().join(name).join("src"), &mut files);
    }
    collect(&support::root().join("offload-containers/src"), &mut files);
    files.retain(|path| !path.ends_with("/tests.rs"));
    files
}

fn collect(directory: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => collect(&path, files),
            Some("rs") => {
                files.push(path.strip_prefix(support::root()).unwrap().to_str().unwrap().to_string())
            }
            _ => {}
        }
    }
}

#[test]
fn every_command_of_a_message_has_a_test() {
    let read = |file: &str| fs::read_to_string(support::root().join(file)).unwrap();
    let files = sources();
    let mut found = Vec::new();
    for file in &files {
        found.extend(commands(&read(file)).into_iter().map(|command| (file.as_str(), command)));
    }
    let found: BTreeSet<Row<'_>> = found.iter().map(|(file, command)| Row { file, command }).collect();
    let rows = rows();
    let listed: BTreeSet<Row<'_>> = rows.iter().map(|(row, _)| *row).collect();
    let unlisted: Vec<_> = found.difference(&listed).collect();
    assert!(unlisted.is_empty(), "no test is listed for {unlisted:#?}");
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(gone.is_empty(), "no message names {gone:#?}");
}

#[test]
fn the_tests_of_commands_exist() {
    let mut texts = String::new();
    for directory in ["cargo-offload/tests/it", "tests/tests/it", "tests/src/xtask"] {
        let mut files = Vec::new();
        collect(&support::root().join(directory), &mut files);
        texts.extend(files.iter().map(|file| fs::read_to_string(support::root().join(file)).unwrap()));
    }
    for (row, tests) in rows() {
        for test in tests {
            let part = match test.strip_prefix("xtask hour: ") {
                Some(step) => format!("Step::new(\"{step}\""),
                None if test == "fresh --toolchain" => "[\"--toolchain\"]".to_string(),
                None => format!("fn {test}("),
            };
            assert!(texts.contains(&part), "{row:?}: there is no {test}");
        }
    }
}

#[test]
fn commands_are_found_in_messages_alone() {
    let text = "//! `cargo offload a`\n    /// `cargo offload b`\nlet x = \"`cargo offload c {}` or `cargo`\"; // y\n\
                .hint(\"`A=1 cargo build` or `cargo offload`\")\n#[cfg(test)]\nmod tests {\n\"`cargo offload d`\"";
    assert_eq!(commands(text).into_iter().collect::<Vec<_>>(), ["A=1 cargo build", "cargo offload c {}"]);
}
