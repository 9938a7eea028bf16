//! The kernels that are compiled, where they come from, and what is known not to compile.

/// Files of one program.
pub(super) struct Program {
    pub(super) name: &'static str,
    /// Debian's package (<https://packages.debian.org/bookworm/>).
    pub(super) package: &'static str,
    /// Where its sources are in the package.
    pub(super) root: &'static str,
    pub(super) files: &'static [&'static str],
    /// Files that the program puts before each source, and what it defines.
    pub(super) before: &'static [&'static str],
    pub(super) flags: &'static [&'static str],
    /// What comes behind each file: a kernel, where the program makes those at run time.
    pub(super) behind: &'static str,
}

/// As hashcat defines them for a device (<https://github.com/hashcat/hashcat/blob/v6.2.6/src/backend.c>).
const HASHCAT: &[&str] = &[
    "-DXM2S(x)=#x",
    "-DM2S(x)=XM2S(x)",
    "-DINCLUDE_PATH=OpenCL",
    "-DKERNEL_STATIC",
    "-DVENDOR_ID=64",
    "-DDEVICE_TYPE=2",
    "-DCUDA_ARCH=0",
    "-DHAS_ADD=0",
    "-DVECT_SIZE=1",
    "-DDGST_R0=0",
    "-DDGST_R1=1",
    "-DDGST_R2=2",
    "-DDGST_R3=3",
    "-DDGST_ELEM=4",
    "-DKERN_TYPE=0",
    "-DATTACK_EXEC=11",
    "-DATTACK_KERN=0",
    "-DATTACK_MODE=0",
    "-DLOCAL_MEM_TYPE=1",
    // As its host program chooses for local memory of 48 KiB.
    "-DFIXED_LOCAL_SIZE=8",
    "-DSCRYPT_N=1024",
    "-DSCRYPT_R=1",
    "-DSCRYPT_P=1",
    "-DSCRYPT_TMTO=1",
    "-DSCRYPT_TMP_ELEM=32",
];

pub(super) const PROGRAMS: [Program; 5] = [
    Program {
        name: "hashcat",
        package: "hashcat-data",
        root: "usr/share/hashcat",
        files: &[
            "OpenCL/amp_a0.cl",
            "OpenCL/m00000_a0-optimized.cl",
            "OpenCL/m00500-pure.cl",
            "OpenCL/m01000_a3-pure.cl",
            "OpenCL/m01400_a3-optimized.cl",
            "OpenCL/m01700_a3-pure.cl",
            "OpenCL/m03200-pure.cl",
            "OpenCL/m05600_a3-pure.cl",
            "OpenCL/m08900-pure.cl",
            "OpenCL/m22000-pure.cl",
        ],
        before: &[],
        flags: HASHCAT,
        behind: "",
    },
    Program {
        name: "darktable",
        package: "darktable",
        root: "usr/share/darktable/kernels",
        files: &["dwt.cl", "gaussian.cl", "demosaic_rcd.cl", "retouch.cl", "nlmeans.cl", "filmic.cl"],
        before: &[],
        flags: &[],
        behind: "",
    },
    Program {
        name: "silx",
        package: "python3-silx",
        root: "usr/lib/python3/dist-packages/silx/resources/opencl",
        files: &[
            "addition.cl",
            "array_utils.cl",
            "backproj_helper.cl",
            "bitonic.cl",
            "convolution.cl",
            "linalg.cl",
            "codec/byte_offset.cl",
            "image/cast.cl",
            "image/histogram.cl",
            "image/map.cl",
            "image/max_min.cl",
        ],
        before: &[],
        flags: &[
            "-DWORKGROUP_SIZE=64",
            "-DWORKGROUP=64",
            "-DBLOCK_SIZE=64",
            "-DNB_COLOR=3",
            "-DIMAGE_DATA_TYPE=float",
        ],
        behind: "",
    },
    Program {
        name: "pyFAI",
        package: "python3-pyfai",
        root: "usr/lib/python3/dist-packages/pyFAI/resources/openCL",
        files: &[
            "bitonic.cl",
            "memset.cl",
            "ocl_azim_CSR.cl",
            "ocl_azim_LUT.cl",
            "ocl_histo.cl",
            "ocl_lut.cl",
            "peak_finder.cl",
            "reduction_test4.cl",
        ],
        before: &["deactivate_atomic64.cl", "doubleword.cl", "kahan.cl", "preprocess.cl"],
        flags: &[
            "-DNBINS=100",
            "-DBINS=100",
            "-DNIMAGE=1000",
            "-DNLUT=10",
            "-DON_CPU=0",
            "-DPOS_SIZE=4",
            "-DSIZE=1000",
            "-DEPS=1e-6f",
            "-DBLOCK_SIZE=64",
            "-DWORKGROUP_SIZE=64",
        ],
        behind: "",
    },
    Program {
        name: "pyopencl",
        package: "python3-pyopencl",
        root: "usr/lib/python3/dist-packages/pyopencl/cl",
        files: &["pyopencl-ranluxcl.cl"],
        before: &[],
        flags: &["-DRANLUXCL_LUX=2"],
        behind: "__kernel void fill(__global ranluxcl_state_t *s, __global float4 *out) {\n  ranluxcl_state_t state = s[get_global_id(0)];\n  out[get_global_id(0)] = ranluxcl32(&state);\n  s[get_global_id(0)] = state;\n}\n",
    },
];

/// Kernels that are known not to compile: file, target, and why.
pub(super) struct Known {
    pub(super) file: &'static str,
    /// The start of a target's name.
    pub(super) target: &'static str,
    pub(super) reason: &'static str,
}

pub(super) const KNOWN: [Known; 0] = [];
