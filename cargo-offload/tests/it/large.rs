//! Libraries with very many images, in little memory.

use std::io::Write;
use std::process::Command;

use crate::support::{all_output, command, data, dir_with, objects, stdout};
use offload_containers::fatbin::{self, FatbinImage, Packing};

/// So many fatbins took 140 MB when the images of all were listed at once.
const COUNT: usize = 40_000;
/// What the command may hold, in KiB, beside the pages of files.
const HELD: usize = 48 << 10;

/// A static library with `count` members of the same bytes.
fn library(member: &[u8], count: usize) -> Vec<u8> {
    let mut library = b"!<arch>\n".to_vec();
    let size = member.len();
    for number in 0..count {
        let name = format!("{number}.o/");
        writeln!(library, "{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`", 0, 0, 0, 100_644).unwrap();
        library.extend(member);
        library.resize(library.len().next_multiple_of(2), b'\n');
    }
    library
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_of_very_many_fatbins_is_judged_in_little_memory() {
    let target = "nvptx:sm_80".parse().unwrap();
    let ptx = data("device-clang.ptx");
    let image = FatbinImage { target: &target, bytes: ptx.get(..64).unwrap(), name: "", options: "" };
    let fatbin = fatbin::write(&[image], Packing::Stored).unwrap();
    let dir = dir_with("libx.a", &library(&fatbin, COUNT));
    let gate = command(dir.path(), &["verify", "libx.a", "--require", "ptx"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -d {HELD}; exec \"$0\" \"$@\"")]).arg(gate.get_program());
    limited.args(gate.get_args()).current_dir(dir.path());
    let output = limited.output().unwrap();
    assert!(output.status.success(), "{}", all_output(&output));
    assert!(
        all_output(&output).contains(&format!("{COUNT} modules in 1 file, 0 problems")),
        "{}",
        all_output(&output)
    );
}

/// A library is judged a part at a time, and what is not judged is named once.
#[test]
fn code_for_a_link_is_named_once_for_a_library() {
    let target = "cubin:sm_90".parse().unwrap();
    let cubin = data("device-13.5-sm_90a.cubin");
    let image = FatbinImage { target: &target, bytes: &cubin, name: "", options: "" };
    let mut lto = fatbin::write(&[image], Packing::Stored).unwrap();
    // The kind of the first entry.
    lto[16] = 8;
    let dir = dir_with("libx.a", &library(&lto, 3000));
    let gate = ["verify", "--json", "libx.a", "--require", "sm_90"];
    let output = command(dir.path(), &gate).output().unwrap();
    assert_eq!(objects(&stdout(&output), "for-link").len(), 1, "{}", all_output(&output));
}
