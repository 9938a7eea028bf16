//! Crates of drivers that programs use beside this one: no feature of `offload-rt` brings them in a version of its own.

use offload_tests::workspace::Workspace;

/// cargo gives all users of cudarc one set of features, and cudarc does not compile with those of two CUDA releases.
#[test]
fn the_feature_cuda_brings_no_driver_crate() {
    let workspace = Workspace::find().unwrap();
    let tree = workspace.cargo().args(["tree", "--offline", "--package", "offload-rt"]);
    let tree =
        tree.args(["--no-default-features", "--features", "cuda", "--prefix", "none", "--format", "{p}"]);
    let text = tree.args(["--edges", "normal,build"]).quiet().read().unwrap();
    let crates: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    for needed in ["offload-rt", "libloading"] {
        assert!(crates.contains(&needed), "{text}");
    }
    for driver in ["cudarc", "cust", "cust_raw"] {
        assert!(!crates.contains(&driver), "{text}");
    }
}
