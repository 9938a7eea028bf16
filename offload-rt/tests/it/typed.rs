//! Typed kernels: what compiles runs, and what does not fit a kernel does not compile.

/// `TRYBUILD=overwrite` accepts new messages of the compiler. They name all types that are buffers, so that they are those
/// of a build with all features.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64", feature = "cudarc-0_19"))]
fn typed_kernels_take_what_their_kernels_take() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/typed/pass/*.rs");
    cases.compile_fail("tests/typed/fail/*.rs");
}
