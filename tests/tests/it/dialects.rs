//! Device libraries in every language: modules of one language import functions of libraries in another.

use std::fs;
use std::path::Path;

use object::{Object, ObjectSymbol};
use offload_images::describe;

use crate::device_library::{contains, holds, said_with_each_driver};
use crate::support::Project;

/// A constant of the function that kernels call, and one of an unused function.
const USED: u32 = 0x001b_5eed;
const UNUSED: u32 = 0x5eed_c0de;

/// Modules by their language and that of their library.
const PORTABLE: [&str; 10] =
    ["cl-clcpp", "cl-c", "cl-cpp", "clcpp-cl", "clcpp-cpp", "c-cl", "c-cpp", "cpp-cl", "cpp-clcpp", "cpp-c"];
const CUDA: [&str; 8] = ["cl-cu", "cu-cl", "cu-cpp", "cu-cu", "cl-hip", "cu-hip", "hip-c", "hip-hip"];

/// A program that has one module.
const ALONE: &str =
    "offload_rt::include_kernels!(\"app\");\n\nfn main() {\n    println!(\"{}\", app::module().name());\n}\n";

/// Whether `image` has the number, as its format writes it.
fn has(image: &[u8], number: u32) -> bool {
    holds(image, &number.to_le_bytes()) || holds(image, number.to_string().as_bytes())
}

#[test]
fn every_language_imports_every_language() {
    if !offload_tests::is_nightly() {
        return;
    }
    if offload_tests::require("clang-22").is_none() {
        return;
    }
    let project = Project::new("dialects");
    let program = project.program();
    let folder = project.path("images");
    let outcome =
        project.offload(&["extract", program.to_str().unwrap(), "--output", folder.to_str().unwrap()]);
    assert!(outcome.success, "{}", outcome.text);
    let mut count = 0;
    let mut images = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let image = fs::read(&path).unwrap();
        // Programs for the CPU say nothing of themselves: they run below.
        if let Some(described) = describe::any(&image).unwrap() {
            assert_eq!(described.undefined, Vec::<String>::new(), "{path:?}");
            let kernels: Vec<&str> = described.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
            assert_eq!(kernels, ["combine"], "{path:?}");
            assert!(!calls(&image), "{path:?} calls what could be inlined");
            images += 1;
        }
        assert!(has(&image, USED), "{path:?} lacks what it calls");
        assert!(!has(&image, UNUSED), "{path:?} has an unused function");
        assert!(!holds(&image, b"vec_unused"), "{path:?}");
        count += 1;
    }
    let of_gpus = 3 * PORTABLE.len() + 2 * CUDA.len();
    let of_cpus = PORTABLE.len() + CUDA.len();
    assert_eq!((count, images), (of_gpus + of_cpus, of_gpus), "{}", outcome.text);
    right_where_it_runs(&program);
}

/// Whether PTX or machine code for AMD calls the library's function.
fn calls(image: &[u8]) -> bool {
    match object::File::parse(image) {
        Ok(object) => object.symbols().any(|symbol| symbol.name() == Ok("vec_scale")),
        Err(_) => holds(image, b"call.uni"),
    }
}

/// Libraries and modules have functions of one name, which do different things.
fn right_where_it_runs(program: &Path) {
    let output_text = said_with_each_driver(program);
    let left_out = "left out: cl-hip spirv64: no compiler makes code for it from HIP C++, in which crate `vec` 0.2.1 has `vec-hip`";
    for text in &output_text {
        assert!(text.contains(left_out) && !text.contains("wrong"), "{text}");
    }
    let all = output_text.concat();
    for module in PORTABLE.iter().chain(&CUDA) {
        assert!(
            all.lines()
                .any(|line| line.starts_with(&format!("{module} on host")) && line.ends_with(": right")),
            "{module} in\n{all}"
        );
    }
    // PoCL of Debian takes no SPIR-V.
    if offload_tests::require_intel_runtime().is_some() {
        for module in PORTABLE {
            assert!(
                all.lines().any(|line| is_on_device(line, module) && line.ends_with(": right")),
                "{module} in\n{all}"
            );
        }
    }
}

/// Whether a line is about `module` on a device that is not the host.
fn is_on_device(line: &str, module: &str) -> bool {
    let rest = line.strip_prefix(module);
    rest.is_some_and(|rest| rest.starts_with(" on ") && !rest.starts_with(" on host"))
}

fn build_script(module: &str, library: &str) -> String {
    format!(
        "fn main() {{ offload_build::Build::new().file(\"kernels/app.{module}\").import(\"vec-{library}\").compile(\"app\"); }}\n"
    )
}

/// The build script of `vec` with its function in these languages alone.
fn in_languages(script: &str, languages: &str) -> String {
    script
        .replace("[&str; 6]", "[&str; 1]")
        .replace("\"cl\", \"clcpp\", \"c\", \"cpp\", \"cu\", \"hip\"", languages)
}

#[test]
fn languages_that_do_not_fit_are_told_with_both_crates() {
    if !offload_tests::is_nightly() {
        return;
    }
    let mut project = Project::new("dialects");
    let app = format!("crate `{}` 0.1.0", project.name());
    // HIP C++ is for GPUs with machine code, and for the CPU.
    project.write("build.rs", &build_script("cl", "hip"));
    project.set("OFFLOAD_TARGETS", "spirv64");
    contains(
        &project.fail(),
        &[
            &format!(
                "the kernel module `app` of {app} has no target that all its sources reach: it imports `vec-hip` of crate `vec` 0.2.1, in HIP C++, of which no compiler makes code for `spirv64`"
            ),
            "hint: `cargo offload targets add nvptx:sm_75`",
        ],
    );
    project.write("build.rs", &build_script("cl", "cu"));
    project.set("OFFLOAD_TARGETS", "spirv64");
    let text = project.fail();
    let alone =
        "the device library `vec-cu` was not compiled: its language reaches none of the targets `spirv64`";
    contains(
        &text,
        &[alone, "it imports `vec-cu` of crate `vec` 0.2.1", "hint: `cargo offload targets add nvptx:sm_75`"],
    );
    // Names of C++ on one side, and of C on the other.
    project.set("OFFLOAD_TARGETS", "nvptx:sm_75");
    let header = fs::read_to_string(project.path("vec/include/vec.h")).unwrap();
    project.write("vec/include/vec.h", &header.replace("__cplusplus", "NEVER"));
    let names = "hint: declare it between `extern \"C\" {` and `}` where `__cplusplus` is defined, in the header of crate `vec`";
    for (module, library, found, called) in
        [("cu", "cl", "vec_scale", "_Z9vec_scaleii"), ("c", "cpp", "_Z9vec_scaleii", "vec_scale")]
    {
        project.write("build.rs", &build_script(module, library));
        let output_text = format!("crate `vec` 0.2.1 has it as `{found}`, and the call is of `{called}`");
        contains(&project.fail(), &[&output_text, names]);
    }
    // C++ alone agrees with itself.
    project.write("src/main.rs", ALONE);
    project.write("build.rs", &build_script("cu", "cpp"));
    assert_eq!(project.run(&[]), "app\n");
    // A header that says nothing of devices.
    let headless = header.replace("__device__", "");
    project.write("vec/include/vec.h", &headless);
    project.write("build.rs", &build_script("cu", "cl"));
    let device = "hint: functions of device code have `__device__`";
    contains(&project.fail(), &["call to __device__ function from __host__ function", device]);
    let script = fs::read_to_string(project.path("vec/build.rs")).unwrap();
    project.write("vec/build.rs", &in_languages(&script, "\"cl\""));
    contains(&project.fail(), &["call to __host__ function from __global__ function", device]);
    let kernel = fs::read_to_string(project.path("kernels/app.cu")).unwrap();
    let include = "#include \"vec.h\"\n";
    let marked = format!(
        "#pragma clang force_cuda_host_device begin\n{include}#pragma clang force_cuda_host_device end\n"
    );
    project.write("kernels/app.cu", &kernel.replace(include, &marked));
    assert_eq!(project.run(&[]), "app\n");
    project.write("vec/build.rs", &in_languages(&script, "\"cu\""));
    project.write(
        "vec/device/vec.cu",
        "#include \"vec.h\"\n\nint vec_scale(int x, int by) { return x * by; }\n",
    );
    let nothing = "hint: declare in a header what importers may call, with `__device__`";
    contains(&project.fail(), &["names a function of the device library", nothing]);
    project.write("vec/include/vec.h", &header);
    project.write("vec/build.rs", &in_languages(&script, "\"cl\""));
    project.write(
        "build.rs",
        &build_script("cu", "cl").replace(".compile", ".compiler(offload_build::Compiler::Nvcc).compile"),
    );
    contains(
        &project.fail(),
        &["`app` imports the device library `vec-cl` of crate `vec` 0.2.1, and is not compiled by clang"],
    );
}

/// A stand-in for the header of clang's that includes the toolkit's.
const SDK: &str = "#define SDK\n#define __device__ __attribute__((device))\n";

#[test]
fn headers_of_cuda_are_for_the_side_that_wants_them() {
    let mut project = Project::new("dialects");
    fs::create_dir_all(project.path("sdk/include")).unwrap();
    project.write("sdk/include/cuda.h", "");
    project.write("sdk/sdk.h", SDK);
    let header = project.path("sdk/sdk.h");
    project.script_clang(&format!(
        "n=$#\nfor a; do\n  [ \"$a\" = __clang_cuda_runtime_wrapper.h ] && a='{}'\n  set -- \"$@\" \"$a\"\ndone\nshift $n\nexec clang-22 \"$@\"\n",
        header.display()
    ));
    project.set("OFFLOAD_CUDA_SDK", project.path("sdk").to_str().unwrap());
    project.set("OFFLOAD_TARGETS", "nvptx:sm_75");
    let vec = fs::read_to_string(project.path("vec/device/vec.cu")).unwrap();
    project.write("vec/device/vec.cu", &format!("#ifndef SDK\n#error no toolkit\n#endif\n{vec}"));
    let script = fs::read_to_string(project.path("vec/build.rs")).unwrap();
    let marked = script.replace("offload_build::Build::new()", "offload_build::Build::new().cuda_sdk()");
    project.write("vec/build.rs", &marked);
    let kernel = fs::read_to_string(project.path("kernels/app.cu")).unwrap();
    project.write("kernels/app.cu", &format!("#ifdef SDK\n#error a toolkit\n#endif\n{kernel}"));
    project.write(
        "build.rs",
        "fn main() { offload_build::Build::new().file(\"kernels/app.cu\").import(\"vec-cu\").compile(\"app\"); }\n",
    );
    project.write("src/main.rs", ALONE);
    assert_eq!(project.run(&[]), "app\n");
}
