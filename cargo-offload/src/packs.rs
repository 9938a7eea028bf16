//! The packs of a file, and those that these name: in files beside it, or for a development build in the compile cache.

use std::collections::BTreeMap;
use std::path::Path;

use offload_format::pack::{Elsewhere, Pack};

use crate::beside;
use crate::carrier::{Carrier, Source};
use crate::error::{Error, Result};
use crate::output::escaped;

/// The packs of a file, and the files that these name.
#[derive(Debug)]
pub(crate) struct Packs {
    here: Carrier,
    /// By name, each opened once.
    beside: BTreeMap<String, Result<Carrier>>,
}

/// A pack that another one names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    /// The name of its file.
    pub(crate) file: &'a str,
    pub(crate) source: Source<'a>,
}

impl Packs {
    /// Opens `path` and what its packs name.
    ///
    /// # Errors
    /// The file itself cannot be read, or holds no pack.
    pub(crate) fn open(path: &Path) -> Result<Packs> {
        Carrier::open(path).map(Packs::of)
    }

    /// Opens what the packs of `here` name. What cannot be opened is told by [`Packs::named`].
    pub(crate) fn of(here: Carrier) -> Packs {
        let mut beside = BTreeMap::new();
        for Source { pack, .. } in here.packs() {
            for there in pack.elsewhere().flatten() {
                let open = || Carrier::open(&beside::file(here.path(), &pack, &there));
                beside.entry(there.file().to_string()).or_insert_with(open);
            }
        }
        Packs { here, beside }
    }

    /// The file itself.
    pub(crate) fn here(&self) -> &Carrier {
        &self.here
    }

    /// The other files that could be opened, by name.
    pub(crate) fn beside(&self) -> impl Iterator<Item = &Carrier> {
        self.beside.values().filter_map(|file| file.as_ref().ok())
    }

    /// The packs that `pack`, which is in the file, names; of one that is not there, why.
    pub(crate) fn named<'a>(&'a self, pack: &Pack<'a>) -> impl Iterator<Item = Result<Named<'a>>> {
        pack.elsewhere().map(|there| self.find(&there?))
    }

    fn find(&self, there: &Elsewhere) -> Result<Named<'_>> {
        let other = || {
            let text = format!("`{}` is of another build of the program", escaped(there.file()));
            Error::check(text).hint("put the file beside the program that was written with it")
        };
        let (file, carrier) = self.beside.get_key_value(there.file()).ok_or_else(other)?;
        let carrier = carrier.as_ref().map_err(|error| {
            let program = self.here.path().display();
            error.clone().hint(format!("images of `{program}` are in it: put it there"))
        })?;
        let mut packs = carrier.packs();
        let source = packs.find(|source| source.pack.id().is_ok_and(|id| id == there.id()));
        source.map(|source| Named { file, source }).ok_or_else(other)
    }
}
