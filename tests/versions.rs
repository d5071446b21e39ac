//! What version 0.1.0 understood or wrote is still understood.

#![forbid(unsafe_code)]

#[path = "mpirun/mod.rs"]
mod mpirun;

use rondo::collective::Collective;
use rondo::config::{Algorithm, Config, Loaded, Setting, removed_names};
use rondo::rules::{File, Ruling};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The options of 0.1.0, with all kinds of values that they took.
const OPTIONS: &[(&str, &str)] = &[
    ("RONDO", "on off"),
    ("RONDO_BCAST", "auto host circulant binomial postal"),
    ("RONDO_BCAST_MIN_BYTES", "auto 0 32K"),
    ("RONDO_ALLGATHERV", "auto host circulant bruck ring"),
    ("RONDO_ALLGATHER", "auto host circulant bruck ring"),
    ("RONDO_ALLGATHERV_MIN_BYTES", "auto 0 32K"),
    ("RONDO_GATHERV", "auto host hybrid adaptive binomial linear"),
    ("RONDO_GATHER", "auto host hybrid adaptive binomial linear"),
    (
        "RONDO_SCATTERV",
        "auto host hybrid adaptive binomial linear",
    ),
    ("RONDO_SCATTER", "auto host hybrid adaptive binomial linear"),
    ("RONDO_SHORT_MSG", "auto 4K"),
    ("RONDO_MAX_TMP_SIZE", "512M"),
    ("RONDO_HIERARCHY", "auto flat leader lanes"),
    ("RONDO_LANES", "2"),
    ("RONDO_SHM", "on off"),
    ("RONDO_SHM_BYTES", "4M"),
    ("RONDO_NODE", "a-name"),
    ("RONDO_BLOCK_BYTES", "0 64K"),
    ("RONDO_ALPHA_US", "10 0.5"),
    ("RONDO_BETA_NS_PER_KB", "8000 0.5"),
    ("RONDO_GAP_US", "3 0.5"),
    ("RONDO_NODE_ALPHA_US", "1 0.5"),
    ("RONDO_NODE_BETA_NS_PER_KB", "100 0.5"),
    ("RONDO_RULES", "rules.json"),
    ("RONDO_LEARN", "on off save:learnt.json"),
    ("RONDO_LEARN_CALLS", "4"),
    ("RONDO_RELEARN", "0 10000"),
    ("RONDO_WINDOW", "0 64"),
    ("RONDO_TRACE", "on off choice"),
    ("RONDO_STATS", "off text json text:file json:file"),
    ("RONDO_HELP", "on off"),
    ("RONDO_TIMEOUT_S", "0 60"),
];

fn load(variable: &str, value: &str) -> Loaded {
    Config::from_vars([(variable.into(), value.into())].into_iter())
}

#[test]
fn options_take_the_values_that_they_took() {
    let mut tried = 0;
    for (variable, values) in OPTIONS {
        for value in values.split(' ') {
            let loaded = load(variable, value);
            assert_eq!(loaded.warnings, Vec::<String>::new(), "{variable}={value}");
            tried += 1;
        }
    }
    assert!(tried > 90, "{tried}");
}

/// Those that are none any more say so, and do no harm.
#[test]
fn a_removed_option_is_said_to_be_one() {
    let removed: Vec<_> = removed_names()
        .filter(|name| name.starts_with("RONDO_"))
        .collect();
    assert!(removed.contains(&"RONDO_PMPI"), "{removed:?}");
    for name in removed {
        let (variable, value) = name.split_once('=').unwrap_or((name, "5"));
        let loaded = load(variable, value);
        assert_eq!(loaded.warnings.len(), 1);
        let start = format!("{name} does nothing any more: ");
        assert!(
            loaded.warnings[0].starts_with(&start),
            "{:?}",
            loaded.warnings
        );
        assert_eq!(loaded.config, Config::default());
    }
}

/// A file as `rondo tune` of 0.1.0 wrote it.
const RULES: &str = r#"{
  "host": "Open MPI v4.1.4",
  "made": "rondo tune 0.1.0, 16 ranks on 4 nodes, 2026-11-22",
  "rules": [
    {
      "collective": "bcast",
      "algorithm": "host",
      "comm_size_min": 12,
      "comm_size_max": 9007199254740992,
      "nodes_min": 3,
      "nodes_max": 9007199254740992,
      "msg_size_min": 0,
      "msg_size_max": 23170,
      "block_bytes": 0
    },
    {
      "collective": "bcast",
      "algorithm": "circulant",
      "comm_size_min": 12,
      "comm_size_max": 9007199254740992,
      "nodes_min": 3,
      "nodes_max": 9007199254740992,
      "msg_size_min": 23171,
      "msg_size_max": 9007199254740992,
      "block_bytes": 65536
    },
    {
      "collective": "gatherv",
      "algorithm": "hybrid",
      "comm_size_min": 0,
      "comm_size_max": 9007199254740992,
      "nodes_min": 0,
      "nodes_max": 9007199254740992,
      "msg_size_min": 0,
      "msg_size_max": 9007199254740992,
      "block_bytes": 0
    }
  ]
}"#;

#[test]
fn rules_files_are_read() {
    let file = File::parse(RULES).unwrap();
    assert_eq!(file.host, "Open MPI v4.1.4");
    let rules = file.compile().unwrap();
    let find = |collective, bytes| rules.find(collective, (16, 4), bytes);
    let ruling = |setting, block_bytes| {
        Some(Ruling {
            setting,
            block_bytes,
        })
    };
    assert_eq!(
        find(Collective::Bcast, Some(1000)),
        ruling(Setting::Host, 0)
    );
    let circulant = Setting::Use(Algorithm::Circulant);
    assert_eq!(
        find(Collective::Bcast, Some(1 << 20)),
        ruling(circulant, 65536)
    );
    assert_eq!(
        find(Collective::Gatherv, None),
        ruling(Setting::Use(Algorithm::Hybrid), 0)
    );
    assert_eq!(find(Collective::Allreduce, Some(1000)), None);
    for family in [
        "allgatherv bruck",
        "allgather ring",
        "gather adaptive",
        "scatterv linear",
        "bcast postal",
    ] {
        let (collective, algorithm) = family.split_once(' ').unwrap();
        let text = format!(
            r#"{{"rules": [{{"collective": "{collective}", "algorithm": "{algorithm}"}}]}}"#
        );
        let compiled = File::parse(&text).and_then(|file| file.compile());
        assert!(compiled.is_ok(), "{family}: {compiled:?}");
    }
}

/// The functions of 0.1.0, as it declared them.
#[test]
fn the_header_has_what_it_had() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/rondo.h");
    let header = fs::read_to_string(file).unwrap();
    let header: Vec<&str> = header.split_whitespace().collect();
    let header = header.join(" ");
    for function in [
        "const char *rondo_version(void);",
        "unsigned long long rondo_calls(const char *collective, const char *algorithm);",
        "int rondo_rules(const char *json);",
        "int rondo_schedule(int p, int rank, int *skips, int *recv, int *send);",
    ] {
        assert!(header.contains(function), "{function}");
    }
}

/// A language and its standard, as compilers know them, and what else they are told.
type Language = (&'static str, &'static str, &'static [&'static str]);

/// The oldest languages of programs that may include it. MPI's own header has numbers of type
/// long long, which C of 1990 does not know by that name.
const LANGUAGES: [Language; 3] = [
    ("c", "-std=c90", &["-Wno-long-long"]),
    ("c", "-std=c99", &[]),
    ("c++", "-std=c++11", &[]),
];

/// What the compiler of an MPI says of a program that includes MPI's header and then this text, or the other way round.
/// Nothing is forgiven but in MPI's header, as it is one of the system's.
fn complaints(mpi: &str, header: &str, language: Language) -> String {
    let (name, standard, more) = language;
    let folder = mpirun::folder("versions").join(format!("{mpi}{standard}"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("rondo.h"), header).unwrap();
    let wrapper = mpirun::command("mpicc", mpi);
    let shown = Command::new(&wrapper).arg("-show").output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let folders = shown
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("-I"));
    let system: Vec<&str> = folders.flat_map(|folder| ["-isystem", folder]).collect();
    assert!(!system.is_empty(), "{wrapper} -show: {shown}");
    let mut said = String::new();
    for order in [["mpi.h", "rondo.h"], ["rondo.h", "mpi.h"]] {
        let [first, second] = order.map(|name| format!("#include <{name}>\n"));
        let body =
            "int main(void) { return rondo_version() == 0 || rondo_calls(\"bcast\", 0) > 0; }\n";
        let program = folder.join("program.c");
        fs::write(&program, [&first, &second, body].concat()).unwrap();
        let mut command = Command::new(&wrapper);
        command.args([
            "-x",
            name,
            standard,
            "-pedantic-errors",
            "-Wall",
            "-Wextra",
            "-Werror",
        ]);
        // The bindings for C++ that MPI once had are not for this standard.
        command.args(["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-fsyntax-only"]);
        command
            .args(more)
            .args(&system)
            .arg("-I")
            .arg(&folder)
            .arg(&program);
        let output = command.output().unwrap();
        said += &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), output.stderr.is_empty(), "{said}");
    }
    said
}

#[test]
fn the_header_is_of_the_oldest_c_and_cpp() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/rondo.h");
    let header = fs::read_to_string(file).unwrap();
    for mpi in mpirun::MPIS {
        for language in LANGUAGES {
            assert_eq!(complaints(mpi, &header, language), "", "{mpi} {language:?}");
        }
        // What the one language has, and the other has not.
        for (line, wrong) in [
            ("// a comment\n", &["-std=c90"][..]),
            ("inline int rondo_one(void) { return 1; }\n", &["-std=c90"]),
            ("int rondo_new(int new);\n", &["-std=c++11"]),
            (
                "int rondo_list(int numbers[*]);\n",
                &["-std=c90", "-std=c++11"],
            ),
        ] {
            for language in LANGUAGES {
                let said = complaints(mpi, &format!("{header}{line}"), language);
                let is_wrong = wrong.contains(&language.1);
                assert_eq!(
                    !said.is_empty(),
                    is_wrong,
                    "{mpi} {language:?} {line}: {said}"
                );
            }
        }
    }
}
