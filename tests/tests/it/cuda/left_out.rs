//! Kernels for some targets beside kernels for all: by inline assembly that others have no code for, and by the settings.

use crate::support::Project;

/// The kernels of each image, by target.
fn kernels(printed: &str, target: &str) -> Vec<String> {
    let line = printed.lines().find(|line| line.starts_with(target)).unwrap_or_default();
    let mut names: Vec<String> = line.split(' ').skip(1).map(str::to_string).collect();
    names.sort();
    names
}

#[test]
fn a_refused_kernel_does_not_refuse_its_file() {
    let mut project = Project::with_shared_cache("left-out");
    let outcome = project.cargo(&["build", "--offline"]);
    assert!(outcome.success, "{}", outcome.text);
    let lines: Vec<&str> = outcome.text.lines().filter(|line| line.contains("left out")).collect();
    assert_eq!(lines.len(), 2, "{}", outcome.text);
    for (kernel, place) in [("loaded", "kernels/mixed.cu:7: "), ("voted", "kernels/helper.cu:3: ")] {
        let line = lines.iter().find(|line| line.contains(&format!("kernel `{kernel}`"))).unwrap();
        for part in [place, "inline PTX", "`amdgcn:gfx90a`", "`host`", "[modules.mixed]"] {
            assert!(line.contains(part), "no {part:?} in {line}");
        }
        assert!(line.contains(&format!("`kernels.{kernel}.targets = ")), "{line}");
    }
    let printed = project.run(&[]);
    assert_eq!(kernels(&printed, "nvptx:sm_80"), ["doubled", "loaded", "voted"], "{printed}");
    for target in ["host", "amdgcn:gfx90a"] {
        assert_eq!(kernels(&printed, target), ["doubled"], "{printed}");
    }
    assert!(printed.contains("doubled: [2, 4, 6, 8]"), "{printed}");
    for (kernel, place) in
        [("voted", "kernels/helper.cu:3: inline PTX"), ("loaded", "kernels/mixed.cu:7: inline PTX")]
    {
        let line = printed.lines().find(|line| line.starts_with(kernel)).unwrap();
        assert!(line.contains(": NoFit: host"), "{line}");
        assert!(line.contains(&format!("without kernel `{kernel}`: {place}")), "{line}");
        assert!(line.contains("nvptx:sm_80: "), "{line}");
    }
    // Where no other image has it, the pack still tells why. A kernel with checks has none either.
    project.set("OFFLOAD_TARGETS", "host");
    project.set("OFFLOAD_SANITIZE", "1");
    let printed = project.run(&[]);
    assert!(printed.contains("loaded: NoFit: host"), "{printed}");
    assert!(printed.contains("without kernel `loaded`: kernels/mixed.cu:7: inline PTX"), "{printed}");
}

#[test]
fn settings_keep_a_kernel_to_some_targets_without_a_warning() {
    let project = Project::with_shared_cache("left-out");
    let toml = std::fs::read_to_string(project.path("offload.toml")).unwrap();
    let kept = "[modules.mixed.kernels]\nloaded.targets = [\"nvptx\", \"cubin\"]\n";
    project.write("offload.toml", &format!("{toml}{kept}"));
    let script = std::fs::read_to_string(project.path("build.rs")).unwrap();
    let kinds = "[offload_build::TargetKind::Nvptx]";
    let method = format!(".kernel_targets(\"voted\", {kinds}).compile(");
    project.write("build.rs", &script.replace(".compile(", &method));
    let outcome = project.cargo(&["build", "--offline"]);
    assert!(outcome.success && !outcome.text.contains("warning: offload"), "{}", outcome.text);
    assert!(!outcome.text.contains("left out"), "{}", outcome.text);
    let printed = project.run(&[]);
    assert_eq!(kernels(&printed, "nvptx:sm_80"), ["doubled", "loaded", "voted"], "{printed}");
    assert_eq!(kernels(&printed, "amdgcn:gfx90a"), ["doubled"], "{printed}");
    let line = printed.lines().find(|line| line.starts_with("voted")).unwrap();
    assert!(line.contains("without kernel `voted`: the settings keep it to `nvptx`"), "{line}");
}

#[test]
fn a_kernel_with_textures_or_surfaces_is_left_out_for_amd() {
    let mut project = Project::with_shared_cache("left-out");
    let plain = std::fs::read_to_string(project.path("kernels/mixed.cu")).unwrap();
    let textured = "extern \"C\" __global__ void textured(float *x, cudaTextureObject_t t) {\n  *x = tex2D<float>(t, 1, 2);\n}\n";
    let painted =
        "extern \"C\" __global__ void painted(cudaSurfaceObject_t s) {\n  surf2Dwrite(1.0f, s, 4, 2);\n}\n";
    let line = plain.lines().count() + 2;
    project.write("kernels/mixed.cu", &format!("{plain}{textured}{painted}"));
    project.set("OFFLOAD_TARGETS", "host,amdgcn:gfx1100,nvptx:sm_80");
    let text = project.cargo(&["build", "--offline"]).text;
    for (kernel, line) in [("textured", line), ("painted", line + 3)] {
        let reason = format!("kernels/mixed.cu:{line}: no code for textures and surfaces");
        let warning = text.lines().find(|line| line.contains(&reason));
        assert!(warning.is_some_and(|line| line.contains(&format!("kernel `{kernel}`"))), "{text}");
    }
    let printed = project.run(&[]);
    assert_eq!(kernels(&printed, "amdgcn:gfx1100"), ["doubled"], "{printed}");
    assert_eq!(kernels(&printed, "host"), ["doubled", "painted", "textured"], "{printed}");
    let on_nvidia = kernels(&printed, "nvptx:sm_80");
    assert!(on_nvidia.iter().any(|name| name == "painted"), "{printed}");
    assert!(on_nvidia.iter().any(|name| name == "textured"), "{printed}");
}

/// The CPU alone lacks code for it, and the setting that the warning names keeps the other targets.
#[test]
fn a_kernel_that_waits_in_a_loop_is_left_out_for_the_cpu() {
    let mut project = Project::with_shared_cache("left-out");
    let plain = std::fs::read_to_string(project.path("kernels/mixed.cu")).unwrap();
    let line = plain.lines().count() + 2;
    let waiting = "#include <cuda/atomic>
extern \"C\" __global__ void waiting(int *x) { cuda::atomic_ref<int>(*x).wait(3); }
extern \"C\" __global__ void adding(int *x) {
  cuda::atomic_ref<int>(*x)++;
#ifdef __NVPTX__
  asm(\"add.s32 %0, %0, 1;\" : \"+r\"(*x));
#endif
}
";
    project.write("kernels/mixed.cu", &format!("{plain}{waiting}"));
    project.set("OFFLOAD_TARGETS", "host,amdgcn:gfx1100,nvptx:sm_80");
    let text = project.cargo(&["build", "--offline"]).text;
    let setting = "`kernels.waiting.targets = [\"nvptx\", \"cubin\", \"amdgcn\"]`";
    let reason = format!("kernels/mixed.cu:{line}: no code for waits in a loop");
    assert!(text.contains(&reason) && text.contains(setting), "{text}");
    let printed = project.run(&[]);
    assert_eq!(kernels(&printed, "host"), ["adding", "doubled"], "{printed}");
    assert_eq!(kernels(&printed, "amdgcn:gfx1100"), ["adding", "doubled", "waiting"], "{printed}");
}

#[test]
fn settings_keep_kernels_of_other_languages_too() {
    let mut project = Project::with_shared_cache("left-out");
    project.set("OFFLOAD_TARGETS", "host,spirv64");
    project.write(
        "kernels/mixed.cl",
        "kernel void one(global int *x) { *x = 1; }\nkernel void two(global int *x) { *x = 2; }\n",
    );
    project.write(
        "build.rs",
        "fn main() {\n    offload_build::Build::new().file(\"kernels/mixed.cl\").compile(\"mixed\");\n}\n",
    );
    let main = std::fs::read_to_string(project.path("src/main.rs")).unwrap();
    let listing = main.split("    let device").next().unwrap().replace("Device, NdRange", "Device as _");
    project.write("src/main.rs", &format!("{listing}}}\n"));
    project.write("offload.toml", "[modules.mixed.kernels]\ntwo.targets = [\"host\"]\n");
    let printed = project.run(&[]);
    assert_eq!(kernels(&printed, "host"), ["one", "two"], "{printed}");
    assert_eq!(kernels(&printed, "spirv64"), ["one"], "{printed}");
    // A target for which none is left has no image.
    project.write(
        "offload.toml",
        "modules.mixed.kernels = { one.targets = [\"host\"], two.targets = [\"host\"] }\n",
    );
    let printed = project.run(&[]);
    assert!(printed.starts_with("host") && !printed.contains("spirv64"), "{printed}");
}
