//! Directories that differ between machines, and the names that stand for them in actions.

use std::path::{Path, PathBuf};

use crate::compile::Session;
use crate::compile::front_end::own_headers;
use crate::compile::steps::action::{Arg, texts};
use crate::module::Library;

/// A directory and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Root {
    directory: String,
    name: String,
}

/// All of them, those below others first.
#[derive(Clone, Debug)]
pub(crate) struct Roots(Vec<Root>);

/// The name of the directory with clang's own headers.
pub(crate) const CLANG: &str = "{clang}";
/// That of the folder of `toolchain install`.
const TOOLCHAIN: &str = "{toolchain}";
/// The flag by which directories have other names in debug information and `__FILE__`.
pub(crate) const PREFIX_MAP: &str = "-ffile-prefix-map=";
/// With this flag debug information has relative paths: a debugger that starts in the crate's directory finds the sources.
pub(crate) const RELATIVE_PATHS: &str = "-fdebug-compilation-dir=.";

impl Roots {
    pub(crate) fn for_session(session: &Session<'_>) -> Roots {
        let mut found = vec![("{headers}".to_string(), own_headers::parent(session))];
        if let Ok(llvm) = session.tools().llvm() {
            found.push((CLANG.to_string(), llvm.resource_dir.clone()));
        }
        if session.sources.options.cuda_sdk == Some(true)
            && let Ok(sdk) = session.tools().cuda_sdk()
        {
            found.push(("{cuda}".to_string(), sdk));
        }
        found.extend(session.env().toolchain_folder().map(|folder| (TOOLCHAIN.to_string(), folder)));
        let library =
            |library: &&Library| (format!("{{library {}}}", library.package), library.root().to_path_buf());
        found.extend(session.sources.libraries().iter().map(library));
        Roots::new(found)
    }

    fn new(found: Vec<(String, PathBuf)>) -> Roots {
        let root = |(name, directory): (String, PathBuf)| {
            let directory = directory.to_str().filter(|text| text.len() > 1)?.to_string();
            Some(Root { directory, name })
        };
        let mut roots: Vec<Root> = found.into_iter().filter_map(root).collect();
        roots.sort_by_key(|root| std::cmp::Reverse(root.directory.len()));
        Roots(roots)
    }

    /// `args` with the names of the directories in place of their paths.
    pub(crate) fn args(&self, args: &[Arg]) -> Vec<Arg> {
        let change = |arg: &Arg| match arg {
            Arg::Text(text) => match text.to_str() {
                Some(text) => Arg::Text(self.text(text).into()),
                None => arg.clone(),
            },
            other => other.clone(),
        };
        args.iter().map(change).collect()
    }

    fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_string(), |text, root| text.replace(&root.directory, &root.name))
    }

    /// A path as every machine knows it. One of no directory stays as it is: other machines may have it too.
    pub(crate) fn portable(&self, path: &Path) -> Option<String> {
        let text = path.to_str()?;
        let below = |root: &Root| {
            let rest = path.strip_prefix(&root.directory).ok()?.to_str()?;
            Some(format!("{}/{rest}", root.name))
        };
        Some(self.0.iter().find_map(below).unwrap_or_else(|| text.to_string()))
    }

    /// The path on this machine; `None` if it is in a directory that this build does not know.
    pub(crate) fn local(&self, text: &str) -> Option<PathBuf> {
        if !text.starts_with('{') {
            return Some(PathBuf::from(text));
        }
        let below = |root: &Root| {
            let rest = text.strip_prefix(&root.name)?.strip_prefix('/')?;
            Some(Path::new(&root.directory).join(rest))
        };
        self.0.iter().find_map(below)
    }

    /// The flags with which debug information and `__FILE__` name no directory of this machine, so that images are the same
    /// on every one.
    pub(crate) fn prefix_maps(&self) -> Vec<Arg> {
        // Not every machine has the folder of `toolchain install`, and its compilers have names of their own. Of maps that
        // fit, clang takes the last.
        let maps = self.0.iter().rev().filter(|root| root.name != TOOLCHAIN);
        // The flag splits at the first `=`.
        let maps = maps.filter(|root| !root.directory.contains('='));
        // Debug information has a directory for each relative path, but not for a path that a map made relative.
        let maps = maps.map(|root| format!("{PREFIX_MAP}{}=/{}", root.directory, root.name));
        texts(maps).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> Roots {
        Roots::new(vec![
            (TOOLCHAIN.into(), "/opt/me/tools".into()),
            (CLANG.into(), "/opt/me/tools/lib/clang/22".into()),
        ])
    }

    #[test]
    fn paths_come_back() {
        for (path, text) in [
            ("/opt/me/tools/lib/clang/22/include/a.h", "{clang}/include/a.h"),
            ("/opt/me/tools/x.h", "{toolchain}/x.h"),
            ("/opt/me/toolshed/x.h", "/opt/me/toolshed/x.h"),
            ("kernels/a.cl", "kernels/a.cl"),
        ] {
            assert_eq!(roots().portable(Path::new(path)).unwrap(), text);
            assert_eq!(roots().local(text).unwrap(), Path::new(path));
        }
        assert_eq!(roots().local("{cuda}/x.h"), None);
    }

    #[test]
    fn the_deepest_directory_is_mapped_last() {
        let flags =
            ["-ffile-prefix-map=/opt/me/cuda=/{cuda}", "-ffile-prefix-map=/opt/me/cuda/clang=/{clang}"];
        let roots = Roots::new(vec![
            ("{cuda}".into(), "/opt/me/cuda".into()),
            (CLANG.into(), "/opt/me/cuda/clang".into()),
            (TOOLCHAIN.into(), "/opt".into()),
            ("{headers}".into(), "/opt/a=b".into()),
        ]);
        assert_eq!(roots.prefix_maps(), texts(flags).collect::<Vec<_>>());
    }

    #[test]
    fn arguments_lose_their_paths() {
        let args = ["-I/opt/me/tools/x", "-O2"].map(|text| Arg::Text(text.into()));
        assert_eq!(roots().args(&args), ["-I{toolchain}/x", "-O2"].map(|text| Arg::Text(text.into())));
    }
}
