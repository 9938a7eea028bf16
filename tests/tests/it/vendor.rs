//! Images that a package brings along: made by `cargo offload vendor`, used where no compiler is installed.

use std::fs;

use crate::support::{self, Project};

/// A project whose images are vendored, and what its program says of them.
fn vendored() -> (Project, String) {
    let project = Project::with_fake_tools("two-files");
    let output_text = project.run(&[]);
    let outcome = project.offload(&["vendor"]);
    assert!(outcome.success, "{}", outcome.text);
    assert!(outcome.text.contains("offload-vendor/two.pack: 3 images in "), "{}", outcome.text);
    (project, output_text)
}

/// Takes the compilers away, and what they made.
fn without_tools(project: &mut Project) {
    for variable in ["OFFLOAD_CLANG", "OFFLOAD_OCLOC", "OFFLOAD_SPIRV_VAL"] {
        project.set(variable, "/nonexistent/tool");
    }
    fs::remove_dir_all(project.path("cache")).unwrap();
}

/// Brings the compilers back.
fn tools_again(project: &mut Project) {
    for (variable, tool) in
        [("OFFLOAD_CLANG", "clang"), ("OFFLOAD_OCLOC", "ocloc"), ("OFFLOAD_SPIRV_VAL", "spirv-val")]
    {
        let tool = project.path("tools").join(tool);
        project.set(variable, tool.to_str().unwrap());
    }
}

#[test]
fn a_package_with_vendored_images_needs_no_compiler() {
    let (mut project, output_text) = vendored();
    without_tools(&mut project);
    let outcome = project.cargo(&["build", "--offline"]);
    assert!(outcome.success, "{}", outcome.text);
    let warning = "the images of `two` for `spirv64`, `intel:pvc`, `opencl-c` were not built here: the package brings them along, and clang";
    assert!(outcome.text.contains(warning), "{}", outcome.text);
    assert_eq!(project.run(&[]), output_text);

    // What is not vendored cannot be built.
    project.set("OFFLOAD_TARGETS", "spirv64,intel:acm-g10");
    let text = project.fail();
    assert!(text.contains("clang of LLVM 19 or later was not found") && text.contains("hint:"), "{text}");
}

#[test]
fn images_of_other_sources_are_not_used() {
    let (mut project, _) = vendored();
    without_tools(&mut project);
    let common = fs::read_to_string(project.path("kernels/common.h")).unwrap();
    project.write("kernels/common.h", "#define COMMON 7\n");
    let text = project.fail();
    assert!(
        text.contains("cannot use the vendored images of `two`: `kernels/common.h` has changed since"),
        "{text}"
    );

    project.write("kernels/common.h", &common);
    project.write("flags.txt", "-DMORE=1");
    let text = project.fail();
    assert!(
        text.contains(
            "cannot use the vendored images of `two`: build.rs or the configuration has other files"
        ),
        "{text}"
    );

    fs::remove_file(project.path("flags.txt")).unwrap();
    assert!(project.cargo(&["build", "--offline"]).success);
    project.set("OFFLOAD_VENDORED", "never");
    assert!(!project.fail().contains("were not built here"));
}

#[test]
fn compilers_that_are_there_compile_unless_told_otherwise() {
    let (mut project, output_text) = vendored();
    fs::remove_dir_all(project.path("cache")).unwrap();
    project.calls();
    assert_eq!(project.run(&[]), output_text);
    assert!(!project.calls().is_empty());

    fs::remove_dir_all(project.path("cache")).unwrap();
    project.set("OFFLOAD_VENDORED", "prefer");
    assert_eq!(project.run(&[]), output_text);
    assert_eq!(project.calls(), [""; 0]);
}

#[test]
fn a_damaged_pack_is_refused() {
    let (mut project, _) = vendored();
    without_tools(&mut project);
    let record = fs::read_to_string(project.path("offload-vendor/two.toml")).unwrap();
    let hash = record.lines().rev().find(|line| line.starts_with("blake3")).unwrap();
    let other = format!("blake3 = \"{}\"", "0".repeat(64));
    project.write("offload-vendor/two.toml", &record.replace(hash, &other));
    let text = project.fail();
    assert!(text.contains("differs from the recorded one") && text.contains("hint:"), "{text}");
    // The hint's command needs the compilers.
    tools_again(&mut project);
    project.follow(&text);
    without_tools(&mut project);
    assert!(project.cargo(&["build", "--offline"]).success);

    project.write("offload-vendor/two.toml", &record);
    let mut pack = fs::read(project.path("offload-vendor/two.pack")).unwrap();
    let last = pack.len() - 9;
    pack[last] ^= 1;
    fs::write(project.path("offload-vendor/two.pack"), pack).unwrap();
    assert!(project.fail().contains("two.pack"));

    fs::rename(project.path("offload-vendor/two.toml"), project.path("offload-vendor/other.toml")).unwrap();
    tools_again(&mut project);
    let outcome = project.offload(&["vendor", "--verify"]);
    assert!(
        outcome.text.contains("other.toml` is the record of the module `two`\nhint: "),
        "{}",
        outcome.text
    );
    fs::remove_file(project.path("offload-vendor/other.toml")).unwrap();
    project.follow(&outcome.text);
}

#[test]
fn a_record_that_cannot_be_trusted_is_refused_or_not_used() {
    let (mut project, _) = vendored();
    without_tools(&mut project);
    let path = "offload-vendor/two.toml";
    let record = fs::read_to_string(project.path(path)).unwrap();
    let first_source = record.find("[[source]]").unwrap();
    let first_image = record.find("[[image]]").unwrap();

    // Names that lead out of the package, of files that never end or do not matter to it.
    for outside in ["/dev/zero", "../two/kernels/common.h", "kernels/../../outside.h"] {
        let hostile = record.replacen("name = \"kernels/common.h\"", &format!("name = \"{outside}\""), 1);
        assert_ne!(hostile, record);
        project.write(path, &hostile);
        let text = project.fail();
        assert!(text.contains("outside of the package") && text.contains(outside), "{text}");
    }

    // Without the list of sources nothing shows that the images are theirs.
    project.write(path, &format!("{}{}", &record[..first_source], &record[first_image..]));
    let text = project.fail();
    assert!(text.contains("cannot use the vendored images of `two`"), "{text}");

    // Images of another module of the same package.
    project.write(path, &record.replacen("module = \"two\"", "module = \"one\"", 1));
    let text = project.fail();
    assert!(text.contains("two.toml") && text.contains("module `one`"), "{text}");

    // A pack that is cut anywhere.
    project.write(path, &record);
    let pack = fs::read(project.path("offload-vendor/two.pack")).unwrap();
    for length in [0, 1, 40, pack.len() / 2, pack.len() - 1] {
        fs::write(project.path("offload-vendor/two.pack"), &pack[..length]).unwrap();
        let text = project.fail();
        assert!(text.contains("two.pack"), "{length}: {text}");
    }
    fs::write(project.path("offload-vendor/two.pack"), &pack).unwrap();
    assert!(project.cargo(&["build", "--offline"]).success);
}

#[test]
fn verifying_compiles_again_and_compares() {
    let (project, _) = vendored();
    let outcome = project.offload(&["vendor", "--verify"]);
    assert!(
        outcome.success && outcome.text.contains("two: 3 images, up to date with the sources"),
        "{}",
        outcome.text
    );

    project.write("kernels/common.h", "#define COMMON 7\n");
    let outcome = project.offload(&["vendor", "--verify"]);
    assert!(!outcome.success, "{}", outcome.text);
    for part in [
        "opencl-c: differs",
        "vendored with source `kernels/common.h`",
        "rebuilt with source `kernels/common.h`",
    ] {
        assert!(outcome.text.contains(part), "{part}: {}", outcome.text);
    }
    // It has written nothing.
    let record = fs::read_to_string(project.path("offload-vendor/two.toml")).unwrap();
    assert!(project.offload(&["vendor"]).success);
    assert_ne!(fs::read_to_string(project.path("offload-vendor/two.toml")).unwrap(), record);
}

#[test]
fn the_bill_of_materials_names_every_material() {
    let (project, _) = vendored();
    let path = project.path("bom.json");
    let outcome = project.offload(&["vendor", "--sbom", path.to_str().unwrap()]);
    assert!(outcome.success, "{}", outcome.text);
    let text = fs::read_to_string(path).unwrap();
    let bom: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&bom["bomFormat"], &bom["specVersion"]), (&"CycloneDX".into(), &"1.6".into()));
    let components = bom["components"].as_array().unwrap();
    let names: Vec<&str> = components.iter().map(|component| component["name"].as_str().unwrap()).collect();
    for name in
        ["two/spirv64", "two/intel:pvc", "two/opencl-c", "kernels/a.cl", "kernels/common.h", "clang", "ocloc"]
    {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    let references: Vec<&str> = components.iter().map(|one| one["bom-ref"].as_str().unwrap()).collect();
    for dependency in bom["dependencies"].as_array().unwrap() {
        for on in dependency["dependsOn"].as_array().unwrap() {
            assert!(references.contains(&on.as_str().unwrap()), "{on} is no component");
        }
    }
    assert!(!text.contains(project.path("").to_str().unwrap()), "{text}");
}

/// And nothing of the package changes.
#[test]
fn a_file_that_is_no_such_bill_is_kept_unless_forced() {
    let (project, _) = vendored();
    let path = project.path("bom.json");
    let vendor = ["vendor", "--sbom", path.to_str().unwrap()];
    for _ in 0..2 {
        assert!(project.offload(&vendor).success);
    }
    fs::write(&path, "mine").unwrap();
    fs::remove_file(project.path("offload-vendor/two.pack")).unwrap();
    let outcome = project.offload(&vendor);
    assert!(!outcome.success && outcome.text.contains("bom.json` exists\nhint: "), "{}", outcome.text);
    assert!(!project.path("offload-vendor/two.pack").exists());
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    assert!(project.offload(&[&vendor[..], &["--force"]].concat()).success);
    assert!(project.path("offload-vendor/two.pack").exists());
    assert_ne!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn the_images_of_the_demo_are_of_its_sources() {
    let demo = support::root().join("example-app");
    let record = fs::read_to_string(demo.join("offload-vendor/demo.toml")).unwrap();
    for entry in fs::read_dir(demo.join("kernels")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(&demo).unwrap().display();
        let hash = blake3::hash(&fs::read(&path).unwrap()).to_hex();
        let source = format!("[[source]]\nname = \"{name}\"\nblake3 = \"{hash}\"\n");
        assert!(record.contains(&source), "{name} has changed: `cargo offload vendor -p example-app`");
    }
}

/// Names and versions in the tables of a record with this heading.
fn named(record: &str, heading: &str) -> Vec<String> {
    let start = format!("[[{heading}]]\nname = \"");
    let items = record.split(&start).skip(1);
    items.map(|item| item.lines().take(2).collect()).collect()
}

fn assert_unusable(project: &Project, reason: &str) {
    let text = project.fail();
    let note = format!("this build cannot use the vendored images of `app`: {reason}\n");
    assert!(text.contains(&note) && text.contains("hint: apt install clang-22"), "{text}");
}

/// What a module imports is part of what its images are made of, and no file of its package.
#[test]
fn images_with_functions_of_other_crates_are_vendored() {
    if !offload_tests::is_nightly() {
        return;
    }
    let mut project = Project::new("imports");
    project.set("OFFLOAD_TARGETS", "host,spirv64,opencl-c");
    let outcome = project.offload(&["vendor"]);
    assert!(outcome.success && outcome.text.contains("app.pack: 3 images"), "{}", outcome.text);
    let record = fs::read_to_string(project.path("offload-vendor/app.toml")).unwrap();
    assert_eq!(
        named(&record, "library"),
        ["vec\"version = \"vec 0.2.1\"", "base\"version = \"base 0.3.0\""],
        "{record}"
    );
    // A published package has no files of another one, though that lies in a folder of it.
    assert_eq!(named(&record, "source").len(), 1, "{record}");
    assert!(named(&record, "source")[0].starts_with("kernels/app.cl\""), "{record}");
    assert!(named(&record, "input").contains(&"base.cl\"version = \"base 0.3.0\"".to_string()), "{record}");
    assert!(project.offload(&["vendor", "--verify"]).text.contains("app: 3 images, equal to"));

    project.set("OFFLOAD_CLANG", "/nonexistent/tool");
    fs::remove_dir_all(project.path("cache")).unwrap();
    let output_text = project.run(&[]);
    assert!(output_text.contains("): right\n2 of 2 devices are right"), "{output_text}");
    // The functions are in the images: a library that is not the same is not taken for it.
    let base = fs::read_to_string(project.path("base/device/base.cl")).unwrap();
    project.write("base/device/base.cl", &base.replace("+ 7", "+ 8"));
    assert_unusable(&project, "the device library `base` of crate base 0.3.0 has changed since");
    project.write("base/device/base.cl", &base);
    let manifest = fs::read_to_string(project.path("vec/Cargo.toml")).unwrap();
    project.write("vec/Cargo.toml", &manifest.replace("0.2.1", "0.2.2"));
    assert_unusable(&project, "they have functions of crate vec 0.2.1, and this build has vec 0.2.2");
    project.set("OFFLOAD_CLANG", "clang-22");
    let outcome = project.offload(&["vendor", "--verify"]);
    assert!(!outcome.success, "{}", outcome.text);
    for part in
        ["vendored with device library `vec` (vec 0.2.1)", "rebuilt with device library `vec` (vec 0.2.2)"]
    {
        assert!(outcome.text.contains(part), "{}", outcome.text);
    }
    assert!(project.offload(&["vendor"]).success);
    assert!(project.offload(&["vendor", "--verify"]).success);
}
