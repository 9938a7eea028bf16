//! The decoder in Python that was written from FORMAT.md alone, beside this project's own: every codec, filter, block and
//! parent, files of every mode of compression, and linked programs with and without sidecars.

mod forms;
mod samples;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use self::forms::Forms;
use crate::support::{self, Project, cargo_offload};
use offload_format::pack::{Pack, Pages};

/// Images by module and target; several packages have modules of the same name.
type Images = BTreeMap<(String, String), Vec<Vec<u8>>>;

/// What the decoder in Python makes of a file.
struct Decoded {
    images: Images,
    lines: Vec<Value>,
}

/// Decodes `file`; `None` where the packages of Python that it needs are missing.
fn decoded(file: &Path) -> Option<Decoded> {
    let python = offload_tests::require("python3")?;
    let packages = offload_tests::require_python_packages()?;
    let folder = tempfile::tempdir().unwrap();
    let root = support::root();
    let mut command = Command::new(python);
    // Nothing is written beside the sources.
    command.arg("-B").arg(root.join("tests/reader")).arg(root.join("FORMAT.md")).arg(file).arg(folder.path());
    let output = command.env("PYTHONPATH", packages).output().unwrap();
    assert!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut images = Images::new();
    for (number, line) in lines.iter().enumerate() {
        let bytes = fs::read(folder.path().join(number.to_string())).unwrap();
        images.entry(key(line)).or_default().push(bytes);
    }
    images.values_mut().for_each(|images| images.sort());
    Some(Decoded { images, lines })
}

fn key(line: &Value) -> (String, String) {
    ["module", "target"].map(|field| line[field].as_str().unwrap().to_string()).into()
}

/// What `cargo offload extract` makes of it.
fn extracted(file: &Path) -> Images {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(cargo_offload());
    command.args(["extract", "--message-format", "json", "--output"]).arg(folder.path().join("images"));
    let output = command.arg(file).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut images = Images::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["reason"] == "extracted" {
            let bytes = fs::read(line["file"].as_str().unwrap()).unwrap();
            images.entry(key(&line)).or_default().push(bytes);
        }
    }
    images.values_mut().for_each(|images| images.sort());
    images
}

/// Both decoders agree on `file`, and find `count` images. Returns these, and what the one in Python says of them.
fn assert_agree(file: &Path, count: usize) -> Option<Decoded> {
    let decoded = decoded(file)?;
    assert_eq!(decoded.lines.len(), count, "{}", file.display());
    let ours = extracted(file);
    let names: Vec<_> = decoded.images.keys().collect();
    assert_eq!(names, ours.keys().collect::<Vec<_>>(), "{}", file.display());
    for (name, images) in &decoded.images {
        assert!(*images == ours[name], "{}: {name:?}", file.display());
    }
    Some(decoded)
}

/// How images are stored: `frame`, codec, ancestors, filter; or the same with `block` and the block's codec.
fn forms_of(lines: &[Value]) -> BTreeSet<String> {
    lines
        .iter()
        .map(|line| {
            let stored = &line["stored"];
            let (place, codec) = match &stored["block"] {
                Value::Null => ("frame", &stored["codec"]),
                codec => ("block", codec),
            };
            let parents = stored["parents"].as_array().unwrap().len();
            format!("{place} codec {codec} ancestors {parents} filter {}", stored["filter"])
        })
        .collect()
}

/// Where the records lie of which the decoder made use.
fn records_of(lines: &[Value]) -> BTreeSet<String> {
    lines
        .iter()
        .flat_map(|line| {
            let parents = line["stored"]["parents"].as_array().unwrap().clone();
            [vec![line["stored"]["record"].clone()], parents].concat()
        })
        .map(|record| record.as_str().unwrap().to_string())
        .collect()
}

/// Everything that the format allows a writer.
fn all_forms() -> BTreeSet<String> {
    let frames = [
        (0, 0),
        (1, 0),
        (4, 0),
        (7, 0),
        (8, 0),
        (9, 0),
        (2, 1),
        (2, 2),
        (5, 1),
        (5, 2),
        (3, 1),
        (3, 2),
        (3, 3),
    ];
    let blocks = [(0, 0), (1, 0), (4, 0), (7, 0), (8, 0), (2, 1), (2, 2), (5, 1), (5, 2)];
    let frames = frames.map(|form| ("frame", form)).into_iter();
    let forms = frames.chain(blocks.map(|form| ("block", form)));
    forms
        .flat_map(|(place, (codec, ancestors))| {
            (0..3).map(move |filter| format!("{place} codec {codec} ancestors {ancestors} filter {filter}"))
        })
        .collect()
}

/// What each mode makes of these images: frames and blocks, by their codecs.
const MODES: [(&str, &str); 6] = [
    ("fast", "block 1, frame 1, frame 2, frame 3"),
    ("archive", "block 4, frame 3, frame 4, frame 5"),
    ("none", "frame 0"),
    ("balanced", "block 1, frame 1, frame 2, frame 3"),
    ("max", "block 1, frame 1, frame 2, frame 3"),
    ("7", "block 1, frame 1, frame 2, frame 3"),
];

fn assert_known(file: &Path, images: &BTreeMap<String, Vec<u8>>) -> Option<Vec<Value>> {
    let Decoded { images: found, lines } = assert_agree(file, images.len())?;
    for ((module, _), bytes) in found {
        assert!(bytes == [images[&module].clone()], "{module}");
    }
    Some(lines)
}

#[test]
fn every_codec_filter_block_and_parent_is_decoded_as_the_document_says() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("one.pack");
    fs::write(&file, Forms::all().one_pack()).unwrap();
    let Some(lines) = assert_known(&file, &Forms::all().images) else { return };
    assert_eq!(forms_of(&lines), all_forms());
    assert_eq!(records_of(&lines), ["block", "index"].map(String::from).into());

    let (packs, images) = Forms::all().two_packs();
    fs::write(&file, packs).unwrap();
    let lines = assert_known(&file, &images).unwrap();
    assert_eq!(forms_of(&lines), all_forms());
    assert_eq!(records_of(&lines), ["another pack", "block", "page"].map(String::from).into());
}

#[test]
fn every_mode_of_compression_is_decoded_as_the_document_says() {
    if !offload_tests::is_nightly() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let large = samples::large();
    let (two_packs, many) = Forms::all().two_packs();
    let plain = directory.path().join("plain.pack");
    let shared = directory.path().join("shared.pack");
    fs::write(&plain, forms::plain(&large)).unwrap();
    fs::write(&shared, two_packs).unwrap();
    let mut codecs = Vec::new();
    for (mode, _) in MODES {
        let mut seen = BTreeSet::new();
        for (from, images, sharing) in
            [(&plain, &large, None), (&shared, &many, None), (&shared, &many, Some("--unmerge"))]
        {
            let file = directory.path().join("packed.pack");
            repack(from, &[&["--compression", mode], sharing.as_slice()].concat(), &file);
            let Some(lines) = assert_known(&file, images) else { return };
            seen.extend(forms_of(&lines));
        }
        let seen: BTreeSet<String> = seen
            .iter()
            .map(|form| form.split(' ').step_by(2).take(2).collect::<Vec<_>>().join(" "))
            .collect();
        codecs.push((mode, seen.into_iter().collect::<Vec<_>>().join(", ")));
    }
    let expected: Vec<_> = MODES.iter().map(|&(mode, codecs)| (mode, codecs.to_string())).collect();
    assert_eq!(codecs, expected);
}

fn repack(from: &Path, args: &[&str], to: &Path) {
    let _ = fs::remove_file(to);
    let mut command = Command::new(cargo_offload());
    let output = command.arg("repack").arg(from).args(args).arg("--output").arg(to).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn kernels_and_arguments_are_those_of_the_records() {
    let directory = tempfile::tempdir().unwrap();
    let (packs, _) = Forms::all().two_packs();
    let file = directory.path().join("two.pack");
    fs::write(&file, &packs).unwrap();
    let Some(Decoded { lines, .. }) = decoded(&file) else { return };
    let mut at = 0;
    let mut ours = Vec::new();
    while at < packs.len() {
        let pages = Pages::default();
        let pack = Pack::parse(&packs[at..], &pages).unwrap();
        for image in pack.images() {
            ours.extend(pack.kernels(&image.unwrap()).map(|kernel| described(&kernel.unwrap())));
        }
        at += usize::try_from(pack.next()).unwrap();
    }
    let theirs: Vec<&Value> = lines.iter().flat_map(|line| line["kernels"].as_array().unwrap()).collect();
    assert!(ours.len() >= 700 && ours.iter().collect::<Vec<_>>() == theirs);
}

fn described(kernel: &offload_format::pack::KernelInfo) -> Value {
    let arguments = kernel.args.iter().flatten().map(|arg| {
        let name = &arg.name;
        let of = &arg.type_name;
        let size = arg.size.unwrap_or(0);
        serde_json::json!({ "name": name, "type": of, "kind": arg.kind.to_u16(), "size": size })
    });
    serde_json::json!({ "name": kernel.name, "arguments": arguments.collect::<Vec<_>>() })
}

#[test]
fn the_sample_pack_is_decoded_as_the_document_says() {
    assert_agree(&support::root().join("tests/data/sample.pack"), 3);
}

#[test]
fn programs_and_what_lies_beside_them_are_decoded_as_the_document_says() {
    let project = Project::with_fake_tools("two-files");
    let program = project.program();
    let Some(Decoded { images: whole, lines }) = decoded(&program) else { return };
    assert_agree(&program, lines.len());
    let stripped = project.path("stripped");
    let status = Command::new("objcopy").arg("--strip-all").arg(&program).arg(&stripped).status().unwrap();
    assert!(status.success());
    let split = project.path("split");
    repack(&program, &["--split"], &split);
    for file in [stripped, split] {
        assert!(decoded(&file).unwrap().images == whole, "{}", file.display());
    }
}
