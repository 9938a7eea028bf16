//! References of a line of IR: globals, metadata nodes and attribute groups.

/// What a reference is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Referent<'m> {
    /// `@name`
    Global(&'m str),
    /// `!12`
    Node(u64),
    /// `#3`
    Attributes(u64),
}

/// A reference, and where in its text it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference<'m> {
    pub(super) referent: Referent<'m>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The references of `text`. Build scripts are not optimised: the bytes are looked at once.
pub(super) fn references(text: &str) -> Vec<Reference<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        let referent = match byte {
            b'"' => {
                at = behind_quote(text, at);
                continue;
            }
            b'@' if bytes.get(at) == Some(&b'"') => {
                let end = behind_quote(text, at + 1);
                let name = text.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
                at = end;
                Referent::Global(name)
            }
            b'@' => {
                at = behind(bytes, at, |byte| byte.is_ascii_alphanumeric() || b"._$-".contains(&byte));
                Referent::Global(text.get(start + 1..at).unwrap_or_default())
            }
            b'!' | b'#' => {
                at = behind(bytes, at, |byte| byte.is_ascii_digit());
                let Some(number) = text.get(start + 1..at).and_then(|digits| digits.parse().ok()) else {
                    continue;
                };
                if *byte == b'!' { Referent::Node(number) } else { Referent::Attributes(number) }
            }
            _ => continue,
        };
        found.push(Reference { referent, start, end: at });
    }
    found
}

/// The position behind the quote that ends the string which `from` is in: quotes in strings are written as `\22`.
fn behind_quote(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.find('"').map_or(text.len(), |at| from.saturating_add(at).saturating_add(1))
}

fn behind(bytes: &[u8], from: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let mut at = from;
    while bytes.get(at).is_some_and(|byte| is_part(*byte)) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<Referent<'_>> {
        references(text).into_iter().map(|reference| reference.referent).collect()
    }

    #[test]
    fn strings_have_no_references() {
        assert_eq!(
            found("@.str = private constant [3 x i8] c\"@a !1\", align 1"),
            [Referent::Global(".str")]
        );
        assert_eq!(found("!4 = !{!\"a #1 @b\", !5, i64 0}"), [Referent::Node(4), Referent::Node(5)]);
        assert_eq!(
            found("  call void @\"a b\"(ptr @x) #12, !dbg !7"),
            [Referent::Global("a b"), Referent::Global("x"), Referent::Attributes(12), Referent::Node(7)]
        );
        assert_eq!(
            found("    #dbg_value(i32 %x, !3, !DIExpression(DW_OP_deref), !14)"),
            [Referent::Node(3), Referent::Node(14)]
        );
    }
}
