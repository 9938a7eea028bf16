//! Packages to build: their files, and the number of their images.

use std::path::Path;

use offload_tests::gemm;

/// The package by its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Package {
    /// So many files in OpenCL C, each a module, for so many of AMD's targets.
    Gemm { files: usize, targets: usize },
    /// CUDA C++ with the toolkit's headers: a module that clang compiles, and one of nvcc.
    Cuda,
    /// A module with templates, of files in this language.
    Templates(Dialect),
    /// Large tables in OpenCL C, which nothing compiles before the program runs: compression is what takes time.
    Tables,
}

/// The language of a package for clang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Dialect {
    Cpp,
    Cuda,
    Hip,
    /// CUDA C++ with the toolkit's headers, and with debug information.
    Toolkit,
}

const TABLES: usize = 6;
/// In each table: a mebibyte of text.
const NUMBERS: u32 = 120_000;

const CUDA_TARGETS: [&str; 3] = ["nvptx:sm_75", "cubin:sm_80", "cubin:sm_90"];
/// The files of a module that clang compiles. Their front ends, which take the longest, run at the same time.
const FILES: [&str; 4] = ["a", "b", "c", "d"];

impl Package {
    pub(in super::super) const SMALL: Package = Package::Gemm { files: 1, targets: 4 };
    pub(in super::super) const LARGE: Package = Package::Gemm { files: 8, targets: 22 };

    /// A name for its directory.
    pub(in super::super) fn name(self) -> String {
        match self {
            Package::Gemm { files, targets } => format!("{files}x{targets}"),
            Package::Cuda => "cuda".to_string(),
            Package::Templates(dialect) => format!("templates-{}", dialect.name()),
            Package::Tables => "tables".to_string(),
        }
    }

    /// The compression of its images, if not the default of development builds.
    pub(super) fn compression(self) -> Option<&'static str> {
        (self == Package::Tables).then_some("max")
    }

    /// Whether CUDA's toolkit is needed.
    pub(super) fn needs_toolkit(self) -> bool {
        matches!(self, Package::Cuda | Package::Templates(Dialect::Toolkit))
    }

    /// The number of images in the program.
    pub(super) fn images(self) -> usize {
        self.modules().len() * self.targets().len()
    }

    fn modules(self) -> Vec<String> {
        match self {
            Package::Gemm { files, .. } => (0..files).map(|index| format!("gemm{index}")).collect(),
            Package::Cuda => ["by_clang", "by_nvcc"].map(str::to_string).into(),
            Package::Templates(_) => vec!["templates".to_string()],
            Package::Tables => (0..TABLES).map(|index| format!("table{index}")).collect(),
        }
    }

    fn targets(self) -> Vec<String> {
        match self {
            Package::Gemm { targets, .. } => {
                gemm::TARGETS.iter().take(targets).map(|target| format!("amdgcn:{target}")).collect()
            }
            Package::Cuda => CUDA_TARGETS.map(str::to_string).into(),
            Package::Templates(dialect) => dialect.targets().iter().map(|it| it.to_string()).collect(),
            Package::Tables => vec!["opencl-c".to_string()],
        }
    }

    /// Its files by their paths, but for `Cargo.lock`. The crates are those of the checkout at `root`.
    pub(super) fn files(self, root: &Path) -> Vec<(String, String)> {
        let mut files = vec![
            ("Cargo.toml".to_string(), self.manifest(root)),
            // Of its own: the package lies in the checkout, whose configuration cargo would find.
            (".cargo/config.toml".to_string(), self.configuration()),
            ("offload.toml".to_string(), format!("targets = {:?}\n", self.targets())),
            ("build.rs".to_string(), self.build_script()),
            ("src/main.rs".to_string(), program(&self.modules())),
        ];
        files.extend(self.kernels());
        files
    }

    fn configuration(self) -> String {
        // One compiler at a time runs here: the others have to go elsewhere.
        let sends = matches!(self, Package::Cuda | Package::Templates(_));
        let jobs = if sends { "\n[build]\njobs = 1\n" } else { "" };
        format!("[env]\nOFFLOAD_CONFIG = {{ value = \"offload.toml\", relative = true }}\n{jobs}")
    }

    fn kernels(self) -> Vec<(String, String)> {
        match self {
            Package::Gemm { .. } => {
                let header = ("kernels/tile.h".to_string(), gemm::HEADER.to_string());
                let modules = self.modules();
                let kernels = modules.iter().zip(gemm::TILES);
                let kernels = kernels
                    .map(|(module, tile)| (format!("kernels/{module}.cl"), gemm::source(module, tile)));
                std::iter::once(header).chain(kernels).collect()
            }
            Package::Cuda => {
                let files = FILES.iter().chain(&["nvcc"]);
                files.map(|name| (format!("kernels/{name}.cu"), cuda_source(name))).collect()
            }
            Package::Templates(dialect) => {
                let kernels = FILES.iter().map(|name| (dialect.file(name), dialect.source(name)));
                kernels.chain([("common/tile.h".to_string(), TILE.to_string())]).collect()
            }
            Package::Tables => {
                let modules = self.modules().into_iter();
                modules.zip(1..).map(|(name, seed)| (format!("kernels/{name}.cl"), table(seed))).collect()
            }
        }
    }

    fn build_script(self) -> String {
        let calls: Vec<String> = match self {
            Package::Gemm { .. } => {
                let modules = self.modules().into_iter();
                let call =
                    |module| format!("Build::new().file(\"kernels/{module}.cl\").compile(\"{module}\")");
                modules.map(call).collect()
            }
            Package::Tables => {
                // One pack, so that its frames wait for processors at the same time.
                let modules = self.modules().into_iter();
                let modules: Vec<String> = modules
                    .map(|name| {
                        format!("(\"{name}\", offload_build::Build::new().file(\"kernels/{name}.cl\"))")
                    })
                    .collect();
                vec![format!("compile_all([{}])", modules.join(", "))]
            }
            Package::Templates(dialect) => {
                let files = FILES.map(|name| dialect.file(name));
                let headers = if dialect == Dialect::Toolkit { ".cuda_sdk()" } else { "" };
                vec![format!("Build::new().files({files:?}){headers}.compile(\"templates\")")]
            }
            Package::Cuda => {
                let files = FILES.map(|name| format!("kernels/{name}.cu"));
                let nvcc = "compiler(offload_build::Compiler::Nvcc)";
                vec![
                    // First, as a server gets fewer commands later where its workers are busy.
                    format!("Build::new().file(\"kernels/nvcc.cu\").{nvcc}.compile(\"by_nvcc\")"),
                    format!("Build::new().files({files:?}).cuda_sdk().compile(\"by_clang\")"),
                ]
            }
        };
        let calls = calls.into_iter().map(|call| format!("    offload_build::{call};\n"));
        format!("fn main() {{\n{}}}\n", calls.collect::<String>())
    }

    /// Build scripts are optimised, as in what `cargo offload new` makes.
    fn manifest(self, root: &Path) -> String {
        // With lines of the source, nvcc would name the directory of the build.
        let lines = if self == Package::Cuda { "\n[profile.dev]\ndebug = false\n" } else { "" };
        let root = root.display();
        format!(
            "[workspace]\n\n[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
             [dependencies]\noffload-rt = {{ path = \"{root}/offload-rt\", default-features = false, features = [\"libzstd\"] }}\n\n\
             [build-dependencies]\noffload-build = {{ path = \"{root}/offload-build\" }}\n\n\
             [profile.dev.build-override]\nopt-level = 3\n{lines}"
        )
    }
}

impl Dialect {
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Dialect::Toolkit => "toolkit",
            _ => self.ending(),
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Dialect::Cpp => "cpp",
            Dialect::Cuda | Dialect::Toolkit => "cu",
            Dialect::Hip => "hip",
        }
    }

    fn targets(self) -> &'static [&'static str] {
        match self {
            Dialect::Cpp => &["amdgcn:gfx90a", "amdgcn:gfx1100", "nvptx:sm_75", "host"],
            Dialect::Cuda | Dialect::Toolkit => &["nvptx:sm_75", "nvptx:sm_90"],
            Dialect::Hip => &["amdgcn:gfx90a", "amdgcn:gfx1100"],
        }
    }

    fn file(self, name: &str) -> String {
        format!("kernels/{name}.{}", self.ending())
    }

    /// A kernel whose templates take clang a while.
    fn source(self, name: &str) -> String {
        const OF_CUDA: [&str; 3] = ["__global__ void", "blockIdx.x * blockDim.x + threadIdx.x", "float *"];
        let [kernel, index, pointer] = match self {
            Dialect::Cpp => [
                "__gpu_kernel void",
                "__gpu_block_id(0) * __gpu_num_threads(0) + __gpu_thread_id(0)",
                "__gpu_global float *",
            ],
            Dialect::Cuda | Dialect::Hip | Dialect::Toolkit => OF_CUDA,
        };
        let header = match self {
            Dialect::Cpp => "#include <gpuintrin.h>\n#define DEVICE\n",
            Dialect::Cuda | Dialect::Hip => "#define DEVICE __device__\n",
            Dialect::Toolkit => "#include <cuda/std/complex>\n#define DEVICE __device__\n",
        };
        format!(
            "{header}#include <assert.h>\n#include \"../common/tile.h\"\n\n\
             static DEVICE float own_{name}(float x) {{ return all(x, typename Numbers<64>::List{{}}); }}\n\n\
             extern \"C\" {kernel} sum_{name}({pointer}x, int n) {{\n    \
                 int i = {index};\n    assert(i < n);\n    x[i] = own_{name}(x[i]);\n}}\n"
        )
    }
}

const TILE: &str = "\
template <int... I> struct List {};
template <int N, int... I> struct Numbers : Numbers<N - 1, N - 1, I...> {};
template <int... I> struct Numbers<0, I...> { using List = ::List<I...>; };

template <int N> struct Tile {
  float of[N];
  template <int... I> DEVICE float sum(::List<I...>) const { return (of[I] + ... + 0.0f); }
};

template <int N> DEVICE float sum(float x) {
  Tile<N> tile;
  for (int i = 0; i < N; ++i) tile.of[i] = x * i;
  return tile.sum(typename Numbers<N>::List{});
}

template <int... I> DEVICE float all(float x, List<I...>) { return (sum<I + 1>(x) + ...); }
";

/// A kernel that reads a table of numbers of its own.
fn table(seed: u32) -> String {
    let mut numbers = String::new();
    for at in 0..NUMBERS {
        let number = at.wrapping_mul(seed).wrapping_add(at >> 3).wrapping_mul(2_654_435_761) >> 12;
        numbers.push_str(&format!("{number:#x},\n"));
    }
    format!(
        "constant uint numbers[] = {{\n{numbers}}};\n\n\
         kernel void read(global uint *out) {{ out[get_global_id(0)] = numbers[get_global_id(0)]; }}\n"
    )
}

/// A kernel and a function that only this file has, with headers that take clang a second.
fn cuda_source(name: &str) -> String {
    format!(
        "#include <cuda_fp16.h>\n#include <cuda/std/complex>\n\n\
         static __device__ float table[4] = {{1, 2, 3, 4}};\n\n\
         extern \"C\" __global__ void square_{name}(float *x, int n) {{\n    \
             int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
             if (i < n) {{\n        \
                 cuda::std::complex<float> c(x[i], table[i % 4]);\n        \
                 x[i] = (c * c).real() + __half2float(__float2half(x[i]));\n    \
             }}\n}}\n"
    )
}

fn program(modules: &[String]) -> String {
    let includes = modules.iter().map(|module| format!("offload_rt::include_kernels!(\"{module}\");\n"));
    let counts = modules.iter().map(|module| format!("    + {module}::module().entries().count()"));
    format!(
        "{}\nfn main() {{\n    println!(\"{{}}\", 0\n{});\n}}\n",
        includes.collect::<String>(),
        counts.collect::<Vec<_>>().join("\n")
    )
}
