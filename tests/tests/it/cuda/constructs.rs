//! The table of constructs of CUDA C++ in the book: what compiles for which target without a toolkit.

use std::collections::BTreeMap;

use crate::support::{self, Project};

/// A row of the book, and sources with what it names.
struct Construct {
    row: &'static str,
    /// Each has a kernel.
    sources: &'static [&'static str],
}

const fn construct(row: &'static str, sources: &'static [&'static str]) -> Construct {
    Construct { row, sources }
}

const CONSTRUCTS: [Construct; 25] = [
    construct(
        "templates, device lambdas, `constexpr` functions",
        &["constexpr int twice(int v) { return 2 * v; }
template <typename T, typename F> __device__ void apply(T *x, F f) { *x = f(*x); }
extern \"C\" __global__ void K(int *x, int n) { apply(x, [=](int v) { return v + n + twice(3); }); }"],
    ),
    construct(
        "`__shared__` and `extern __shared__` arrays",
        &["extern __shared__ float dynamic[];
template <int N> __device__ float last(float v) { __shared__ float tile[N]; tile[threadIdx.x] = v; __syncthreads(); return tile[N - 1]; }
extern \"C\" __global__ void K(float *x) { dynamic[threadIdx.x] = last<32>(x[threadIdx.x]); __syncthreads(); x[0] = dynamic[5]; }"],
    ),
    construct(
        "`__constant__` and `__device__` variables",
        &["__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter;
extern \"C\" __global__ void K(float *x, int i) { x[i] = table[i & 3]; atomicAdd(&counter, 1); }"],
    ),
    construct(
        "`__syncthreads`, `__syncthreads_count`, fences",
        &["extern \"C\" __global__ void K(int *x) { __threadfence(); __threadfence_block(); __threadfence_system(); __syncthreads(); *x = __syncthreads_count(*x) + __syncthreads_or(*x); }"],
    ),
    construct(
        "shuffles, votes, matches and reductions of warps",
        &["extern \"C\" __global__ void K(int *x, double *y) { *y = __shfl_xor_sync(~0u, *y, 1) + __shfl_sync(~0u, *y, 3, 8); *x = __ballot_sync(~0u, *x) + __any_sync(~0u, *x) + __match_any_sync(~0u, *x) + __reduce_add_sync(~0u, *x) + __activemask(); __syncwarp(); }"],
    ),
    construct(
        "atomic functions of 16, 32 and 64 bits, `_block` and `_system`; `__nv_atomic_fetch_add` and its like",
        &["#include <cuda_fp16.h>
extern \"C\" __global__ void K(unsigned short *a, int *b, unsigned long long *c, double *d, __half *h) { atomicCAS(a, (unsigned short)1, (unsigned short)2); atomicMax_block(b, 3); atomicAdd_system(c, 4ull); atomicAdd(d, 5.0); atomicAdd(h, __float2half(6)); }"],
    ),
    construct(
        "`half`, `half2`, `bfloat16`, fp8",
        &["#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
extern \"C\" __global__ void K(__half *h, __half2 *p, __nv_bfloat16 *b, __nv_fp8_e4m3 *f, __nv_fp8x4_e5m2 *q, float4 *v) { h[0] = hexp(h[1]) * h[2]; p[0] = __hfma2(p[1], p[2], p[3]); b[0] = __float2bfloat16(2) + b[1]; f[0] = __nv_fp8_e4m3(h[3]); q[0] = __nv_fp8x4_e5m2(v[0]); v[1] = float4(q[1]); }"],
    ),
    construct(
        "`__dp4a`, `__vadd4`, `__viaddmax_s32` and other integer SIMD",
        &["extern \"C\" __global__ void K(int *x, unsigned int *y) { x[0] = __dp4a(x[1], x[2], __viaddmax_s32(x[3], x[4], x[5])); y[0] = __vadd4(y[1], __vabsdiffu4(y[2], y[3])); }"],
    ),
    construct(
        "arithmetic with a direction (`__fadd_rd`, `__dsqrt_ru`)",
        &["extern \"C\" __global__ void K(float *x, double *y) { x[0] = __fadd_rd(x[1], x[2]) + __fdiv_rz(x[3], x[4]); y[0] = __dsqrt_ru(y[1]) * __fma_rn(y[2], y[3], y[4]); }"],
    ),
    construct(
        "`cuComplex`, `std::complex`, `thrust::complex`",
        &["#include <cuComplex.h>
extern \"C\" __global__ void K(cuDoubleComplex *z, cuFloatComplex *c) { z[0] = cuCdiv(cuCmul(z[1], z[2]), z[3]); c[0] = make_cuFloatComplex(cuCabsf(c[1]), 0); }",
          "#include <complex>
#include <thrust/complex.h>
extern \"C\" __global__ void K(std::complex<float> *a, thrust::complex<double> *b) { a[0] = a[1] * a[2] + std::conj(a[3]); b[0] = thrust::exp(b[1]) / b[2]; }"],
    ),
    construct(
        "`printf`, `assert`, `clock64`",
        &["#include <assert.h>
#include <stdio.h>
extern \"C\" __global__ void K(long long *x) { assert(x != nullptr); printf(\"%lld\\n\", x[0]); x[0] = clock64(); }"],
    ),
    construct(
        "cooperative groups: blocks, tiles up to a warp, coalesced threads, partitions, reductions, scans, `memcpy_async`",
        &["#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int sum(cg::thread_block_tile<16> tile, int v) { for (int i = tile.size() / 2; i > 0; i /= 2) v += tile.shfl_down(v, i); return v; }
extern \"C\" __global__ void K(int *x) { auto block = cg::this_thread_block(); x[0] = sum(cg::tiled_partition<16>(block), x[1]) + cg::coalesced_threads().size(); block.sync(); }",
          "#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern \"C\" __global__ void K(int *x, int *total) { __shared__ int part[64]; auto block = cg::this_thread_block(); cg::memcpy_async(block, part, x, sizeof(part)); cg::wait(block); auto tile = cg::tiled_partition<32>(block); cuda::atomic_ref<int, cuda::thread_scope_device> sum(*total); int v = part[block.thread_rank()]; cg::reduce_update_async(tile, sum, v, cg::plus<int>()); x[block.thread_rank()] = cg::inclusive_scan(tile, v) + cg::exclusive_scan_update(tile, sum, v) + cg::reduce(cg::binary_partition(tile, v > 3), v, cg::greater<int>()); }"],
    ),
    construct(
        "cooperative groups: barriers of the grid",
        &["#include <cooperative_groups.h>
extern \"C\" __global__ void K(int *x) { auto grid = cooperative_groups::this_grid(); x[0] = 1; grid.sync(); x[grid.thread_rank()] = x[0]; }"],
    ),
    construct(
        "CUB for warps and blocks: reductions, scans, loads, stores, exchanges, sorts, neighbours, histograms",
        &["#include <cub/block/block_radix_sort.cuh>
extern \"C\" __global__ void K(float *x, int *y) { typedef cub::BlockRadixSort<float, 64, 4, int> Sort; __shared__ Sort::TempStorage a; float keys[4]; int values[4]; cub::LoadDirectStriped<64>(threadIdx.x, x, keys); Sort(a).SortDescending(keys, values); cub::StoreDirectBlocked(threadIdx.x, y, values); }",
          "#include <cub/cub.cuh>
extern \"C\" __global__ void K(int *x) { typedef cub::BlockReduce<int, 64> Reduce; typedef cub::WarpScan<int> Scan; __shared__ Reduce::TempStorage a; __shared__ Scan::TempStorage b[2]; int v = Reduce(a).Sum(x[threadIdx.x]); Scan(b[threadIdx.x / 32]).InclusiveSum(v, v); x[threadIdx.x] = v; }"],
    ),
    construct(
        "`nvcuda::wmma`",
        &["#include <mma.h>
using namespace nvcuda::wmma;
extern \"C\" __global__ void K(const __half *a, const __half *b, float *c) { fragment<matrix_a, 16, 16, 16, __half, row_major> x; fragment<matrix_b, 16, 16, 16, __half, row_major> y; fragment<accumulator, 16, 16, 16, float> z; fill_fragment(z, 0.0f); load_matrix_sync(x, a, 16); load_matrix_sync(y, b, 16); mma_sync(z, x, y, z); store_matrix_sync(c, z, 16, mem_row_major); }"],
    ),
    construct(
        "host functions that launch, or call CUDA's runtime or cuBLAS",
        &["#include <cuda.h>
extern \"C\" __global__ void K(float *x) { *x = 1; }
const char *text(CUresult error) { const char *text; CUmemAllocationProp p = {}; size_t size; p.location.type = CU_MEM_LOCATION_TYPE_DEVICE; cuMemGetAllocationGranularity(&size, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED); cuGetErrorString(error, &text); return text; }
bool update(cudaGraphExec_t exec, cudaGraph_t graph, unsigned int blocks) { cudaGraphExecUpdateResultInfo info; return blocks < USHRT_MAX && cudaGraphExecUpdate(exec, graph, &info) == cudaErrorGraphExecUpdateFailure; }",
          "#include <cublas_v2.h>
extern \"C\" __global__ void K(float *x) { *x = 1; }
int main(int count, char **words) { float *x, alpha = atoi(words[1]); cudaMalloc(&x, 4); cudaGraph_t graph; cudaStream_t stream; cudaStreamCreate(&stream); cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal); K<<<dim3(1), 32, 0, stream>>>(x); cudaStreamEndCapture(stream, &graph); cublasHandle_t blas; cublasCreate(&blas); cublasSscal(blas, 1, &alpha, x, 1); printf(\"%d\\n\", count); return cudaDeviceSynchronize(); }"],
    ),
    construct(
        "inline PTX: arithmetic, conversions, accesses to memory, functions of warps, `ldmatrix`, `mma.sync`",
        &["extern \"C\" __global__ void K(unsigned int *x) { asm(\"{ .reg.pred %below; setp.lt.u32 %below, %0, 7; @%below add.u32 %0, %0, 1; }\" : \"+r\"(x[2])); }",
          "extern \"C\" __global__ void K(unsigned int *x) { asm(\"lop3.b32 %0, %1, %1, %1, 0x80;\" : \"=r\"(x[0]) : \"r\"(x[1])); }",
          "extern \"C\" __global__ void K(float *x) { asm volatile(\"st.global.cs.f32 [%0], %1;\" :: \"l\"(x), \"f\"(x[1])); }",
          "extern \"C\" __global__ void K(unsigned int *x) { __shared__ unsigned int tile[32]; unsigned int row = (unsigned int)__cvta_generic_to_shared(tile); tile[threadIdx.x] = x[threadIdx.x]; asm volatile(\"shfl.sync.bfly.b32 %0, %0, 1, 0x1f, -1;\" : \"+r\"(x[0])); asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" : \"=r\"(x[1]) : \"r\"(row)); }"],
    ),
    construct(
        "inline PTX: branches, copies in bulk",
        &["extern \"C\" __global__ void K(unsigned int *x) { asm(\"bra.uni done; done: mov.u32 %0, 1;\" : \"=r\"(x[0])); }",
          "extern \"C\" __global__ void K(unsigned int *x) { asm volatile(\"cp.async.bulk.prefetch.L2.global [%0], 16;\" :: \"l\"(x)); }"],
    ),
    construct(
        "`curand_kernel.h`: Philox and XORWOW; `thrust/random.h`",
        &["#include <curand_kernel.h>
extern \"C\" __global__ void K(float *x, double *y) { curandState a; curandStatePhilox4_32_10_t b; curand_init(1234, threadIdx.x, 0, &a); curand_init(1234, threadIdx.x, 0, &b); *x = curand_uniform(&a) + curand_normal(&b) + curand_uniform4(&b).x; *y = curand_normal_double(&a) + curand(&b) + curand_poisson(&b, 7.5); }",
          "#include <thrust/random.h>
extern \"C\" __global__ void K(float *x, int *y) { thrust::default_random_engine e(3); e.discard(threadIdx.x); thrust::uniform_real_distribution<float> u(1, 2); thrust::uniform_int_distribution<int> i(1, 6); thrust::normal_distribution<float> n; *x = u(e) + n(e); *y = i(e); }"],
    ),
    construct(
        "`cuda::atomic`, `cuda::atomic_ref`, `cuda_pipeline.h`",
        &[
            "#include <cuda/atomic>
#include <cuda/std/type_traits>
__device__ cuda::atomic<int, cuda::thread_scope_device> calls{1};
extern \"C\" __global__ void K(int *x) { cuda::atomic_ref<int> r(*x); r.fetch_max(calls++, cuda::memory_order_acq_rel); static_assert(cuda::std::is_same<int, decltype(r.load())>::value, \"\"); }",
            "#include <cuda_pipeline.h>
extern \"C\" __global__ void K(float *x) { __shared__ float tile[32]; __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4); __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads(); x[threadIdx.x] = tile[31 - threadIdx.x]; }",
        ],
    ),
    construct(
        "`cuda::pipeline`, `cuda::barrier`, `cuda::latch`, `cuda::counting_semaphore`, `cuda::memcpy_async`",
        &[
            "#include <cuda/barrier>
extern \"C\" __global__ void K(int *x) { __shared__ int part[32]; __shared__ cuda::barrier<cuda::thread_scope_block> all; if (threadIdx.x == 0) init(&all, blockDim.x); __syncthreads(); cuda::memcpy_async(&part[threadIdx.x], &x[threadIdx.x], 4, all); all.arrive_and_wait(); x[threadIdx.x] = part[31 - threadIdx.x]; }",
            "#include <cuda/pipeline>
extern \"C\" __global__ void K(int *x) { __shared__ int part[32]; auto pipe = cuda::make_pipeline(); pipe.producer_acquire(); cuda::memcpy_async(&part[threadIdx.x], &x[threadIdx.x], 4, pipe); pipe.producer_commit(); pipe.consumer_wait(); x[threadIdx.x] = part[threadIdx.x] + 1; pipe.consumer_release(); }",
            "#include <cuda/latch>
#include <cuda/semaphore>
__device__ cuda::counting_semaphore<cuda::thread_scope_device, 4> places(4);
extern \"C\" __global__ void K(int *x) { __shared__ cuda::latch<cuda::thread_scope_block> come; if (threadIdx.x == 0) init(&come, blockDim.x); __syncthreads(); come.arrive_and_wait(); if (places.try_acquire()) { atomicAdd(x, 1); places.release(); } }",
        ],
    ),
    construct(
        "textures and surfaces",
        &["extern \"C\" __global__ void K(cudaTextureObject_t t, float *x) { *x = tex2D<float>(t, 1, 2) + tex1DLayered<float>(t, 1, 2) + texCubemap<float4>(t, 1, 2, 3).x + tex2Dgather<uchar4>(t, 1, 2, 1).y + tex3DLod<short2>(t, 1, 2, 3, 4).x; }",
          "extern \"C\" __global__ void K(cudaSurfaceObject_t s, double2 *x) { *x = surf2DLayeredread<double2>(s, 16, 2, 1, cudaBoundaryModeClamp); surf3Dwrite(make_uchar4(1, 2, 3, 4), s, 4, 2, 1); }"],
    ),
    construct(
        "host functions that call CUB or Thrust for whole devices",
        &["#include <cub/device/device_radix_sort.cuh>
extern \"C\" __global__ void K(int *x) { *x = 1; }
cudaError_t sort(int *a, int *b, int n, cudaStream_t stream) { size_t size; cub::DoubleBuffer<int> keys(a, b); cub::DeviceRadixSort::SortKeys(nullptr, size, keys, n, 0, 32, stream); return cub::DeviceReduce::Sum(a, size, keys.Current(), b, n); }",
          "#include <thrust/device_ptr.h>
#include <thrust/sort.h>
extern \"C\" __global__ void K(int *x) { *x = 1; }
void sort(int *x, int n) { thrust::device_ptr<int> from(x); thrust::sort(from, from + n); }"],
    ),
    construct(
        "host functions that call cuRAND, cuFFT, cuSPARSE, cuSOLVER (dense) or cuBLASLt",
        &["#include <cublasLt.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
extern \"C\" __global__ void K(float *x) { *x = 1; }
int numbers(float *x, int n) { curandGenerator_t g; cufftHandle plan; cusparseHandle_t sparse; cusolverDnHandle_t solver; cublasLtHandle_t light; curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT); cufftPlan1d(&plan, n, CUFFT_C2C, 1); cusparseCreate(&sparse); cusolverDnCreate(&solver); cublasLtCreate(&light); return curandGenerateUniform(g, x, n); }"],
    ),
    construct(
        "launches from kernels",
        &["__global__ void child(int *x) { *x = 1; }\nextern \"C\" __global__ void K(int *x) { child<<<1, 1>>>(x); }"],
    ),
];

const TARGETS: [&str; 3] = ["nvptx:sm_80", "amdgcn:gfx1100", "host"];

/// The cells of the book's table, by row.
fn table() -> BTreeMap<String, Vec<String>> {
    let book = std::fs::read_to_string(support::root().join("docs/moving-cuda.md")).unwrap();
    let (_, carried_over) = book.split_once("## What is carried over").unwrap();
    let mut rows = BTreeMap::new();
    for line in carried_over.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_string());
        let row = cells.next().unwrap();
        rows.insert(row, cells.collect());
    }
    rows
}

#[test]
fn the_book_says_what_compiles_for_which_target() {
    if !offload_tests::is_nightly() {
        return;
    }
    if offload_tests::require_ptxas().is_none() {
        return;
    }
    let table = table();
    assert_eq!(table.len(), CONSTRUCTS.len(), "{table:?}");
    let mut project = Project::new("cuda");
    for (index, target) in TARGETS.iter().enumerate() {
        project.set("OFFLOAD_TARGETS", target);
        let mut files = Vec::new();
        let mut refused = Vec::new();
        for (number, construct) in CONSTRUCTS.iter().enumerate() {
            let cells = table.get(construct.row).expect(construct.row);
            for (part, source) in construct.sources.iter().enumerate() {
                let source = source.replace('K', &format!("k{number}_{part}"));
                if cells[index] == "yes" {
                    let name = format!("kernels/construct_{number}_{part}.cu");
                    project.write(&name, &source);
                    files.push(name);
                } else {
                    refused.push((construct.row, source));
                }
            }
        }
        compile_all(&project, target, &files);
        for (row, source) in refused {
            refuse(&project, target, row, &source);
        }
    }
}

/// Builds one module of `files`, each of which has a kernel.
fn compile_all(project: &Project, target: &str, files: &[String]) {
    project.write("build.rs", &build_script(files));
    let text = project.run(&[]);
    let kernels = text.split_whitespace().filter(|word| word.starts_with('k')).count();
    assert_eq!(kernels, files.len(), "{target}: {text}");
}

/// The build of `source` alone fails, with the line of the file.
fn refuse(project: &Project, target: &str, row: &str, source: &str) {
    let name = "kernels/refused.cu";
    project.write(name, source);
    project.write("build.rs", &build_script(&[name.to_string()]));
    let text = project.fail();
    assert!(text.contains("kernels/refused.cu:"), "{row} for {target}: {text}");
}

fn build_script(files: &[String]) -> String {
    format!("fn main() {{\n    offload_build::Build::new().files({files:?}).compile(\"cuda\");\n}}\n")
}
