//! Options of modules in the settings file.

use offload_format::Variant;

use super::*;
use crate::error::Result;

fn read(text: &str) -> Result<Options> {
    let whole = format!("[module]\n{text}").replace("[kernels", "[module.kernels");
    crate::settings::read(&whole, |table| Options::read(table.required("module")?))
}

fn parse(text: &str) -> Options {
    read(text).unwrap()
}

#[test]
fn variants_are_combined_in_order() {
    let options = parse("variants = { T = [\"half\", \"float\"], HEAD_DIM = [64, 128] }");
    let texts: Vec<String> = options.combinations().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["HEAD_DIM=64,T=half", "HEAD_DIM=64,T=float", "HEAD_DIM=128,T=half", "HEAD_DIM=128,T=float"]
    );
    assert_eq!(Options::default().combinations().unwrap(), [Variant::default()]);
}

#[test]
fn variants_that_cannot_be_told_apart_are_refused() {
    for text in [
        "variants = { T = [] }",
        "variants = { T = [1, 1] }",
        "variants = { T = [\"a,b\"] }",
        "variants = { \"A=B\" = [1] }",
    ] {
        assert!(parse(text).check().is_err(), "{text}");
    }
    assert!(parse("variants = { T = [\"half\", 1, true] }").check().is_ok());
}

#[test]
fn budgets_have_three_forms() {
    for (text, budget) in [
        ("", SpillBudget::Warn),
        ("max-spills = 0", SpillBudget::AtMost(0)),
        ("max-spills = { warn = 64 }", SpillBudget::WarnAbove(64)),
        ("max-spills = \"any\"", SpillBudget::Any),
    ] {
        assert_eq!(parse(text).max_spills.unwrap_or_default(), budget, "{text}");
    }
    assert!(read("max-spills = -1").unwrap_err().to_string().contains("hint:"));
}

#[test]
fn what_the_builder_says_the_file_can_say() {
    let options = parse(
        "std = \"3.0\"\nincludes = [\"inc\"]\ndefines = { TILE = 16, T = \"half\" }\nflags = [\"-O1\"]\ngrf = \"large\"",
    );
    assert_eq!((options.std, options.grf), (Some(OpenClStd::C30), Some(Grf::Large)));
    let flags = options.compiler_flags(&Variant::default());
    assert_eq!(flags, ["-Iinc", "-DT=half", "-DTILE=16", "-O1"].map(OsString::from));
}

#[test]
fn the_file_asks_for_syclbin_as_the_builder_does() {
    for (word, state) in
        [("input", SyclState::Input), ("object", SyclState::Object), ("executable", SyclState::Executable)]
    {
        assert_eq!(parse(&format!("syclbin = \"{word}\"")).syclbin, Some(state));
    }
    let build = Options {
        syclbin: Some(SyclState::Object),
        syclbin_libraries: vec!["a.spv".into()],
        ..Options::default()
    };
    assert_eq!(build.clone().with(&parse("")), build);
    let merged = build.with(&parse("syclbin = \"executable\"\nsyclbin-libraries = [\"b.spv\"]"));
    assert_eq!(merged.syclbin, Some(SyclState::Executable));
    assert_eq!(merged.syclbin_libraries, ["a.spv", "b.spv"].map(PathBuf::from));
    let error = read("syclbin = true").unwrap_err().to_string();
    assert!(error.contains("expected a string"), "{error}");
    let error = read("syclbin = \"linked\"").unwrap_err().to_string();
    assert!(error.contains("expected one of `input`, `object`, `executable`"), "{error}");
}

#[test]
fn later_options_win_kernel_by_kernel() {
    let early = parse("max-registers = 64\nsplit = \"kernel\"\n[kernels.k]\nmax-registers = 32");
    let options = early.with(&parse("max-registers = 128\ncompiler = \"nvcc\""));
    assert_eq!((options.registers_of("k"), options.registers_of("other")), (Some(32), Some(128)));
    assert_eq!((options.split, options.compiler), (Some(Split::Kernel), Some(Compiler::Nvcc)));
    // One setting of a kernel leaves its others as they are.
    let options = options.with(&parse("kernels.k.targets = [\"nvptx\", \"cubin\"]"));
    assert_eq!(options.registers_of("k"), Some(32));
    let [host, cubin] = ["host", "cubin:sm_90"].map(|name| name.parse().unwrap());
    let kinds = [TargetKind::Nvptx, TargetKind::Cubin];
    assert_eq!(options.left_out_of("k", &host), Some(&kinds[..]));
    assert_eq!((options.left_out_of("k", &cubin), options.left_out_of("other", &host)), (None, None));
}
