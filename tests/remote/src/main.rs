//! `remote`.
fn main() {}
