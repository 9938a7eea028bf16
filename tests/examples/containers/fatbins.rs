//! Generated sets of cubins and PTX, through `fatbinary` and back by this crate, and the other way round.

use std::fs;
use std::path::Path;
use std::process::Command;

use offload_containers::fatbin::{self, FatbinImage, Packing};
use offload_format::{Limits, Target};

use crate::tools::{ours, run, shape, theirs};

/// How many sets are compared, where the variable does not say another number.
const SETS: u64 = 60;

pub fn check(fatbinary: &Path, cuobjdump: &Path) {
    let images = samples();
    let sets =
        std::env::var("OFFLOAD_INTEROP_SETS").map_or(SETS, |text| text.parse().expect("a number of sets"));
    let mut count = 0;
    for seed in 0..sets {
        let chosen: Vec<&(Target, Vec<u8>)> =
            (0..).zip(&images).filter(|(at, _)| (seed + 1) >> at & 1 == 1).map(|(_, image)| image).collect();
        count += chosen.len();
        written_by_us(&chosen, (seed, cuobjdump));
        written_by_nvidia(&chosen, (seed, fatbinary));
    }
    println!("fatbins: {sets} sets with {count} images agree");
}

/// The images of a file that `fatbinary` wrote, and the PTX and cubins beside it.
fn samples() -> Vec<(Target, Vec<u8>)> {
    let root = offload_tests::workspace_root().join("tests/data");
    let stored = fs::read(root.join("stored.fatbin")).unwrap();
    let limits = Limits::default();
    let read = fatbin::parse(&stored, &limits).unwrap();
    let from_fatbin = read
        .entries
        .iter()
        .map(|entry| (entry.record.target().unwrap(), entry.image(&limits).unwrap().into_owned()));
    let files = [
        ("cubin:sm_80", "device-12.9-sm_80.cubin"),
        ("cubin:sm_90a", "device-13.5-sm_90a.cubin"),
        ("cubin:sm_100a", "calls-12.9-sm_100a.cubin"),
    ];
    let more =
        files.iter().map(|(target, file)| (target.parse().unwrap(), fs::read(root.join(file)).unwrap()));
    from_fatbin.chain(more).collect()
}

fn written_by_us(images: &[&(Target, Vec<u8>)], (seed, cuobjdump): (u64, &Path)) {
    let images: Vec<FatbinImage<'_>> =
        images.iter().map(|(target, bytes)| FatbinImage { target, bytes, name: "", options: "" }).collect();
    let packing =
        [Packing::Stored, Packing::Zstd { level: 3 }, Packing::Zstd { level: 19 }][(seed % 3) as usize];
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ours.fatbin");
    let bytes = fatbin::write(&images, packing).unwrap();
    fs::write(&file, &bytes).unwrap();
    let ours = ours(&bytes).unwrap();
    let theirs = theirs(cuobjdump, &file).expect("cuobjdump reads ours");
    assert_eq!(shape(&ours), shape(&theirs), "set {seed}: cuobjdump reads {packing:?}");
    assert!(ours == theirs, "set {seed}: other bytes");
    assert_eq!(ours.values().sum::<usize>(), images.len());
}

fn written_by_nvidia(images: &[&(Target, Vec<u8>)], (seed, fatbinary): (u64, &Path)) {
    let modes: [&[&str]; 5] = [
        &["--compress=false"],
        &[],
        &["--compress-all"],
        &["--compress-all", "--compress-mode=speed"],
        &["--compress-all", "--concat", "--ident=a.cu"],
    ];
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(fatbinary);
    command.args(["--64", "--create=out"]).args(modes[(seed % 5) as usize]).current_dir(dir.path());
    let mut cubins = Vec::new();
    for (number, (target, bytes)) in images.iter().enumerate() {
        let text = target.to_string();
        let (family, arch) = text.split_once(":sm_").unwrap();
        let kind = if family == "cubin" { "elf" } else { "ptx" };
        fs::write(dir.path().join(format!("in{number}")), bytes).unwrap();
        command.arg(format!("--image3=kind={kind},sm={arch},file=in{number}"));
        if kind == "elf" {
            cubins.push(bytes.clone());
        }
    }
    run(&mut command);
    let file = fs::read(dir.path().join("out")).unwrap();
    let found = ours(&file).unwrap();
    assert_eq!(found.values().sum::<usize>(), images.len(), "set {seed}");
    // PTX is written without its comments.
    let mut read: Vec<Vec<u8>> = found
        .into_iter()
        .filter(|((name, _), _)| name.ends_with(".cubin"))
        .flat_map(|((_, bytes), count)| vec![bytes; count])
        .collect();
    read.sort();
    cubins.sort();
    assert!(read == cubins, "set {seed}: other cubins");
}
