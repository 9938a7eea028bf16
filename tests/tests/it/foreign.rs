//! Compilers other than LLVM's: their command lines, and what becomes of what they write.

use crate::support::{self, Project};
use offload_containers::syclbin::AbstractModule;

/// A project whose module `two` is one file for `compiler`, with a header that the fake compilers say they read.
fn project(source: &str, compiler: &str, targets: &str) -> Project {
    let project = Project::with_fake_tools("two-files");
    let build = format!(
        "fn main() {{ offload_build::Build::new().file(\"kernels/{source}\").define(\"N\", \"4\")\n\
         .compiler(offload_build::Compiler::{compiler}).max_registers(64).compile(\"two\"); }}"
    );
    project.write("build.rs", &build);
    project.write(&format!("kernels/{source}"), "// read by a fake compiler\n");
    project.write("kernels/k.h", "// one\n");
    project.write("offload.toml", &format!("targets = [{targets}]\n"));
    project
}

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(support::root().join("tests/data").join(name)).unwrap()
}

/// The arguments of the only call, without those that ask for a version; files that have random places as `_`.
fn arguments(project: &Project, tool: &str) -> Vec<String> {
    let lines = project.command_lines();
    let calls: Vec<&String> = lines
        .iter()
        .filter(|line| line.starts_with(&format!("{tool} ")) && !line.contains("--version"))
        .collect();
    let [only] = calls.as_slice() else { panic!("{lines:#?}") };
    only.split(' ')
        .skip(1)
        .map(|word| if word.starts_with('/') { "_".to_string() } else { word.to_string() })
        .collect()
}

#[test]
fn nvcc() {
    let mut project = project("k.cu", "Nvcc", "\"nvptx:sm_90a\", \"host\"");
    project.fake_tool("nvcc", "OFFLOAD_NVCC", &sample("device-nvcc.ptx"));
    let first = project.run(&[]);
    assert!(first.contains("nvptx:sm_90a "), "{first}");
    let expected = "-Xcompiler=-Wp\\,-v -O3 -ptx -arch=sm_90a -I. -Xptxas -v -lineinfo -maxrregcount=64 -DN=4 -MD -MT out -MF _ -o _ _";
    assert_eq!(arguments(&project, "nvcc").join(" "), expected);
    // Nothing changed, then a header that the dependency file names.
    assert_eq!(project.run(&[]), first);
    assert_eq!(project.command_lines(), [""; 0]);
    project.write("kernels/k.h", "// two\n");
    project.run(&[]);
    arguments(&project, "nvcc");
}

#[test]
fn hipcc() {
    let mut project = project("k.hip", "Hipcc", "\"amdgcn:gfx1100\"");
    project.fake_tool("hipcc", "OFFLOAD_HIPCC", &sample("device-gfx1100.co"));
    assert!(project.run(&[]).contains("amdgcn:gfx1100 "));
    let expected = "-Xclang -v --cuda-device-only --no-gpu-bundle-output -fuse-cuid=none -O3 -I. --offload-arch=gfx1100 -DN=4 \
                    -Xclang -MT -Xclang out -Xclang -dependency-file -Xclang _ -o _ _";
    assert_eq!(arguments(&project, "hipcc").join(" "), expected);
}

#[test]
fn icpx() {
    let mut project = project("k.cpp", "Icpx", "\"spirv64\", \"nvptx:sm_90\"");
    let spirv = sample("saxpy-reduce.spv");
    let module = offload_containers::syclbin::NewModule::default().with_kernels(["saxpy"]).unwrap();
    let module = module.with_spirv(&spirv);
    let file = offload_containers::syclbin::write(
        offload_containers::syclbin::BundleState::Executable,
        &[module],
        offload_containers::syclbin::ImageKindNumber::default(),
    );
    project.fake_tool("icpx", "OFFLOAD_ICPX", &file.unwrap());
    let text = project.run(&[]);
    // The SPIR-V is taken out of the SYCLBIN, unchanged.
    assert!(
        text.contains(&format!("spirv64 {} {} bytes", offload_format::Hash128::digest(&spirv), spirv.len())),
        "{text}"
    );
    let expected = "-Xclang -v -fsycl --offload-new-driver -fsyclbin=executable -fsycl-targets=spir64 \
                    -fsycl-device-code-split=off -O2 -I. -DN=4 -MD -MT out -MF _ -o _ _";
    assert_eq!(arguments(&project, "icpx").join(" "), expected);
}

#[test]
fn a_compiler_that_writes_something_else_is_refused() {
    let mut project = project("k.cu", "Nvcc", "\"nvptx:sm_90\"");
    project.fake_tool("nvcc", "OFFLOAD_NVCC", b".version 7.8\n.target sm_90\n.address_size 64\n");
    let text = project.fail();
    assert!(text.contains("exited with success") && text.contains("the image has no kernel"), "{text}");
}

#[test]
fn a_missing_compiler_is_named_with_the_remedy() {
    let mut project = project("k.cu", "Nvcc", "\"nvptx:sm_90\"");
    project.set("OFFLOAD_NVCC", "/nonexistent/nvcc");
    let text = project.fail();
    assert!(
        text.contains("nvcc was not found") && text.contains("hint: `cargo offload toolchain install nvcc`"),
        "{text}"
    );
}

/// A project of ready-made files, whose program writes the SYCLBIN of the build to the file that it is given.
fn ready(build: &str) -> Project {
    let project = Project::with_fake_tools("two-files");
    project
        .write("build.rs", &format!("fn main() {{ offload_build::Build::new(){build}.compile(\"two\"); }}"));
    project.write("offload.toml", "targets = [\"spirv64\"]\n");
    std::fs::write(project.path("kernels/k.spv"), sample("saxpy-reduce.spv")).unwrap();
    project
}

#[test]
fn a_syclbin_is_taken_for_its_spirv() {
    let project = ready(".file(\"kernels/k.syclbin\")");
    let spirv = sample("saxpy-reduce.spv");
    let module = offload_containers::syclbin::NewModule::default().with_spirv(&spirv);
    let state = offload_containers::syclbin::BundleState::Executable;
    let file =
        |modules: &[_]| offload_containers::syclbin::write(state, modules, Default::default()).unwrap();
    std::fs::write(project.path("kernels/k.syclbin"), file(std::slice::from_ref(&module))).unwrap();
    let expected = format!("spirv64 {} {} bytes", offload_format::Hash128::digest(&spirv), spirv.len());
    assert!(project.run(&[]).contains(&expected));
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::write(project.path("kernels/k.syclbin"), file(&[module.clone(), module])).unwrap();
    let text = project.fail();
    assert!(text.contains("holds 2 modules, not one") && text.contains("hint: "), "{text}");
}

/// The kernels, imports and exports of a module.
fn names<'t>(module: &'t AbstractModule<'_>) -> [Vec<&'t str>; 3] {
    [module.kernels().collect(), module.imported().collect(), module.exported().collect()]
}

#[test]
fn a_build_writes_a_syclbin_with_libraries() {
    let project = ready(
        ".file(\"kernels/k.spv\").syclbin(offload_build::SyclState::Object)\
         .syclbin_library(\"kernels/i.spv\").syclbin_library(\"kernels/e.spv\")",
    );
    std::fs::write(project.path("kernels/i.spv"), sample("import.spv")).unwrap();
    std::fs::write(project.path("kernels/e.spv"), sample("export.spv")).unwrap();
    project.write(
        "src/main.rs",
        "fn main() { let path = std::env::args().nth(1).unwrap();\n\
         std::fs::write(path, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/two.syclbin\"))).unwrap(); }\n",
    );
    let to = project.path("out.syclbin");
    project.run(&["--", to.to_str().unwrap()]);
    let bytes = std::fs::read(&to).unwrap();
    let file = offload_containers::syclbin::parse(&bytes, &offload_format::Limits::default()).unwrap();
    assert_eq!(file.state().unwrap(), offload_containers::syclbin::BundleState::Object);
    assert_eq!(file.modules.len(), 3);
    assert_eq!(
        names(&file.modules[0]),
        [vec!["__sycl_kernel_saxpy", "__sycl_kernel_reduce"], vec![], vec![]]
    );
    assert_eq!(names(&file.modules[1]), [vec!["__sycl_kernel_calls"], vec!["elsewhere"], vec![]]);
    assert_eq!(names(&file.modules[2]), [vec![], vec![], vec!["elsewhere"]]);
    assert_eq!(offload_containers::syclbin::hazards(&file), []);
}
