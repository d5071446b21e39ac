//! The architecture as a test: who may use what, what the library exports, and what it needs.

use rondo::collective::{Collective, Family};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs, process::Command};

/// Which modules of this crate each module may use. A new arrow is a decision: make it here.
const MAY_USE: &[(&str, &[&str])] = &[
    ("lib", &[]),
    ("hash", &[]),
    ("algorithm", &[]),
    ("collective", &["algorithm"]),
    ("schedule", &["hash"]),
    ("script", &["schedule", "topology"]),
    ("tree", &["topology"]),
    ("topology", &[]),
    ("shm", &[]),
    ("kernels", &[]),
    ("remembered", &[]),
    (
        "model",
        &["algorithm", "collective", "remembered", "schedule"],
    ),
    ("network", &["hash", "model"]),
    ("config", &["algorithm", "collective", "network"]),
    ("flow", &[]),
    ("records", &[]),
    ("report", &[]),
    ("files", &["report"]),
    ("engine", &["schedule", "script", "topology", "tree"]),
    ("learn", &["collective", "remembered"]),
    (
        "rules",
        &["collective", "config", "files", "hash", "network", "report"],
    ),
    (
        "decide",
        &[
            "algorithm",
            "collective",
            "config",
            "learn",
            "model",
            "network",
            "rules",
            "schedule",
        ],
    ),
    (
        "stats",
        &[
            "algorithm",
            "collective",
            "config",
            "decide",
            "files",
            "flow",
            "learn",
            "network",
            "report",
        ],
    ),
    (
        "host",
        &[
            "engine",
            "flow",
            "kernels",
            "records",
            "remembered",
            "report",
            "schedule",
            "script",
            "shm",
            "topology",
        ],
    ),
    (
        "job",
        &[
            "config", "decide", "group", "hash", "host", "model", "network", "records", "report",
            "rules", "shm", "stats", "topology",
        ],
    ),
    (
        "group",
        &[
            "collective",
            "config",
            "decide",
            "engine",
            "flow",
            "hash",
            "host",
            "job",
            "learn",
            "network",
            "remembered",
            "report",
            "rules",
            "schedule",
            "script",
            "shm",
            "stats",
            "topology",
        ],
    ),
    (
        "coll",
        &[
            "algorithm",
            "collective",
            "group",
            "job",
            "config",
            "decide",
            "engine",
            "flow",
            "host",
            "learn",
            "remembered",
            "report",
            "schedule",
            "script",
            "stats",
        ],
    ),
    (
        "abi",
        &["coll", "collective", "host", "report", "schedule", "stats"],
    ),
];

/// The rooms of `host`, bottom up: each may use those before it, and itself.
const ROOMS_OF_HOST: [&str; 5] = ["library", "object", "data", "call", "transport"];

/// Modules that may hold unsafe code; every other file forbids it in its first lines.
const MAY_BE_UNSAFE: &[&str] = &["lib", "host", "kernels", "shm", "abi"];

/// Words that belong to one module only, with what to do instead.
const BELONGS: &[(&str, &str, &str)] = &[
    ("PMPI_", "host abi", "call the host through `host`"),
    ("mpi_sys", "host", "use the typed handles of `host`"),
    ("no_mangle", "abi", "export from `abi`"),
    ("env::var", "config", "make it an option in `config`"),
    ("eprint", "", "report through `report`"),
    ("println!", "", "standard output is the user's"),
    ("#[test]", "", "put it into tests/, where it is run"),
    ("stderr()", "report", "report through `report`"),
    (
        "transmute",
        "host",
        "only function pointers of the host need it",
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}

struct Source {
    module: String,
    name: String,
    text: String,
}

/// The files of the library; the command line tool in `src/bin` is a program of its own.
fn library() -> Vec<Source> {
    let src = root().join("src");
    let files = rust_files(&src)
        .into_iter()
        .filter(|f| !f.starts_with(src.join("bin")));
    let sources: Vec<Source> = files
        .map(|file| {
            let name = file
                .strip_prefix(&src)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            let module = name.split(['/', '.']).next().unwrap().to_owned();
            Source {
                module,
                text: fs::read_to_string(&file).unwrap(),
                name,
            }
        })
        .collect();
    assert!(sources.len() > 15, "the library has its sources in src/");
    sources
}

/// Lines of code without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap())
}

#[test]
fn modules_use_what_the_layers_allow_and_nothing_else() {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in library() {
        let of = uses.entry(source.module.clone()).or_default();
        for line in code(&source.text) {
            for used in line.split("crate::").skip(1) {
                let mut words = used.split(|c: char| !c.is_alphanumeric() && c != '_');
                let used = words.next().expect("a split has a first part");
                if used != source.module {
                    of.insert(used.to_owned());
                }
            }
        }
    }
    let told: Vec<&str> = MAY_USE.iter().map(|(module, _)| *module).collect();
    let known: Vec<&str> = uses.keys().map(String::as_str).collect();
    for module in &known {
        assert!(
            told.contains(module),
            "src/{module}: say in MAY_USE what it may use"
        );
    }
    for (module, may) in MAY_USE {
        let may: BTreeSet<String> = may.iter().map(|&used| used.to_owned()).collect();
        assert_eq!(
            uses[*module], may,
            "what {module} uses, and what MAY_USE says"
        );
    }
}

#[test]
fn a_room_of_host_uses_rooms_below_it_only() {
    let place = |room: &str| ROOMS_OF_HOST.iter().position(|other| *other == room);
    let mut seen = BTreeSet::new();
    for source in library() {
        let Some((room, _)) = source
            .name
            .strip_prefix("host/")
            .and_then(|n| n.split_once('/'))
        else {
            continue;
        };
        let floor =
            place(room).unwrap_or_else(|| panic!("src/host/{room}: say in ROOMS_OF_HOST where"));
        seen.insert(floor);
        for line in code(&source.text) {
            for used in line.split("crate::host::").skip(1) {
                let used = used.split("::").next().expect("a split has a first part");
                let below = place(used).is_some_and(|other| other <= floor);
                assert!(below, "src/{}: {room} must not use {used}", source.name);
            }
        }
    }
    assert_eq!(seen.len(), ROOMS_OF_HOST.len());
}

#[test]
fn unsafe_code_is_forbidden_where_it_is_not_needed() {
    for source in library() {
        let forbids = source.text.contains("#![forbid(unsafe_code)]");
        let may = MAY_BE_UNSAFE.contains(&source.module.as_str());
        assert!(
            may != forbids,
            "src/{}: forbid(unsafe_code) here: {}",
            source.name,
            !may
        );
    }
}

/// The tool has one place with unsafe code, which is for MPI: `rondo bench` has to call both sides by their addresses.
#[test]
fn the_tool_is_safe_outside_of_mpi() {
    let tool = root().join("src/bin/rondo");
    let main = fs::read_to_string(tool.join("main.rs")).unwrap();
    assert!(
        main.contains("\n#![deny(unsafe_code)]"),
        "main.rs denies it for all"
    );
    for file in rust_files(&tool) {
        let name = file.strip_prefix(&tool).unwrap().to_str().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let may = ["mpi.rs", "mpi/about.rs", "mpi/comm.rs", "mpi/load.rs"].contains(&name);
        let allows = text.contains("allow(unsafe_code,");
        assert_eq!(allows, may, "src/bin/rondo/{name}");
        assert!(
            text.lines().count() <= 300,
            "src/bin/rondo/{name} can be read in a sitting"
        );
    }
}

/// Names that the tool exported would come before those of a preloaded Rondo.
#[test]
fn the_tool_exports_nothing_of_mpi() {
    for mpi in ["openmpi", "mpich"] {
        let tool = root().join(format!("build/{mpi}/rondo"));
        let output = Command::new("nm")
            .args(["-D", "--defined-only"])
            .arg(&tool)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "nm {}: is it built?",
            tool.display()
        );
        let symbols = String::from_utf8(output.stdout).unwrap();
        assert!(
            !symbols.contains("MPI_") && !symbols.contains("rondo_"),
            "{mpi}: {symbols}"
        );
    }
}

#[test]
fn words_stay_where_they_belong() {
    for source in library() {
        for (word, homes, instead) in BELONGS {
            let at_home = homes.split(' ').any(|home| home == source.module);
            // "the PMPI_ name" is prose; a symbol goes on after the underscore.
            let found = code(&source.text).any(|line| line.replace("PMPI_ ", "").contains(word));
            assert!(
                at_home || !found,
                "src/{}: `{word}`: {instead}",
                source.name
            );
        }
    }
}

#[test]
fn files_can_be_read_in_a_sitting() {
    for source in library() {
        let lines = source.text.lines().count();
        assert!(
            lines <= 600,
            "src/{}: {lines} lines; find the noun that hides in it",
            source.name
        );
    }
}

/// What a tool prints about a built library.
fn inspect(tool: &str, option: &[&str], mpi: &str) -> String {
    let library = root().join(format!("build/{mpi}/librondo.so"));
    let output = Command::new(tool)
        .args(option)
        .arg(&library)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{tool} {}: is it built?",
        library.display()
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The names of a list: each of MPI's has its PMPI_ name beside it.
fn exports(list: &str) -> BTreeSet<String> {
    let file = root().join(format!("tests/tidy/exports.{list}"));
    let text = fs::read_to_string(file).unwrap();
    let profiled = text.lines().filter(|name| name.starts_with("MPI"));
    let profiled: Vec<String> = profiled.map(|name| format!("P{name}")).collect();
    let plain = text.lines().map(str::to_owned);
    plain.chain(profiled).collect()
}

/// Only what is intercepted, and the API of Rondo's own: programs probe for other MPI symbols.
fn exports_exactly(mpi: &str, list: &str) {
    let symbols = inspect("nm", &["-D", "--defined-only"], mpi);
    let exported: BTreeSet<String> = symbols
        .lines()
        .map(|line| line.split_whitespace().last().unwrap().to_owned())
        .collect();
    assert_eq!(exported, exports(list), "{mpi}");
}

#[test]
fn the_library_exports_exactly_its_list() {
    exports_exactly("openmpi", "openmpi");
    exports_exactly("mpich", "mpich");
}

/// Every process of a job loads the library and relocates its tables, so what it has for algorithms that few programs
/// use is bounded. A change that needs more raises the bound, and says for what.
#[test]
fn the_library_stays_small() {
    for mpi in ["openmpi", "mpich"] {
        let library = root().join(format!("build/{mpi}/librondo.so"));
        let bytes = fs::metadata(&library).expect("it is built").len();
        assert!(bytes < 2_310_000, "{}: {bytes} bytes", library.display());
    }
}

/// A collective that has only its row has an option and counters, but no call of it is seen.
#[test]
fn every_collective_is_exported_in_all_its_forms() {
    for list in ["openmpi", "mpich"] {
        let names = exports(list);
        for collective in Collective::ALL {
            let name = collective.mpi_name().strip_prefix("MPI_").unwrap();
            let nonblocking = format!("MPI_I{}", name.to_lowercase());
            let mut forms = vec![format!("MPI_{name}"), nonblocking];
            match list {
                "openmpi" => forms.push(format!("MPIX_{name}_init")),
                _ => {
                    forms.push(format!("MPI_{name}_init"));
                    let large: Vec<String> = forms.iter().map(|form| format!("{form}_c")).collect();
                    // A barrier counts nothing.
                    if collective.family() != Family::Barrier {
                        forms.extend(large);
                    }
                }
            }
            for form in forms {
                assert!(
                    names.contains(&form),
                    "{form} is not in tests/tidy/exports.{list}"
                );
            }
        }
    }
}

#[test]
#[ignore = "make matrix builds it"]
fn the_build_for_the_standard_is_like_that_for_mpich() {
    exports_exactly("standard", "mpich");
    needs_no_mpi("standard");
    variables_of_a_thread_are_small("standard");
}

/// Each name beyond those of all MPI libraries is one that a program finds on a host without it.
#[test]
#[ignore = "make matrix builds it"]
fn the_library_for_every_mpi_has_the_names_of_all_and_large_counts() {
    exports_exactly("one", "one");
    needs_no_mpi("one");
    let (openmpi, mpich) = (exports("openmpi"), exports("mpich"));
    for name in exports("one") {
        let everywhere = openmpi.contains(&name) && mpich.contains(&name);
        let blocking = name.trim_start_matches('P').strip_prefix("MPI_");
        let large = blocking
            .and_then(|n| n.strip_suffix("_c"))
            .is_some_and(|n| !n.ends_with("_init") && openmpi.contains(&format!("MPI_{n}")));
        assert!(everywhere || large && !name.contains("MPI_I"), "{name}");
    }
}

/// The host is found at run time: a library that needs libmpi ends every shell it is preloaded into.
fn needs_no_mpi(mpi: &str) {
    let dynamic = inspect("readelf", &["-d"], mpi);
    assert!(
        dynamic.contains("soname: [librondo.so.0]"),
        "{mpi}: {dynamic}"
    );
    let needed = dynamic.lines().filter(|line| line.contains("(NEEDED)"));
    for line in needed {
        let system = [
            "libc.so",
            "libgcc_s.so",
            "ld-linux",
            "libdl.so",
            "libpthread.so",
            "libm.so",
        ];
        assert!(
            system.iter().any(|name| line.contains(name)),
            "{mpi}: {line}"
        );
    }
    let undefined = inspect("nm", &["-D", "--undefined-only"], mpi).to_lowercase();
    assert!(!undefined.contains("mpi"), "{mpi}: {undefined}");
}

#[test]
fn the_library_needs_no_mpi_and_has_its_soname() {
    needs_no_mpi("openmpi");
    needs_no_mpi("mpich");
}

/// A thread's stack gives room for its variables, and light threads have stacks of 16 to 32 KiB; the file for every MPI
/// has three times as many variables.
fn variables_of_a_thread_are_small(mpi: &str) {
    let headers = inspect("readelf", &["-lW"], mpi);
    let tls = headers
        .lines()
        .find(|line| line.trim_start().starts_with("TLS"));
    let size = tls.and_then(|line| line.split_whitespace().nth(5)).unwrap();
    let bytes = u64::from_str_radix(size.trim_start_matches("0x"), 16).unwrap();
    assert!(bytes <= 640, "{mpi}: {bytes} bytes");
}

#[test]
fn the_variables_of_a_thread_are_small() {
    variables_of_a_thread_are_small("openmpi");
    variables_of_a_thread_are_small("mpich");
}

/// The driver of the MPI programs looks for a program by its name in all folders.
#[test]
fn mpi_programs_have_names_of_their_own() {
    let mut names = BTreeSet::new();
    for folder in fs::read_dir(root().join("ctests")).unwrap() {
        let folder = folder.unwrap().path();
        if !folder.is_dir() {
            let name = folder.file_name().unwrap();
            assert_eq!(name, "list.toml", "put it into a folder");
            continue;
        }
        for file in fs::read_dir(&folder).unwrap() {
            let file = file.unwrap().path();
            let header = file.extension().is_some_and(|e| e == "h");
            assert!(
                file.is_file() && (!header || folder.ends_with("support")),
                "{}: only support/ has headers, and no folder has folders",
                file.display()
            );
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(names.insert((header, name)), "{}", file.display());
        }
    }
    assert!(names.len() > 90, "the MPI programs are in ctests/");
}

/// Who builds the library alone builds little: the packages of the feature `cli` are the tool's.
#[test]
fn the_library_without_the_tool_needs_none_of_its_packages() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let names = manifest["features"]["cli"].as_array().unwrap().iter();
    let of_tool: BTreeSet<&str> = names
        .map(|name| name.as_str().unwrap().strip_prefix("dep:").unwrap())
        .collect();
    let packages = |features: &[&str]| -> BTreeSet<String> {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--locked", "--offline", "--no-default-features"])
            .args(["-e", "normal", "--prefix", "none"])
            .args(features)
            .current_dir(root())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split(' ').next());
        names.map(str::to_owned).collect()
    };
    let (library, both) = (packages(&[]), packages(&["--features", "cli"]));
    assert!(library.contains("libc"), "{library:?}");
    for name in of_tool {
        assert!(both.contains(name), "{name}");
        assert!(!library.contains(name), "{name}");
    }
}

/// The header that is checked in is the one that the build makes.
#[test]
fn the_header_is_current() {
    let header = fs::read_to_string(root().join("include/rondo.h")).unwrap();
    for mpi in ["openmpi", "mpich"] {
        let made = fs::read_to_string(root().join(format!("build/{mpi}/rondo.h"))).unwrap();
        assert!(header == made, "include/rondo.h: run `make header`");
    }
}
