//! Validation of a front end's recorded dependencies: content of the files that it read, and outcome of its header
//! lookups.

use std::collections::BTreeSet;
use std::path::PathBuf;

use offload_clang::lookups::{self, Request, SearchPath, SourceText};
use offload_format::Hash128;

use crate::cache::KeyBuilder;
use crate::compile::Session;
use crate::compile::front_end::own_headers;
use crate::compile::front_end::reading::{Dependencies, FrontEnd, LookupOutcome, ReadFile};

impl Session<'_> {
    /// The dependencies of a run just now.
    pub(crate) fn with_lookups(
        &self,
        action: &FrontEnd<'_>,
        files: Vec<ReadFile>,
        search: SearchPath,
    ) -> Dependencies {
        let mut dependencies = Dependencies { files, search, lookups: None };
        dependencies.lookups = self.lookups(action, &dependencies);
        dependencies
    }

    /// `recorded`, if every file has its recorded content and every lookup its recorded outcome.
    pub(crate) fn unchanged(&self, action: &FrontEnd<'_>, recorded: Dependencies) -> Option<Dependencies> {
        for file in &recorded.files {
            if self.content_hash(&file.path)? != file.hash {
                return None;
            }
        }
        let lookups = self.lookups(action, &recorded)?;
        let is_same = recorded.lookups.as_ref().is_some_and(|before| before.digest == lookups.digest);
        is_same.then_some(Dependencies { lookups: Some(lookups), ..recorded })
    }

    /// The lookups of a run, and where they end now.
    fn lookups(&self, action: &FrontEnd<'_>, dependencies: &Dependencies) -> Option<LookupOutcome> {
        let requests = self.requests(action, dependencies)?;
        let lookups = dependencies.search.resolve(self.root(), &requests);
        Some(LookupOutcome { digest: Hash128::digest(&lookups.record), absent: lookups.absent })
    }

    /// What is looked up in a run, from the cache where that is known.
    fn requests(&self, action: &FrontEnd<'_>, dependencies: &Dependencies) -> Option<BTreeSet<Request>> {
        let arguments = action.text_args();
        let mut key = KeyBuilder::new("lookups").part(action.input.as_deref().unwrap_or_default().as_bytes());
        for argument in &arguments {
            key = key.part(argument.as_encoded_bytes());
        }
        for ReadFile { path, hash } in &dependencies.files {
            key = key.part(path.as_os_str().as_encoded_bytes()).part(hash.as_bytes());
        }
        key = key.part(dependencies.search.to_key().as_bytes());
        let key = key.finish();
        if let Some(known) = self.cache().get_text(key) {
            return lookups::parse(&known);
        }
        let requests = self.scanned_requests(action, dependencies)?;
        // Without them in the cache the next build scans again.
        if let Some(text) = lookups::to_text(&requests) {
            let _ = self.cache().put(key, text.as_bytes());
        }
        Some(requests)
    }

    fn scanned_requests(
        &self,
        action: &FrontEnd<'_>,
        dependencies: &Dependencies,
    ) -> Option<BTreeSet<Request>> {
        let mut contents: Vec<(PathBuf, String)> = Vec::new();
        contents.push(("-".into(), action.input.clone().unwrap_or_default()));
        for file in &dependencies.files {
            let content = std::fs::read(self.root().join(&file.path)).ok()?;
            // What `#embed` reads is seldom text.
            let text = if content.contains(&0) {
                String::new()
            } else {
                String::from_utf8_lossy(&content).into_owned()
            };
            contents.push((file.path.clone(), text));
        }
        contents.extend(own_headers::texts_of(self, &action.text_args()));
        let texts: Vec<SourceText<'_>> =
            contents.iter().map(|(path, content)| SourceText { path, content }).collect();
        dependencies.search.requests(&texts, &action.defined_macros())
    }
}
