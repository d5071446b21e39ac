//! Whether a machine may have a GPU, by its files.

use rondo::host::gpu_may_be_below;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with the files of a machine, which goes when the test ends.
struct Machine(PathBuf);

impl Machine {
    fn new(name: &str) -> Machine {
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("machine-{name}"));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        Machine(root)
    }

    fn with(self, file: &str, text: &str) -> Machine {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn with_device(self, name: &str, class: &str, vendor: &str) -> Machine {
        let file = |file: &str| format!("sys/bus/pci/devices/{name}/{file}");
        self.with(&file("class"), class)
            .with(&file("vendor"), vendor)
    }

    fn has_gpu(&self) -> bool {
        gpu_may_be_below(Path::new(&self.0))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_server_with_the_graphics_of_its_console_has_none() {
    let server = Machine::new("server")
        .with_device("0000:00:00.0", "0x060000\n", "0x8086\n")
        .with_device("0000:02:00.0", "0x030000\n", "0x1a03\n")
        .with_device("0000:17:00.0", "0x020700\n", "0x15b3\n");
    assert!(!server.has_gpu());
}

#[test]
fn a_card_is_one_before_its_driver_is_loaded() {
    for (maker, class, vendor) in [
        ("nvidia", "0x030200\n", "0x10de\n"),
        ("amd", "0x038000\n", "0x1002\n"),
        ("intel", "0x038000\n", "0x8086\n"),
        ("accelerator", "0x120000\n", "0x1002\n"),
    ] {
        let machine = Machine::new(maker)
            .with_device("0000:00:00.0", "0x060000\n", "0x8086\n")
            .with_device("0000:41:00.0", class, vendor);
        assert!(machine.has_gpu(), "{maker}");
    }
}

#[test]
fn a_driver_says_it_where_no_card_is_to_be_seen() {
    for file in [
        "dev/nvidiactl",
        "proc/driver/nvidia",
        "dev/nvmap",
        "dev/dxg",
        "dev/kfd",
        "dev/dri/renderD128",
    ] {
        let machine = Machine::new(&file.replace('/', "-"));
        let machine = machine.with("sys/bus/cpu/uevent", "");
        assert!(!machine.has_gpu(), "{file}");
        assert!(machine.with(file, "").has_gpu(), "{file}");
    }
}

#[test]
fn what_cannot_be_told_may_be() {
    assert!(Machine::new("bare").has_gpu());
    let hidden = Machine::new("hidden").with("sys/bus/pci/devices/0000:00:00.0/uevent", "");
    assert!(hidden.has_gpu());
    // No folder, so that nobody can list it.
    let unreadable = Machine::new("unreadable").with("sys/bus/pci/devices", "");
    assert!(unreadable.has_gpu());
    let other = Machine::new("other").with("sys/bus/virtio/uevent", "");
    assert!(!other.has_gpu());
}
