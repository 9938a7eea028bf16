//! Progress on a terminal.
#![cfg(target_os = "linux")]

use crate::support;

#[test]
fn trying_modes_of_compression_tells_which_goes_on() {
    let dir = support::with_pack(64);
    let message = support::on_terminal(dir.path(), ("xterm", 100), "compression --on images.pack");
    for (step, mode) in ["none", "fast", "balanced", "max", "archive"].iter().enumerate() {
        let line = format!("{}/5: compressing 4 images of 35.9 KiB: {mode}, ", step + 1);
        assert!(message.contains(&line), "no {line:?} in {message}");
    }
    // The line is gone when the table comes.
    let (_, table) = message.rsplit_once("\r\u{1b}[K").unwrap();
    assert!(table.starts_with("mode ") && !table.contains("compressing"), "{table}");
    let quiet = support::on_terminal(dir.path(), ("xterm", 100), "compression --on images.pack --quiet");
    assert!(!quiet.contains("compressing"), "{quiet}");
}

#[test]
fn repacking_tells_that_it_goes_on() {
    let dir = support::with_pack(64);
    let repack = "repack images.pack --compression archive --output";
    let message = support::on_terminal(dir.path(), ("xterm", 100), &format!("{repack} one.pack"));
    assert!(message.contains("1/1: compressing images, "), "{message}");
    let (_, after) = message.rsplit_once("\r\u{1b}[K").unwrap();
    assert!(after.starts_with("repacked `one.pack`: ") && !after.contains("compressing"), "{after}");
    let quiet = support::on_terminal(dir.path(), ("xterm", 100), &format!("{repack} two.pack --quiet"));
    assert!(!quiet.contains("compressing"), "{quiet}");
}
