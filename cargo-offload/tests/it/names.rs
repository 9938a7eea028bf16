//! Names come from files: in what a command prints, none starts a line of its own, steers a terminal or reverses its
//! writing, neither for people nor as JSON.

use std::fs;
use std::path::Path;

use crate::support::{all_output, data, kernel, objects, offload, plain_pack, stdout};
use offload_containers::offload_binary::{self, NewEntry, Version};
use offload_format::codec::Codec;
use offload_format::pack::NewImage;
use offload_format::{Hash128, ImageKind, OffloadKind};

/// How a line starts that a name has made.
const FORGED: &str = "FORGED";
/// What steers: a line break, DEL, CSI of C1, and marks that reverse the writing.
const STEERING: &str = "\n\u{7f}\u{9b}\u{61c}\u{200e}\u{202e}\u{2066}\u{2028}";

/// A name that starts a line with [`FORGED`], and holds all of [`STEERING`].
fn name(word: &str) -> String {
    format!("{word}{STEERING}\n{FORGED} {word}")
}

/// `bytes`, a pack, with `old` in its texts replaced by `new` of the same size, and a new hash.
fn renamed(mut bytes: Vec<u8>, old: &str, new: &str) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let at = bytes.windows(old.len()).position(|window| window == old.as_bytes()).unwrap();
    bytes[at..at + old.len()].copy_from_slice(new.as_bytes());
    let payload = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    let hash = Hash128::digest_parts(&[&bytes[..48], &bytes[64..payload]]);
    bytes[48..64].copy_from_slice(&hash.0);
    bytes
}

fn image(target: &str) -> NewImage {
    NewImage {
        kernels: vec![kernel(&name("kernel"), [1, 2, 3])],
        part: name("part"),
        ..NewImage::new(&name("module"), target.parse().unwrap())
    }
}

/// A pack whose module, part, kernel and one target have such names, and a container whose target has.
fn dir_with_names() -> tempfile::TempDir {
    let images = vec![
        (image("amdgcn:gfx9-4-generic:xnack+"), data("device-gfx1100.co")),
        (image("cubin:sm_80"), data("device-gfx1100.co")),
    ];
    let forged = format!("x\n{FORGED} for a whole target!");
    let dir = tempfile::tempdir().unwrap();
    let pack = renamed(plain_pack(images, Codec::Zstd), "amdgcn:gfx9-4-generic:xnack+", &forged);
    fs::write(dir.path().join("images.pack"), pack).unwrap();
    let triple = name("triple");
    let spirv = data("import.spv");
    let entries = [&spirv[..], b"damaged"].map(|image| {
        NewEntry::new(ImageKind::SpirV, OffloadKind::OpenMp, image).with_string("triple", &triple)
    });
    let container = offload_binary::write(&entries, Version::V2).unwrap();
    fs::write(dir.path().join("images.offload"), container).unwrap();
    dir
}

/// What a command says for people and as JSON, whatever it ends with.
fn both(dir: &Path, args: &[&str]) -> [String; 2] {
    [&[][..], &["--json"]].map(|more| all_output(&offload(dir, &[args, more].concat())))
}

#[test]
fn no_name_forges_a_line_or_steers_a_terminal() {
    let dir = dir_with_names();
    let mut wrong = Vec::new();
    for file in ["images.pack", "images.offload"] {
        for args in [
            &["inspect"][..],
            &["inspect", "--kernels"],
            &["inspect", "--for", "host"],
            &["verify"],
            &["size"],
            &["report"],
            &["report", "--format", "markdown"],
            &["report", "--baseline", "missing.toml", "--update-baseline"],
            &["report", "--baseline", "other.toml"],
            &["devices"],
            &["asm"],
            &["asm", "none"],
            &["extract", "--force"],
            &["extract", "--stored", "--force"],
            &["export", "--format", "raw"],
            &["export", "--format", "raw", "--target", "none"],
            &["export", "--format", "offload-binary", "--target", "spirv64"],
            &["export", "--format", "syclbin"],
            &["prune", "--drop", "none"],
            &["prune", "--drop", "cubin:*", "-o", "pruned"],
            &["repack", "-o", "repacked"],
        ] {
            let args = [&args[..1], &[file], &args[1..]].concat();
            for printed in both(dir.path(), &args) {
                let forged = printed.lines().any(|line| line.trim_start().starts_with(FORGED));
                let steers = printed.contains(|c: char| c != '\n' && STEERING.contains(c));
                if forged || steers {
                    wrong.push(format!("{args:?}\n{}", printed.replace(|c| STEERING[1..].contains(c), "!")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn names_are_whole_in_json() {
    let dir = dir_with_names();
    let printed = stdout(&offload(dir.path(), &["inspect", "images.pack", "--json"]));
    let images = objects(&printed, "image");
    assert_eq!([&images[0]["module"], &images[0]["part"]], [name("module").as_str(), name("part").as_str()]);
}
