//! Messages of `device_output.c`: words, of which the first says how many there are.

use super::format;
use super::values::Values;
use crate::backend::AssertionFailure;
use crate::failures::Assertion;
use crate::text::escape_lines;

/// Set in the first word of a message that is whole; the rest is its number of words.
pub(super) const COMMITTED: u32 = 1 << 31;
const PRINTED: u32 = 1;
const FAILED: u32 = 2;

/// A message of a kernel.
pub(super) enum DeviceMessage {
    Print(Vec<u8>),
    Failure(AssertionFailure),
}

/// The first message of `words`, if it is whole, and what follows.
pub(super) fn split(words: &[u32]) -> Option<(&[u32], &[u32])> {
    let size =
        words.first().filter(|word| *word & COMMITTED != 0).map(|word| (word & !COMMITTED) as usize)?;
    (size > 0).then(|| words.split_at_checked(size)).flatten()
}

impl DeviceMessage {
    pub(super) fn parse(words: &[u32]) -> Option<DeviceMessage> {
        let mut values = Values::new(words.get(1..)?);
        match values.word()? {
            PRINTED => {
                let format = values.string()??;
                format::formatted(&format, &mut values).map(DeviceMessage::Print)
            }
            FAILED => failure(&mut values).map(DeviceMessage::Failure),
            _ => None,
        }
    }
}

fn failure(values: &mut Values<'_>) -> Option<AssertionFailure> {
    let line = values.word()?;
    let x = values.word()?;
    let y = values.word()?;
    let z = values.word()?;
    let kernel = string(values)?;
    let condition = string(values)?;
    let file = string(values)?;
    let function = string(values)?;
    let assertion = Assertion { condition, work_item: [x, y, z], file, line, function };
    Some(AssertionFailure { kernel, text: assertion.text() })
}

fn string(values: &mut Values<'_>) -> Option<String> {
    let bytes = values.string()?.unwrap_or_default();
    Some(escape_lines(&String::from_utf8_lossy(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[&str]) -> Vec<u32> {
        let mut words = Vec::new();
        for text in texts {
            words.push(text.len() as u32);
            for chunk in text.as_bytes().chunks(4) {
                let mut word = [0; 4];
                word[..chunk.len()].copy_from_slice(chunk);
                words.push(u32::from_le_bytes(word));
            }
        }
        words
    }

    #[test]
    fn a_failure_says_where_it_is() {
        let mut message = vec![COMMITTED, FAILED, 12, 3, 0, 1];
        message.extend(words(&["k", "i < n", "./kernels/a.cl", "helper"]));
        let Some(DeviceMessage::Failure(failure)) = DeviceMessage::parse(&message) else { panic!() };
        assert_eq!(failure.kernel, "k");
        let expected = "assertion `i < n` failed in work-item (3, 0, 1): kernels/a.cl:12, in `helper`";
        assert_eq!(failure.text, expected);
        assert!(DeviceMessage::parse(&message[..8]).is_none());
    }

    #[test]
    fn a_print_is_formatted() {
        let mut message = vec![COMMITTED, PRINTED];
        message.extend(words(&["%d %s\n"]));
        message.push(7);
        message.extend(words(&["seven"]));
        let Some(DeviceMessage::Print(text)) = DeviceMessage::parse(&message) else { panic!() };
        assert_eq!(text, b"7 seven\n");
    }
}
