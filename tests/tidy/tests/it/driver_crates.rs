//! What programs use beside us: a feature of `offload-rt` brings no crate of theirs in a version of its own.

use offload_tests::workspace::Workspace;

/// cargo gives all users of cudarc one set of features, and cudarc does not compile with those of two CUDA releases.
#[test]
fn the_feature_cuda_brings_no_driver_crate() {
    let workspace = Workspace::find().unwrap();
    let tree = workspace.cargo().args(["tree", "--offline", "--package", "offload-rt"]);
    let tree =
        tree.args(["--no-default-features", "--features", "cuda", "--prefix", "none", "--format", "{p}"]);
    let text = tree.args(["--edges", "normal,build"]).quiet().read().unwrap();
    let has = |name: &str| text.lines().any(|line| line.split(' ').next() == Some(name));
    assert!(has("offload-rt") && has("libloading"), "{text}");
    assert!(!has("cudarc") && !has("cust") && !has("cust_raw"), "{text}");
}
