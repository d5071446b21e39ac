//! What the control groups of a process leave of the machine's memory.

use crate::{process::start, untested::not_tested};
use rondo::shm::{Arena, available};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// A control group that bounds memory. Removed when dropped.
struct Group {
    path: PathBuf,
    /// The file with its limit.
    limit: &'static str,
}

impl Group {
    /// One below that of this process, or why there is none: not every process may make one.
    fn new() -> io::Result<Group> {
        let text = fs::read_to_string("/proc/self/cgroup")?;
        let own = |controllers: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            let path = lines.find_map(|(_, line)| line.strip_prefix(controllers));
            path.map(str::to_owned)
        };
        let parent = match (own("memory:/"), own(":/")) {
            (Some(path), _) => ("memory", path, "memory.limit_in_bytes"),
            (None, Some(path)) => ("", path, "memory.max"),
            (None, None) => return Err(ErrorKind::NotFound.into()),
        };
        let (folder, path, limit) = parent;
        let path = Path::new("/sys/fs/cgroup").join(folder).join(path);
        Group::below(&path, limit)
    }

    fn below(parent: &Path, limit: &'static str) -> io::Result<Group> {
        let path = parent.join(format!("rondo-test-{}", std::process::id()));
        fs::create_dir(&path)?;
        let group = Group { path, limit };
        fs::metadata(group.path.join(limit)).map(|_| group)
    }

    fn set_limit(&self, bytes: u64) {
        fs::write(self.path.join(self.limit), bytes.to_string()).unwrap();
    }

    /// Puts the calling process into it.
    fn enter(&self) {
        fs::write(self.path.join("cgroup.procs"), "0").unwrap();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // It goes when its last process has gone for good, which may take a moment.
        for _ in 0..100 {
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                _ => break,
            }
        }
    }
}

/// The kernel kills a process of a group in which memory runs out, in the middle of its request.
#[test]
fn an_arena_that_its_control_group_has_no_memory_for_is_refused() {
    let group = match Group::new() {
        Ok(group) => group,
        Err(error) => return not_tested(&format!("no control group can be made here: {error}")),
    };
    group.set_limit(16 * MIB);
    let attempt = |group: &Group| {
        start(|_| {
            group.enter();
            let refused = Arena::create(5 * MIB).err().unwrap();
            assert_eq!(refused.kind(), ErrorKind::OutOfMemory);
            let (few, _) = Arena::create(MIB).unwrap();
            assert!((1..=4).contains(&few.pieces()), "{}", few.pieces());
        })
        .succeeds();
    };
    attempt(&group);
    // The limit of a group holds for those below it.
    match Group::below(&group.path, group.limit) {
        Ok(inner) => attempt(&inner),
        Err(error) => not_tested(&format!("no control group can be made in another: {error}")),
    }
}

/// Files as a machine has them, below a folder that is removed when dropped.
struct Machine(PathBuf);

impl Machine {
    /// One of 1000 MiB.
    fn new(name: &str, groups: &str, mounts: &str) -> Machine {
        let name = format!("rondo-test-{}-{name}", std::process::id());
        let machine = Machine(std::env::temp_dir().join(name));
        machine.file(
            "proc/meminfo",
            "MemTotal: 9 kB\nMemAvailable:    1024000 kB\n",
        );
        machine.file("proc/self/cgroup", groups);
        machine.file("proc/self/mountinfo", mounts);
        machine
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A group of the first kind with a limit and memory in use, in MiB.
    fn first(&self, path: &str, limit: u64, used: u64) {
        self.file(
            &format!("{path}/memory.limit_in_bytes"),
            &format!("{}\n", limit * MIB),
        );
        self.file(
            &format!("{path}/memory.usage_in_bytes"),
            &format!("{}\n", used * MIB),
        );
    }

    /// One of the second kind.
    fn second(&self, path: &str, limit: &str, used: u64) {
        self.file(&format!("{path}/memory.max"), &format!("{limit}\n"));
        self.file(
            &format!("{path}/memory.current"),
            &format!("{}\n", used * MIB),
        );
    }

    /// What is available, in MiB.
    #[track_caller]
    fn has(&self, mib: u64) {
        assert_eq!(available(&self.0).unwrap(), mib * MIB);
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const FIRST: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:10 master:2 - cgroup cgroup rw,hugetlb,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

#[test]
fn the_first_kind_of_groups_has_a_hierarchy_for_memory() {
    let machine = Machine::new(
        "first",
        "5:cpu:/other\n4:hugetlb,memory:/batch/job 7:0\n0::/\n",
        FIRST,
    );
    machine.has(1000);
    let top = "sys/fs/cgroup/memory";
    machine.file(
        &format!("{top}/memory.limit_in_bytes"),
        "9223372036854771712\n",
    );
    machine.file(&format!("{top}/memory.usage_in_bytes"), "4096\n");
    machine.has(1000);
    machine.first(&format!("{top}/batch/job 7:0"), 300, 100);
    machine.has(200);
    machine.file(
        &format!("{top}/batch/job 7:0/memory.stat"),
        "cache 1\ninactive_file 7\ntotal_inactive_file 31457280\n",
    );
    machine.has(230);
    machine.first(&format!("{top}/batch"), 150, 100);
    machine.has(50);
    machine.first("sys/fs/cgroup/cpu/other", 1, 0);
    machine.first(&format!("{top}/batch/others"), 1, 0);
    machine.has(50);
    machine.first(&format!("{top}/batch"), 150, 160);
    machine.has(0);
}

#[test]
fn the_second_kind_of_groups_has_two_limits() {
    let mounts = "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
    let machine = Machine::new("second", "0::/user.slice/job\n", mounts);
    let own = "sys/fs/cgroup/user.slice/job";
    machine.second(own, "max", 100);
    machine.has(1000);
    machine.file(&format!("{own}/memory.high"), &format!("{}\n", 120 * MIB));
    machine.has(20);
    machine.second("sys/fs/cgroup/user.slice", &(200 * MIB).to_string(), 190);
    machine.has(10);
    machine.file(
        "sys/fs/cgroup/user.slice/memory.stat",
        &format!("anon 1\ninactive_file {}\n", 5 * MIB),
    );
    machine.has(15);
    // What is no number bounds nothing.
    for strange in ["", "-1", "99999999999999999999", "20 MiB"] {
        machine.second("sys/fs/cgroup/user.slice", strange, 190);
        machine.has(20);
    }
}

/// As a container has them: its own group is mounted, and its path is that outside, or none at all.
#[test]
fn a_container_sees_its_own_part_of_the_groups() {
    let part = "35 31 0:32 /docker/77 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
    let outside = "9 8 0:32 /docker/other /mnt/a\\040b - cgroup cgroup rw,memory\n";
    for (number, group) in ["/docker/77", "/docker/77/inner", "/", "/../78"]
        .iter()
        .enumerate()
    {
        let groups = format!("4:memory:{group}\n");
        let machine = Machine::new(
            &format!("part{number}"),
            &groups,
            &format!("{part}{outside}"),
        );
        machine.first("sys/fs/cgroup/memory", 300, 0);
        machine.first("mnt/a b", 1, 0);
        machine.has(300);
        machine.first("sys/fs/cgroup/memory/inner", 30, 0);
        machine.has(if *group == "/docker/77/inner" {
            30
        } else {
            300
        });
    }
    let machine = Machine::new(
        "moved",
        "4:memory:/docker/other/x\n",
        &format!("{part}{outside}"),
    );
    machine.first("mnt/a b/x", 40, 10);
    machine.first("sys/fs/cgroup/memory", 2, 0);
    machine.has(30);
}

#[test]
fn where_nothing_is_said_of_groups_the_machine_counts() {
    for (number, (groups, mounts)) in [
        ("", ""),
        ("0::/a", ""),
        ("", FIRST),
        ("4:memory", "- cgroup2"),
        (":::\n\n0::", "1 2 3 / - cgroup2\n - \n"),
        ("0::relative", "1 2 3 / / rw - cgroup2 x rw"),
    ]
    .iter()
    .enumerate()
    {
        Machine::new(&format!("none{number}"), groups, mounts).has(1000);
    }
    let machine = Machine::new("unknown", "", "");
    machine.file("proc/meminfo", "MemFree: 5 kB\n");
    machine.has(0);
    fs::remove_file(machine.0.join("proc/meminfo")).unwrap();
    assert!(available(&machine.0).is_err());
}
