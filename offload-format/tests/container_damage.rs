//! Damaged containers: no reader panics, takes long, or takes more memory than its input and its limits allow.
#![cfg(all(feature = "ccob", feature = "fatbin", feature = "ocloc"))]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

#[path = "damage/allocations.rs"]
mod allocations;

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use offload_format::bundle::{self, Comment, Image};
use offload_format::ccob::{self, Container, Version};
use offload_format::{Limits, fatbin, ocloc};

/// Raised by `OFFLOAD_DAMAGE_EDITS` for a long run.
const EDITS: u64 = 20_000;
/// The longest that one case may take.
const LONGEST: Duration = Duration::from_millis(100);
/// What the cases may inflate.
const RAW_BYTES: u64 = 1 << 20;

/// A file, how many of its first bytes are attacked one by one, and what reads it to the end.
struct Sample {
    name: &'static str,
    bytes: Vec<u8>,
    header: usize,
    read: fn(&[u8], &Limits) -> Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Accepted,
    Refused,
}

fn outcome<T, E>(result: Result<T, E>) -> Outcome {
    if result.is_ok() { Outcome::Accepted } else { Outcome::Refused }
}

fn read_containers(input: &[u8], limits: &Limits) -> Outcome {
    let mut found = Outcome::Accepted;
    for container in ccob::containers(input, limits) {
        let read = container.and_then(|(_, container)| match container {
            Container::Compressed(ccob) => {
                bundle::parse(&ccob.inflate(limits)?, limits).map(|read| read.size)
            }
            Container::Bundle(read) => Ok(read.size),
            other => panic!("{other:?}"),
        });
        if read.is_err() {
            found = Outcome::Refused;
        }
    }
    let _ = ccob::size(input);
    found
}

fn read_fatbins(input: &[u8], limits: &Limits) -> Outcome {
    let mut found = Outcome::Accepted;
    for container in fatbin::fatbins(input, limits) {
        let read = container.map(|(_, container)| {
            container
                .entries
                .iter()
                .all(|entry| entry.images(limits).is_ok() && entry.record.arch().len() > 3)
        });
        if read != Ok(true) {
            found = Outcome::Refused;
        }
    }
    found
}

fn read_ocloc(input: &[u8], limits: &Limits) -> Outcome {
    let archive = ocloc::parse(input, limits);
    let elf = |member: &ocloc::Member<'_>| ocloc::parse_elf(member.data).is_ok();
    outcome(archive.map_err(|_| ()).and_then(|archive| {
        let complete = archive.spirv().is_ok() && archive.members.iter().all(elf);
        complete.then_some(()).ok_or(())
    }))
}

fn samples() -> Vec<Sample> {
    let data = |name: &str| {
        std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
    };
    let code = [data("saxpy-reduce-gfx90a.co"), data("device-gfx1100.co")];
    let ids = ["hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "hipv4-amdgcn-amd-amdhsa--gfx1100"];
    let host = Image { id: "host-x86_64-unknown-linux-gnu-", bytes: b"" };
    let images: Vec<_> =
        std::iter::once(host).chain(ids.iter().zip(&code).map(|(id, bytes)| Image { id, bytes })).collect();
    let bundle = bundle::write(&images, 64).unwrap();
    let zlib = |version: u8| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &bundle).unwrap();
        let stream = encoder.finish().unwrap();
        let header = ccob::write(&bundle, Version::V2, 1).unwrap();
        let size = u32::to_le_bytes(stream.len() as u32 + 24);
        let size = if version == 1 { &[][..] } else { &size };
        [b"CCOB", &[version, 0, 0, 0][..], size, &header[12..24], &stream].concat()
    };
    let text = [Image { id: ids[0], bytes: b"one\n" }, Image { id: ids[1], bytes: b"two\n" }];
    let sample = |name, bytes, header, read| Sample { name, bytes, header, read };
    vec![
        sample("bundle", bundle.clone(), 192, read_containers),
        sample(
            "bundle in text form",
            bundle::write_text(&text, Comment::Hash).unwrap(),
            80,
            |input, limits| outcome(bundle::parse_text(input, limits)),
        ),
        sample("ccob v1 zlib", zlib(1), 20, read_containers),
        sample("ccob v2 zlib", zlib(2), 24, read_containers),
        sample("ccob v2 zstd", ccob::write(&bundle, Version::V2, 3).unwrap(), 40, read_containers),
        sample("ccob v3 zstd", ccob::write(&bundle, Version::V3, 3).unwrap(), 48, read_containers),
        sample("fatbin stored", data("stored.fatbin"), 80, read_fatbins),
        sample("fatbin zstd", data("zstd.fatbin"), 112, read_fatbins),
        sample("fatbin lz4", data("lz4.fatbin"), 112, read_fatbins),
        sample("fatbin group", data("group.fatbin"), 300, read_fatbins),
        sample("ocloc archive", data("two.ocloc"), 400, read_ocloc),
        sample("ocloc elf", data("saxpy-reduce-dg1.clelf"), 330, |input, _| outcome(ocloc::parse_elf(input))),
    ]
}

/// What became of the cases of one kind.
#[derive(Debug, Default)]
struct Counts {
    accepted: u64,
    refused: u64,
    slowest: Duration,
    most_memory: u64,
}

impl Counts {
    /// Reads one damaged file; the text says what is wrong with the reader.
    fn case(&mut self, sample: &Sample, bytes: &[u8]) -> Result<(), String> {
        let limits = Limits::default().with_raw_bytes(RAW_BYTES);
        let start = Instant::now();
        let (read, peak) = allocations::peak(|| catch_unwind(|| (sample.read)(bytes, &limits)));
        let time = start.elapsed();
        match read.map_err(|_| format!("{}: a panic", sample.name))? {
            Outcome::Accepted => self.accepted += 1,
            Outcome::Refused => self.refused += 1,
        }
        self.slowest = self.slowest.max(time);
        self.most_memory = self.most_memory.max(peak);
        // Structure as for any input, and a container, its images, and the buffer that grew to it.
        let allowed = (1 << 20) + 8 * bytes.len() as u64 + 3 * RAW_BYTES;
        if peak > allowed {
            return Err(format!("{}: {peak} bytes of memory for a file of {}", sample.name, bytes.len()));
        }
        // Another process may hold the machine; the same case is then fast the next time.
        if time > LONGEST && again(sample, bytes, &limits) > LONGEST {
            return Err(format!("{}: {time:?}", sample.name));
        }
        Ok(())
    }
}

fn again(sample: &Sample, bytes: &[u8], limits: &Limits) -> Duration {
    let start = Instant::now();
    let _ = (sample.read)(bytes, limits);
    start.elapsed()
}

const VALUES: [u64; 22] = [
    0,
    1,
    2,
    7,
    8,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fff0,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fff8,
    0xffff_ffff_ffff_ffff,
];

fn attack(sample: &Sample, edits: u64) -> Result<[Counts; 4], String> {
    let whole = &sample.bytes;
    let mut counts: [Counts; 4] = Default::default();
    let step = (whole.len() / 4000).max(1);
    for end in (0..whole.len()).filter(|end| *end < sample.header * 2 || end % step == 0) {
        counts[0].case(sample, &whole[..end])?;
    }
    for bit in 0..sample.header * 8 {
        let mut bad = whole.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        counts[1].case(sample, &bad)?;
    }
    for at in (0..sample.header).step_by(2) {
        for (value, size) in VALUES.iter().flat_map(|value| [(value, 2), (value, 4), (value, 8)]) {
            let mut bad = whole.clone();
            let end = (at + size).min(bad.len());
            bad[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
            counts[2].case(sample, &bad)?;
        }
    }
    let mut random = Random(sample.name.len() as u64);
    for _ in 0..edits {
        counts[3].case(sample, &random.edited(sample))?;
    }
    Ok(counts)
}

/// A linear congruential generator: the same cases each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    /// Up to six changes, most of them in the header; at times a part is cut out or comes twice.
    fn edited(&mut self, sample: &Sample) -> Vec<u8> {
        let mut bytes = sample.bytes.clone();
        for _ in 0..=self.below(6) {
            let end = if self.below(4) == 0 { bytes.len() } else { sample.header.min(bytes.len()) };
            let at = self.below(end);
            match self.below(8) {
                0 => bytes.truncate(self.below(bytes.len() + 1)),
                1 => drop(bytes.drain(at..(at + self.below(64)).min(end).max(at))),
                2 => bytes.extend_from_within(at..(at + self.below(64)).min(end).max(at)),
                3 | 4 if at + 8 <= bytes.len() => {
                    let (value, size) = (VALUES[self.below(VALUES.len())], [2, 4, 8][self.below(3)]);
                    bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
                }
                _ if !bytes.is_empty() => bytes[at.min(end - 1)] = self.below(256) as u8,
                _ => {}
            }
        }
        bytes
    }
}

#[test]
fn damaged_containers_are_refused_or_read() {
    let edits = std::env::var("OFFLOAD_DAMAGE_EDITS").map_or(EDITS, |text| text.parse().expect("a number"));
    for sample in samples() {
        assert_eq!((sample.read)(&sample.bytes, &Limits::default()), Outcome::Accepted, "{}", sample.name);
        let counts = attack(&sample, edits).unwrap_or_else(|failure| panic!("{failure}"));
        for (kind, counts) in ["truncated", "bits", "values", "edits"].iter().zip(&counts) {
            println!("{}, {kind}: {counts:?}", sample.name);
        }
        // Damage that never gets past the magic proves nothing.
        let accepted: u64 = counts.iter().map(|counts| counts.accepted).sum();
        let refused: u64 = counts.iter().map(|counts| counts.refused).sum();
        assert!(refused > 1000 && accepted > 0, "{}: {accepted} accepted, {refused} refused", sample.name);
    }
}

/// Readers with the faults that the others must not have.
#[test]
fn the_attack_finds_what_is_planted() {
    let bundle = || samples().swap_remove(0);
    std::panic::set_hook(Box::new(|_| {}));
    let unchecked = Sample {
        read: |input, _| {
            let size = input.get(40..48).map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
            if input.len() > 64 && size < 1 << 40 {
                std::hint::black_box(&input[64..64 + size as usize]);
            }
            Outcome::Refused
        },
        ..bundle()
    };
    let found = attack(&unchecked, 100);
    let _ = std::panic::take_hook();
    assert_eq!(found.unwrap_err(), "bundle: a panic");
    let greedy = Sample {
        read: |input, _| {
            let count = input.get(24..28).map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().unwrap()));
            outcome(Vec::<u64>::new().try_reserve_exact(std::hint::black_box(count) as usize))
        },
        ..bundle()
    };
    assert!(attack(&greedy, 100).unwrap_err().contains("bytes of memory"));
    let slow = Sample {
        read: |input, _| {
            std::thread::sleep(Duration::from_millis(if input.len() == 7 { 150 } else { 0 }));
            Outcome::Refused
        },
        ..bundle()
    };
    assert!(attack(&slow, 0).unwrap_err().contains("ms"));
}
