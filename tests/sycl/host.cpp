// Loads SYCLBIN files with Intel's SYCL runtime and runs kernels from them.
//
//   host [--resave FILE] STATE KERNEL[,KERNEL]... FILE...
//
// STATE is input, object or executable. Several files, objects or inputs, are linked together. Prints a line for each
// kernel: right, WRONG or absent. The exit code is 0 unless a result is wrong (1) or the runtime refuses (3). Nothing
// here is compiled for a device: an ordinary C++ compiler does.

#include <sycl/sycl.hpp>

#include <sycl/ext/oneapi/experimental/syclbin_kernel_bundle.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace syclex = sycl::ext::oneapi::experimental;
using Bundle = sycl::kernel_bundle<sycl::bundle_state::executable>;

constexpr std::size_t group = 256;

// Releases before 2026.2 give no content.
template <typename B> static auto content(B &bundle, int) -> decltype(bundle.ext_oneapi_get_content()) {
  return bundle.ext_oneapi_get_content();
}
template <typename B> static std::vector<char> content(B &, long) {
  throw std::runtime_error("this release does not write files");
}

template <sycl::bundle_state State>
static auto load(const sycl::queue &queue, const std::string &path, const std::string &resave) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot open the file");
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto bundle = syclex::get_kernel_bundle<State>(queue.get_context(), {queue.get_device()},
                                                 sycl::span<char>(bytes.data(), bytes.size()));
  if (!resave.empty()) {
    auto saved = content(bundle, 0);
    std::ofstream(resave, std::ios::binary).write(saved.data(), std::streamsize(saved.size()));
  }
  return bundle;
}

// An input is compiled and linked, an object linked.
static Bundle executable(const sycl::queue &queue, const std::vector<std::string> &paths,
                         const std::string &state, const std::string &resave) {
  using sycl::bundle_state;
  std::vector<sycl::kernel_bundle<bundle_state::object>> objects;
  for (const std::string &path : paths) {
    if (state == "input")
      objects.push_back(sycl::compile(load<bundle_state::input>(queue, path, resave)));
    else if (state == "object")
      objects.push_back(load<bundle_state::object>(queue, path, resave));
    else
      return load<bundle_state::executable>(queue, path, resave);
  }
  return sycl::link(objects);
}

template <typename Set, typename Range>
static void launch(sycl::queue &queue, Bundle &bundle, const char *name, Range range, Set set) {
  sycl::kernel kernel = bundle.ext_oneapi_get_kernel(name);
  queue.submit([&](sycl::handler &handler) {
    set(handler);
    handler.parallel_for(range, kernel);
  });
  queue.wait_and_throw();
}

static bool saxpy(sycl::queue &queue, Bundle &bundle) {
  const std::uint32_t n = 1000;
  float *x = sycl::malloc_shared<float>(n, queue), *y = sycl::malloc_shared<float>(n, queue);
  for (std::uint32_t i = 0; i < n; ++i)
    x[i] = float(i), y[i] = 1.0f;
  launch(queue, bundle, "saxpy", sycl::nd_range<1>(1024, group),
         [&](sycl::handler &handler) { handler.set_args(2.0f, x, y, n); });
  bool right = true;
  for (std::uint32_t i = 0; i < n; ++i)
    right &= std::fabs(y[i] - (2.0f * float(i) + 1.0f)) <= 1e-3f;
  sycl::free(x, queue);
  sycl::free(y, queue);
  return right;
}

// A kernel with local memory, barriers and groups of two dimensions.
static bool matmul(sycl::queue &queue, Bundle &bundle) {
  const std::uint32_t n = 64, tile = 16;
  float *a = sycl::malloc_shared<float>(n * n, queue), *b = sycl::malloc_shared<float>(n * n, queue);
  float *c = sycl::malloc_shared<float>(n * n, queue);
  for (std::uint32_t i = 0; i < n * n; ++i)
    a[i] = float(i % 5), b[i] = float(i % 3), c[i] = -1.0f;
  launch(queue, bundle, "matmul", sycl::nd_range<2>({n, n}, {tile, tile}),
         [&](sycl::handler &handler) { handler.set_args(a, b, c, n); });
  bool right = true;
  for (std::uint32_t row = 0; row < n; ++row)
    for (std::uint32_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::uint32_t k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + column];
      right &= c[row * n + column] == sum;
    }
  sycl::free(a, queue);
  sycl::free(b, queue);
  sycl::free(c, queue);
  return right;
}

static bool reduce(sycl::queue &queue, Bundle &bundle) {
  const std::uint32_t n = 1000;
  float *x = sycl::malloc_shared<float>(n, queue), *sums = sycl::malloc_shared<float>(4, queue);
  for (std::uint32_t i = 0; i < n; ++i)
    x[i] = float(i % 7);
  launch(queue, bundle, "reduce", sycl::nd_range<1>(1024, group),
         [&](sycl::handler &handler) { handler.set_args(x, sums, n); });
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

// A kernel that calls a function of another module: 2 x + 1.
static bool calls(sycl::queue &queue, Bundle &bundle) {
  float *x = sycl::malloc_shared<float>(1, queue);
  x[0] = 20.0f;
  launch(queue, bundle, "calls", sycl::nd_range<1>(1, 1), [&](sycl::handler &handler) { handler.set_args(x); });
  const bool right = x[0] == 41.0f;
  sycl::free(x, queue);
  return right;
}

// A bundle without any module of the file has no kernels at all.
static bool has(Bundle &bundle, const std::string &name) {
  try {
    return bundle.ext_oneapi_has_kernel(name);
  } catch (const sycl::exception &) {
    return false;
  }
}

static bool run(sycl::queue &queue, Bundle &bundle, const std::string &name) {
  if (!has(bundle, name)) {
    std::printf("%s absent\n", name.c_str());
    return true;
  }
  const bool right = name == "saxpy"    ? saxpy(queue, bundle)
                     : name == "matmul" ? matmul(queue, bundle)
                     : name == "reduce" ? reduce(queue, bundle)
                                        : calls(queue, bundle);
  std::printf("%s %s\n", name.c_str(), right ? "right" : "WRONG");
  return right;
}

int main(int argc, char **argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  std::string resave;
  if (args.size() > 2 && args[0] == "--resave") {
    resave = args[1];
    args.erase(args.begin(), args.begin() + 2);
  }
  if (args.size() < 3) {
    std::fprintf(stderr, "usage: host [--resave FILE] STATE KERNEL[,KERNEL]... FILE...\n");
    return 2;
  }
  try {
    sycl::queue queue;
    Bundle bundle = executable(queue, {args.begin() + 2, args.end()}, args[0], resave);
    bool right = true;
    std::istringstream names(args[1]);
    for (std::string name; std::getline(names, name, ',');)
      right &= run(queue, bundle, name);
    return right ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "refused: %s\n", error.what());
    return 3;
  }
}
