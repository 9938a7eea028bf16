//! CPU properties from Linux's `/proc` and `/sys`; all `None` on other Unix systems.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::properties::{CacheSizes, DeviceProperties};

/// The folders of the system's files; tests have others.
struct SystemFiles<'p> {
    /// `/proc`.
    proc: &'p Path,
    /// `/sys`.
    sys: &'p Path,
}

/// The files of a control group for memory, which differ between the versions of control groups.
struct GroupFiles {
    limit: &'static str,
    used: &'static str,
    /// What the kernel releases before it refuses memory, in the file `memory.stat`.
    reclaimable: &'static str,
}

/// <https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files>.
const VERSION_2: GroupFiles =
    GroupFiles { limit: "memory.max", used: "memory.current", reclaimable: "inactive_file" };

/// <https://docs.kernel.org/admin-guide/cgroup-v1/memory.html>.
const VERSION_1: GroupFiles = GroupFiles {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
};

/// Bytes of memory, in all and free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Memory {
    all: Option<u64>,
    free: Option<u64>,
}

pub(super) fn properties() -> DeviceProperties {
    SystemFiles { proc: Path::new("/proc"), sys: Path::new("/sys") }.properties()
}

impl SystemFiles<'_> {
    fn properties(&self) -> DeviceProperties {
        let memory = self.memory();
        DeviceProperties {
            memory: memory.all,
            free_memory: memory.free,
            clock_khz: self.clock(),
            caches: self.caches(),
            ..DeviceProperties::default()
        }
    }

    /// That of the machine, or of the process's control group if it may use less.
    fn memory(&self) -> Memory {
        let machine = self.machine_memory();
        let mut memory = machine;
        for group in self.groups() {
            let Memory { all: Some(most), free: Some(free) } = group else { continue };
            // A group without a limit has one that no machine reaches, or none.
            if machine.all.is_some_and(|all| most < all) {
                memory.all = memory.all.map(|all| all.min(most));
                memory.free = memory.free.map(|known| known.min(free));
            }
        }
        memory
    }

    /// `MemAvailable` counts what the system can give to programs without swapping
    /// (<https://docs.kernel.org/filesystems/proc.html#meminfo>).
    fn machine_memory(&self) -> Memory {
        let text = fs::read_to_string(self.proc.join("meminfo")).unwrap_or_default();
        Memory { all: kilobytes(&text, "MemTotal:"), free: kilobytes(&text, "MemAvailable:") }
    }

    /// The memory of the process's control group and of those that it is in. In a container they may be at the root of what
    /// the container sees.
    fn groups(&self) -> Vec<Memory> {
        let text = fs::read_to_string(self.proc.join("self/cgroup")).unwrap_or_default();
        let root = self.sys.join("fs/cgroup");
        let mut groups = Vec::new();
        for line in text.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            let (root, files) = match controllers {
                "" => (root.clone(), VERSION_2),
                _ if controllers.split(',').any(|name| name == "memory") => (root.join("memory"), VERSION_1),
                _ => continue,
            };
            let path = Path::new(path.trim_start_matches('/'));
            for folder in path.ancestors() {
                groups.push(files.read(&root.join(folder)));
            }
        }
        groups
    }

    /// The highest clock of the first core in kHz. Virtual machines have none, but tell the clock of the processor.
    fn clock(&self) -> Option<u32> {
        let highest = self.sys.join("devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
        if let Some(khz) = number::<u32>(&highest) {
            return Some(khz).filter(|khz| *khz > 0);
        }
        let text = fs::read_to_string(self.proc.join("cpuinfo")).ok()?;
        let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
        let (_, mhz) = line.split_once(':')?;
        let mhz: f64 = mhz.trim().parse().ok()?;
        let khz = mhz * 1000.0;
        // The conversion saturates, and no clock is near the limit.
        Some(khz as u32).filter(|khz| *khz > 0)
    }

    /// Of the first core (<https://docs.kernel.org/admin-guide/cputopology.html>, `cache/index*`).
    fn caches(&self) -> CacheSizes {
        let mut caches = CacheSizes::default();
        let folder = self.sys.join("devices/system/cpu/cpu0/cache");
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let cache = entry.path();
            let kind = fs::read_to_string(cache.join("type")).unwrap_or_default();
            if kind.trim() == "Instruction" {
                continue;
            }
            let size = cache_size(&cache.join("size"));
            match number::<u32>(&cache.join("level")) {
                Some(1) => caches.l1_data = size,
                Some(2) => caches.l2 = size,
                Some(3) => caches.l3 = size,
                _ => {}
            }
        }
        caches
    }
}

impl GroupFiles {
    /// `free` is up to the limit; nothing if the group has no limit, or no such files.
    fn read(&self, folder: &Path) -> Memory {
        let Some(most) = number::<u64>(&folder.join(self.limit)) else { return Memory::default() };
        let Some(used) = number::<u64>(&folder.join(self.used)) else { return Memory::default() };
        let reclaimable = self.reclaimable(&folder.join("memory.stat"));
        let kept = used.saturating_sub(reclaimable);
        Memory { all: Some(most), free: Some(most.saturating_sub(kept)) }
    }

    fn reclaimable(&self, file: &PathBuf) -> u64 {
        let text = fs::read_to_string(file).unwrap_or_default();
        let found = text.lines().find_map(|line| line.strip_prefix(self.reclaimable)?.trim().parse().ok());
        found.unwrap_or(0)
    }
}

/// The number that a file has.
fn number<N: FromStr>(file: &Path) -> Option<N> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// A size as `32K`.
fn cache_size(file: &Path) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let text = text.trim();
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (text.strip_suffix('K')?, 1 << 10),
        b'M' => (text.strip_suffix('M')?, 1 << 20),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|size| *size > 0)
}

/// The bytes in a line as `MemTotal:       24684096 kB`.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders with these files below `proc` and `sys`.
    fn with_files(files: &[(&str, &str)]) -> DeviceProperties {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let proc = folder.path().join("proc");
        let sys = folder.path().join("sys");
        SystemFiles { proc: &proc, sys: &sys }.properties()
    }

    const MACHINE: (&str, &str) =
        ("proc/meminfo", "MemTotal:       1024 kB\nMemFree: 1 kB\nMemAvailable:    512 kB\n");

    fn memory(files: &[(&str, &str)]) -> (Option<u64>, Option<u64>) {
        let properties = with_files(files);
        (properties.memory, properties.free_memory)
    }

    #[test]
    fn what_the_system_does_not_tell_is_none() {
        assert_eq!(with_files(&[]), DeviceProperties::default());
        let odd = [
            ("proc/meminfo", "MemTotal: many kB\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/size", "0K"),
        ];
        assert_eq!(with_files(&odd), DeviceProperties::default());
    }

    #[test]
    fn memory_is_that_of_the_machine_or_of_the_control_group() {
        const KIB: u64 = 1 << 10;
        let machine = (Some(1024 * KIB), Some(512 * KIB));
        assert_eq!(memory(&[MACHINE]), machine);
        let version_2 = [
            MACHINE,
            ("proc/self/cgroup", "0::/user/job\n"),
            ("sys/fs/cgroup/user/memory.max", "262144\n"),
            ("sys/fs/cgroup/user/memory.current", "200000\n"),
            ("sys/fs/cgroup/user/memory.stat", "anon 1\ninactive_file 100000\n"),
            ("sys/fs/cgroup/user/job/memory.max", "max\n"),
            ("sys/fs/cgroup/user/job/memory.current", "1\n"),
        ];
        assert_eq!(memory(&version_2), (Some(262_144), Some(162_144)));
        let version_1 = [
            MACHINE,
            ("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n0::/\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "65536\n"),
            ("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "4096\n"),
        ];
        assert_eq!(memory(&version_1), (Some(65536), Some(61440)));
        let unlimited = [
            MACHINE,
            ("proc/self/cgroup", "4:memory:/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "4096\n"),
        ];
        assert_eq!(memory(&unlimited), machine);
    }

    #[test]
    fn caches_and_clock_are_of_the_first_core() {
        let mut files = Vec::new();
        let caches = [
            ("0", "1", "Data", "48K"),
            ("1", "1", "Instruction", "32K"),
            ("2", "2", "Unified", "2048K"),
            ("3", "3", "Unified", "107520K"),
        ];
        for (index, level, kind, size) in caches {
            let folder = format!("sys/devices/system/cpu/cpu0/cache/index{index}");
            files.push((format!("{folder}/level"), level));
            files.push((format!("{folder}/type"), kind));
            files.push((format!("{folder}/size"), size));
        }
        files.push(("proc/cpuinfo".to_string(), "model name\t: x\ncpu MHz\t\t: 2596.142\n"));
        let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let properties = with_files(&borrowed);
        let CacheSizes { l1_data, l2, l3, global } = properties.caches;
        assert_eq!((l1_data, l2, l3, global), (Some(48 << 10), Some(2 << 20), Some(105 << 20), None));
        assert_eq!(properties.clock_khz, Some(2_596_142));
        files.push(("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq".to_string(), "5000000\n"));
        let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert_eq!(with_files(&borrowed).clock_khz, Some(5_000_000));
    }
}
