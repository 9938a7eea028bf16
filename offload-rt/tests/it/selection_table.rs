//! Every rule of selection, by the lines of `tests/selection/cases.txt`, each with its source.

use std::collections::BTreeMap;

use crate::common::TestPack;
use offload_format::pack::{KernelInfo, NewImage};
use offload_rt::{
    Aspects, CudaDescription, DeviceDescription, HipDescription, HostLevel, OpenClDescription, Registry,
    SpirvVersion, Target,
};

const CASES: &str = include_str!("../selection/cases.txt");

/// A line of the table.
struct Case<'a> {
    number: usize,
    device: DeviceDescription,
    images: Vec<NewImage>,
    expected: Expected<'a>,
    source: &'a str,
}

enum Expected<'a> {
    /// The target of the image that is taken.
    Taken(&'a str),
    /// What the error says.
    Refused(&'a str),
}

impl<'a> Case<'a> {
    fn parse(number: usize, line: &'a str) -> Case<'a> {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [device, images, outcome, source] = cells[..] else { panic!("{number}: four cells") };
        let expected = match outcome.split_once(' ') {
            Some(("=", target)) => Expected::Taken(target),
            Some(("!", words)) => Expected::Refused(words),
            _ => panic!("{number}: `{outcome}`"),
        };
        let images = images.split(' ').map(image).collect();
        Case { number, device: self::device(device), images, expected, source }
    }

    fn run(self) -> Result<(), String> {
        let pack = self.images.into_iter().enumerate().fold(TestPack::new("p"), |pack, (index, image)| {
            pack.image(image, format!("image {index}").as_bytes())
        });
        let selection = Registry::from_pack(pack.bytes()).request("m").select(&self.device);
        let number = self.number;
        match (self.expected, selection) {
            (Expected::Taken(target), Ok(selection)) if selection.entry().target_text() == target => Ok(()),
            (Expected::Refused(words), Err(error)) if error.to_string().contains(words) => Ok(()),
            (_, Ok(selection)) => Err(format!("line {number}: {} is taken", selection.entry().target_text())),
            (_, Err(error)) => Err(format!("line {number}: {error}")),
        }
    }
}

fn device(text: &str) -> DeviceDescription {
    let mut words = text.split(' ');
    let kind = words.next().unwrap();
    let rest: Vec<&str> = words.collect();
    match kind {
        "opencl" => opencl(&rest).into(),
        "cuda" => {
            let [major, minor] = numbers(rest[0], '.')[..] else { panic!("{text}") };
            let device = CudaDescription::new("gpu", [major, minor]);
            value(&rest, "driver=").map_or(device.clone(), |version| device.driver_version(version)).into()
        }
        "hip" => {
            let device = HipDescription::new("gpu", rest[0]);
            value(&rest, "runtime=").map_or(device.clone(), |version| device.runtime_version(version)).into()
        }
        host => {
            let Ok(Target::Host(level)) = host.parse() else { panic!("{host}") };
            let level: HostLevel = level;
            DeviceDescription::host_with_level(level)
        }
    }
}

fn opencl(words: &[&str]) -> OpenClDescription {
    words.iter().fold(OpenClDescription::new("gpu", "vendor"), |device, word| match word.split_once('=') {
        None => device.opencl_c(),
        Some(("spirv", list)) => device.spirv(&list.split(',').filter_map(spirv_version).collect::<Vec<_>>()),
        Some(("intel", ip)) => device.intel_ip(numbers(ip, '.').try_into().unwrap()),
        Some(("aspects", list)) => device.aspects(list.split(',').map(aspect).collect()),
        Some(("subgroups", list)) => device.sub_group_sizes(&numbers(list, ',')),
        Some(("group", items)) => device.max_work_group(items.parse().unwrap()),
        Some(_) => panic!("{word}"),
    })
}

fn value(words: &[&str], name: &str) -> Option<u32> {
    words.iter().find_map(|word| word.strip_prefix(name)).map(|value| value.parse().unwrap())
}

fn numbers(list: &str, separator: char) -> Vec<u32> {
    list.split(separator).map(|number| number.parse().unwrap()).collect()
}

/// The bit with this name.
fn aspect(name: &str) -> Aspects {
    let bits = (0..u32::BITS).map(|bit| Aspects::from_bits(1 << bit));
    let mut named = bits.filter(|aspect| aspect.names() == [name]);
    named.next().unwrap_or_else(|| panic!("{name}"))
}

/// `target@version+aspect#sg16`.
fn image(text: &str) -> NewImage {
    let end = text.find(['@', '#']).or_else(|| aspects_at(text)).unwrap_or(text.len());
    let mut image = NewImage::new("m", text[..end].parse().unwrap());
    let mut kernel = KernelInfo::new("k");
    for part in parts(&text[end..]) {
        match (part.split_at(1), part) {
            (("@", version), _) => image.format_version = Some(word(version)),
            (("+", name), _) => image.aspects = image.aspects | aspect(name),
            (("#", need), _) => match need.split_at(2) {
                ("sg", size) => kernel.sub_group_size = Some(size.parse().unwrap()),
                ("wg", size) => kernel.required_work_group = Some([size.parse().unwrap(), 1, 1]),
                _ => panic!("{text}"),
            },
            _ => panic!("{text}"),
        }
    }
    NewImage { kernels: vec![kernel], ..image }
}

fn spirv_version(text: &str) -> Option<SpirvVersion> {
    SpirvVersion::new(text.strip_prefix("1.")?.parse().ok()?)
}

/// The start of the aspects: a `+` behind `xnack` or `sramecc` belongs to the target.
fn aspects_at(text: &str) -> Option<usize> {
    let mut signs = text.match_indices('+').map(|(at, _)| at);
    signs.find(|at| text[at + 1..].starts_with(|c: char| c.is_ascii_lowercase()))
}

fn parts(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = text.match_indices(['@', '+', '#']).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

/// The version of a format as packs have it.
fn word(version: &str) -> u32 {
    if let Some(ptx) = version.strip_prefix("ptx") {
        let [major, minor] = numbers(ptx, '.')[..] else { panic!("{version}") };
        return major << 16 | minor << 8;
    }
    if let Some(abi) = version.strip_prefix("abi") {
        return abi.parse().unwrap();
    }
    match numbers(version.strip_prefix('v').unwrap(), '.')[..] {
        [version] => version,
        [version, generic] => version | generic << 8,
        _ => panic!("{version}"),
    }
}

#[test]
fn every_case_of_the_table_ends_as_its_source_says() {
    let lines = CASES.lines().enumerate().map(|(index, line)| (index + 1, line));
    let mut sources: BTreeMap<&str, usize> = BTreeMap::new();
    let mut count = 0;
    let mut wrong = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        if let Some((name, address)) = line.strip_prefix('[').and_then(|line| line.split_once("] ")) {
            assert!(!address.is_empty() && sources.insert(name, 0).is_none(), "line {number}: {line}");
            continue;
        }
        let case = Case::parse(number, line);
        let used = sources.get_mut(case.source);
        *used.unwrap_or_else(|| panic!("line {number}: no source `{}`", line)) += 1;
        count += 1;
        wrong.extend(case.run().err());
    }
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
    let unused: Vec<_> = sources.iter().filter(|(_, count)| **count == 0).collect();
    assert!(unused.is_empty(), "sources of no case: {unused:?}");
    println!("{count} cases of selection from {} sources: {sources:?}", sources.len());
    assert!(count >= 200, "{count}");
}
