//! What a process has mapped. The system may show one mapping in several lines: it splits one where a part is treated
//! in another way (`madvise`, `mlock`, `mbind`).

use std::fs;

/// Memory that was mapped at once.
#[derive(Debug, PartialEq, Eq)]
pub struct Mapping {
    pub start: u64,
    pub end: u64,
    /// Where it begins in its file.
    pub offset: u64,
    /// Of its file; 0 if there is none.
    pub inode: u64,
    pub name: String,
}

impl Mapping {
    /// From a line of `/proc/PID/maps`.
    fn parse(line: &str) -> Option<Mapping> {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let (_rights, offset) = (fields.next()?, fields.next()?);
        let (_device, inode) = (fields.next()?, fields.next()?);
        let hex = |text| u64::from_str_radix(text, 16).ok();
        Some(Mapping {
            start: hex(start)?,
            end: hex(end)?,
            offset: hex(offset)?,
            inode: inode.parse().ok()?,
            name: fields.next().unwrap_or_default().trim().to_owned(),
        })
    }

    pub fn bytes(&self) -> u64 {
        self.end - self.start
    }

    /// Is it of a segment? The name of a file may have any word in it, that of this program too.
    fn is_segment(&self) -> bool {
        self.name.starts_with("/memfd:rondo")
    }

    /// Does this one go on where the other ends, in memory and in its file?
    fn continues(&self, other: &Mapping) -> bool {
        let (here, there) = (&self.name, &other.name);
        self.start == other.end
            && (self.inode, here) == (other.inode, there)
            && (self.inode == 0 || self.offset == other.offset + other.bytes())
    }
}

/// The mappings in the text of `/proc/PID/maps`, each in one piece.
fn parse(text: &str) -> Vec<Mapping> {
    let mut all: Vec<Mapping> = Vec::new();
    for line in text.lines() {
        let next = Mapping::parse(line).unwrap_or_else(|| panic!("no mapping: {line}"));
        match all.last_mut() {
            Some(last) if next.continues(last) => last.end = next.end,
            _ => all.push(next),
        }
    }
    all
}

/// Mappings of segments of this process.
pub fn segments() -> Vec<Mapping> {
    let mut all = parse(&fs::read_to_string("/proc/self/maps").unwrap());
    all.retain(Mapping::is_segment);
    all
}

/// Bytes that this process has mapped.
pub fn bytes() -> u64 {
    let all = parse(&fs::read_to_string("/proc/self/maps").unwrap());
    all.iter().map(Mapping::bytes).sum()
}

/// Has this process a segment with this inode mapped? Not if this one may not look.
pub fn has(pid: u32, inode: u64) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut lines = text.lines().filter_map(Mapping::parse);
    lines.any(|mapping| mapping.is_segment() && mapping.inode == inode)
}

#[test]
fn a_mapping_in_several_lines_is_one() {
    let text = "\
55d0c0000000-55d0c0001000 r--p 00000000 fe:00 77  /home/rondo/shm
55d0c0001000-55d0c0003000 r-xp 00001000 fe:00 77  /home/rondo/shm
55d0c0010000-55d0c0020000 rw-p 00000000 00:00 0   [heap]
7f0000000000-7f0000004000 rw-s 00000000 00:01 9   /memfd:rondo (deleted)
7f0000004000-7f0000010000 rw-s 00004000 00:01 9   /memfd:rondo (deleted)
7f0000010000-7f0000020000 rw-s 00000000 00:01 9   /memfd:rondo (deleted)
7f0000030000-7f0000031000 rw-p 00000000 00:00 0
7f0000031000-7f0000032000 rwxp 00000000 00:00 0 \n";
    let all = parse(text);
    let pages: Vec<u64> = all.iter().map(|mapping| mapping.bytes() >> 12).collect();
    assert_eq!(
        pages,
        [3, 16, 16, 16, 2],
        "two of the segment, side by side"
    );
    let segments: Vec<bool> = all.iter().map(Mapping::is_segment).collect();
    assert_eq!(segments, [false, false, true, true, false]);
    assert_eq!(all[2].inode, 9);
}
