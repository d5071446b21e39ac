//! Whether this machine may have a GPU, as far as its files say.

use once_cell::sync::OnceCell;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Files that the kernel's drivers make: NVIDIA's, also on systems on a chip and under Windows, AMD's, and anybody's.
const FILES: [&str; 6] = [
    "dev/nvidiactl",
    "proc/driver/nvidia",
    "dev/nvmap",
    "dev/dxg",
    "dev/kfd",
    "dev/dri/renderD128",
];

/// The devices on the machine's buses.
const BUSES: &str = "sys/bus";
const PCI: &str = "sys/bus/pci/devices";

/// Who makes GPUs for computing: AMD, NVIDIA, Intel. The graphics of a server's console are somebody else's.
const MAKERS: [&str; 3] = ["0x1002", "0x10de", "0x8086"];

/// How the classes of such devices begin: displays, and accelerators.
const CLASSES: [&str; 2] = ["0x03", "0x12"];

/// May a process on this machine load a GPU's driver and get memory of it? It is looked for once.
pub fn gpu_may_be_here() -> bool {
    static HERE: OnceCell<bool> = OnceCell::new();
    *HERE.get_or_init(|| gpu_may_be_below(Path::new("/")))
}

/// The same of a machine whose files are below `root`. What cannot be told may be.
pub fn gpu_may_be_below(root: &Path) -> bool {
    if FILES.iter().any(|file| root.join(file).exists()) {
        return true;
    }
    match fs::read_dir(root.join(PCI)) {
        Ok(mut devices) => devices.any(|device| match device {
            Ok(device) => is_gpu(&device.path()),
            Err(_) => true,
        }),
        // Where there are buses, PCI is none of them.
        Err(error) => error.kind() != ErrorKind::NotFound || !root.join(BUSES).is_dir(),
    }
}

/// Is it one, or does its driver hide what it is? A driver is not needed: some are loaded when a program asks for them.
fn is_gpu(device: &Path) -> bool {
    let starts = |file: &str, words: &[&str]| {
        let text = fs::read_to_string(device.join(file));
        text.map_or(true, |text| words.iter().any(|word| text.starts_with(word)))
    };
    starts("class", &CLASSES) && starts("vendor", &MAKERS)
}
