//! Names of sidecars, which contain a hash of their content: a new sidecar never replaces one that a program needs.

use offload_format::Hash128;

const ENDING: &str = ".offload";
/// Hexadecimal digits of the hash in a name.
const DIGITS: usize = 16;

/// `START.HASH.offload`. The hash is of the identities of the `packs` and of the name of the `program` they are written for:
/// it tells a file of this program's from that of any other.
pub(super) fn sidecar_name(start: &str, program: &str, packs: &[Hash128]) -> String {
    format!("{start}.{}{ENDING}", digits(program, packs))
}

/// The start of a sidecar's name.
pub(super) fn start(name: &str) -> &str {
    let stem = name.strip_suffix(ENDING).unwrap_or(name);
    hash(name).and_then(|hash| stem.strip_suffix(hash)?.strip_suffix('.')).unwrap_or(stem)
}

/// Whether this is the name that a file with these `packs` was given when it was written for `program`.
pub(super) fn is_for(name: &str, program: &str, packs: &[Hash128]) -> bool {
    hash(name).is_some_and(|hash| hash == digits(program, packs))
}

/// Whether a name has the form of those here.
pub(super) fn has_form(name: &str) -> bool {
    hash(name).is_some()
}

fn hash(name: &str) -> Option<&str> {
    let (_, hash) = name.strip_suffix(ENDING)?.rsplit_once('.')?;
    (hash.len() == DIGITS && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)))
        .then_some(hash)
}

fn digits(program: &str, packs: &[Hash128]) -> String {
    let ids = packs.iter().flat_map(|pack| pack.0);
    let bytes: Vec<u8> = program.bytes().chain([0]).chain(ids).collect();
    Hash128::digest(&bytes).to_string().chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_program_and_what_is_in_the_file() {
        let packs = [Hash128::digest(b"one"), Hash128::digest(b"two")];
        let name = sidecar_name("app.intel", "app", &packs);
        assert_eq!((start(&name), name.len()), ("app.intel", "app.intel..offload".len() + DIGITS));
        assert!(has_form(&name) && is_for(&name, "app", &packs));
        assert!(!is_for(&name, "app", &packs[..1]));
        // The sidecar of a program `app.intel` looks like one of the parts of `app`.
        assert!(!is_for(&name, "app.intel", &packs));
    }

    #[test]
    fn other_names_start_with_all_but_their_ending() {
        for (name, begins) in [("app.offload", "app"), ("app.intel.offload", "app.intel"), ("app", "app")] {
            assert_eq!((start(name), has_form(name)), (begins, false));
        }
        assert!(!has_form("app.0123456789ABCDEF.offload") && !has_form("0123456789abcdef.offload"));
    }
}
