//! Files without a name until they are complete.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::temporary_name::{Make, TemporaryName};

/// A file that is being written. It gets its name once it is whole; unless it is persisted it disappears with the value.
#[derive(Debug)]
pub struct Unfinished {
    file: File,
    place: Place,
}

/// Where the file is meanwhile.
#[derive(Debug)]
enum Place {
    /// Beside what it is to become. A process that is killed leaves it behind.
    Named(TemporaryName),
    /// Nowhere: nothing of it is left behind.
    Unnamed { path: PathBuf, link: Link },
}

/// Gives the file at the first path the second as a name too; fails where there is something already.
type Link = fn(&Path, &Path) -> io::Result<()>;

impl Unfinished {
    /// An empty file in `directory`, with the usual permissions less the user's mask.
    pub fn new(directory: &Path) -> io::Result<Unfinished> {
        Unfinished::named(|make| TemporaryName::make(directory, make))
    }

    /// An empty file beside `path`, whose name tells that it is to become it: [`TemporaryName::becomes`].
    pub fn becoming(path: &Path) -> io::Result<Unfinished> {
        Unfinished::named(|make| TemporaryName::becoming(path, make))
    }

    /// `file`, which has no name: this process opens it by `path`, and `link` gives it a name.
    pub fn unnamed(file: File, path: PathBuf, link: Link) -> Unfinished {
        Unfinished { file, place: Place::Unnamed { path, link } }
    }

    fn named(name: impl FnOnce(Make<'_>) -> io::Result<TemporaryName>) -> io::Result<Unfinished> {
        let mut file = None;
        let name = name(&mut |path| {
            file = Some(File::options().read(true).write(true).create_new(true).open(path)?);
            Ok(())
        })?;
        let file = file.ok_or_else(|| io::Error::other("no file was made"))?;
        Ok(Unfinished { file, place: Place::Named(name) })
    }

    /// To write it.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// What this process may open it by.
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::Named(name) => name.path(),
            Place::Unnamed { path, .. } => path,
        }
    }

    /// Gives it the name `path`, on the same file system; what has that name loses it.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        let (from, link) = match self.place {
            Place::Named(name) => return name.persist(path),
            Place::Unnamed { path, link } => (path, link),
        };
        match link(&from, path) {
            // A link replaces nothing, a new name does.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                TemporaryName::becoming(path, &mut |name| link(&from, name))?.persist(path)
            }
            outcome => outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    #[test]
    fn a_temporary_name_tells_what_the_file_is_to_become() {
        let dir = tempfile::tempdir().unwrap();
        for (name, becomes) in [("app-1.so", Some("app-1.so")), (&"a".repeat(250), None)] {
            let file = Unfinished::becoming(&dir.path().join(name)).unwrap();
            assert!(file.path().parent() == Some(dir.path()) && file.path().exists());
            let temporary_name = file.path().file_name().unwrap().to_str().unwrap();
            assert_eq!(TemporaryName::becomes(temporary_name), becomes);
        }
        let other = Unfinished::new(dir.path()).unwrap();
        assert_eq!(TemporaryName::becomes(other.path().file_name().unwrap().to_str().unwrap()), None);
    }

    #[test]
    fn a_file_without_a_name_gets_one_also_where_that_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        // A name elsewhere serves as none here.
        let elsewhere = dir.path().join("elsewhere");
        let here = dir.path().join("here");
        fs::create_dir(&here).unwrap();
        for content in ["first", "second"] {
            let _ = fs::remove_file(&elsewhere);
            let unnamed = File::create(&elsewhere).unwrap();
            let mut file =
                Unfinished::unnamed(unnamed, elsewhere.clone(), |from, to| fs::hard_link(from, to));
            file.file().write_all(content.as_bytes()).unwrap();
            assert_eq!(file.path(), elsewhere);
            file.persist(&here.join("file")).unwrap();
            assert_eq!(fs::read_to_string(here.join("file")).unwrap(), content);
            assert_eq!(fs::read_dir(&here).unwrap().count(), 1);
        }
    }
}
