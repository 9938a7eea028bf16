//! Abilities of LLVM's releases: what an older one lacks is an error that names the release that has it.

use std::path::{Path, PathBuf};

use offload_format::Target;

use super::remedy;
use super::search::Llvm;
use crate::error::{Error, ErrorKind, Result};

/// The first release whose clang makes SPIR-V itself: earlier ones leave it to a translator
/// (<https://releases.llvm.org/20.1.0/docs/ReleaseNotes.html#changes-to-the-spir-v-backend>).
const SPIRV: u32 = 20;
/// The first release whose driver takes the SPIR-V back end for the default.
const SPIRV_DEFAULT: u32 = 21;
/// The first release whose back end knows the extension for format strings in any memory.
const SPIRV_PRINTF: u32 = 22;
/// The first release whose `opencl-c.h` is for targets without images in OpenCL C 3.0.
const OPTIONAL_IMAGES: u32 = 21;
/// The first release with `gpuintrin.h`, for NVIDIA and AMD.
const GPUINTRIN: u32 = 20;
/// The first release whose `gpuintrin.h` is for SPIR-V too.
const GPUINTRIN_SPIRV: u32 = 22;
/// The first release that takes a value for what NVIDIA's libdevice asks of the compiler.
const REFLECTION: u32 = 22;

/// Processors that not every release from the oldest supported one on has, by what
/// `clang --target=nvptx64 --print-supported-cpus` and the same for `amdgcn` print.
const PROCESSORS: &[Processors] = &[
    Processors { release: 20, names: &["gfx1153", "gfx9-4-generic", "gfx950"] },
    Processors { release: 20, names: &["sm_100", "sm_100a", "sm_101", "sm_101a", "sm_120", "sm_120a"] },
    Processors { release: 21, names: &["gfx1250"] },
    Processors {
        release: 21,
        names: &[
            "sm_100f", "sm_101f", "sm_103", "sm_103a", "sm_103f", "sm_120f", "sm_121", "sm_121a", "sm_121f",
        ],
    },
    Processors { release: 22, names: &["gfx1251"] },
    Processors { release: 22, names: &["sm_88", "sm_110", "sm_110a", "sm_110f"] },
    Processors {
        release: 23,
        names: &[
            "gfx11-7-generic",
            "gfx12-5-generic",
            "gfx13-generic",
            "gfx1154",
            "gfx1170",
            "gfx1171",
            "gfx1172",
            "gfx1310",
        ],
    },
    Processors { release: 24, names: &["sm_107", "sm_107a", "sm_107f"] },
];
/// The last release with code for these.
const REMOVED: Processors = Processors { release: 20, names: &["gfx940", "gfx941"] };

/// Processors that a release brought, or had last.
struct Processors {
    release: u32,
    names: &'static [&'static str],
}

impl Llvm {
    /// Refuses a release whose clang makes no SPIR-V itself.
    pub(crate) fn makes_spirv(&self) -> Result<()> {
        if self.major >= SPIRV {
            return Ok(());
        }
        Err(self.lacks("SPIR-V back end", SPIRV))
    }

    /// Refuses a release without code for `target`.
    pub(crate) fn compiles_for(&self, target: &Target) -> Result<()> {
        match target {
            Target::Spirv64(_) | Target::Intel(_) => self.makes_spirv(),
            Target::Nvptx(sm) | Target::Cubin(sm) => self.makes_code_for(&sm.to_string()),
            Target::Amdgcn(arch) => self.makes_code_for(&arch.to_string()),
            _ => Ok(()),
        }
    }

    /// The flags with which clang's driver runs the SPIR-V back end, and no translator.
    pub(crate) fn spirv_flags(&self) -> &'static [&'static str] {
        if self.major < SPIRV_DEFAULT { &["-fintegrated-objemitter"] } else { &[] }
    }

    /// The flags with which the SPIR-V back end has format strings of printf in any memory.
    pub(crate) fn spirv_printf_flags(&self) -> &'static [&'static str] {
        if self.major < SPIRV_PRINTF {
            return &[];
        }
        &["-mllvm", "--spirv-ext=+SPV_EXT_relaxed_printf_string_address_space"]
    }

    /// The flags with which clang's header of OpenCL C's functions can be read for a target without images.
    pub(crate) fn header_flags(&self) -> &'static [&'static str] {
        if self.major < OPTIONAL_IMAGES { &["-Xclang", "-cl-ext=+__opencl_c_images"] } else { &[] }
    }

    /// Refuses a release without code for `processor`, such as `sm_90` or `gfx90a:xnack+`.
    pub(crate) fn makes_code_for(&self, processor: &str) -> Result<()> {
        let name = processor.split(':').next().unwrap_or(processor);
        let known = PROCESSORS.iter().find(|known| known.names.contains(&name));
        if let Some(known) = known.filter(|known| self.major < known.release) {
            return Err(self.lacks(&format!("processor `{name}`"), known.release));
        }
        if REMOVED.names.contains(&name) && self.major > REMOVED.release {
            let text = format!(
                "{} has no processor `{name}`: LLVM {} is the last release with it",
                self.named(),
                REMOVED.release
            );
            return Err(Error::missing_tool(text).with_hint(self.other_release()));
        }
        Ok(())
    }

    /// Whether kernels of C and C++ can be found by the front end for SPIR-V.
    pub(crate) fn has_spirv_intrinsics(&self) -> bool {
        self.major >= GPUINTRIN_SPIRV
    }

    /// Whether `-nvvm-reflect-add` is an option.
    pub(crate) fn has_reflection(&self) -> bool {
        self.major >= REFLECTION
    }

    /// `error`, or what this release lacks if that is its cause.
    pub(crate) fn explained(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::Tool {
            return error;
        }
        let message = error.message();
        if message.contains("'gpuintrin.h' file not found") && self.major < GPUINTRIN {
            return self.lacks("`gpuintrin.h`", GPUINTRIN);
        }
        let is_refused = message.contains("gpuintrin.h:") && message.contains("only meant to be used on GPU");
        if is_refused && !self.has_spirv_intrinsics() {
            return self.lacks("`gpuintrin.h` for SPIR-V", GPUINTRIN_SPIRV);
        }
        error
    }

    /// `error`, or what is wrong with `libraries` if one of them is bitcode of a later release.
    pub(crate) fn with_bitcode_of(&self, libraries: &[PathBuf], error: Error) -> Error {
        let Some(producer) = producer(error.message()) else { return error };
        let places: Vec<String> =
            libraries.iter().map(|library| format!("`{}`", Path::new(library).display())).collect();
        let text = format!(
            "{} reads no bitcode of LLVM {producer}, which is in one of {}",
            self.named(),
            places.join(", ")
        );
        Error::missing_tool(text).with_hint(remedy::libclc(self.major))
    }

    fn lacks(&self, what: &str, first: u32) -> Error {
        let text = format!("{} has no {what}: LLVM {first} is the first release with it", self.named());
        Error::missing_tool(text).with_hint(self.other_release())
    }

    /// `LLVM 19 (/usr/bin/clang-19)`.
    fn named(&self) -> String {
        format!("LLVM {} (`{}`)", self.major, self.clang.path.display())
    }

    fn other_release(&self) -> String {
        format!("{}; or remove the target, or make it `optional` in offload.toml", remedy::llvm())
    }
}

/// The release that wrote the bitcode that a tool cannot read: `22.1.8` of
/// `Unknown attribute kind (102) (Producer: 'LLVM22.1.8' Reader: 'LLVM 19.1.7')`.
fn producer(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("(Producer: 'LLVM")?;
    let (producer, rest) = rest.split_once('\'')?;
    rest.starts_with(" Reader:").then_some(producer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Tool;

    fn release(major: u32) -> Llvm {
        let clang = Tool { path: "clang".into(), version: String::new() };
        Llvm { clang, resource_dir: PathBuf::new(), bin_dir: PathBuf::new(), major }
    }

    #[test]
    fn errors_name_the_first_release() {
        for (major, processor, first) in [
            (19, "sm_90a", None),
            (19, "sm_120a", Some("LLVM 20 is the first")),
            (20, "sm_120a", None),
            (21, "sm_110", Some("LLVM 22 is the first")),
            (19, "gfx950", Some("LLVM 20 is the first")),
            (22, "gfx1310", Some("LLVM 23 is the first")),
            (22, "gfx90a:xnack+", None),
            (20, "gfx940", None),
            (21, "gfx940", Some("LLVM 20 is the last")),
        ] {
            let error = release(major).makes_code_for(processor).err().map(|error| error.to_string());
            let is_as_wanted = match (&error, first) {
                (Some(error), Some(first)) => error.contains(first) && error.contains("hint: "),
                (error, first) => error.is_none() && first.is_none(),
            };
            assert!(is_as_wanted, "{major} {processor}: {error:?}");
        }
        assert!(release(19).makes_spirv().unwrap_err().is_missing_tool());
        assert!(release(20).makes_spirv().is_ok());
    }

    #[test]
    fn bitcode_of_a_later_release_is_no_fault_of_the_source() {
        let text = "error: Unknown attribute kind (102) (Producer: 'LLVM22.1.8' Reader: 'LLVM 19.1.7')";
        assert_eq!(producer(text), Some("22.1.8"));
        assert_eq!(producer("error: Invalid record (Producer: 'LLVM22.1.8'"), None);
        let error = release(19).with_bitcode_of(&["x.bc".into()], Error::new(text));
        assert!(error.is_missing_tool() && error.message().contains("`x.bc`"), "{error}");
    }

    #[test]
    fn a_missing_header_is_explained_where_it_is_the_release() {
        let text = "k.c:1:10: fatal error: 'gpuintrin.h' file not found";
        let error = || Error::new(text).with_kind(ErrorKind::Tool);
        assert!(release(19).explained(error()).message().contains("LLVM 20 is the first"));
        assert_eq!(release(22).explained(error()).kind(), ErrorKind::Tool);
    }
}
