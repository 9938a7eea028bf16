//! The page of `cargo offload report --html` in a browser: no error, the filter filters, and areas are in proportion.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support;
use offload_format::codec::{self, Codec};
use offload_format::pack::{KernelInfo, NewImage, PackBuilder};
use serde_json::Value;

/// What the page is made to do once it is loaded, and what it has to say then.
const PROBE: &str = r##"
<script>
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
const state = () => ({
  rows: document.querySelectorAll("#rows tr").length,
  shown: document.getElementById("shown").textContent,
  dim: document.querySelectorAll("#map g.dim").length,
});
const filtered = (text) => {
  const filter = document.getElementById("filter");
  filter.value = text;
  filter.dispatchEvent(new Event("input"));
  return state();
};
const hovered = () => {
  const rect = document.querySelector("#map rect"), tip = document.getElementById("tip");
  const before = tip.hidden;
  rect.dispatchEvent(new PointerEvent("pointermove", { clientX: 300, clientY: 300, bubbles: true }));
  const { left, right } = tip.getBoundingClientRect();
  const lines = [...tip.children].map((line) => line.textContent);
  document.getElementById("map").dispatchEvent(new PointerEvent("pointerleave"));
  return { before, lines, inside: left >= 0 && right <= innerWidth, after: tip.hidden };
};
const rects = [...document.querySelectorAll("#map rect")].map((rect) => ({
  bytes: Number(rect.dataset.bytes),
  area: Number(rect.getAttribute("width")) * Number(rect.getAttribute("height")),
}));
const first = state();
document.querySelector("#head th.number button").click();
const result = {
  first, one: filtered("saxpy gfx90a"), none: filtered("nothing"), all: filtered(""), rects,
  total: Number(document.getElementById("map").dataset.bytes),
  heading: document.getElementById("file").textContent,
  made: [...document.querySelectorAll("#made li")].map((li) => li.textContent),
  hover: hovered(),
  colours: [...new Set([...document.querySelectorAll("#map rect")].map((rect) => rect.getAttribute("fill")))].length,
  legend: [...document.querySelectorAll("#legend li")].map((li) => li.textContent),
  box: document.getElementById("map").getAttribute("viewBox").split(" ").map(Number),
  width: innerWidth,
  overflow: document.documentElement.scrollWidth - innerWidth,
  smallest: Math.min(...[...document.querySelectorAll("#map text")].map((text) => text.getBoundingClientRect().height)),
  bold: document.querySelectorAll("#rows b").length,
  sorted: document.querySelector("#head [aria-sort]").textContent,
  side: {
    hidden: document.getElementById("beside").hidden,
    headings: [...document.querySelectorAll("#beside-head th")].map((th) => th.textContent),
    rows: [...document.querySelectorAll("#beside-rows tr")].map((tr) => [...tr.children].map((td) => td.textContent)),
    worse: document.querySelectorAll("#beside-rows td.worst").length,
  },
  errors,
};
if (parent !== window) {
  parent.postMessage(JSON.stringify(result), "*");
} else {
  const probe = document.createElement("pre");
  probe.id = "probe";
  probe.textContent = JSON.stringify(result);
  document.body.append(probe);
}
</script>
"##;

/// A pack of two modules for four targets; one register of `saxpy` for so many bytes.
fn pack(bytes_a_register: u32) -> Vec<u8> {
    let mut builder = PackBuilder::new("sample", "1.0.0");
    let mut frames = Vec::new();
    for (module, target, size) in [
        ("blas", "amdgcn:gfx90a", 9000u32),
        ("blas", "amdgcn:gfx1100", 7000),
        ("blas", "cubin:sm_90", 5000),
        ("<b>fft", "spirv64", 3000),
    ] {
        // Bytes that no compressor shortens: the areas differ as the sizes do.
        let mut state = size;
        let bytes: Vec<u8> = (0..size)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        let kernels = vec![kernel("saxpy", size / bytes_a_register), kernel("</script><b>dot", 8)];
        let image = NewImage { kernels, ..NewImage::new(module, target.parse().unwrap()) };
        let frame = codec::encode(&bytes, Codec::Zstd, 3).unwrap();
        builder.image(image, frame.info()).unwrap();
        frames.push(frame);
    }
    builder.finish().unwrap().with_frames(&frames).unwrap()
}

fn kernel(name: &str, registers: u32) -> KernelInfo {
    let mut info = KernelInfo::new(name);
    info.registers = Some(registers);
    info.spilled = Some(0);
    info
}

/// What the page says, and what the browser's console does.
fn opened(browser: &Path, page: &Path) -> (Value, String) {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8(output.stdout).unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let start =
        dom.find("<pre id=\"probe\">").unwrap_or_else(|| panic!("the page says nothing:\n{dom}\n{log}"));
    let probe = dom[start..].split_once('>').unwrap().1.split_once("</pre>").unwrap().0;
    let probe = probe.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    (serde_json::from_str(&probe).unwrap(), log)
}

/// Makes a page of `images.pack` in `dir`, and says what it says in a browser.
fn probed(browser: &Path, dir: &Path, args: &[&str]) -> (Value, String) {
    let output = Command::new(support::cargo_offload())
        .args(["report", "images.pack", "--html", "page.html"])
        .args(args)
        .current_dir(dir)
        .env("SOURCE_DATE_EPOCH", "951782400")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(dir.join("page.html")).unwrap();
    let probed = text.replacen("</body>", &format!("{PROBE}</body>"), 1);
    assert_ne!(probed, text);
    let page = dir.join("probed.html");
    fs::write(&page, probed).unwrap();
    let (probe, log) = opened(browser, &page);
    assert_eq!(probe["errors"], serde_json::json!([]), "{log}");
    assert!(!log.contains(":CONSOLE"), "{log}");
    (probe, log)
}

#[test]
fn builds_stand_side_by_side_in_a_browser() {
    let Some(browser) = offload_tests::require("chromium") else { return };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("images.pack"), pack(100)).unwrap();
    fs::write(dir.path().join("old.pack"), pack(50)).unwrap();
    let (probe, _) = probed(&browser, dir.path(), &["--beside", "<i>old=old.pack"]);
    let side = &probe["side"];
    assert_eq!(side["hidden"], false);
    let headings = serde_json::json!(["kernel", "module", "target", "registers: this", "registers: <i>old"]);
    assert_eq!(side["headings"], headings);
    let rows = side["rows"].as_array().unwrap();
    let saxpy = serde_json::json!(["saxpy", "blas", "amdgcn:gfx90a", "90", "180"]);
    assert!(rows.len() == 8 && rows.contains(&saxpy), "{side}");
    // Of each image's two kernels one has more registers in the old build.
    assert_eq!(side["worse"], 4, "{side}");
}

fn count_rows(probe: &Value, state: &str) -> u64 {
    probe[state]["rows"].as_u64().unwrap()
}

fn sum(rects: &[Value], key: &str) -> f64 {
    rects.iter().map(|rect| rect[key].as_f64().unwrap()).sum()
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = offload_tests::require("chromium") else { return };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("images.pack"), pack(100)).unwrap();
    let (probe, _) = probed(&browser, dir.path(), &[]);
    assert_eq!(probe["side"]["hidden"], true);
    assert_eq!(probe["heading"], "Kernels of images.pack");
    assert_eq!(
        ["first", "one", "none", "all"].map(|state| count_rows(&probe, state)),
        [8, 1, 0, 8],
        "{probe}"
    );
    assert_eq!(probe["one"]["shown"], "1 of 8 kernels");
    assert_eq!((probe["one"]["dim"].as_u64(), probe["all"]["dim"].as_u64()), (Some(3), Some(0)), "{probe}");
    assert_eq!((probe["sorted"].as_str(), probe["bold"].as_u64()), (Some("registers"), Some(0)), "{probe}");

    let rects = probe["rects"].as_array().unwrap();
    let total = probe["total"].as_f64().unwrap();
    assert_eq!(rects.len(), 4);
    assert!((sum(rects, "bytes") - total).abs() < 0.5 && total >= 24_000.0, "{probe}");
    let area = sum(rects, "area");
    let [width, height] = [2, 3].map(|at: usize| probe["box"][at].as_f64().unwrap());
    assert!((area - width * height).abs() < 1.0, "{area}");
    for rect in rects {
        let bytes = rect["bytes"].as_f64().unwrap() / total;
        let own = rect["area"].as_f64().unwrap() / area;
        assert!((bytes - own).abs() < 1e-6, "{bytes} of the bytes have {own} of the area");
    }
}

#[test]
fn the_page_says_what_was_built_when_and_by_what() {
    let Some(browser) = offload_tests::require("chromium") else { return };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("images.pack"), pack(100)).unwrap();
    let (probe, _) = probed(&browser, dir.path(), &[]);
    assert_eq!(probe["made"], serde_json::json!(["Package: sample 1.0.0", "Date: 2000-02-29"]));
    // Three vendors, and two generations of one of them.
    assert_eq!(probe["colours"], 4, "{probe}");
    let legend: Vec<&str> =
        probe["legend"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(
        legend.len() == 3 && legend[0].starts_with("amd 15.") && legend[0].contains("gfx9 8.8 KiB gfx11 "),
        "{legend:?}"
    );
    let hover = &probe["hover"];
    assert_eq!(
        (&hover["before"], &hover["inside"], &hover["after"]),
        (&true.into(), &true.into(), &true.into())
    );
    assert_eq!(hover["lines"][0], "amdgcn:gfx90a blas");
    assert!(hover["lines"][1].as_str().unwrap().contains("% of all; 8.8 KiB decoded"), "{hover}");
    assert_eq!(hover["lines"][2], "2 kernels, none spills");
}

/// A window of 400 pixels, which browsers do not open: a frame in a larger one.
const FRAME: &str = r##"<!DOCTYPE html><iframe src="probed.html" width="400" height="800" style="border: 0"></iframe>
<script>
addEventListener("message", (event) => {
  const probe = document.createElement("pre");
  probe.id = "probe";
  probe.textContent = event.data;
  document.body.append(probe);
});
</script>
"##;

#[test]
fn the_page_is_readable_on_a_telephone() {
    let Some(browser) = offload_tests::require("chromium") else { return };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("images.pack"), pack(100)).unwrap();
    probed(&browser, dir.path(), &[]);
    let frame = dir.path().join("frame.html");
    fs::write(&frame, FRAME).unwrap();
    let (probe, log) = opened(&browser, &frame);
    assert_eq!((&probe["width"], &probe["errors"]), (&400.into(), &serde_json::json!([])), "{log}");
    assert!(probe["overflow"].as_i64().unwrap() <= 0, "the page is wider than the window: {probe}");
    assert!(probe["smallest"].as_f64().unwrap() >= 12.0, "text of the map cannot be read: {probe}");
    assert_eq!(probe["hover"]["inside"], true);
}
