//! The places of libclc, LLVM's library of OpenCL C's functions, by release.

/// Where releases of LLVM have their functions of OpenCL C for a vendor, as bitcode.
#[derive(Debug)]
pub(crate) struct Libclc {
    /// The file of releases up to 21.
    first: &'static str,
    /// The file of release 22.
    second: &'static str,
    /// The directory among clang's files, of later releases.
    pub(super) directory: &'static str,
}

/// For NVIDIA.
pub(crate) const LIBCLC_NVIDIA: Libclc = Libclc {
    first: "nvptx64--nvidiacl.bc",
    second: "nvptx64--nvidiacl.bc",
    directory: "nvptx64-nvidia-cuda",
};
/// For AMD.
pub(crate) const LIBCLC_AMD: Libclc = Libclc {
    first: "amdgcn--amdhsa.bc",
    second: "amdgcn-amd-amdhsa.bc",
    directory: "amdgcn-amd-amdhsa-llvm",
};

impl Libclc {
    /// The name of the file that a release of its own directory has.
    pub(super) fn file(&self, major: u32) -> &'static str {
        if major < 22 { self.first } else { self.second }
    }
}
