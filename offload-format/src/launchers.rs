//! The interface between the host part of CUDA C++ and its runtime: the token that registers kernels, and the functions
//! that the host part may call.
//!
//! clang registers the kernels of a file together with a "GPU binary", whose address it passes to
//! `__cudaRegisterFatBinary`. `offload-build` puts a [`Token`] there, which names the kernel module whose images
//! `offload-rt` selects from.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 8 | [`MAGIC`] |
//! | 8 | 4 | size of the text in bytes, little-endian |
//! | 12 | | package, version and kernel module in UTF-8, a line each |

use crate::{Error, bytes};

/// The first bytes of a token.
pub const MAGIC: [u8; 8] = *b"OFFLNCH\x01";

/// The size of what comes before the text of a token in bytes.
pub const HEADER_SIZE: usize = 12;

/// The prefix of [`FUNCTIONS`] in programs, where CUDA's own runtime library may be as well.
pub const PREFIX: &str = "offload_";

/// The functions of CUDA's runtime (<https://docs.nvidia.com/cuda/cuda-runtime-api/>) that `offload-rt` has for the host
/// part, sorted; those with two underscores in front are what clang calls for launches and registration, and what
/// headers of `offload-build` call.
pub const FUNCTIONS: [&str; 112] = [
    "__cudaDescribeDevice",
    "__cudaPopCallConfiguration",
    "__cudaPushCallConfiguration",
    "__cudaRegisterFatBinary",
    "__cudaRegisterFatBinaryEnd",
    "__cudaRegisterFunction",
    "__cudaRegisterVar",
    "__cudaUnregisterFatBinary",
    "cudaCreateSurfaceObject",
    "cudaCreateTextureObject",
    "cudaDestroySurfaceObject",
    "cudaDestroyTextureObject",
    "cudaDeviceCanAccessPeer",
    "cudaDeviceDisablePeerAccess",
    "cudaDeviceEnablePeerAccess",
    "cudaDeviceGetAttribute",
    "cudaDeviceGetDefaultMemPool",
    "cudaDeviceGetLimit",
    "cudaDeviceGetMemPool",
    "cudaDeviceGetPCIBusId",
    "cudaDeviceGetStreamPriorityRange",
    "cudaDeviceReset",
    "cudaDeviceSetLimit",
    "cudaDeviceSynchronize",
    "cudaDriverGetVersion",
    "cudaEventCreate",
    "cudaEventCreateWithFlags",
    "cudaEventDestroy",
    "cudaEventElapsedTime",
    "cudaEventQuery",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaFree",
    "cudaFreeArray",
    "cudaFreeAsync",
    "cudaFreeHost",
    "cudaFuncGetAttributes",
    "cudaFuncSetAttribute",
    "cudaFuncSetCacheConfig",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaGetSymbolAddress",
    "cudaGetSymbolSize",
    "cudaGraphDestroy",
    "cudaGraphExecDestroy",
    "cudaGraphExecUpdate",
    "cudaGraphInstantiate",
    "cudaGraphInstantiateWithFlags",
    "cudaGraphLaunch",
    "cudaHostAlloc",
    "cudaHostGetDevicePointer",
    "cudaHostRegister",
    "cudaHostUnregister",
    "cudaLaunchCooperativeKernel",
    "cudaLaunchHostFunc",
    "cudaLaunchKernel",
    "cudaMalloc",
    "cudaMalloc3DArray",
    "cudaMallocArray",
    "cudaMallocAsync",
    "cudaMallocFromPoolAsync",
    "cudaMallocHost",
    "cudaMallocManaged",
    "cudaMallocPitch",
    "cudaMemGetInfo",
    "cudaMemPoolCreate",
    "cudaMemPoolDestroy",
    "cudaMemPoolGetAttribute",
    "cudaMemPoolSetAccess",
    "cudaMemPoolSetAttribute",
    "cudaMemPoolTrimTo",
    "cudaMemcpy",
    "cudaMemcpy2D",
    "cudaMemcpy2DAsync",
    "cudaMemcpy2DFromArray",
    "cudaMemcpy2DFromArrayAsync",
    "cudaMemcpy2DToArray",
    "cudaMemcpy2DToArrayAsync",
    "cudaMemcpy3D",
    "cudaMemcpy3DAsync",
    "cudaMemcpyAsync",
    "cudaMemcpyFromArray",
    "cudaMemcpyFromSymbol",
    "cudaMemcpyFromSymbolAsync",
    "cudaMemcpyPeer",
    "cudaMemcpyPeerAsync",
    "cudaMemcpyToArray",
    "cudaMemcpyToSymbol",
    "cudaMemcpyToSymbolAsync",
    "cudaMemset",
    "cudaMemsetAsync",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaPeekAtLastError",
    "cudaPointerGetAttributes",
    "cudaRuntimeGetVersion",
    "cudaSetDevice",
    "cudaStreamBeginCapture",
    "cudaStreamCreate",
    "cudaStreamCreateWithFlags",
    "cudaStreamCreateWithPriority",
    "cudaStreamDestroy",
    "cudaStreamEndCapture",
    "cudaStreamGetFlags",
    "cudaStreamIsCapturing",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
    "cudaThreadExchangeStreamCaptureMode",
];

/// The kernel module that a file of CUDA C++ belongs to.
///
/// ```
/// use offload_format::launchers::Token;
///
/// let token = Token { package: "my-crate", version: "0.1.0", module: "blas" };
/// assert_eq!(Token::parse(&token.encode())?, token);
/// # Ok::<(), offload_format::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The package whose pack has the images.
    pub package: &'a str,
    /// Its version.
    pub version: &'a str,
    /// The kernel module.
    pub module: &'a str,
}

impl<'a> Token<'a> {
    /// The bytes; [`Token::parse`] is the inverse for names without line breaks, as those of cargo are.
    pub fn encode(&self) -> Vec<u8> {
        let text = [self.package, self.version, self.module].join("\n");
        let size = u32::try_from(text.len()).unwrap_or(u32::MAX);
        [&MAGIC[..], &size.to_le_bytes(), text.as_bytes()].concat()
    }

    /// The token at the start of `input`.
    ///
    /// # Errors
    /// `input` does not start with a token, or ends before it does.
    pub fn parse(input: &'a [u8]) -> Result<Token<'a>, Error> {
        let size = Token::text_size(input)?;
        let mut lines = bytes::text_at(input, HEADER_SIZE as u64, size, "launcher token")?.split('\n');
        match (lines.next(), lines.next(), lines.next(), lines.next()) {
            (Some(package), Some(version), Some(module), None) => Ok(Token { package, version, module }),
            _ => Err(Error::invalid("launcher token", size)),
        }
    }

    /// The size in bytes of the text behind a header, the first [`HEADER_SIZE`] bytes of a token.
    ///
    /// # Errors
    /// `header` is none.
    pub fn text_size(header: &[u8]) -> Result<u64, Error> {
        let magic: [u8; 8] = bytes::array(header, 0, "launcher token")?;
        if magic != MAGIC {
            return Err(Error::invalid("launcher token", u64::from_le_bytes(magic)));
        }
        Ok(bytes::u32_at(header, 8, "launcher token")?.into())
    }
}

/// Whether `name` is that of a function of CUDA's runtime, in [`FUNCTIONS`] or not.
pub fn is_runtime_function(name: &str) -> bool {
    let rest = name.strip_prefix("__").unwrap_or(name).strip_prefix("cuda");
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_sorted_and_of_the_runtime() {
        assert!(FUNCTIONS.is_sorted());
        assert!(FUNCTIONS.iter().all(|name| is_runtime_function(name)));
        for name in ["cuda_helper", "cudart", "mycudaFree", "cuLaunchKernel", "__cuda_module_ctor"] {
            assert!(!is_runtime_function(name), "{name}");
        }
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let token = Token { package: "p", version: "1.0.0", module: "m" }.encode();
        for end in 0..token.len() {
            assert!(Token::parse(&token[..end]).is_err(), "{end}");
        }
        let mut other = token.clone();
        other[0] ^= 1;
        assert!(Token::parse(&other).is_err());
        let two_lines = [&MAGIC[..], &3u32.to_le_bytes(), b"p\nm"].concat();
        assert!(Token::parse(&two_lines).is_err());
    }
}
