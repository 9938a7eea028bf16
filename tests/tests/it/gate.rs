//! `require` in `offload.toml`: `cargo offload verify` of a package fails where a module lacks what it names.

use crate::support::Project;

fn write_settings(project: &Project, text: &str) {
    project.write("offload.toml", &format!("targets = [\"spirv64\"]\n{text}"));
}

#[test]
fn a_package_has_what_its_offload_toml_requires() {
    let project = Project::with_fake_tools("two-files");
    write_settings(&project, "require = [\"spirv64\"]\n");
    let verified = project.offload(&["verify"]);
    assert!(verified.success, "{}", verified.text);
    assert!(verified.text.contains(": spirv64: module two by spirv64\n"), "{}", verified.text);

    write_settings(&project, "require = [\"spirv64\", \"opencl-c\"]\n");
    let verified = project.offload(&["verify"]);
    assert_eq!(verified.code, 1, "{}", verified.text);
    assert!(
        verified.text.contains(": opencl-c: no image in module two; available: spirv64\n"),
        "{}",
        verified.text
    );
    assert!(verified.text.contains("hint: `cargo offload targets add opencl-c`"), "{}", verified.text);
    assert!(project.offload(&["targets", "add", "opencl-c"]).success);
    let verified = project.offload(&["verify"]);
    assert!(verified.success, "{}", verified.text);

    // Of a module that needs less.
    write_settings(&project, "require = [\"sm_90\"]\n[modules.two]\nrequire = [\"spirv64\"]\n");
    assert!(project.offload(&["verify"]).success);
    // Files of other tool chains need not satisfy it.
    write_settings(&project, "require = [\"sm_90\"]\n");
    assert!(project.offload(&["verify", project.program().to_str().unwrap()]).success);

    write_settings(&project, "require = \"sm_90\"\n");
    let refused = project.offload(&["verify"]);
    assert_eq!(refused.code, 101, "{}", refused.text);
    write_settings(&project, "require = [\"sm90\"]\n");
    let refused = project.offload(&["verify"]);
    assert_eq!(refused.code, 2, "{}", refused.text);
    assert!(refused.text.contains("hint: write `sm_90`"), "{}", refused.text);
}
