//! Commands find the images that a program's packs name: in files beside it, and in the compile cache.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{self, all_output, data, fails, objects, offload, ok};
use offload_format::codec::Codec;
use offload_format::pack::{
    CACHE, KernelInfo, Missing, MissingKind, NewImage, Pack, PackBuilder, Pages, SIDECAR, Sidecar,
    cached_file, cached_name,
};

/// Where the images of each family are.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// In one file beside the program.
    Sidecar,
    /// In a file for each family.
    Split,
    /// In the compile cache.
    Cache,
}

const FORMS: [Form; 3] = [Form::Sidecar, Form::Split, Form::Cache];

/// The images of the program.
fn images() -> Vec<(NewImage, Vec<u8>)> {
    let ptx = String::from_utf8(data("calls.ptx"))
        .unwrap()
        .replace(".target sm_100a", ".target sm_80")
        .into_bytes();
    vec![
        (image("spirv64", &["saxpy", "reduce"]), data("saxpy-reduce.spv")),
        (image("nvptx:sm_80", &["calls"]), ptx),
        (image("amdgcn:gfx1100", &["scale"]), data("device-gfx1100.co")),
    ]
}

fn image(target: &str, names: &[&str]) -> NewImage {
    let mut kernels = Vec::new();
    for name in names {
        let mut kernel = KernelInfo::new(*name);
        kernel.spilled = Some(8);
        kernels.push(kernel);
    }
    NewImage { kernels, ..NewImage::new("blas", target.parse().unwrap()) }
}

/// A directory with `app`, whose pack names others, and these; returns the others' paths.
fn program(form: Form) -> (tempfile::TempDir, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let groups: Vec<(&str, Vec<_>)> = match form {
        Form::Split => ["app.spirv.offload", "app.nvidia.offload", "app.amd.offload"]
            .into_iter()
            .zip(images().into_iter().map(|image| vec![image]))
            .collect(),
        Form::Sidecar | Form::Cache => vec![("app.offload", images())],
    };
    let mut builder = PackBuilder::new("sample", "1.0.0");
    let mut files = Vec::new();
    for (name, images) in groups {
        let targets: Vec<String> = images.iter().map(|(image, _)| image.target.to_string()).collect();
        let bytes = support::pack(images, Codec::Zstd);
        let id = Pack::parse(&bytes, &Pages::default()).unwrap().id().unwrap();
        let (name, path) = match form {
            Form::Cache => (cached_name(id), dir.path().join("cache/v1").join(cached_file(id))),
            _ => (name.to_string(), dir.path().join(name)),
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        builder.meta(SIDECAR, &Sidecar::new(&name, id).unwrap().to_string());
        for target in &targets {
            let missing = Missing::new(MissingKind::Sidecar, "blas").with_target(target);
            builder.missing(missing.with_reason(&name));
        }
        files.push(path);
    }
    if matches!(form, Form::Cache) {
        builder.meta(CACHE, "v1");
    }
    let missing = Missing::new(MissingKind::Target, "blas").with_target("intel:pvc");
    builder.missing(missing.with_reason("no ocloc"));
    fs::write(dir.path().join("app"), builder.finish().unwrap().index).unwrap();
    (dir, files)
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn every_image_is_shown_with_its_file() {
    for form in FORMS {
        let (dir, files) = program(form);
        let text = ok(dir.path(), &["inspect", "app"]);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0][..4], ["package", "file", "module", "variant"], "{form:?}");
        // A skipped file is reported once; each row names the file of its image.
        assert_eq!((rows.len(), text.matches("no ocloc").count()), (5, 1), "{text}");
        let json = ok(dir.path(), &["inspect", "app", "--json"]);
        let shown = objects(&json, "image");
        let targets: Vec<&str> = shown.iter().map(|image| image["target"].as_str().unwrap()).collect();
        assert_eq!(targets.len(), 3, "{targets:?}");
        for image in &shown {
            assert!(files.iter().any(|file| image["file"] == name(file)), "{form:?}: {image}");
        }
        assert_eq!(objects(&json, "missing").len(), 4, "scripts see what people need not");
    }
}

#[test]
fn commands_work_on_what_lies_in_a_sidecar() {
    for form in FORMS {
        let (dir, files) = program(form);
        let path = dir.path();
        assert!(ok(path, &["verify", "app"]).ends_with("3 images verified, 0 problems\n"));
        let report = ok(path, &["report", "app", "--for", "amdgcn:*"]);
        assert!(report.contains("scale") && report.contains("1 kernel: 1 spill"), "{report}");
        assert!(ok(path, &["asm", "app", "calls"]).contains(".entry"));
        let size = &objects(&ok(path, &["size", "app", "--json"]), "summary")[0];
        let beside: u64 = files.iter().map(|file| fs::metadata(file).unwrap().len()).sum();
        assert_eq!((&size["images"], &size["sidecar_size"]), (&3.into(), &beside.into()));
        assert!(ok(path, &["size", "app"]).contains("of the files' "));
        ok(path, &["extract", "app", "--output", "out"]);
        assert_eq!(fs::read(dir.path().join("out/blas.spirv64.spv")).unwrap(), data("saxpy-reduce.spv"));
        ok(path, &["extract", "app", "--stored", "--output", "stored"]);
        assert_eq!(fs::read_dir(dir.path().join("stored")).unwrap().count(), 3);
        ok(path, &["export", "app", "--format", "fatbin", "-o", "app.fatbin"]);
        assert!(ok(path, &["inspect", "app.fatbin"]).contains("nvptx:sm_80"));
        ok(path, &["export", "app", "--format", "raw", "--target", "spirv64", "-o", "raw.spv"]);
        assert_eq!(fs::read(dir.path().join("raw.spv")).unwrap(), data("saxpy-reduce.spv"));
        let pruned = ok(path, &["prune", "app", "--drop", "all-amd", "-o", "less"]);
        assert!(pruned.contains("has 2 of 3 images"), "{pruned}");
        assert!(ok(path, &["verify", "less"]).ends_with("2 images verified, 0 problems\n"));
        assert!(ok(path, &["verify", "app"]).ends_with("3 images verified, 0 problems\n"), "{form:?}");
    }
}

#[test]
#[cfg(feature = "devices")]
fn devices_judge_what_lies_in_a_sidecar() {
    for form in FORMS {
        let (dir, _) = program(form);
        let printed = ok(dir.path(), &["devices", "app", "--json"]);
        let no_fit = objects(&printed, "no-fit");
        let of_host = no_fit.iter().find(|object| object["device"] == 0).unwrap();
        assert!(of_host["problem"].as_str().unwrap().contains("nvptx:sm_80"), "{form:?}: {of_host}");
    }
}

#[test]
fn a_file_that_is_missing_is_named_and_the_rest_is_shown() {
    let (dir, files) = program(Form::Split);
    fs::remove_file(&files[1]).unwrap();
    let output = offload(dir.path(), &["inspect", "app"]);
    let text = all_output(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("missing: cannot open `app.nvidia.offload`"), "{text}");
    assert!(text.contains("it would have blas nvptx:sm_80\nhint: it holds images of `app`"), "{text}");
    assert!(text.contains("app.spirv.offload") && text.contains("app.amd.offload"), "{text}");

    let json = support::stdout(&offload(dir.path(), &["inspect", "app", "--json"]));
    assert_eq!(objects(&json, "image").len(), 2);
    let missing = &objects(&json, "missing-sidecar")[0];
    assert_eq!((&missing["file"], &missing["package"]), (&"app.nvidia.offload".into(), &"sample".into()));
    assert_eq!(missing["images"], serde_json::json!([{"module": "blas", "target": "nvptx:sm_80"}]));
    for command in [&["size", "app"][..], &["report", "app"], &["extract", "app"], &["asm", "app"]] {
        let output = offload(dir.path(), command);
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(
            all_output(&output).contains("it would have blas nvptx:sm_80"),
            "{command:?}: {}",
            all_output(&output)
        );
    }
    let verified = offload(dir.path(), &["verify", "app"]);
    assert!(all_output(&verified).contains("2 images verified, 1 problem"), "{}", all_output(&verified));

    // A container without the image would not say so; what needs it not is written.
    let refused = fails(dir.path(), &["export", "app", "--format", "offload-binary"], 3);
    assert!(refused.contains("app.nvidia.offload") && refused.contains("hint: "), "{refused}");
    ok(dir.path(), &["export", "app", "--format", "raw", "--target", "spirv64"]);
}

#[test]
fn a_file_of_another_build_holds_nothing_of_the_program() {
    let (dir, files) = program(Form::Sidecar);
    fs::write(&files[0], support::pack(images()[..1].to_vec(), Codec::Raw)).unwrap();
    let message = all_output(&offload(dir.path(), &["inspect", "app"]));
    assert!(message.contains("missing: `app.offload` belongs to another build of the program"), "{message}");
    assert!(message.contains("blas nvptx:sm_80, blas spirv64") && !message.contains("zstd"), "{message}");
}

#[test]
fn a_development_build_whose_cache_is_empty_says_how_to_fill_it() {
    let (dir, files) = program(Form::Cache);
    fs::remove_file(&files[0]).unwrap();
    let output = offload(dir.path(), &["inspect", "app"]);
    let message = all_output(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("is a development build: `cargo build` recreates the file"), "{message}");
}
