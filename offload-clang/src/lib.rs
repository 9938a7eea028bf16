//! Readers of header lookups, and rewriters of sources for nvcc, for tools that run clang and keep its results.
//!
//! [`lookups`] has the headers that a preprocessor looked for, which no dependency file lists where they were missing;
//! [`inline_ptx`] rewrites assembly that nvcc compiles and clang refuses, [`with_template_keywords`] calls of member templates.
//! No process is started and no file is read, but
//! the file system is asked whether files exist.
//!
//! ```
//! use std::path::{Path, PathBuf};
//!
//! use offload_clang::lookups::{SearchPath, SourceText};
//!
//! let path = SearchPath { angled: vec!["first".into(), "second".into()], ..SearchPath::default() };
//! let source = SourceText { path: Path::new("k.cl"), content: "#include <scale.h>\n" };
//! let requests = path.requests(&[source], &[]).unwrap();
//! // Where nothing exists, both directories were tried: either file would change the result.
//! let lookups = path.resolve(Path::new("/nonexistent"), &requests);
//! let absent: Vec<PathBuf> = lookups.absent.into_iter().collect();
//! assert_eq!(absent, ["first/scale.h", "second/scale.h"].map(PathBuf::from));
//! ```

#![forbid(unsafe_code)]

pub mod inline_ptx;
pub mod lookups;
mod template_keyword;
mod tokens;

pub use self::template_keyword::with_template_keywords;
