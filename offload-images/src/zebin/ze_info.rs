//! A line scanner of `.ze_info`: its YAML has block style and fixed indents.

/// The resources of a kernel. A field is `None` if the compiler that wrote the zebin does not record it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZebinKernel {
    /// The name of the kernel.
    pub name: String,
    /// Registers of a hardware thread: 128, or 256 in large mode.
    pub grf_count: Option<u32>,
    /// Work-items of a hardware thread.
    pub simd_size: Option<u32>,
    /// Barriers in use.
    pub barrier_count: Option<u32>,
    /// Local memory in bytes.
    pub slm_size: Option<u64>,
    /// Spilled bytes of a hardware thread.
    pub spill_size: Option<u64>,
    /// Private memory in bytes of a hardware thread.
    pub private_size: Option<u64>,
    /// Memory in bytes of a hardware thread for spills and private variables together.
    pub scratch_size: Option<u64>,
    /// `reqd_work_group_size`.
    pub required_work_group: Option<[u32; 3]>,
    /// The required sub-group size.
    pub required_sub_group_size: Option<u32>,
}

/// The kernels of `text`, in its order. Unknown keys are skipped.
pub(super) fn scan(text: &str) -> Vec<ZebinKernel> {
    let mut scanner = Scanner::default();
    for line in text.lines() {
        scanner.line(line);
    }
    scanner.kernels
}

#[derive(Default)]
struct Scanner<'a> {
    kernels: Vec<ZebinKernel>,
    /// The key at the outermost level: only `kernels` holds kernels.
    top_level: &'a str,
    /// The key inside a kernel, as `execution_env`.
    group: &'a str,
    /// The memory buffer being read.
    buffer: MemoryBuffer<'a>,
}

/// An item of `per_thread_memory_buffers`.
#[derive(Clone, Copy, Default)]
struct MemoryBuffer<'a> {
    usage: &'a str,
    size: Option<u64>,
}

impl<'a> Scanner<'a> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim_start();
        let indent = line.len().saturating_sub(trimmed.len());
        let (item, trimmed) = match trimmed.strip_prefix("- ") {
            Some(rest) => (true, rest.trim_start()),
            None => (false, trimmed),
        };
        let Some((key, value)) = trimmed.split_once(':') else { return };
        let value = unquoted(value.trim());
        match (indent, item) {
            (0, false) => self.top_level = key,
            (2, true) if self.top_level == "kernels" && key == "name" => self.kernel(value),
            (4, false) => self.group = key,
            _ if self.top_level == "kernels" => self.entry(item, key, value),
            _ => {}
        }
    }

    fn kernel(&mut self, name: &str) {
        self.group = "";
        self.kernels.push(ZebinKernel { name: name.to_string(), ..ZebinKernel::default() });
    }

    fn entry(&mut self, item: bool, key: &'a str, value: &'a str) {
        let Some(kernel) = self.kernels.last_mut() else { return };
        match self.group {
            "execution_env" => execution_env(kernel, key, value),
            "per_thread_memory_buffers" => {
                if item {
                    self.buffer = MemoryBuffer::default();
                }
                match key {
                    "usage" => self.buffer.usage = value,
                    "size" => self.buffer.size = value.parse().ok(),
                    _ => {}
                }
                memory_buffer(kernel, &mut self.buffer);
            }
            _ => {}
        }
    }
}

fn execution_env(kernel: &mut ZebinKernel, key: &str, value: &str) {
    match key {
        "grf_count" => kernel.grf_count = value.parse().ok(),
        "simd_size" => kernel.simd_size = value.parse().ok(),
        "barrier_count" => kernel.barrier_count = value.parse().ok(),
        "slm_size" => kernel.slm_size = value.parse().ok(),
        "spill_size" => kernel.spill_size = value.parse().ok(),
        "private_size" => kernel.private_size = value.parse().ok(),
        "required_sub_group_size" => kernel.required_sub_group_size = value.parse().ok(),
        "required_work_group_size" => kernel.required_work_group = three(value),
        _ => {}
    }
}

fn memory_buffer(kernel: &mut ZebinKernel, buffer: &mut MemoryBuffer<'_>) {
    let MemoryBuffer { usage, size: Some(size) } = *buffer else { return };
    match usage {
        // Before version 1.39 one buffer served both, without separate sizes.
        "single_space" => kernel.scratch_size = Some(kernel.scratch_size.unwrap_or(0).saturating_add(size)),
        "spill_fill_space" => kernel.spill_size = kernel.spill_size.or(Some(size)),
        "private_space" => kernel.private_size = kernel.private_size.or(Some(size)),
        _ => return,
    }
    *buffer = MemoryBuffer::default();
}

fn three(value: &str) -> Option<[u32; 3]> {
    let inner = value.strip_prefix('[')?.strip_suffix(']')?;
    let mut numbers = Vec::new();
    for number in inner.split(',') {
        numbers.push(number.trim().parse().ok()?);
    }
    numbers.try_into().ok()
}

fn unquoted(value: &str) -> &str {
    strip_quotes(value, '\'').or_else(|| strip_quotes(value, '"')).unwrap_or(value)
}

fn strip_quotes(value: &str, quote: char) -> Option<&str> {
    value.strip_prefix(quote)?.strip_suffix(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spills_are_read_as_old_and_new_compilers_write_them() {
        let old = "---\nkernels:\n  - name: k\n    execution_env:\n      grf_count: 128\n    \
                   per_thread_memory_buffers:\n      - type: scratch\n        usage: single_space\n        \
                   size: 65536\n      - type: scratch\n        usage: spill_fill_space\n        size: 64\n";
        let [kernel] = scan(old).try_into().unwrap();
        assert_eq!(
            (kernel.scratch_size, kernel.spill_size, kernel.grf_count),
            (Some(65536), Some(64), Some(128))
        );

        let new =
            "kernels:\n  - name: 'k'\n    execution_env:\n      spill_size: 0\n      private_size: 32\n";
        let [kernel] = scan(new).try_into().unwrap();
        assert_eq!((kernel.name.as_str(), kernel.spill_size, kernel.private_size), ("k", Some(0), Some(32)));
    }

    #[test]
    fn names_outside_the_list_of_kernels_are_no_kernels() {
        let text = "kernels:\n  - name: k\n    execution_env:\n      simd_size: 16\nkernels_misc_info:\n  - name: k\n    \
                    args_info:\n      - index: 0\nfunctions:\n  - name: f\n";
        let kernels = scan(text);
        assert_eq!(kernels.len(), 1);
        assert_eq!(kernels[0].simd_size, Some(16));
    }
}
