//! The corpus: kernels that were compiled wrongly once, refused, or reported by sanitized builds.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use offload_fuzz_host::builds::BuildKind;
use offload_fuzz_host::check::check;
use offload_fuzz_host::harness::{Harness, Programs};
use offload_fuzz_host::written;
use offload_tests::workspace::Workspace;

#[test]
fn every_build_does_what_the_source_says() {
    let workspace = Workspace::find().unwrap();
    let programs = Programs::build(&workspace).unwrap();
    let harness = Harness::new(&workspace, programs.compiler, programs.runner).unwrap();
    // Passes of a release build are those of every build, and more.
    let sample = [BuildKind::Release];
    let builds = if offload_tests::is_full() { &written::BUILDS[..] } else { &sample };
    for cases in written::corpus().unwrap() {
        let report = check(&harness, &cases, builds).unwrap();
        report.print();
        assert_eq!(report.valid, cases.len());
        assert!(report.mismatches.is_empty());
    }
}
