//! The same damaged containers for LLVM's tools and for this project's: who dies, who writes other bytes and says that all is
//! well, and whether both write the same where both say so.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::cargo_offload;
use crate::support::processors::on_all_processors;
use crate::support::script::succeed;
use offload_containers::bundle::{self, BundleId, BundleImage};
use offload_containers::ccob;
use offload_containers::offload_binary::{NewEntry, Version, write};
use offload_format::{ImageKind, OffloadKind};

/// Damaged files of each container.
const ALL: u64 = 2000;
/// What a sample takes: each is some ten processes.
const SAMPLE: u64 = 15;
/// Releases of LLVM that are compared where they are installed; the first has to be.
const RELEASES: [u32; 2] = [22, 19];
const PROCESSORS: [&str; 2] = ["gfx90a", "gfx1100"];

/// A container with two images, and how LLVM reads it.
struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    /// Whether every damage to images can be seen.
    has_checksum: bool,
    llvm: fn(&Tools, &Path) -> Command,
    ours: &'static str,
}

impl Case {
    fn new(
        name: &'static str,
        bytes: Vec<u8>,
        llvm: fn(&Tools, &Path) -> Command,
        ours: &'static str,
    ) -> Case {
        Case { name, bytes, has_checksum: false, llvm, ours }
    }
}

/// LLVM's tools of one release.
struct Tools {
    release: u32,
    bundler: PathBuf,
    packager: PathBuf,
    objdump: PathBuf,
}

/// How often which end came.
#[derive(Default)]
struct Ends {
    died: u64,
    refused: u64,
    right: u64,
    wrong: u64,
    /// LLVM has written an image that this project has not, and both say that all is well.
    otherwise: Vec<u64>,
}

impl Tools {
    fn find(release: u32) -> Option<Tools> {
        let bin = PathBuf::from(format!("/usr/lib/llvm-{release}/bin"));
        // It got another name.
        let packager = if release < 22 { "clang-offload-packager" } else { "llvm-offload-binary" };
        let bundler = existing(&bin, "clang-offload-bundler")?;
        let packager = existing(&bin, packager)?;
        let objdump = existing(&bin, "llvm-objdump")?;
        Some(Tools { release, bundler, packager, objdump })
    }
}

fn existing(bin: &Path, name: &str) -> Option<PathBuf> {
    Some(bin.join(name)).filter(|path| path.is_file())
}

/// Of two kinds of text, so that they compress.
fn images() -> [Vec<u8>; 2] {
    [b"one image ", b"the other "].map(|text| text.repeat(40))
}

fn ids() -> [String; 2] {
    PROCESSORS.map(|processor| BundleId::hip(processor).to_string())
}

fn unbundle(tools: &Tools, file: &Path) -> Command {
    let mut command = Command::new(&tools.bundler);
    command.args(["-unbundle", "-type=o"]).arg(format!("-input={}", file.display()));
    command.arg(format!("-targets={}", ids().join(",")));
    command.args(["-output=out0", "-output=out1"]);
    command
}

fn extract(tools: &Tools, file: &Path) -> Command {
    let mut command = Command::new(&tools.packager);
    command.arg(file).args((0..2).map(|id| format!("--image=file=out{id},id={id}")));
    command
}

fn list(tools: &Tools, file: &Path) -> Command {
    let mut command = Command::new(&tools.objdump);
    command.arg("--offloading").arg(file);
    command
}

fn cases(tools: &Tools, directory: &Path) -> Vec<Case> {
    let images = images();
    let ids = ids();
    let entries: Vec<NewEntry<'_>> = (images.iter().zip(["0", "1"]))
        .map(|(image, id)| {
            let entry = NewEntry::new(ImageKind::Object, OffloadKind::OpenMp, image);
            entry.with_string("triple", "x").with_string("arch", "y").with_string("id", id)
        })
        .collect();
    let binary = write(&entries, Version::V1).unwrap();
    let parts: Vec<BundleImage<'_>> =
        ids.iter().zip(&images).map(|(id, bytes)| BundleImage { id, bytes }).collect();
    let plain = bundle::write(&parts, 8).unwrap();
    let ours = ccob::write(&plain, ccob::Version::V2, 3).unwrap();
    let theirs = compressed_by(tools, directory, &images);
    vec![
        Case::new("OffloadBinary, listed", binary.clone(), list, "inspect"),
        Case::new("OffloadBinary", binary, extract, "extract"),
        Case::new("bundle", plain, unbundle, "extract"),
        Case { has_checksum: true, ..Case::new("compressed bundle of LLVM's", theirs, unbundle, "extract") },
        Case { has_checksum: true, ..Case::new("compressed bundle of ours", ours, unbundle, "extract") },
    ]
}

fn compressed_by(tools: &Tools, directory: &Path, images: &[Vec<u8>; 2]) -> Vec<u8> {
    let mut command = Command::new(&tools.bundler);
    command.args(["-type=o", "-compress", "-output=theirs"]).arg(format!("-targets={}", ids().join(",")));
    for (number, image) in images.iter().enumerate() {
        fs::write(directory.join(format!("in{number}")), image).unwrap();
        command.arg(format!("-input=in{number}"));
    }
    succeed(command.current_dir(directory));
    fs::read(directory.join("theirs")).unwrap()
}

/// One to three changes at places that a generator chooses; in one of eight files the end is cut off.
fn damaged(bytes: &[u8], number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = bytes.to_vec();
    if below(&mut state, 8) == 0 {
        bytes.truncate(below(&mut state, bytes.len()));
        return bytes;
    }
    for _ in 0..=below(&mut state, 3) {
        let at = below(&mut state, bytes.len());
        match below(&mut state, 3) {
            0 => bytes[at] ^= 1 << below(&mut state, 8),
            1 => bytes[at] = below(&mut state, 256) as u8,
            _ => {
                let value = [0u64, 1, u64::MAX, 1 << 31, 1 << 40, bytes.len() as u64][below(&mut state, 6)];
                let end = (at / 4 * 4 + 8).min(bytes.len());
                let start = at / 4 * 4;
                bytes[start..end].copy_from_slice(&value.to_le_bytes()[..end - start]);
            }
        }
    }
    bytes
}

/// The next random number below `limit`.
fn below(state: &mut u64, limit: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state % limit as u64) as usize
}

/// Ends here, and with each release of LLVM.
struct Sides {
    ours: Ends,
    theirs: Vec<Ends>,
}

impl Sides {
    fn new(releases: usize) -> Sides {
        let mut theirs = Vec::new();
        theirs.resize_with(releases, Ends::default);
        Sides { ours: Ends::default(), theirs }
    }

    /// Both sides for the damaged files with these numbers.
    fn for_files(case: &Case, tools: &[Tools], numbers: impl Iterator<Item = u64>) -> Sides {
        let lists = case.ours == "inspect";
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("damaged");
        let mut sides = Sides::new(tools.len());
        for number in numbers {
            fs::write(&file, damaged(&case.bytes, number)).unwrap();
            let ours = sides.ours.add(Command::new(cargo_offload()).arg(case.ours).arg(&file), lists);
            for (ends, tools) in sides.theirs.iter_mut().zip(tools) {
                let theirs = ends.add(&mut (case.llvm)(tools, &file), lists);
                if let (Some(ours), Some(theirs)) = (&ours, theirs)
                    && theirs.iter().any(|image| !ours.contains(image))
                {
                    ends.otherwise.push(number);
                }
            }
        }
        sides
    }

    /// Those of `count` damaged files, on all processors.
    fn of_all(case: &Case, tools: &[Tools], count: u64) -> Sides {
        let parts = on_all_processors(count, |numbers| Sides::for_files(case, tools, numbers));
        parts.into_iter().fold(Sides::new(tools.len()), |mut all, part| {
            all.ours.join(&part.ours);
            all.theirs.iter_mut().zip(&part.theirs).for_each(|(all, part)| all.join(part));
            all
        })
    }
}

impl Ends {
    fn join(&mut self, other: &Ends) {
        self.died += other.died;
        self.refused += other.refused;
        self.right += other.right;
        self.wrong += other.wrong;
        self.otherwise.extend(&other.otherwise);
    }

    /// Runs `command` in an empty directory, and looks at the images that it has written; `None` where it fails.
    fn add(&mut self, command: &mut Command, lists: bool) -> Option<Vec<Vec<u8>>> {
        let directory = tempfile::tempdir().unwrap();
        // What claims terabytes must not get them, and nothing may run for ever.
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -v 4194304; ulimit -t 10; ulimit -f 131072; exec \"$0\" \"$@\""]);
        limited.arg(command.get_program()).args(command.get_args()).current_dir(directory.path());
        let status = limited.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        let wanted = images();
        if status.signal().is_some() || status.code().is_some_and(|code| code > 128) {
            self.died += 1;
            return None;
        }
        if !status.success() {
            self.refused += 1;
            return None;
        }
        let images = found(directory.path());
        if lists || images.iter().all(|image| wanted.contains(image)) {
            self.right += 1;
        } else {
            self.wrong += 1;
        }
        Some(images)
    }
}

/// What was written, without what is empty: an image that is not there.
fn found(directory: &Path) -> Vec<Vec<u8>> {
    let mut images = Vec::new();
    for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() { images.extend(found(&path)) } else { images.push(fs::read(&path).unwrap()) }
    }
    images.retain(|image| !image.is_empty());
    images
}

#[test]
fn damaged_containers_beside_llvm_s_tools() {
    let count = if offload_tests::is_full() { ALL } else { SAMPLE };
    if offload_tests::require("clang-offload-bundler-22").is_none() {
        return;
    }
    let all: Vec<Tools> = RELEASES.into_iter().filter_map(Tools::find).collect();
    let directory = tempfile::tempdir().unwrap();
    // The first call waits for cargo to build it.
    cargo_offload();
    for case in cases(&all[0], directory.path()) {
        let Sides { ours, theirs } = Sides::of_all(&case, &all, count);
        println!("{}: {count} damaged files", case.name);
        let named = all.iter().map(|tools| format!("LLVM {}", tools.release));
        for (who, ends) in
            std::iter::once("ours".to_string()).chain(named).zip(std::iter::once(&ours).chain(&theirs))
        {
            let Ends { died, refused, right, wrong, .. } = ends;
            println!(
                "    {who}: {died} died, {wrong} other bytes with exit 0, {refused} refused, {right} right"
            );
        }
        let llvm = theirs.iter().zip(&all);
        let llvm: Vec<String> = llvm
            .map(|(ends, tools)| {
                let otherwise = ends.otherwise.len();
                format!(
                    "LLVM {}: {} died, {} wrong, {otherwise} read otherwise than here",
                    tools.release, ends.died, ends.wrong
                )
            })
            .collect();
        let wrong = if case.has_checksum { "wrong" } else { "wrong (nothing to compare)" };
        let found = format!("{} died, {} {wrong} [{}]", ours.died, ours.wrong, llvm.join("; "));
        offload_tests::figure(format!("{count} of {}", case.name), found);
        assert_eq!(ours.died, 0, "{}", case.name);
        for (ends, tools) in theirs.iter().zip(&all) {
            let release = tools.release;
            let otherwise = &ends.otherwise;
            assert!(otherwise.is_empty(), "{}: LLVM {release} read others: {otherwise:?}", case.name);
        }
        assert!(!case.has_checksum || ours.wrong == 0, "{}: {} wrong", case.name, ours.wrong);
    }
}
