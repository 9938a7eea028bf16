//! All screens on one page, with their colours.

use super::screen::Screen;

const HEAD: &str = "<!doctype html><meta charset=\"utf-8\"><title>The first hour</title><style>\
body{background:#222;color:#ddd;font-family:sans-serif}pre{background:#000;padding:1em;display:inline-block}\
.b{font-weight:bold}.c1{color:#f55}.c2{color:#5d5}.c3{color:#dd5}.c4{color:#77f}.c5{color:#d5d}.c6{color:#5dd}</style>";

/// The page.
pub(super) fn page(screens: &[Screen]) -> String {
    let mut page = HEAD.to_string();
    for screen in screens {
        let title = escaped(&screen.title());
        let text = html(screen.coloured());
        page.push_str(&format!("<h2>$ {title}</h2>\n<pre>{text}</pre>\n"));
    }
    page
}

/// Text of a terminal with `ESC [ ... m` as spans; other sequences do not come from tmux.
fn html(coloured: &str) -> String {
    let mut pieces = coloured.split("\u{1b}[");
    let mut html = escaped(pieces.next().unwrap_or_default());
    let mut style = Style::default();
    for piece in pieces {
        let (codes, text) = piece.split_once('m').unwrap_or_default();
        style.change(codes);
        html.push_str(&format!("<span class=\"{}\">{}</span>", style.classes(), escaped(text)));
    }
    html
}

/// How the next characters look.
#[derive(Clone, Copy, Debug, Default)]
struct Style {
    bold: bool,
    /// One of the terminal's eight colours.
    colour: Option<u8>,
}

impl Style {
    fn change(&mut self, codes: &str) {
        for code in codes.split(';') {
            match code.parse().unwrap_or(0) {
                0 => *self = Style::default(),
                1 => self.bold = true,
                code @ (30..=37 | 90..=97) => self.colour = Some(code % 10),
                39 => self.colour = None,
                _ => {}
            }
        }
    }

    fn classes(self) -> String {
        let colour = self.colour.map(|colour| format!("c{colour}")).unwrap_or_default();
        format!("{}{colour}", if self.bold { "b " } else { "" }).trim_end().to_string()
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_spans() {
        let text = html("a<b \u{1b}[1;31merror\u{1b}[0m: x");
        assert_eq!(text, "a&lt;b <span class=\"b c1\">error</span><span class=\"\">: x</span>");
    }
}
