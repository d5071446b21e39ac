//! How much memory there is for this process: what the machine has, and what control groups leave of it.
//!
//! Containers and batch systems put processes into control groups, whose limits the machine's own figures do not
//! show. A limit holds for a group and all groups below it.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// A version of control groups: the first one has a hierarchy for memory, the second one is for everything.
struct ControlGroups {
    /// The type of the file system.
    filesystem: &'static str,
    /// The name among what a hierarchy controls.
    controller: &'static str,
    /// The files with limits in bytes, or with a word if there is none.
    limits: &'static [&'static str],
    /// The file with the bytes in use.
    used: &'static str,
    /// Of `memory.stat`: bytes of files that have not been used for long, which are given up where memory is
    /// short. They count as used.
    spare: &'static str,
}

const VERSIONS: [ControlGroups; 2] = [
    ControlGroups {
        filesystem: "cgroup",
        controller: "memory",
        limits: &["memory.limit_in_bytes"],
        used: "memory.usage_in_bytes",
        spare: "total_inactive_file",
    },
    ControlGroups {
        filesystem: "cgroup2",
        controller: "",
        // What is above the second one is slowed down until it stands still.
        limits: &["memory.max", "memory.high"],
        used: "memory.current",
        spare: "inactive_file",
    },
];

/// Bytes that this process can still get. `root` is the root of all files that tell: `/`, but for tests.
///
/// An error if the machine does not tell. Files of control groups that are missing or strange bound nothing.
pub fn available(root: &Path) -> io::Result<u64> {
    let proc = root.join("proc");
    let machine = machine(&fs::read_to_string(proc.join("meminfo"))?);
    let read = |name| fs::read_to_string(proc.join("self").join(name)).unwrap_or_default();
    let (groups, mounts) = (read("cgroup"), read("mountinfo"));
    let left = VERSIONS.iter().filter_map(|version| {
        let place = version.place(&groups, &mounts)?;
        version.left(root, &place, machine)
    });
    Ok(left.fold(machine, u64::min))
}

/// What the machine has, by the text of `/proc/meminfo`.
fn machine(meminfo: &str) -> u64 {
    let mut lines = meminfo.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or(0).saturating_mul(1024)
}

/// Where the files of a process's group are.
struct Place {
    /// Where the hierarchy begins, as far as this process sees it.
    top: PathBuf,
    /// The folder of the group itself, `top` or below it.
    own: PathBuf,
}

impl ControlGroups {
    /// The place of this process's group, by the texts of `/proc/self/cgroup` and `/proc/self/mountinfo`.
    fn place(&self, groups: &str, mounts: &str) -> Option<Place> {
        let own = groups.lines().find_map(|line| self.group(line))?;
        let mounts: Vec<(PathBuf, PathBuf)> =
            mounts.lines().filter_map(|line| self.mount(line)).collect();
        // A container may see only the part of the hierarchy that is its own, or have it mounted at another place.
        let below = mounts.iter().find_map(|(root, top)| {
            let path = own.strip_prefix(root).ok()?;
            let plain = |part: Component| matches!(part, Component::Normal(_));
            path.components().all(plain).then_some((top, path))
        });
        let (top, path) = below.or_else(|| Some((&mounts.first()?.1, Path::new(""))))?;
        Some(Place {
            top: top.clone(),
            own: top.join(path),
        })
    }

    /// The path of the group in its hierarchy, if this line of `/proc/self/cgroup` is for this version.
    fn group<'a>(&self, line: &'a str) -> Option<&'a Path> {
        let mut fields = line.splitn(3, ':');
        let (_, mut controllers) = (fields.next()?, fields.next()?.split(','));
        let is_it = controllers.any(|name| name == self.controller);
        Some(Path::new(fields.next()?)).filter(|_| is_it)
    }

    /// Which folder of the hierarchy is mounted and where, if this line of `/proc/self/mountinfo` is of this version.
    fn mount(&self, line: &str) -> Option<(PathBuf, PathBuf)> {
        let (place, about) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, top) = (place.next()?, place.next()?);
        let mut about = about.split(' ');
        let filesystem = about.next()?;
        let mut options = about.nth(1)?.split(',');
        let is_it = filesystem == self.filesystem
            && (self.controller.is_empty() || options.any(|name| name == self.controller));
        is_it.then(|| (unescaped(root), unescaped(top)))
    }

    /// Bytes that the group and those above it leave, if it is less than `enough`.
    fn left(&self, root: &Path, place: &Place, enough: u64) -> Option<u64> {
        let groups = place.own.ancestors();
        let groups = groups.take_while(|group| group.starts_with(&place.top));
        let left = groups.filter_map(|group| {
            let group = root.join(group.strip_prefix("/").ok()?);
            let read = |name: &str| fs::read_to_string(group.join(name)).ok();
            let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
            let limit = self.limits.iter().filter_map(|name| number(name)).min()?;
            let used = number(self.used)?;
            if limit.saturating_sub(used) >= enough {
                return None;
            }
            let spare = read("memory.stat").and_then(|text| self.spare(&text));
            Some(limit.saturating_sub(used.saturating_sub(spare.unwrap_or(0))))
        });
        left.min()
    }

    /// Bytes in use that are given up where memory is short, by the text of `memory.stat`.
    fn spare(&self, stat: &str) -> Option<u64> {
        let mut lines = stat.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(name, _)| *name == self.spare)?.1.parse().ok()
    }
}

/// A path as the kernel writes it, with blanks and the like as three octal digits behind a backslash.
fn unescaped(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let byte = part
            .get(..3)
            .and_then(|octal| u8::from_str_radix(octal, 8).ok());
        match byte {
            Some(byte) if byte.is_ascii() => {
                path.push(byte.into());
                path.push_str(&part[3..]);
            }
            _ => {
                path.push('\\');
                path.push_str(part);
            }
        }
    }
    path.into()
}
