//! Normalization of device names: `nvidia-smi`, `rocminfo`, `clinfo` and `lspci` add the vendor, the memory size, the
//! form factor and trademark signs.

use std::collections::BTreeSet;

/// Words in device names that do not identify a device.
const BRANDS: &[&str] = &[
    "accelerator",
    "active",
    "amd",
    "ati",
    "blackwell",
    "card",
    "center",
    "compute",
    "corporation",
    "data",
    "datacenter",
    "datacentergpu",
    "design",
    "developer",
    "device",
    "dgx",
    "dual",
    "edition",
    "geforce",
    "generation",
    "gpu",
    "graphics",
    "grid",
    "hgx",
    "inc",
    "instinct",
    "integrated",
    "intel",
    "kit",
    "laptop",
    "max-q",
    "maxq",
    "mobile",
    "module",
    "nvgpu",
    "nvidia",
    "nvl",
    "nvl4",
    "oam",
    "pcie",
    "quadro",
    "radeon",
    "series",
    "server",
    "sff",
    "slot",
    "sxm",
    "technologies",
    "tesla",
    "tm",
    "vf",
    "with",
    "workstation",
];

/// Words of a name that people leave out where the rest tells all.
const SERIES: &[&str] = &["agx", "arc", "gt", "gtx", "hd", "jetson", "pro", "rtx", "rx", "uhd"];

/// Words that identify a vendor, with the family of its targets.
const VENDORS: &[(&str, &str)] = &[
    ("nvidia", "cubin:"),
    ("geforce", "cubin:"),
    ("quadro", "cubin:"),
    ("tesla", "cubin:"),
    ("amd", "amdgcn:"),
    ("radeon", "amdgcn:"),
    ("instinct", "amdgcn:"),
    ("intel", "intel:"),
];

/// The words of a name that tell one device from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    words: Vec<String>,
    /// The family of targets of its vendor, if it names one.
    family: Option<&'static str>,
}

impl Name {
    pub(super) fn parse(text: &str) -> Name {
        let lower = text.to_lowercase();
        let vendor = VENDORS.iter().find(|(vendor, _)| lower.contains(vendor));
        let text = device_part(text).to_lowercase();
        let mut plain =
            text.replace("(r)", " ").replace("(tm)", " ").replace("(c)", " ").replace("max-q", " ");
        plain = plain.replace(['®', '™', '©'], " ").replace('+', "");
        let words: Vec<&str> =
            plain.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        // A part of a GPU: `MIG 1g.10gb`.
        let whole = words.iter().position(|word| *word == "mig").unwrap_or(words.len());
        let words: Vec<&str> = words.into_iter().take(whole).collect();
        let mut names = Vec::new();
        for (index, word) in words.iter().enumerate() {
            let next = words.get(index.saturating_add(1)).copied().unwrap_or_default();
            if !BRANDS.contains(word) && !is_form(word) && !is_memory(word, next) && !is_share(index, word) {
                names.push((*word).to_string());
            }
        }
        Name { words: names, family: vendor.map(|(_, family)| *family) }
    }

    /// Whether it may be a device of this family of targets.
    pub(super) fn may_be_of(&self, family: &str) -> bool {
        self.family.is_none_or(|named| named == family)
    }

    /// As one word.
    pub(super) fn key(&self) -> String {
        self.words.concat()
    }

    /// The same without the words of its series; nothing if no number is left.
    pub(super) fn short_key(&self) -> Option<String> {
        let words = self.words.iter().filter(|word| !SERIES.contains(&word.as_str()));
        let key = words.map(String::as_str).collect::<String>();
        let has_number = key.len() > 2 && key.contains(|char: char| char.is_ascii_digit());
        has_number.then_some(key)
    }

    /// The similarity of two names, by letters and by words.
    pub(super) fn likeness(&self, other: &Name) -> f64 {
        let own: BTreeSet<String> = self.words.iter().cloned().collect();
        let others: BTreeSet<String> = other.words.iter().cloned().collect();
        let common = own.intersection(&others).count();
        let all = own.union(&others).count().max(1);
        #[expect(clippy::cast_precision_loss, reason = "names have few words")]
        let by_words = common as f64 / all as f64;
        strsim::jaro_winkler(&self.key(), &other.key()) + by_words
    }
}

/// `lspci` has the name of the chip and that of the device in brackets, and an APU's name that of the CPU in front.
fn device_part(text: &str) -> &str {
    let inner = text.rsplit_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(inner, _)| inner);
    let inner = inner.filter(|inner| !inner.starts_with("0x")).unwrap_or(text);
    // `Radeon RX 7900 XT/7900 XTX` are two of one chip.
    let first = inner.split('/').next().filter(|_| !inner.contains("w/")).unwrap_or(inner);
    first.split_once("w/ ").map_or(first, |(_, device)| device)
}

/// `SXM4`, `PCIE`, `HBM3e`, `GDDR6`.
fn is_form(word: &str) -> bool {
    let forms = ["sxm", "pcie", "hbm", "gddr", "lpddr", "ddr"];
    let rest = forms.iter().find_map(|form| word.strip_prefix(form));
    rest.is_some_and(|rest| {
        rest.len() <= 2 && rest.chars().all(|char| char.is_ascii_digit() || "ex".contains(char))
    })
}

/// `80GB`, `80 GB`, `24g` and `GB`; `5700G` is a name.
fn is_memory(word: &str, next: &str) -> bool {
    let sized = ["gib", "gb", "mb"].iter().find_map(|unit| word.strip_suffix(unit)).is_some_and(digits);
    let short = word.strip_suffix('g').is_some_and(|size| size.len() <= 3 && digits(size));
    is_unit(word) || sized || short || (digits(word) && is_unit(next))
}

/// A virtual GPU: the profile behind the name, `A40-48Q`.
fn is_share(index: usize, word: &str) -> bool {
    let share = word.strip_suffix(['a', 'b', 'c', 'q']).unwrap_or_default();
    index > 0 && !share.is_empty() && share.len() <= 2 && share.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_unit(text: &str) -> bool {
    ["gb", "gib", "mb"].contains(&text)
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_add_is_left_out() {
        for (text, key) in [
            ("NVIDIA H100 80GB HBM3", "h100"),
            ("NVIDIA H100 PCIe", "h100"),
            ("NVIDIA A100-SXM4-80GB", "a100"),
            ("NVIDIA A100 80GB PCIe MIG 1g.10gb", "a100"),
            ("NVIDIA GH200 480GB", "gh200"),
            ("Tesla V100-SXM2-16GB", "v100"),
            ("NVIDIA A40-48Q", "a40"),
            ("NVIDIA RTX 6000 Ada Generation", "rtx6000ada"),
            ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtxpro6000"),
            ("NVIDIA GeForce RTX 3080 Laptop GPU", "rtx3080"),
            ("NVIDIA GeForce GTX 1650 with Max-Q Design", "gtx1650"),
            ("AMD Instinct MI300X VF", "mi300x"),
            ("NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)", "rtx3090"),
            ("Orin (nvgpu)", "orin"),
            ("AMD Radeon(TM) 8060S Graphics", "8060s"),
            ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "8060s"),
            ("AMD Radeon PRO W7900 Dual Slot", "prow7900"),
            ("Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M]", "rx7900xt"),
            ("AMD Instinct MI300X", "mi300x"),
            ("Intel(R) Arc(TM) A770 Graphics", "arca770"),
            ("Intel® Arc™ 140V GPU (16GB)", "arc140v"),
            ("Intel(R) Data Center GPU Max 1550", "max1550"),
            ("Intel(R) UHD Graphics 770", "uhd770"),
            ("rtx4090", "rtx4090"),
        ] {
            assert_eq!(Name::parse(text).key(), key, "{text}");
        }
    }

    #[test]
    fn a_number_is_enough_where_it_tells_all() {
        assert_eq!(Name::parse("RTX 4090").short_key().as_deref(), Some("4090"));
        assert_eq!(Name::parse("Arc").short_key(), None);
    }
}
