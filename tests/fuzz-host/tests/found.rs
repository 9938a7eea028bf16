//! The corpus: kernels that were compiled wrongly once, refused, or reported by sanitized builds.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use offload_fuzz_host::builds::{BuildKind, level_of_turn, levels};
use offload_fuzz_host::check::check;
use offload_fuzz_host::harness::{Harness, Programs};
use offload_fuzz_host::written;
use offload_tests::workspace::Workspace;

#[test]
fn every_build_does_what_the_source_says() {
    let workspace = Workspace::find().unwrap();
    let programs = Programs::build(&workspace).unwrap();
    let harness = Harness::new(&workspace, programs.compiler, programs.runner).unwrap();
    // Passes of a release build are those of every build, and more; they are the same at every level.
    let sample = [BuildKind::Release];
    let is_full = offload_tests::is_full();
    let builds = if is_full { &written::BUILDS[..] } else { &sample };
    for (turn, cases) in (0..).zip(written::corpus().unwrap()) {
        let levels = if is_full { levels() } else { level_of_turn(turn) };
        let report = check(&harness.with_levels(levels), &cases, builds).unwrap();
        report.print();
        assert_eq!(report.valid, cases.len());
        assert!(report.mismatches.is_empty());
    }
}
