//! Examples at the end of each command's help. A test parses every one.

pub(super) const HELP: &str = "See `cargo offload help COMMAND` for the options and examples of a command.";

pub(super) const NEW: &str = "\
Examples:
  cargo offload new hello                  # a package with four kernels, in ./hello
  cargo offload new hello --checkout ..    # with the crates of this checkout";

pub(super) const INIT: &str = "\
Examples:
  cargo offload init                       # the package here
  cargo offload init crates/solver --force # replaces its build.rs and kernels";

pub(super) const BUILD: &str = "\
Examples:
  cargo offload build --release
  cargo offload build -p solver -- --message-format short";

pub(super) const RUN: &str = "\
Examples:
  cargo offload run --release
  cargo offload run --bin solve -- input.dat --steps 10   # arguments for the program";

pub(super) const DEV: &str = "\
Examples:
  cargo offload dev
  cargo offload dev --bin solve -- input.dat --loop   # arguments for the program";

pub(super) const CHECK: &str = "\
Examples:
  cargo offload check
  cargo offload check -p solver --all-features";

pub(super) const TEST: &str = "\
Examples:
  cargo offload test                       # every test on every device
  cargo offload test saxpy --device host --device opencl
  cargo offload test --require cuda --junit target/tests.xml   # for CI
  cargo offload test --workspace -- --include-ignored
  cargo offload test --sanitize            # data races and out-of-bounds accesses";

pub(super) const BENCH: &str = "\
Examples:
  cargo offload bench                      # every benchmark on every device
  cargo offload bench saxpy --device cuda
  cargo offload bench --bench kernels --json";

pub(super) const DOCTOR: &str = "\
Examples:
  cargo offload doctor                     # the targets in offload.toml
  cargo offload doctor intel:pvc cubin:sm_90
  cargo offload doctor cuda                # compilers for CUDA C++
  cargo offload doctor --json              # for a script";

pub(super) const TOOLCHAIN: &str = "\
Examples:
  cargo offload toolchain install
  cargo offload toolchain list";

pub(super) const TOOLCHAIN_INSTALL: &str = "\
Examples:
  cargo offload toolchain install          # llvm and ptxas
  cargo offload toolchain install ptxas    # only ptxas
  cargo offload toolchain install --update # the newest versions";

pub(super) const TOOLCHAIN_LIST: &str = "\
Examples:
  cargo offload toolchain list
  cargo offload toolchain list --json";

pub(super) const TOOLCHAIN_REMOVE: &str = "\
Examples:
  cargo offload toolchain remove";

pub(super) const TOOLCHAIN_PATH: &str = "\
Examples:
  cargo offload toolchain path";

pub(super) const CACHE: &str = "\
Examples:
  cargo offload cache stats
  cargo offload cache clean --unused 30";

pub(super) const CACHE_STATS: &str = "\
Examples:
  cargo offload cache stats";

pub(super) const CACHE_CLEAN: &str = "\
Examples:
  cargo offload cache clean                # everything
  cargo offload cache clean --unused 30    # entries not used for 30 days";

pub(super) const CACHE_VERIFY: &str = "\
Examples:
  cargo offload cache verify";

pub(super) const TARGETS: &str = "\
Examples:
  cargo offload targets                    # same as `targets list`
  cargo offload targets add intel:pvc cubin:sm_90";

pub(super) const TARGETS_LIST: &str = "\
Examples:
  cargo offload targets list
  cargo offload targets list --quiet       # names only";

pub(super) const TARGETS_ADD: &str = "\
Examples:
  cargo offload targets add intel:pvc cubin:sm_90
  cargo offload targets add --optional amdgcn:gfx90a   # skipped without its compiler";

pub(super) const TARGETS_SET: &str = "\
Examples:
  cargo offload targets set host spirv64
  cargo offload targets set native         # this machine's devices";

pub(super) const TARGETS_REMOVE: &str = "\
Examples:
  cargo offload targets remove spirv64";

pub(super) const COMPRESSION: &str = "\
Examples:
  cargo offload compression                # the setting, and the sizes in each mode
  cargo offload compression max            # changes the setting
  cargo offload compression --on libtorch_hip.so   # the images of another project
  cargo offload compression --on torch.whl --exact";

pub(super) const INSPECT: &str = "\
Examples:
  cargo offload inspect                    # the images of this package
  cargo offload inspect target/release/app --kernels
  cargo offload inspect libtorch_hip.so --for all-amd --json";

pub(super) const ASM: &str = "\
Examples:
  cargo offload asm saxpy --release        # builds this package
  cargo offload asm target/release/app saxpy --for cubin:sm_90
  cargo offload asm app                    # lists the kernels";

pub(super) const DEVICES: &str = "\
Examples:
  cargo offload devices                    # and the images of this package
  cargo offload devices target/release/app
  cargo offload devices --all-targets";

pub(super) const REPORT: &str = "\
Examples:
  cargo offload report --release
  cargo offload report app --html page.html
  cargo offload report --baseline kernels.toml --update-baseline
  cargo offload report app --beside old=app-1.0";

pub(super) const SIZE: &str = "\
Examples:
  cargo offload size --release
  cargo offload size app --compare app-1.0
  cargo offload size libtorch_hip.so --alone";

pub(super) const EXTRACT: &str = "\
Examples:
  cargo offload extract app                # to app.images
  cargo offload extract libtorch_hip.so --for amdgcn:gfx90a -o images
  cargo offload extract app --module blas --stored";

pub(super) const VERIFY: &str = "\
Examples:
  cargo offload verify                     # the images of this package
  cargo offload verify target/release/app -p app
  cargo offload verify kernels.syclbin
  cargo offload verify dist/*.whl --require 'sm_75,sm_90,ptx>=sm_90,gfx90a'
  cargo offload verify target/release/app --device B200,MI300X
  cargo offload verify libfoo.so --device H100 --driver 550";

pub(super) const PRUNE: &str = "\
Examples:
  cargo offload prune app --keep host 'intel:*' -o app-intel
  cargo offload prune app --drop spirv64 --in-place";

pub(super) const REPACK: &str = "\
Examples:
  cargo offload repack app --sidecar -o out/app        # to a sidecar file
  cargo offload repack out/app --embed --in-place      # and back
  cargo offload repack app --compression max --in-place";

pub(super) const EXPORT: &str = "\
Examples:
  cargo offload export app --module blas --format syclbin -o blas.syclbin
  cargo offload export app --format fatbin --module blas
  cargo offload export app --format raw --target cubin:sm_90 -o blas.cubin";

pub(super) const VENDOR: &str = "\
Examples:
  cargo offload vendor                     # for the targets in offload.toml
  cargo offload vendor --verify            # compares them with a recompile
  cargo offload vendor --targets spirv64 intel:pvc --sbom kernels.cdx.json";

pub(super) const COMPLETIONS: &str = "\
Examples:
  cargo offload completions bash > ~/.local/share/bash-completion/completions/cargo-offload
  cargo offload completions zsh";

pub(super) const MAN: &str = "\
Examples:
  cargo offload man                        # the first page
  cargo offload man --directory man1       # all of them";

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _, Parser as _};

    use crate::cli::Options;
    use crate::cli::tests::words;

    /// Collects every visible command with its full name.
    fn all(command: &Command, above: &str, found: &mut Vec<(String, Command)>) {
        for below in
            command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set())
        {
            let name = format!("{above} {}", below.get_name());
            found.push((name.clone(), below.clone()));
            all(below, &name, found);
        }
    }

    #[test]
    fn every_command_has_examples_that_its_parser_takes() {
        let mut commands = Vec::new();
        all(&Options::command(), "cargo offload", &mut commands);
        assert!(commands.len() > 30, "{}", commands.len());
        for (name, command) in commands {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let mut lines = text.lines();
            assert_eq!(lines.next(), Some("Examples:"), "{name} has no examples");
            let mut count = 0;
            for line in lines {
                assert!(line.trim_start().starts_with(&name), "`{line}` is no example of `{name}`");
                let words = words(line.trim_start());
                if let Err(error) = Options::try_parse_from(words.iter().skip(1)) {
                    panic!("{line}\n{error}");
                }
                count += 1;
            }
            assert!(count > 0, "{name}");
        }
    }
}
