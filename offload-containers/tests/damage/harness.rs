//! Makes damaged files of samples, and watches a reader decode them.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::allocations;
use crate::random::Random;

const SLOW: Duration = Duration::from_millis(100);
/// Files with random edits in an ordinary test run.
const EDITS: usize = 2_000;

/// A reader with files that it reads.
pub struct Reader {
    pub name: &'static str,
    pub samples: Vec<Sample>,
    /// Reads a file; what is accepted is looked at to the end. The result is how many bytes were made of it beyond what
    /// was inflated, `None` if it was refused.
    pub decode: fn(&[u8]) -> Option<u64>,
    /// How many bytes the reader may inflate.
    pub inflates: u64,
}

pub struct Sample {
    pub bytes: Vec<u8>,
    pub fields: Vec<Field>,
    /// How many bytes at the start have every bit flipped.
    pub header: usize,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: &'static str,
    pub offset: usize,
    /// 1, 2, 4 or 8.
    pub size: usize,
}

/// `(name, offset, size)` of each field, moved by `base`.
pub fn fields(base: usize, list: &[(&'static str, usize, usize)]) -> Vec<Field> {
    list.iter().map(|(name, offset, size)| Field { name, offset: base + offset, size: *size }).collect()
}

#[derive(Debug, Default)]
struct Count {
    files: u64,
    accepted: u64,
}

/// What went wrong first, with the number of the file.
#[derive(Debug)]
pub struct Failure(pub String);

/// Damages every sample in every way and prints how often.
pub fn torture(reader: &Reader) -> Result<(), Failure> {
    let mut run = Run { reader, counts: BTreeMap::new(), worst: 0, slowest: Duration::ZERO };
    for sample in &reader.samples {
        assert!((reader.decode)(&sample.bytes).is_some(), "{}: a sample is refused", reader.name);
        run.truncations(sample)?;
        run.bits(sample)?;
        run.boundaries(sample)?;
    }
    run.edits()?;
    run.print();
    Ok(())
}

struct Run<'a> {
    reader: &'a Reader,
    counts: BTreeMap<&'static str, Count>,
    worst: u64,
    slowest: Duration,
}

impl Run<'_> {
    fn truncations(&mut self, sample: &Sample) -> Result<(), Failure> {
        (0..sample.bytes.len()).try_for_each(|size| self.case("(truncated)", &sample.bytes[..size]))
    }

    fn bits(&mut self, sample: &Sample) -> Result<(), Failure> {
        for bit in 0..sample.header.min(sample.bytes.len()) * 8 {
            let mut bytes = sample.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            self.case("(bit of a header)", &bytes)?;
        }
        Ok(())
    }

    /// Values at which sums wrap, sizes that just fit or just do not, and every offset of the sample for small ones.
    fn boundaries(&mut self, sample: &Sample) -> Result<(), Failure> {
        let size = sample.bytes.len() as u64;
        let powers = (0..64).flat_map(|power| near(1 << power));
        let sizes =
            [0, 8, 16, 24, 32, 40, 48, 56, size, size / 2, size.wrapping_neg(), u64::MAX - 7].map(near);
        let values: Vec<u64> = powers.chain(sizes.into_iter().flatten()).collect();
        for field in &sample.fields {
            let old = number(&sample.bytes, field.offset, field.size);
            // In a narrow field many values are the same.
            let mask = u64::MAX >> (64 - 8 * field.size);
            let values: BTreeSet<u64> =
                values.iter().copied().chain(near(old)).map(|value| value & mask).collect();
            for value in values {
                let mut bytes = sample.bytes.clone();
                set(&mut bytes, field, value);
                self.case(field.name, &bytes)?;
            }
        }
        Ok(())
    }

    fn edits(&mut self) -> Result<(), Failure> {
        let edits = std::env::var("OFFLOAD_DAMAGE_EDITS").map_or(EDITS, |edits| edits.parse().unwrap());
        let mut random = Random(self.reader.name.len() as u64);
        for _ in 0..edits {
            let sample = &self.reader.samples[random.below(self.reader.samples.len())];
            let mut bytes = sample.bytes.clone();
            for _ in 0..=random.below(4) {
                edit(&mut bytes, sample, &mut random);
            }
            self.case("(random edits)", &bytes)?;
        }
        Ok(())
    }

    fn case(&mut self, what: &'static str, bytes: &[u8]) -> Result<(), Failure> {
        let mut result = None;
        let mut used = 0;
        let mut time = Duration::MAX;
        // A machine with more to do makes every case slow now and then; a slow reader is so each time.
        for _ in 0..4 {
            let start = Instant::now();
            (result, used) =
                allocations::peak(|| catch_unwind(AssertUnwindSafe(|| (self.reader.decode)(bytes))).ok());
            time = time.min(start.elapsed());
            if time <= SLOW {
                break;
            }
        }
        let Some(decoded) = result else { return Err(self.failure("a panic", what, bytes)) };
        // What is inflated may be held twice while its buffer grows, and a part of it once more.
        let limit = (1 << 20) + 8 * bytes.len() as u64 + 3 * self.reader.inflates + decoded.unwrap_or(0);
        if used > limit {
            return Err(self.failure(&format!("{used} bytes of memory, more than {limit},"), what, bytes));
        }
        if time > SLOW {
            return Err(self.failure(&format!("{} ms", time.as_millis()), what, bytes));
        }
        let count = self.counts.entry(what).or_default();
        count.files += 1;
        count.accepted += u64::from(decoded.is_some());
        self.worst = self.worst.max(used);
        self.slowest = self.slowest.max(time);
        Ok(())
    }

    fn failure(&self, why: &str, what: &str, bytes: &[u8]) -> Failure {
        Failure(format!("{}: {why} with {what} changed, {bytes:02x?}", self.reader.name))
    }

    fn print(&self) {
        let files: u64 = self.counts.values().map(|count| count.files).sum();
        println!(
            "{}: {files} files, no panic, slowest {} us, most memory {} bytes",
            self.reader.name,
            self.slowest.as_micros(),
            self.worst
        );
        for (name, count) in &self.counts {
            println!("    {name}: {} files, {} accepted", count.files, count.accepted);
        }
    }
}

fn near(value: u64) -> [u64; 3] {
    [value.wrapping_sub(1), value, value.wrapping_add(1)]
}

/// The same, of a size or an offset.
pub fn size_at(bytes: &[u8], offset: usize, size: usize) -> usize {
    number(bytes, offset, size) as usize
}

/// The little-endian number of `size` bytes at `offset`.
pub fn number(bytes: &[u8], offset: usize, size: usize) -> u64 {
    let mut value = [0; 8];
    value[..size].copy_from_slice(&bytes[offset..offset + size]);
    u64::from_le_bytes(value)
}

fn set(bytes: &mut [u8], field: &Field, value: u64) {
    bytes[field.offset..field.offset + field.size].copy_from_slice(&value.to_le_bytes()[..field.size]);
}

/// One edit: a byte, a field, a hole, a repetition, or the end.
fn edit(bytes: &mut Vec<u8>, sample: &Sample, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    let size = 1 + random.below(16).min(bytes.len() - at - 1);
    match random.below(8) {
        0 | 1 => bytes[at] = random.next() as u8,
        2 => bytes[at] ^= 1 << random.below(8),
        3 | 4 if !sample.fields.is_empty() => {
            let field = &sample.fields[random.below(sample.fields.len())];
            let value = match random.below(3) {
                0 => random.next(),
                1 => random.below(2 * bytes.len()) as u64,
                _ => 1u64 << random.below(64),
            };
            if field.offset + field.size <= bytes.len() {
                set(bytes, field, value);
            }
        }
        5 => drop(bytes.drain(at..at + size)),
        6 => {
            let part = bytes[at..at + size].to_vec();
            bytes.splice(at..at, part);
        }
        _ => bytes.truncate(at),
    }
}

/// A reader whose author forgot one comparison.
fn careless(bytes: &[u8]) -> Option<u64> {
    let magic = bytes.get(..4)?;
    if magic != b"TEST" {
        return None;
    }
    let offset = u16::from_le_bytes(bytes.get(4..6)?.try_into().ok()?) as usize;
    let _ = bytes[offset];
    Some(0)
}

/// A reader that believes a count.
fn greedy(bytes: &[u8]) -> Option<u64> {
    let count = u16::from_le_bytes(bytes.get(4..6)?.try_into().ok()?);
    let list: Vec<[u8; 64]> = Vec::with_capacity(count.into());
    std::hint::black_box(&list);
    Some(0)
}

fn planted(decode: fn(&[u8]) -> Option<u64>, field: usize) -> Reader {
    let bytes = b"TEST\x01\0\0\0".to_vec();
    let fields = fields(0, &[("offset", 4, field)]);
    Reader { name: "planted", samples: vec![Sample { bytes, fields, header: 8 }], decode, inflates: 0 }
}

#[test]
fn a_missing_bounds_check_is_caught() {
    let Failure(why) = torture(&planted(careless, 2)).unwrap_err();
    assert!(why.contains("a panic"), "{why}");
}

#[test]
fn memory_by_a_believed_count_is_caught() {
    let Failure(why) = torture(&planted(greedy, 2)).unwrap_err();
    assert!(why.contains("bytes of memory"), "{why}");
}

#[test]
fn a_slow_reader_is_caught() {
    fn slow(bytes: &[u8]) -> Option<u64> {
        if bytes.len() == 7 {
            std::thread::sleep(SLOW + SLOW);
        }
        Some(0)
    }
    let Failure(why) = torture(&planted(slow, 4)).unwrap_err();
    assert!(why.contains(" ms with (truncated)"), "{why}");
}
