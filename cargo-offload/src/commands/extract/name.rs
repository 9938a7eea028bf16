//! File names derived from names in input files: unique, and never outside of the output directory.

use std::collections::{BTreeMap, BTreeSet};

use object::FileKind;

use crate::files::name::sound;
use crate::read::records::{ImageRecord, Origin};

/// Longest part of a name that comes from a file; file systems allow 255 bytes for the whole.
const LONGEST: usize = 60;

/// The names that were given so far, in lower case: some file systems do not tell cases apart.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    /// By the name without a number: which number comes next. A file may have a million images of one name.
    next: BTreeMap<String, u64>,
}

impl Names {
    /// `blas.N=2.amdgcn-gfx90a.co`; images for the CPU end as `host` says.
    pub(super) fn name_image(&mut self, image: &ImageRecord, host: HostEnding) -> String {
        let ending = if image.image_kind == "host" { host.0 } else { ending(image) };
        self.unique(&words(image), ending)
    }

    /// The same for a frame of a pack or a whole container.
    pub(super) fn name_frame(&mut self, image: &ImageRecord) -> String {
        match image.origin {
            Origin::Pack(..) => self.unique(&words(image), codec_ending(&image.codec)),
            Origin::Container(..) => self.unique(&safe(&image.module), container_ending(image)),
        }
    }

    fn unique(&mut self, stem: &str, ending: &str) -> String {
        let stem = sound(stem);
        let plain = format!("{stem}.{ending}");
        if self.taken.insert(plain.to_lowercase()) {
            return plain;
        }
        let next = self.next.entry(plain.to_lowercase()).or_insert(2);
        loop {
            let name = format!("{stem}-{next}.{ending}");
            *next = next.saturating_add(1);
            if self.taken.insert(name.to_lowercase()) {
                return name;
            }
        }
    }
}

/// How the names of a pack's images for the CPU end: they are libraries for the system of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostEnding(&'static str);

impl Default for HostEnding {
    fn default() -> HostEnding {
        HostEnding("so")
    }
}

impl HostEnding {
    /// What loaders expect of the library `bytes`.
    pub(super) fn for_library(bytes: &[u8]) -> HostEnding {
        match FileKind::parse(bytes) {
            Ok(FileKind::Pe32 | FileKind::Pe64) => HostEnding("dll"),
            Ok(FileKind::MachO32 | FileKind::MachO64) => HostEnding("dylib"),
            _ => HostEnding::default(),
        }
    }
}

/// The names of folders for the files of an archive.
#[derive(Debug, Default)]
pub(super) struct Folders {
    taken: BTreeSet<String>,
}

impl Folders {
    /// `x-_C.so` of `x.whl: x/_C.so`.
    pub(super) fn name_member(&mut self, member: &str) -> String {
        let inner = member.split_once(": ").map_or(member, |(_, inner)| inner);
        let end: Vec<char> = inner.chars().rev().take(LONGEST).collect();
        let stem = sound(&safe(&end.into_iter().rev().collect::<String>()));
        let numbered = (1u64..).map(|number| match number {
            1 => stem.clone(),
            _ => format!("{stem}-{number}"),
        });
        let mut free = numbered.filter(|name| !self.taken.contains(&name.to_lowercase()));
        let name = free.next().unwrap_or_default();
        self.taken.insert(name.to_lowercase());
        name
    }
}

fn words(image: &ImageRecord) -> String {
    let words = [&image.module, &image.variant, &image.part, &image.name, &image.target];
    let words: Vec<String> =
        words.into_iter().filter(|word| !word.is_empty()).map(|word| safe(word)).collect();
    words.join(".")
}

/// Letters, digits and a few signs stay.
fn safe(word: &str) -> String {
    word.chars()
        .take(LONGEST)
        .map(|c| if c.is_ascii_alphanumeric() || "_-+=.".contains(c) { c } else { '-' })
        .collect()
}

fn ending(image: &ImageRecord) -> &'static str {
    match image.image_kind.as_str() {
        "spirv" | "SPIR-V" => "spv",
        "ptx" | "PTX" => "ptx",
        "cubin" => "cubin",
        "opencl-c" => "cl",
        "host" | "ELF" => "so",
        "bitcode" | "LLVM bitcode" => "bc",
        _ if image.target.starts_with("amdgcn") => "co",
        _ if image.target.starts_with("intel:") => "zebin",
        _ => "bin",
    }
}

fn codec_ending(codec: &str) -> &'static str {
    match codec {
        "raw" => "raw",
        "zstd-chunks" => "frame",
        codec if codec.starts_with("zstd") => "zst",
        codec if codec.starts_with("lzma") => "lzma",
        _ => "frame",
    }
}

fn container_ending(image: &ImageRecord) -> &'static str {
    match image.containers.first().map(String::as_str) {
        Some("CUDA fatbin") => "fatbin",
        Some("clang offload bundle" | "compressed clang offload bundle") => "hipfb",
        Some("OffloadBinary") => "offload",
        Some("SYCLBIN") => "syclbin",
        Some("kpack") => "kpack",
        Some("ocloc archive") => "ar",
        Some("zstd frame") => "zst",
        _ => ending(image),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_directory() {
        for (word, expected) in [
            ("../../etc/passwd", "_.-..-etc-passwd"),
            ("..", "_."),
            ("/abs", "_-abs"),
            ("a\\b:c", "a-b-c"),
            ("\u{202e}gpj", "_-gpj"),
            ("gfx90a:xnack+", "gfx90a-xnack+"),
            ("NUL", "_NUL"),
            ("com1.x", "_com1.x"),
            ("con .x", "con-.x"),
            ("console", "console"),
            ("-rf", "_-rf"),
            ("--output=x", "_--output=x"),
            ("", "image"),
        ] {
            assert_eq!(sound(&safe(word)), expected);
        }
        assert_eq!(safe(&"x".repeat(1000)).len(), LONGEST);
    }

    #[test]
    fn a_name_takes_as_long_whatever_came_before_it() {
        let mut names = Names::default();
        let start = std::time::Instant::now();
        let last = (0..100_000).map(|_| names.unique("m", "bin")).last();
        assert_eq!(last.as_deref(), Some("m-100000.bin"));
        // With a look at each name that came before, it is an hour.
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }

    #[test]
    fn libraries_end_as_their_system_has_it() {
        let mut pe = vec![0; 0x200];
        pe[..2].copy_from_slice(b"MZ");
        pe[0x3c] = 0x40;
        pe[0x40..0x44].copy_from_slice(b"PE\0\0");
        pe[0x58..0x5a].copy_from_slice(&[0x0b, 0x02]);
        assert_eq!(HostEnding::for_library(&pe), HostEnding("dll"));
        assert_eq!(HostEnding::for_library(&0xfeed_facf_u32.to_le_bytes().repeat(8)), HostEnding("dylib"));
        assert_eq!(HostEnding::for_library(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"), HostEnding("so"));
        assert_eq!(HostEnding::for_library(b""), HostEnding("so"));
    }

    #[test]
    fn no_two_names_are_the_same() {
        let mut names = Names::default();
        let given = ["a", "A", "a", "b"].map(|stem| names.unique(stem, "co"));
        assert_eq!(given, ["a.co", "A-2.co", "a-3.co", "b.co"]);
    }
}
