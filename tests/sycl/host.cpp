// Loads a SYCLBIN file with Intel's SYCL runtime and runs the example's kernels from it.
//
//   host FILE [input|object|executable]
//
// The exit code is 0 only if the file loads and every result is right. Nothing here is compiled for a device: an
// ordinary C++ compiler does.

#include <sycl/sycl.hpp>

#include <sycl/ext/oneapi/experimental/syclbin_kernel_bundle.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace syclex = sycl::ext::oneapi::experimental;
using Bundle = sycl::kernel_bundle<sycl::bundle_state::executable>;

constexpr std::size_t group = 256;

template <sycl::bundle_state State>
static auto load(const sycl::queue &queue, const char *path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot open the file");
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return syclex::get_kernel_bundle<State>(queue.get_context(), {queue.get_device()},
                                          sycl::span<char>(bytes.data(), bytes.size()));
}

// An input is compiled and linked, an object linked.
static Bundle executable(const sycl::queue &queue, const char *path, const std::string &state) {
  using sycl::bundle_state;
  if (state == "input")
    return sycl::link(sycl::compile(load<bundle_state::input>(queue, path)));
  if (state == "object")
    return sycl::link(load<bundle_state::object>(queue, path));
  return load<bundle_state::executable>(queue, path);
}

static bool saxpy(sycl::queue &queue, Bundle &bundle) {
  const std::uint32_t n = 1000;
  float *x = sycl::malloc_shared<float>(n, queue), *y = sycl::malloc_shared<float>(n, queue);
  for (std::uint32_t i = 0; i < n; ++i)
    x[i] = float(i), y[i] = 1.0f;
  sycl::kernel kernel = bundle.ext_oneapi_get_kernel("saxpy");
  queue.submit([&](sycl::handler &handler) {
    handler.set_args(2.0f, x, y, n);
    handler.parallel_for(sycl::nd_range<1>(1024, group), kernel);
  });
  queue.wait_and_throw();
  bool right = true;
  for (std::uint32_t i = 0; i < n; ++i)
    right &= std::fabs(y[i] - (2.0f * float(i) + 1.0f)) <= 1e-3f;
  sycl::free(x, queue);
  sycl::free(y, queue);
  return right;
}

// A kernel with local memory and barriers.
static bool reduce(sycl::queue &queue, Bundle &bundle) {
  const std::uint32_t n = 1000;
  float *x = sycl::malloc_shared<float>(n, queue), *sums = sycl::malloc_shared<float>(4, queue);
  for (std::uint32_t i = 0; i < n; ++i)
    x[i] = float(i % 7);
  sycl::kernel kernel = bundle.ext_oneapi_get_kernel("reduce");
  queue.submit([&](sycl::handler &handler) {
    handler.set_args(x, sums, n);
    handler.parallel_for(sycl::nd_range<1>(1024, group), kernel);
  });
  queue.wait_and_throw();
  bool right = true;
  for (std::size_t g = 0; g < 4; ++g) {
    float expected = 0;
    for (std::size_t i = g * group; i < (g + 1) * group && i < n; ++i)
      expected += x[i];
    right &= sums[g] == expected;
  }
  sycl::free(x, queue);
  sycl::free(sums, queue);
  return right;
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: host FILE [input|object|executable]\n");
    return 2;
  }
  try {
    sycl::queue queue;
    std::printf("device: %s\n", queue.get_device().get_info<sycl::info::device::name>().c_str());
    Bundle bundle = executable(queue, argv[1], argc == 3 ? argv[2] : "executable");
    const bool right_saxpy = saxpy(queue, bundle), right_reduce = reduce(queue, bundle);
    std::printf("saxpy %s, reduce %s\n", right_saxpy ? "right" : "WRONG", right_reduce ? "right" : "WRONG");
    return right_saxpy && right_reduce ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
