//! Typed kernels: what compiles runs, and what does not fit a kernel does not compile.

/// `TRYBUILD=overwrite` accepts new messages of the compiler.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn typed_kernels_take_what_their_kernels_take() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/typed/pass/*.rs");
    cases.compile_fail("tests/typed/fail/*.rs");
}
