//! The word `template` before members of dependent types, which nvcc does without.
//!
//! In `Cast<T>::from<4>(x)` the type of `Cast<T>` is known when the template is used, and before that clang takes `<` for a
//! comparison. C++ wants `Cast<T>::template from<4>(x)` (<https://eel.is/c++draft/temp.names#5>).

use crate::tokens::{Edit, Lexer, Token, TokenKind, edited};

/// More tokens than these are no list of arguments.
const MAX_ARGUMENT_TOKENS: usize = 64;

/// `text`, preprocessed C++, with `template` before each member that looks like a call of a template; `None` if there is
/// none. For members of types that do not depend on anything the word changes nothing.
pub fn with_template_keywords(text: &str) -> Option<String> {
    let mut lexer = Lexer::new(text);
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    let mut edits = Vec::new();
    for (number, token) in tokens.iter().enumerate() {
        let is_name = token.kind == TokenKind::Word && !token.is_word(&lexer, &["template", "operator"]);
        if is_name && is_member(&tokens, number, &lexer) && is_template_call(&tokens, number) {
            edits.push(Edit { at: token.start, removed: 0, text: "template " });
        }
    }
    edited(text, edits)
}

fn kind(tokens: &[Token], number: Option<usize>) -> Option<TokenKind> {
    tokens.get(number?).map(|token| token.kind)
}

/// Whether the name with this number follows `>::`, or `.` or `->` behind an object.
fn is_member(tokens: &[Token], number: usize, lexer: &Lexer<'_>) -> bool {
    let before = |distance: usize| kind(tokens, number.checked_sub(distance));
    let object = match (before(2), before(1)) {
        (Some(TokenKind::Other(b':')), Some(TokenKind::Other(b':'))) => {
            return before(3) == Some(TokenKind::Other(b'>'));
        }
        (_, Some(TokenKind::Other(b'.'))) => number.checked_sub(2),
        (Some(TokenKind::Other(b'-')), Some(TokenKind::Other(b'>'))) => number.checked_sub(3),
        _ => return false,
    };
    let Some(object) = object.and_then(|number| tokens.get(number)) else { return false };
    match object.kind {
        TokenKind::Word => lexer.bytes.get(object.start).is_some_and(|byte| !byte.is_ascii_digit()),
        TokenKind::Other(b')' | b']') => true,
        _ => false,
    }
}

/// Whether the name with this number has a list of arguments behind it, and a parenthesis behind that.
fn is_template_call(tokens: &[Token], number: usize) -> bool {
    let mut depth = 0u32;
    for at in (number.saturating_add(1)..).take(MAX_ARGUMENT_TOKENS) {
        match kind(tokens, Some(at)) {
            Some(TokenKind::Other(b'<')) => depth = depth.saturating_add(1),
            Some(TokenKind::Other(b'>')) => depth = depth.saturating_sub(1),
            // Two are an operator.
            Some(TokenKind::Other(b'&'))
                if kind(tokens, at.checked_sub(1)) == Some(TokenKind::Other(b'&')) =>
            {
                return false;
            }
            Some(TokenKind::Word | TokenKind::Other(b',' | b':' | b'*' | b'&' | b'.')) if depth > 0 => {}
            _ => return false,
        }
        if depth == 0 {
            return kind(tokens, at.checked_add(1)) == Some(TokenKind::Other(b'('));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_member_templates_get_the_word() {
        let text = "Cast<T, U>::from<N>(x); tile.get<0>(y); p->at<Pair<int, 2>>(z); f().g<T>(0);";
        let wanted = "Cast<T, U>::template from<N>(x); tile.template get<0>(y); p->template at<Pair<int, 2>>(z); f().template g<T>(0);";
        assert_eq!(with_template_keywords(text).as_deref(), Some(wanted));
    }

    #[test]
    fn other_texts_stay() {
        for text in [
            "Cast<T>::template from<N>(x);",
            "std::get<0>(x); a < b > (c);",
            "if (v.size < 3) f(4 > 2);",
            "Limit<T>::value < n && n > (m);",
            "x = 1.f < y;",
            "Cast<T>::from(x); using type = Cast<T>::other<U>;",
        ] {
            assert_eq!(with_template_keywords(text), None, "{text}");
        }
    }
}
