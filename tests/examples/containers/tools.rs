//! Running tools, and fatbins as `cuobjdump` sees them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use offload_containers::fatbin::{self, EntryKind, InflatedImage};
use offload_format::{Error, Limits};

pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

/// Images by their kind, architecture and bytes, with how often each is there.
pub type Images = BTreeMap<(String, Vec<u8>), usize>;

/// What this crate finds in the containers of `section`.
pub fn ours(section: &[u8]) -> Result<Images, Error> {
    let limits = Limits::default();
    let mut images = Images::new();
    for container in fatbin::fatbins(section, &limits) {
        for entry in container?.1.entries {
            for InflatedImage { record, bytes, .. } in entry.images(&limits)? {
                // cuobjdump does not tell the family of an architecture.
                let arch = record.arch().trim_end_matches('f').to_string();
                let kind = if record.kind == EntryKind::Ptx { "ptx" } else { "cubin" };
                *images.entry((format!("{arch}.{kind}"), bytes.into_owned())).or_default() += 1;
            }
        }
    }
    Ok(images)
}

/// What `cuobjdump` extracts from `file`, a program or a fatbin; `None` for a file that it refuses.
pub fn theirs(cuobjdump: &Path, file: &Path) -> Option<Images> {
    let dir = tempfile::tempdir().unwrap();
    let file = fs::canonicalize(file).unwrap();
    for what in ["-xelf", "-xptx"] {
        let mut command = Command::new(cuobjdump);
        let output = command.args(["-all", what, "all"]).arg(&file).current_dir(dir.path()).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        // It fails as well where there is none of the kind.
        if let Some(line) = text.lines().find(|line| line.contains("fatal")) {
            println!("{line}");
            return None;
        }
    }
    let mut images = Images::new();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let words: Vec<&str> = name.rsplit('.').take(2).collect();
        *images.entry((format!("{}.{}", words[1], words[0]), fs::read(&path).unwrap())).or_default() += 1;
    }
    Some(images)
}

/// What clang's bundler extracts from `bundle` for each of `ids`. llvm-objdump 22 extracts as well, but of a compressed
/// bundle other bytes than those of the images.
pub fn unbundled(bundler: &Path, bundle: &[u8], ids: &[&str]) -> Vec<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("bundle"), bundle).unwrap();
    let outputs = (0..ids.len()).map(|number| format!("-output={number}"));
    let mut command = Command::new(bundler);
    command.args(["-type=o", "-unbundle", "-input=bundle", &format!("-targets={}", ids.join(","))]);
    run(command.args(outputs).current_dir(dir.path()));
    (0..ids.len()).map(|number| fs::read(dir.path().join(number.to_string())).unwrap()).collect()
}

/// How many images there are of each kind and architecture.
pub fn shape(images: &Images) -> BTreeMap<&str, (usize, usize)> {
    let mut shape = BTreeMap::new();
    for ((name, bytes), count) in images {
        let (number, size) = shape.entry(name.as_str()).or_insert((0, 0));
        *number += count;
        *size += count * bytes.len();
    }
    shape
}
