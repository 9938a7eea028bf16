//! Front ends in the remote cache: an entry with the files that were read, then one with the output.

use std::time::Duration;

use crate::cache::Key;
use crate::compile::Session;
use crate::compile::front_end::reading::{
    Dependencies, FrontEnd, MadeFrontEnd, recorded, result_key, with_newest,
};
use crate::compile::remote::roots::Roots;
use crate::compile::steps::action::{Made, args_key};

/// A front end, as every machine knows it.
#[derive(Debug)]
pub(crate) struct SharedFrontEnd {
    key: Key,
    roots: Roots,
}

impl Session<'_> {
    /// The identity of a front end on every machine; `None` where no other one is asked.
    pub(crate) fn shared_front_end(&self, action: &FrontEnd<'_>) -> Option<SharedFrontEnd> {
        if action.names_places() {
            return None;
        }
        let key = self.shared_key(action.name, action.tool)?;
        let roots = Roots::for_session(self);
        let key = args_key(key, &roots.args(&action.args));
        let key = key.part(action.input.as_deref().unwrap_or_default().as_bytes()).finish();
        Some(SharedFrontEnd { key, roots })
    }

    /// The result for dependencies that another machine has recorded, and that are the same here.
    pub(crate) fn stored_front_end(
        &self,
        action: &FrontEnd<'_>,
        shared: &SharedFrontEnd,
    ) -> Option<MadeFrontEnd> {
        let known = String::from_utf8(self.stored(shared.key)?.content).ok()?;
        recorded(&known).find_map(|text| {
            let dependencies = Dependencies::parse(text, |name| shared.roots.local(name))?;
            let dependencies = self.unchanged(action, dependencies)?;
            Some(MadeFrontEnd { made: self.stored(result_key(shared.key, text))?, dependencies })
        })
    }

    /// Stores what a front end has made here, and what it depends on. What other machines have recorded is kept.
    pub(crate) fn store_front_end(
        &self,
        shared: &SharedFrontEnd,
        MadeFrontEnd { made, dependencies }: &MadeFrontEnd,
        took: Duration,
    ) {
        let Some(text) = dependencies.to_text(|path| shared.roots.portable(path)) else { return };
        self.store(result_key(shared.key, &text), made, took);
        let known = self.stored(shared.key).and_then(|known| String::from_utf8(known.content).ok());
        let kept = with_newest(&text, &known.unwrap_or_default());
        let kept = Made { content: kept.into_bytes(), printed: String::new() };
        self.store(shared.key, &kept, Duration::ZERO);
    }
}
