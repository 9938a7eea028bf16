//! `--deep`: images wherever they lie in a large file.

use std::fs;
use std::process::Command;
use std::time::Instant;

use crate::support::{self, data, objects};

/// As libraries of vendors have them among their constants, each fatbin with four images; a sample takes fewer.
const FATBINS: [usize; 2] = [18_000, 2_000];
const CODE_OBJECTS: usize = 1_184;
/// What the command may hold in KiB: whatever there is, and for each image.
const HELD: [usize; 2] = [64 << 10, 5];

fn put(library: &mut Vec<u8>, bytes: &[u8]) {
    library.resize(library.len().next_multiple_of(16), 0);
    library.extend_from_slice(b"constants here. ");
    library.extend_from_slice(bytes);
}

#[test]
fn thousands_of_images_among_constants_are_found_in_little_memory() {
    let is_full = std::env::var_os("OFFLOAD_TEST_FULL").is_some();
    let fatbins = FATBINS[usize::from(!is_full)];
    let wanted = 4 * fatbins + CODE_OBJECTS;
    let program = env!("CARGO_BIN_EXE_cargo-offload");
    let mut library = fs::read(program).unwrap();
    for _ in 0..fatbins {
        put(&mut library, &data("zstd.fatbin"));
    }
    for _ in 0..CODE_OBJECTS {
        put(&mut library, &data("device-gfx906.co"));
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("library"), &library).unwrap();
    let start = Instant::now();
    // The file itself counts for nothing: it is mapped.
    let held = HELD[0] + HELD[1] * wanted;
    let mut limited = Command::new("sh");
    let script = format!("ulimit -d {held}; exec \"$0\" offload inspect library --deep --json");
    let output = limited.args(["-c", &script, program]).current_dir(dir.path()).output().unwrap();
    let time = start.elapsed();
    assert!(output.status.success(), "{}", support::all_output(&output));
    let images = objects(&support::stdout(&output), "image");
    let code_objects = images.iter().filter(|it| it["target"].to_string().contains("gfx906")).count();
    assert_eq!((code_objects, images.len()), (CODE_OBJECTS, wanted));
    println!(
        "figure: {} MB with {wanted} images among constants; all found in {time:.1?}, held less than {} MiB",
        library.len() / 1_000_000,
        held >> 10
    );
}
