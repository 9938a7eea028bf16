//! Image kinds and offload kinds, with LLVM's numbers.
//!
//! Numbers follow `llvm/include/llvm/Object/OffloadBinary.h`
//! (<https://github.com/llvm/llvm-project/blob/main/llvm/include/llvm/Object/OffloadBinary.h>).

/// Declares an enum of numbers on disk that preserves unknown numbers.
#[doc(hidden)]
#[macro_export]
macro_rules! open_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $value:literal => $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$vdoc])* $variant,)*
            /// A number that this release does not know.
            Unknown(u16),
        }

        impl $name {
            /// The number on disk.
            pub fn to_u16(self) -> u16 {
                match self { $($name::$variant => $value,)* $name::Unknown(value) => value }
            }

            /// The kind with this number.
            pub fn from_u16(value: u16) -> $name {
                match value { $($value => $name::$variant,)* other => $name::Unknown(other) }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($name::$variant => f.pad($text),)*
                    $name::Unknown(value) => write!(f, "unknown({value})"),
                }
            }
        }
    };
}

open_enum! {
    /// What the bytes of an image are. Numbers from 0x100 up are this project's.
    ImageKind {
        /// Unspecified bytes.
        None = 0 => "none",
        /// A relocatable or linked ELF object: AMD code objects, Intel zebin.
        Object = 1 => "object",
        /// LLVM bitcode.
        Bitcode = 2 => "bitcode",
        /// NVIDIA cubin.
        Cubin = 3 => "cubin",
        /// NVIDIA fatbinary.
        Fatbinary = 4 => "fatbin",
        /// NVIDIA PTX text.
        Ptx = 5 => "ptx",
        /// SPIR-V.
        SpirV = 6 => "spirv",
        /// OpenCL C text that includes nothing.
        OpenClC = 0x100 => "opencl-c",
        /// An ELF shared object for the program's own CPU.
        HostObject = 0x101 => "host",
    }
}

open_enum! {
    /// Which programming model an image belongs to.
    OffloadKind {
        /// None.
        None = 0 => "none",
        /// OpenMP.
        OpenMp = 1 => "openmp",
        /// CUDA.
        Cuda = 2 => "cuda",
        /// HIP.
        Hip = 4 => "hip",
        /// SYCL.
        Sycl = 8 => "sycl",
        /// OpenCL; this project's number.
        OpenCl = 0x100 => "opencl",
    }
}

impl ImageKind {
    /// Whether a driver compiles images of this kind further (text and intermediate code).
    pub fn is_portable(self) -> bool {
        matches!(self, ImageKind::SpirV | ImageKind::OpenClC | ImageKind::Bitcode | ImageKind::Ptx)
    }
}
