//! Packs that claim more than they could hold are refused in little memory. `cargo xtask bombs` measures every command on
//! these files, and on containers of others.

#[path = "../../examples/bombs/own.rs"]
mod own;
#[path = "../../examples/bombs/pack.rs"]
mod pack;

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::support::cargo_offload;

/// A file, and what it is called.
struct Bomb {
    name: &'static str,
    bytes: Vec<u8>,
}

impl Bomb {
    fn new(name: &'static str, bytes: Vec<u8>) -> Bomb {
        Bomb { name, bytes }
    }
}

/// Address space in KiB: a debug build with its files mapped takes a tenth of it.
const MOST: &str = "400000";
/// A debug build on a machine that does other things besides.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn files_that_claim_more_than_they_hold_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    // The first call waits for cargo to build it.
    cargo_offload();
    for Bomb { name, bytes } in own::bombs().unwrap() {
        let file = directory.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        for command in ["inspect --kernels", "verify", "size", "extract --force"] {
            let start = Instant::now();
            let output = offload(directory.path(), command, &file);
            assert!(start.elapsed() < PATIENCE, "{name}: {command}: {:?}", start.elapsed());
            let output_text = [&output.stderr[..], &output.stdout].concat();
            let output_text = String::from_utf8_lossy(&output_text);
            assert!(output.status.code().is_some_and(|code| code <= 3), "{name}: {command}: {output:?}");
            if command == "verify" {
                assert_eq!(output.status.code(), Some(1), "{name}: {output_text}");
            }
        }
    }
}

fn offload(directory: &Path, command: &str, file: &Path) -> Output {
    let script = format!("ulimit -v {MOST}; exec \"$0\" {command} \"$1\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).args([cargo_offload(), file]).current_dir(directory).output().unwrap()
}

fn inspect(file: &Path, limit: &[&str]) -> Output {
    let mut command = Command::new(cargo_offload());
    command.arg("inspect").args(limit).arg(file).current_dir(file.parent().unwrap()).output().unwrap()
}

#[test]
fn a_limit_that_is_set_allows_more() {
    let directory = tempfile::tempdir().unwrap();
    let bombs = own::bombs().unwrap();
    let lzma = bombs.iter().find(|bomb| bomb.name == "lzma").unwrap();
    let file = directory.path().join("images.pack");
    std::fs::write(&file, &lzma.bytes).unwrap();
    let refused = inspect(&file, &[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stdout).contains("--limit SIZE"), "{refused:?}");
    assert_eq!(inspect(&file, &["--limit", "900MiB"]).status.code(), Some(0));
}
