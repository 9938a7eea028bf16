//! Provenance of vendored images: sources, tools and options, recorded beside the pack that a package ships.
//!
//! The record is TOML; `FORMAT.md` describes it. Parsing and writing it is up to the caller, with the feature `serde` or,
//! as in a build script, without.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// The version of the record that this release writes.
pub const VERSION: u32 = 1;

/// The directory of a package that holds its vendored images: `MODULE.pack` and `MODULE.toml` for each kernel module.
pub const DIRECTORY: &str = "offload-vendor";

/// Where the images of a kernel module come from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub struct Provenance {
    /// [`VERSION`]; readers refuse a later one.
    pub version: u32,
    /// The package that has the kernels.
    pub package: String,
    /// The kernel module.
    pub module: String,
    /// The machine whose programs can run images for `host`: architecture and system as cargo names them,
    /// `x86_64-linux`.
    pub machine: String,
    /// The program that made the images, with its version.
    pub made_by: String,
    /// Files of the package that compilers read.
    #[cfg_attr(feature = "serde", serde(rename = "source", default))]
    pub sources: Vec<Material>,
    /// Device libraries of other packages, by name, with package and version; the hash covers all of their inputs.
    #[cfg_attr(feature = "serde", serde(rename = "library", default))]
    pub libraries: Vec<Material>,
    /// Compilers, function libraries and headers from elsewhere.
    #[cfg_attr(feature = "serde", serde(rename = "input", default))]
    pub inputs: Vec<Material>,
    /// The images of the pack.
    #[cfg_attr(feature = "serde", serde(rename = "image", default))]
    pub images: Vec<VendoredImage>,
}

/// A file that went into the images: a material in the terms of in-toto and SLSA (<https://in-toto.io/docs/specs/>).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub struct Material {
    /// A source's path from the package's root, with `/`; of anything else the file's name.
    pub name: String,
    /// The first line of a tool's `--version` output.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub version: Option<String>,
    /// An SPDX expression, if it is known: <https://spdx.dev/learn/handling-license-info/>.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub license: Option<String>,
    /// BLAKE3 of its content, 64 hexadecimal digits.
    pub blake3: String,
}

/// An image of the pack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub struct VendoredImage {
    /// Its target.
    pub target: String,
    /// The values of the module's variant, or empty.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "String::is_empty"))]
    pub variant: String,
    /// The part of a module that is cut, or empty.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "String::is_empty"))]
    pub part: String,
    /// Hash of the options that it was compiled with.
    pub options: String,
    /// Size in bytes.
    pub size: u64,
    /// BLAKE3 of its content, 64 hexadecimal digits.
    pub blake3: String,
}

impl Provenance {
    /// A record of no images, in [`VERSION`]; the other fields are empty.
    pub fn new(package: String, module: String) -> Provenance {
        Provenance {
            version: VERSION,
            package,
            module,
            machine: String::new(),
            made_by: String::new(),
            sources: Vec::new(),
            libraries: Vec::new(),
            inputs: Vec::new(),
            images: Vec::new(),
        }
    }
}

impl Material {
    /// A file without a known version and licence.
    pub fn new(name: String, blake3: String) -> Material {
        Material { name, version: None, license: None, blake3 }
    }
}

impl VendoredImage {
    /// An image of no bytes for `target`; the other fields are empty.
    pub fn new(target: String, blake3: String) -> VendoredImage {
        VendoredImage {
            target,
            variant: String::new(),
            part: String::new(),
            options: String::new(),
            size: 0,
            blake3,
        }
    }
}
