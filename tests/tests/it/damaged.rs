//! Damaged programs: where `verify` says that all is well, every image is there and is the original.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::carried::Linked;
use crate::support::cargo_offload;
use crate::support::processors::on_all_processors;
use crate::support::script::{Files, differences, files};
use object::read::{Object, ObjectSection};

/// Damaged programs of each run.
const SAMPLE: u64 = 500;
const ALL: u64 = 11_000;
/// What leads to images, and they themselves.
const SECTIONS: [&str; 4] = ["offload_tab", ".note.offload", ".lrodata.offload", ".lrodata"];

/// xorshift: the same damage on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// A program, the ranges that are damaged, and its images.
struct Original {
    bytes: Vec<u8>,
    ranges: Vec<Range<usize>>,
    images: Files,
}

/// What became of damaged programs.
#[derive(Default)]
struct Counts {
    refused: u64,
    sound: u64,
    wrong: Vec<String>,
}

impl Original {
    fn new() -> Original {
        let linked = Linked::new("rust-lld");
        let app = linked.path("app");
        assert!(Command::new("strip").arg(&app).status().unwrap().success());
        let bytes = fs::read(&app).unwrap();
        let images = extracted(linked.dir.path(), &app).expect("the program is sound");
        let ranges = ranges(&bytes);
        assert!(ranges.len() >= 4 && images.len() >= 4, "{ranges:?}, {} images", images.len());
        Original { bytes, ranges, images }
    }

    /// One to four changes: a bit, a byte, a number of eight bytes, or a copy of other bytes.
    fn damaged(&self, number: u64) -> Vec<u8> {
        let mut random = Random(number * 2 + 1);
        let mut bytes = self.bytes.clone();
        for _ in 0..8 {
            random.below(2);
        }
        for _ in 0..=random.below(4) {
            let range = self.ranges[random.below(self.ranges.len())].clone();
            // Half of them in what comes first: headers and tables.
            let size = if random.below(2) == 0 { range.len().min(256) } else { range.len() };
            let at = range.start + random.below(size);
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = random.below(256) as u8,
                2 => {
                    let value = [0, 1, u64::MAX, random.0, self.bytes.len() as u64][random.below(5)];
                    let end = (at + 8).min(bytes.len());
                    bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
                }
                _ => {
                    let from = range.start + random.below(range.len());
                    let count = 1 + random.below(16);
                    let count = count.min(bytes.len() - at.max(from));
                    bytes.copy_within(from..from + count, at);
                }
            }
        }
        bytes
    }

    fn judge(&self, directory: &Path, number: u64, counts: &mut Counts) {
        let program = directory.join("app");
        fs::write(&program, self.damaged(number)).unwrap();
        let verified =
            Command::new(cargo_offload()).arg("verify").arg(&program).current_dir("/").output().unwrap();
        match verified.status.code() {
            Some(0) => match extracted(directory, &program) {
                Some(images) if images == self.images => counts.sound += 1,
                Some(images) => {
                    counts.wrong.push(format!("{number}: {:?}", differences(&images, &self.images)));
                }
                None => counts.wrong.push(format!("{number}: extract fails")),
            },
            Some(_) => counts.refused += 1,
            None => counts.wrong.push(format!("{number}: verify ends with {}", verified.status)),
        }
    }
}

/// The images of a program, by file name; `None` if that fails.
fn extracted(directory: &Path, program: &Path) -> Option<Files> {
    let images = directory.join("images");
    let _ = fs::remove_dir_all(&images);
    let mut command = Command::new(cargo_offload());
    command.args(["extract", "--output"]).arg(&images).arg(program).current_dir("/");
    command.output().unwrap().status.success().then(|| files(&images))
}

/// The headers of the ELF file, and the sections of images.
fn ranges(bytes: &[u8]) -> Vec<Range<usize>> {
    let file = object::File::parse(bytes).unwrap();
    let named: BTreeMap<String, Range<usize>> = file
        .sections()
        .filter_map(|section| {
            let (start, size) = section.file_range()?;
            Some((section.name().ok()?.to_string(), start as usize..(start + size) as usize))
        })
        .collect();
    let headers = 0..64 + 56 * 12;
    std::iter::once(headers).chain(SECTIONS.iter().filter_map(|name| named.get(*name).cloned())).collect()
}

#[test]
fn what_verify_accepts_has_all_images() {
    let original = Original::new();
    let count = if offload_tests::is_full() { ALL } else { SAMPLE };
    let counts = on_all_processors(count, |numbers| {
        let directory = tempfile::tempdir().unwrap();
        let mut counts = Counts::default();
        numbers.for_each(|number| original.judge(directory.path(), number, &mut counts));
        counts
    });
    let wrong: Vec<&String> = counts.iter().flat_map(|counts| &counts.wrong).collect();
    assert!(wrong.is_empty(), "{} of {count}: {:?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    let refused = counts.iter().map(|counts| counts.refused).sum::<u64>();
    let sound = counts.iter().map(|counts| counts.sound).sum::<u64>();
    // Both have to happen, or nothing was compared.
    assert!(refused > count / 10 && sound > 0, "{refused} refused, {sound} sound");
    let tried = format!("{count} damaged programs, {refused} refused, {sound} with all images");
    offload_tests::figure(tried, "0 accepted without an image");
}

/// Damaged programs that `devices` is asked about.
const ASKED: u64 = 25;
const ALL_ASKED: u64 = 1000;
/// What an optimised build may take: a start, and so much for each MiB of the file.
const START: Duration = Duration::from_millis(50);
const EACH_MIB: Duration = Duration::from_millis(400);
/// How much slower the tests' own build hashes and parses.
const SLOWER: u32 = 5;

/// It judges every image for every device, whatever the tables say.
#[test]
fn devices_are_told_in_time_of_whatever_is_damaged() {
    let original = Original::new();
    let count = if offload_tests::is_full() { ALL_ASKED } else { ASKED };
    let limit = (START + EACH_MIB.mul_f64(original.bytes.len() as f64 / f64::from(1 << 20))) * SLOWER;
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("app");
    let mut slowest = Duration::ZERO;
    for number in 0..count {
        fs::write(&program, original.damaged(number)).unwrap();
        let mut command = Command::new(cargo_offload());
        command.arg("devices").arg(&program).current_dir("/");
        // Drivers take time of their own.
        command.env("OCL_ICD_VENDORS", "/nonexistent").env("OCL_ICD_FILENAMES", "");
        let start = Instant::now();
        let output = command.output().unwrap();
        let time = start.elapsed();
        assert!(output.status.code().is_some_and(|code| code < 4), "{number}: {}", output.status);
        assert!(time <= limit, "{number}: {time:?}, and {limit:?} are allowed");
        slowest = slowest.max(time);
    }
    let tried = format!("`devices` on {count} damaged programs of {} kB", original.bytes.len() / 1000);
    offload_tests::figure(tried, format!("at most {} ms in a build for tests", slowest.as_millis()));
}
