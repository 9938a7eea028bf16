//! The revision of everything that build scripts compute themselves, a part of every cache key.
//!
//! A key names the tool, its arguments and its inputs by their content. What the code of this workspace makes of them (IR
//! passes, merged sources, frames) has no such identity: [`REVISION`] stands for it. Releases have caches of their own,
//! but caches that machines share have not, nor do builds between two releases.
//!
//! A digest of the sources in every key would be easier, and would make all caches stale for a comment. Instead a test
//! compares the digest of the sources, without comments and unit tests, with the one below, and asks for a decision.

/// Increased whenever any result that is cached changes for the same inputs.
pub(crate) const REVISION: u32 = 23;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::REVISION;

    /// Files and folders of the workspace whose code computes cached results.
    const SOURCES: [&str; 13] = [
        "offload-build/src/compile/front_end",
        "offload-build/src/compile/linking",
        "offload-build/src/compile/steps/check.rs",
        "offload-build/src/compile/targets",
        "offload-clang/src",
        "offload-format/src/codec",
        "offload-images/src/machine",
        "offload-images/src/machine.rs",
        "offload-images/src/spirv",
        "offload-ir/src",
        "offload-packer/src",
        "offload-signatures/src",
        "offload-workgroup/src",
    ];

    /// [`REVISION`], and the digest of [`SOURCES`] at that revision.
    const KNOWN: (u32, &str) = (23, "48f2ea739a5787f8");

    #[test]
    fn sources_of_cached_results_are_those_of_the_revision() {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut hasher = blake3::Hasher::new();
        for source in SOURCES {
            add_sources(&workspace.join(source), &mut hasher);
        }
        let digest = hasher.finalize().to_hex();
        let digest = &digest.as_str()[..16];
        assert!(
            KNOWN == (REVISION, digest),
            "code that computes cached results has changed\n\
             hint: if any result differs for the same inputs, increase `REVISION` in {file}; \
             then set `KNOWN` there to its value and \"{digest}\"",
            file = file!(),
        );
    }

    #[test]
    fn digests_leave_out_comments_and_unit_tests() {
        let code = "//! A pass.\nfn pass() {\n    run(); // now\n}\n\n#[cfg(test)]\nmod tests {}\n";
        let same = "/// Another text.\nfn pass()\n{ run(); // now\n}\n";
        assert_eq!(significant(code), significant(same));
        assert_ne!(significant(code), significant(&code.replace("run", "walk")));
    }

    /// Adds the Rust sources at `path` in the order of their names.
    fn add_sources(path: &Path, hasher: &mut blake3::Hasher) {
        if path.is_dir() {
            let mut entries: Vec<_> =
                fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
            entries.sort();
            for entry in entries {
                add_sources(&entry, hasher);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            hasher.update(significant(&text).as_bytes());
        }
    }

    /// The code of a module without lines of comments, unit tests and white space.
    fn significant(text: &str) -> String {
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let mut significant = String::new();
        for line in code.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
            significant.extend(line.chars().filter(|char| !char.is_whitespace()));
        }
        significant
    }
}
