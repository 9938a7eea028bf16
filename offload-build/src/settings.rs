//! A reader of settings in TOML whose errors show the refused line.
//!
//! By hand, without serde: its derive macro and the code that it generates take longer to compile than all else that a
//! build script needs to read a file.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, Result};

/// A value, and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    text: &'a str,
    value: &'a Spanned<DeValue<'a>>,
}

/// Where something stands, in bytes.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
}

impl Span {
    fn from_range(Range { start, end }: Range<usize>) -> Span {
        Span { start, end }
    }
}

/// A table, and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    text: &'a str,
    table: &'a DeTable<'a>,
    span: Span,
}

/// Has `fill` read the document `text`.
pub(crate) fn read<T>(text: &str, fill: impl FnOnce(Table<'_>) -> Result<T>) -> Result<T> {
    let document = DeTable::parse(text).map_err(|error| Error::new(error.to_string().trim_end()))?;
    fill(Table { text, table: document.get_ref(), span: Span::from_range(document.span()) })
}

impl<'a> Value<'a> {
    pub(crate) fn as_str(self) -> Option<&'a str> {
        self.value.get_ref().as_str()
    }

    pub(crate) fn as_bool(self) -> Option<bool> {
        self.value.get_ref().as_bool()
    }

    pub(crate) fn as_integer(self) -> Option<i64> {
        let integer = self.value.get_ref().as_integer()?;
        i64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    pub(crate) fn as_table(self) -> Option<Table<'a>> {
        let table = self.value.get_ref().as_table()?;
        Some(Table { text: self.text, table, span: Span::from_range(self.value.span()) })
    }

    /// The value `key` of a table.
    pub(crate) fn get(self, key: &str) -> Option<Value<'a>> {
        self.as_table()?.get(key)
    }

    pub(crate) fn str(self) -> Result<&'a str> {
        self.as_str().ok_or_else(|| self.other_than("a string"))
    }

    pub(crate) fn string(self) -> Result<String> {
        self.str().map(str::to_string)
    }

    pub(crate) fn bool(self) -> Result<bool> {
        self.as_bool().ok_or_else(|| self.other_than("a boolean"))
    }

    /// A number that is not too large for its type.
    pub(crate) fn number<T: TryFrom<i64>>(self) -> Result<T> {
        let number = self.as_integer().and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| self.other_than("a number from 0 to what it is for"))
    }

    pub(crate) fn table(self) -> Result<Table<'a>> {
        self.as_table().ok_or_else(|| self.other_than("a table"))
    }

    /// Every element of an array, as `read` reads it.
    pub(crate) fn each<T>(self, read: impl Fn(Value<'a>) -> Result<T>) -> Result<Vec<T>> {
        let array = self.value.get_ref().as_array().ok_or_else(|| self.other_than("a sequence"))?;
        array.iter().map(|value| read(Value { text: self.text, value })).collect()
    }

    /// One of several words.
    pub(crate) fn choice<T: Copy>(self, choices: &[(&str, T)]) -> Result<T> {
        let word = self.str()?;
        let chosen = choices.iter().find(|(name, _)| *name == word);
        chosen.map(|(_, value)| *value).ok_or_else(|| {
            let names = names(choices.iter().map(|(name, _)| *name));
            self.refuse(Error::new(format!("unknown variant `{word}`, expected {names}")))
        })
    }

    /// A text in the form of `T`.
    pub(crate) fn parse<T: FromStr<Err = Error>>(self) -> Result<T> {
        let text = self.str()?;
        self.read(|_| text.parse())
    }

    /// What `read` makes of it; an error of its own gets the line.
    pub(crate) fn read<T>(self, read: impl FnOnce(Value<'a>) -> Result<T>) -> Result<T> {
        read(self).map_err(|error| self.refuse(error))
    }

    /// `error` below the line that has the value.
    pub(crate) fn refuse(self, error: Error) -> Error {
        at(self.text, Span::from_range(self.value.span()), error)
    }

    fn other_than(self, expected: &str) -> Error {
        let kind = self.value.get_ref().type_str();
        self.refuse(Error::new(format!("invalid type: {kind} `{self}`, expected {expected}")))
    }
}

/// As a definition of the preprocessor has it, and as a message shows it: numbers in decimal form, texts with quotes.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value.get_ref() {
            DeValue::Integer(_) if self.as_integer().is_some() => {
                write!(f, "{}", self.as_integer().unwrap_or_default())
            }
            DeValue::Float(float) => match float.as_str().parse::<f64>() {
                Ok(value) if value.is_finite() => write!(f, "{value:?}"),
                _ => f.write_str(float.as_str()),
            },
            _ => f.write_str(self.text.get(self.value.span()).unwrap_or_default()),
        }
    }
}

impl<'a> Table<'a> {
    pub(crate) fn get(self, key: &str) -> Option<Value<'a>> {
        self.table.get(key).map(|value| Value { text: self.text, value })
    }

    /// The value `key`, which has to be there.
    pub(crate) fn required(self, key: &str) -> Result<Value<'a>> {
        self.get(key).ok_or_else(|| at(self.text, self.span, Error::new(format!("missing field `{key}`"))))
    }

    /// What `read` makes of the value `key`, if it is there.
    pub(crate) fn optional<T>(
        self,
        key: &str,
        read: impl FnOnce(Value<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(key).map(read).transpose()
    }

    /// Keys and values, in the order of the keys.
    pub(crate) fn entries(self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        self.table.iter().map(move |(key, value)| (&**key.get_ref(), Value { text: self.text, value }))
    }

    /// What `read` makes of each value, by its key.
    pub(crate) fn collect<T>(self, read: impl Fn(Value<'a>) -> Result<T>) -> Result<BTreeMap<String, T>> {
        let mut values = BTreeMap::new();
        for (key, value) in self.entries() {
            values.insert(key.to_string(), read(value)?);
        }
        Ok(values)
    }

    /// Refuses keys that mean nothing: a mistake would otherwise stay unseen.
    pub(crate) fn only(self, known: &[&str]) -> Result<()> {
        let unknown = self.table.keys().find(|key| !known.contains(&&**key.get_ref()));
        unknown.map_or(Ok(()), |key| {
            let names = names(known.iter().copied());
            let error = Error::new(format!("unknown field `{}`, expected {names}", key.get_ref()));
            Err(at(self.text, Span::from_range(key.span()), error))
        })
    }
}

/// "`a`", "`a` or `b`", "one of `a`, `b`, `c`".
fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [_] | [_, _] => quoted.join(" or "),
        _ => format!("one of {}", quoted.join(", ")),
    }
}

/// `error` below the line with `span`, in the form of the messages of the parser.
fn at(text: &str, Span { start, end }: Span, error: Error) -> Error {
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    let content = text.split('\n').nth(line).unwrap_or_default();
    let rest = content.chars().count().saturating_sub(column);
    let marks = "^".repeat(end.saturating_sub(start).min(rest).max(1));
    let number = line + 1;
    let gutter = " ".repeat((line + 1).to_string().len());
    error.below(format!(
        "TOML parse error at line {number}, column {}\n{gutter} |\n{number} | {content}\n{gutter} | {}{marks}",
        column + 1,
        " ".repeat(column),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a table whose `key` is read as a list of booleans.
    fn refusal(key: &str) -> String {
        let text = "a = 1\n\nname = \"ä\" # mine\nlist = [1, \"two\"]\n";
        read(text, |table| table.required(key)?.each(Value::bool).map(drop)).unwrap_err().to_string()
    }

    #[test]
    fn what_is_refused_is_shown_with_its_line() {
        assert_eq!(
            refusal("name"),
            "TOML parse error at line 3, column 8\n  |\n3 | name = \"ä\" # mine\n  |        ^^^^\ninvalid type: string `\"ä\"`, expected a sequence"
        );
        assert!(refusal("list").contains("integer `1`, expected a boolean"), "{}", refusal("list"));
        assert!(refusal("b").contains("missing field `b`"), "{}", refusal("b"));
    }

    #[test]
    fn an_error_of_the_parser_names_the_line_too() {
        for text in ["a = 1\na = 2\n", "a = 1\nb = \n", "\nb = tru\n"] {
            let error = read(text, |_| Ok(())).unwrap_err().to_string();
            assert!(error.starts_with("TOML parse error at line 2, column "), "{error}");
        }
    }

    #[test]
    fn numbers_have_one_form() {
        for (value, form) in
            [("0x10", "16"), ("1_000", "1000"), ("1.50", "1.5"), ("2.0", "2.0"), ("true", "true")]
        {
            let text = read(&format!("a = {value}"), |table| Ok(table.required("a")?.to_string()));
            assert_eq!(text.unwrap(), form);
        }
    }

    fn choose(text: &str) -> Result<u32> {
        read(text, |table| table.required("a")?.choice(&[("x", 1), ("y", 2)]))
    }

    #[test]
    fn a_word_that_is_no_choice_is_told_the_choices() {
        assert_eq!(choose("a = \"y\"").unwrap(), 2);
        let error = choose("a = \"z\"").unwrap_err().to_string();
        assert!(error.contains("unknown variant `z`, expected `x` or `y`"));
    }

    #[test]
    fn keys_without_a_meaning_are_refused() {
        let error =
            read("[a]\nb = 1\nc = 2\n", |table| table.required("a")?.table()?.only(&["b"])).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("line 3, column 1") && error.contains("unknown field `c`, expected `b`"),
            "{error}"
        );
    }
}
