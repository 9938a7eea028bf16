//! Libraries with very many images, in little memory.

use std::io::Write;
use std::process::Command;

use crate::support::{command, data, dir_with, said};
use offload_containers::fatbin::{self, FatbinImage, Packing};

/// So many fatbins took 140 MB when the images of all were listed at once.
const COUNT: usize = 40_000;
/// What the command may hold, in KiB, beside the pages of files.
const HELD: usize = 48 << 10;

#[cfg(target_os = "linux")]
#[test]
fn a_library_of_very_many_fatbins_is_judged_in_little_memory() {
    let target = "nvptx:sm_80".parse().unwrap();
    let ptx = data("device-clang.ptx");
    let image = FatbinImage { target: &target, bytes: ptx.get(..64).unwrap(), name: "", options: "" };
    let fatbin = fatbin::write(&[image], Packing::Stored).unwrap();
    let mut library = b"!<arch>\n".to_vec();
    for number in 0..COUNT {
        let name = format!("{number}.o/");
        let size = fatbin.len();
        writeln!(library, "{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`", 0, 0, 0, 100_644).unwrap();
        library.extend(&fatbin);
        library.resize(library.len().next_multiple_of(2), b'\n');
    }
    let dir = dir_with("libx.a", &library);
    let gate = command(dir.path(), &["verify", "libx.a", "--require", "ptx"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -d {HELD}; exec \"$0\" \"$@\"")]).arg(gate.get_program());
    limited.args(gate.get_args()).current_dir(dir.path());
    let output = limited.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains(&format!("{COUNT} modules in 1 file, 0 problems")), "{}", said(&output));
}
