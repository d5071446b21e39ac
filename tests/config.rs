//! The environment becomes a configuration: kindly, exactly, and never by a panic.

use proptest::prelude::*;
use rondo::collective::Collective;
use rondo::config::{
    self, Algorithm, Config, ENCODED_OPTIONS, Gpu, Hierarchy, Learn, Loaded, OPTIONS, Opt,
    Reproducible, Scope, Setting, Source, Stats, StatsFormat, ValueType, Wish,
};
use rondo::network::Network;
use std::{collections::HashSet, ffi::OsString, os::unix::ffi::OsStringExt};

/// Reads an environment of text.
fn load(vars: &[(&str, &str)]) -> Loaded {
    Config::from_vars(vars.iter().map(|(name, value)| (name.into(), value.into())))
}

/// The configuration from an environment with nothing to complain about.
fn clean(vars: &[(&str, &str)]) -> Config {
    let loaded = load(vars);
    assert_eq!(loaded.warnings, [""; 0], "{vars:?} is fine");
    loaded.config
}

/// The only warning about one variable, which leaves the default.
fn warning(name: &str, value: &str) -> String {
    let loaded = load(&[(name, value)]);
    assert_eq!(
        loaded.config,
        Config::default(),
        "{name}={value:?} keeps the default"
    );
    assert!(
        loaded
            .sources
            .iter()
            .all(|source| *source == Source::Default)
    );
    let [warning] = &loaded.warnings[..] else {
        panic!(
            "{name}={value:?} gives one warning, not {:?}",
            loaded.warnings
        )
    };
    warning.clone()
}

fn option(variable: &str) -> &'static Opt {
    let mut options = OPTIONS.iter();
    options
        .find(|opt| opt.variable() == variable)
        .expect("an option of the table")
}

#[test]
fn an_empty_environment_gives_the_defaults_of_the_table() {
    let loaded = load(&[]);
    assert!(loaded.warnings.is_empty());
    assert_eq!(loaded.sources, vec![Source::Default; OPTIONS.len()]);
    assert_eq!(loaded.config, Config::default());
    for opt in OPTIONS {
        assert_eq!(opt.show(&loaded.config), opt.default, "{}", opt.variable());
    }
    let config = loaded.config;
    assert!(config.enabled && !config.trace && !config.help);
    assert_eq!(config.gpu, Gpu::Auto);
    for &collective in Collective::ALL {
        assert_eq!(config[collective].setting, Setting::Auto);
    }
    assert_eq!(config.stats, Stats::default());
}

#[test]
fn options_have_distinct_names_and_a_sentence_each() {
    let names: HashSet<String> = OPTIONS.iter().map(Opt::variable).collect();
    assert_eq!(names.len(), OPTIONS.len());
    assert!(names.contains("RONDO"));
    for opt in OPTIONS {
        assert!(opt.doc().ends_with('.'), "{}", opt.variable());
        assert!(
            !opt.doc().contains(['|', '\n']),
            "{} fits in a table",
            opt.variable()
        );
    }
}

#[test]
fn every_option_sets_its_own_field_and_no_other() {
    let other = [
        ("RONDO", "off"),
        ("RONDO_BCAST", "circulant"),
        ("RONDO_BCAST_MIN_BYTES", "1M"),
        ("RONDO_ALLGATHERV", "ring"),
        ("RONDO_ALLGATHER", "bruck"),
        ("RONDO_ALLGATHERV_MIN_BYTES", "2M"),
        ("RONDO_GATHERV", "hybrid"),
        ("RONDO_GATHER", "adaptive"),
        ("RONDO_SCATTERV", "linear"),
        ("RONDO_SCATTER", "binomial"),
        ("RONDO_ALLREDUCE", "halving"),
        ("RONDO_ALLREDUCE_MIN_BYTES", "3M"),
        ("RONDO_REDUCE", "ordered"),
        ("RONDO_REDUCE_MIN_BYTES", "4M"),
        ("RONDO_REDUCE_SCATTER", "halving"),
        ("RONDO_REDUCE_SCATTER_BLOCK", "ordered"),
        ("RONDO_REDUCE_SCATTER_MIN_BYTES", "5M"),
        ("RONDO_SCAN", "doubling"),
        ("RONDO_EXSCAN", "pipelined"),
        ("RONDO_SCAN_MIN_BYTES", "6M"),
        ("RONDO_BARRIER", "dissemination"),
        ("RONDO_ALLTOALL", "pairwise"),
        ("RONDO_ALLTOALL_MIN_BYTES", "13M"),
        ("RONDO_ALLTOALLV", "linear"),
        ("RONDO_ALLTOALLW", "host"),
        ("RONDO_SHORT_MSG", "5K"),
        ("RONDO_MAX_TMP_SIZE", "7M"),
        ("RONDO_HIERARCHY", "lanes"),
        ("RONDO_LANES", "3"),
        ("RONDO_SHM", "off"),
        ("RONDO_SHM_BYTES", "9M"),
        ("RONDO_MPMD", "on"),
        ("RONDO_NODE", "n1"),
        ("RONDO_BLOCK_BYTES", "3K"),
        ("RONDO_CALIBRATE", "off"),
        ("RONDO_REPRODUCIBLE", "placement"),
        ("RONDO_RADIX", "6"),
        ("RONDO_TREE_ARITY", "3"),
        ("RONDO_ALPHA_US", "1.25"),
        ("RONDO_BETA_NS_PER_KB", "0.5"),
        ("RONDO_GAP_US", "0.75"),
        ("RONDO_NODE_ALPHA_US", "0.125"),
        ("RONDO_NODE_BETA_NS_PER_KB", "70"),
        ("RONDO_RULES", "site.json"),
        ("RONDO_LEARN", "save:learnt.json"),
        ("RONDO_LEARN_CALLS", "9"),
        ("RONDO_RELEARN", "77"),
        ("RONDO_WINDOW", "17"),
        ("RONDO_GPU", "off"),
        ("RONDO_TRACE", "choice"),
        ("RONDO_STATS", "json:out.json"),
        ("RONDO_HELP", "on"),
        ("RONDO_TIMEOUT_S", "60"),
    ];
    assert_eq!(other.len(), OPTIONS.len(), "a new option needs a line here");
    for (name, value) in other {
        let loaded = load(&[(name, value)]);
        for (opt, source) in OPTIONS.iter().zip(&loaded.sources) {
            let (shown, source) = (opt.show(&loaded.config), source.clone());
            if opt.variable() == name {
                assert_eq!(
                    (shown.as_str(), source),
                    (value, Source::Environment(value.into()))
                );
            } else {
                assert_eq!(
                    (shown.as_str(), source),
                    (opt.default, Source::Default),
                    "{name}"
                );
            }
        }
    }
    let config = clean(&other);
    let expected = Config {
        enabled: false,
        wishes: [
            Wish {
                setting: Setting::Use(Algorithm::Circulant),
                min_bytes: Some(1 << 20),
            },
            Wish {
                setting: Setting::Use(Algorithm::Ring),
                min_bytes: Some(2 << 20),
            },
            Wish {
                setting: Setting::Use(Algorithm::Bruck),
                ..Wish::NONE
            },
            Wish {
                setting: Setting::Use(Algorithm::Hybrid),
                ..Wish::NONE
            },
            Wish {
                setting: Setting::Use(Algorithm::Adaptive),
                ..Wish::NONE
            },
            Wish {
                setting: Setting::Use(Algorithm::Linear),
                ..Wish::NONE
            },
            Wish {
                setting: Setting::Use(Algorithm::Binomial),
                ..Wish::NONE
            },
            Wish {
                setting: Setting::Use(Algorithm::Halving),
                min_bytes: Some(3 << 20),
            },
            Wish {
                setting: Setting::Use(Algorithm::Ordered),
                min_bytes: Some(4 << 20),
            },
            Wish {
                setting: Setting::Use(Algorithm::Halving),
                min_bytes: Some(5 << 20),
            },
            Wish {
                setting: Setting::Use(Algorithm::Ordered),
                ..Wish::NONE
            },
            Wish {
                setting: Setting::Use(Algorithm::Doubling),
                min_bytes: Some(6 << 20),
            },
            Wish {
                setting: Setting::Use(Algorithm::Pipelined),
                ..Wish::NONE
            },
            Wish {
                setting: Setting::Use(Algorithm::Dissemination),
                ..Wish::NONE
            },
            Wish {
                setting: Setting::Use(Algorithm::Pairwise),
                min_bytes: Some(13 << 20),
            },
            Wish {
                setting: Setting::Use(Algorithm::Linear),
                ..Wish::NONE
            },
            Wish {
                setting: Setting::Host,
                ..Wish::NONE
            },
        ],
        short_msg: Some(5 << 10),
        max_tmp_size: 7 << 20,
        hierarchy: Hierarchy::Lanes,
        lanes: 3,
        shm: false,
        shm_bytes: 9 << 20,
        mpmd: true,
        node: "n1".into(),
        block_bytes: 3 << 10,
        radix: 6,
        tree_arity: 3,
        reproducible: Reproducible::Placement,
        network: Network {
            alpha_us: Some(1.25),
            beta_ns_per_kb: Some(0.5),
            gap_us: Some(0.75),
            node_alpha_us: Some(0.125),
            node_beta_ns_per_kb: Some(70.0),
        },
        calibrate: false,
        rules: "site.json".into(),
        learn: Learn {
            on: true,
            save: Some("learnt.json".into()),
        },
        learn_calls: 9,
        relearn: 77,
        window: 17,
        gpu: Gpu::Off,
        trace: true,
        stats: Stats {
            format: StatsFormat::Json,
            file: Some("out.json".into()),
        },
        help: true,
        timeout_s: 60,
    };
    assert_eq!(config, expected);
}

#[test]
fn a_switch_knows_what_people_call_its_positions() {
    for on in ["on", "ON", "1", "true", "True", "yes", " yes "] {
        assert!(clean(&[("RONDO_TRACE", on)]).trace, "{on}");
    }
    for off in ["off", "Off", "0", "false", "no", "NO"] {
        assert!(!clean(&[("RONDO", off)]).enabled, "{off}");
    }
    assert_eq!(
        warning("RONDO_SHM", "2"),
        "RONDO_SHM=\"2\" is neither on nor off; using the default on"
    );
    assert!(clean(&[("RONDO_TRACE", "Choice")]).trace);
    assert_eq!(
        warning("RONDO_TRACE", "choices"),
        "RONDO_TRACE=\"choices\" is neither choice nor off; using the default off"
    );
}

#[test]
fn a_value_of_an_earlier_version_is_known() {
    for value in ["direct", " Direct"] {
        let said = warning("RONDO_GPU", value);
        assert!(
            said.starts_with(
                "RONDO_GPU=direct does nothing any more: calls on communicators with a GPU's driver"
            ),
            "{said}"
        );
    }
}

#[test]
fn an_option_of_an_earlier_version_is_known() {
    assert_eq!(
        warning("RONDO_PMPI", "off"),
        "RONDO_PMPI does nothing any more: calls by PMPI_ names are always taken, because ranks may call a collective \
         by different names"
    );
}

#[test]
fn sizes_are_bytes_or_powers_of_1024() {
    let sizes = [
        ("0", 0),
        ("65536", 65536),
        ("64b", 64),
        ("64K", 64 << 10),
        ("64k", 64 << 10),
        ("64kB", 64 << 10),
        ("64KiB", 64 << 10),
        (" 64 K ", 64 << 10),
        ("8M", 8 << 20),
        ("1.5M", 3 << 19),
        ("0.5k", 512),
        ("1.0", 1),
        ("1G", 1 << 30),
        ("1024M", 1 << 30),
        ("0.000000000931322574615478515625G", 1),
    ];
    for (text, bytes) in sizes {
        assert_eq!(
            clean(&[("RONDO_BLOCK_BYTES", text)]).block_bytes,
            bytes,
            "{text}"
        );
    }
    let all = clean(&[("RONDO_BCAST_MIN_BYTES", "1152921504606846976")]);
    assert_eq!(all[Collective::Bcast].min_bytes, Some(1 << 60));
    let auto = clean(&[("RONDO_BCAST_MIN_BYTES", "Auto")]);
    assert_eq!(auto[Collective::Bcast].min_bytes, None);
}

#[test]
fn what_is_no_size_is_said_to_be_none() {
    let unusable = [
        ("abc", "is not a size like 65536, 64K or 8M"),
        ("-1", "is not a size like 65536, 64K or 8M"),
        ("K", "is not a size like 65536, 64K or 8M"),
        ("1.", "is not a size like 65536, 64K or 8M"),
        (".5K", "is not a size like 65536, 64K or 8M"),
        ("1.2.3K", "is not a size like 65536, 64K or 8M"),
        ("64X", "is not a size like 65536, 64K or 8M"),
        ("1e6", "is not a size like 65536, 64K or 8M"),
        ("1.3K", "is not a whole number of bytes"),
        ("1.5", "is not a whole number of bytes"),
        (
            "0.0000000000000000000000000000000000000000001G",
            "is not a whole number of bytes",
        ),
        ("1073741825", "is more than 1073741824 bytes"),
        ("1.5G", "is more than 1073741824 bytes"),
        ("18446744073709551615G", "is more than 1073741824 bytes"),
        ("99999999999999999999999", "is more than 1073741824 bytes"),
    ];
    for (text, problem) in unusable {
        let expected = format!("RONDO_BLOCK_BYTES={text:?} {problem}; using the default 0");
        assert_eq!(warning("RONDO_BLOCK_BYTES", text), expected);
    }
}

#[test]
fn whole_numbers_have_bounds() {
    assert_eq!(clean(&[("RONDO_WINDOW", "1024")]).window, 1024);
    assert_eq!(clean(&[("RONDO_LEARN_CALLS", "1000")]).learn_calls, 1000);
    assert_eq!(clean(&[("RONDO_TIMEOUT_S", "007")]).timeout_s, 7);
    let unusable = [
        ("abc", "is not a whole number"),
        ("1.5", "is not a whole number"),
        ("-", "is not a whole number"),
        ("+5", "is not a whole number"),
        ("1025", "is not between 0 and 1024"),
        ("-5", "is not between 0 and 1024"),
        ("4294967297", "is not between 0 and 1024"),
        ("99999999999999999999999999", "is not between 0 and 1024"),
    ];
    for (text, problem) in unusable {
        let expected = format!("RONDO_WINDOW={text:?} {problem}; using the default 0");
        assert_eq!(warning("RONDO_WINDOW", text), expected);
    }
    assert!(warning("RONDO_LEARN_CALLS", "1001").contains("is not between 0 and 1000;"));
}

#[test]
fn decimal_numbers_are_finite_and_not_negative() {
    for (text, value) in [("0", 0.0), ("1.5", 1.5), ("2e3", 2000.0), (" 7 ", 7.0)] {
        let network = clean(&[("RONDO_ALPHA_US", text)]).network;
        assert_eq!(network.alpha_us, Some(value));
    }
    let unusable = [
        ("NaN", "is not a number"),
        ("-nan", "is not a number"),
        ("1,5", "is not a number"),
        ("inf", "is not between 0 and 1000000"),
        ("1e400", "is not between 0 and 1000000"),
        ("1000001", "is not between 0 and 1000000"),
        ("-1", "is not between 0 and 1000000"),
        ("-0", "is not between 0 and 1000000"),
    ];
    for (text, problem) in unusable {
        let default = option("RONDO_ALPHA_US").default;
        let expected = format!("RONDO_ALPHA_US={text:?} {problem}; using the default {default}");
        assert_eq!(warning("RONDO_ALPHA_US", text), expected);
    }
}

#[test]
fn algorithms_go_by_their_names() {
    let of = |variable: &str, text: &str| {
        let config = clean(&[(variable, text)]);
        match option(variable).value_type {
            ValueType::Algorithm(collective) => config[collective].setting,
            other => panic!("{other:?}"),
        }
    };
    for collective in Collective::ALL {
        let variable = format!("RONDO_{}", collective.name().to_uppercase());
        let named = collective.algorithms().iter();
        let named = named.map(|&algorithm| (algorithm.name(), Setting::Use(algorithm)));
        let settings = [("auto", Setting::Auto), ("host", Setting::Host)];
        for (name, setting) in settings.into_iter().chain(named) {
            assert_eq!(of(&variable, name), setting);
            assert_eq!(of(&variable, &name.to_uppercase()), setting);
            assert_eq!(setting.name(), name);
        }
    }
    assert_eq!(
        of("RONDO_BCAST", "two-phase"),
        Setting::Use(Algorithm::Relay)
    );
    assert!(
        option("RONDO_BCAST")
            .doc()
            .contains("two-phase is another name of relay.")
    );
    // A hypercube is another name.
    for (variable, algorithm) in [
        ("RONDO_ALLGATHERV", Algorithm::Doubling),
        ("RONDO_ALLGATHER", Algorithm::Doubling),
        ("RONDO_ALLREDUCE", Algorithm::Doubling),
        ("RONDO_REDUCE", Algorithm::Binomial),
        ("RONDO_SCAN", Algorithm::Hypercube),
    ] {
        assert_eq!(of(variable, "Hypercube"), Setting::Use(algorithm));
        let said = format!("hypercube is another name of {}.", algorithm.name());
        let has_name = algorithm == Algorithm::Hypercube;
        assert_eq!(option(variable).doc().contains(&said), !has_name);
    }
    assert_eq!(
        warning("RONDO_BCAST", "Circulent"),
        "RONDO_BCAST=\"Circulent\" is not one of auto, host, circulant, binomial, postal, relay, chain, linear, \
         binary, kary, knomial, fibonacci, in-order, two-tree, mesh, hypercube, scatter-allgather, \
         full-lane, two-phase (did you mean circulant?); using the default auto"
    );
    assert_eq!(
        warning("RONDO_ALLGATHERV", "rign"),
        "RONDO_ALLGATHERV=\"rign\" is not one of auto, host, circulant, bruck, ring, doubling, \
         neighbor, mesh, full-lane, hypercube (did you mean ring?); using the default auto"
    );
    for (variable, other) in [("RONDO_BCAST", "ring"), ("RONDO_ALLGATHER", "binomial")] {
        assert!(warning(variable, other).contains(" is not one of auto, host, circulant"));
    }
}

#[test]
fn statistics_have_a_format_and_perhaps_a_file() {
    let specs = [
        ("off", StatsFormat::Off, None),
        ("no", StatsFormat::Off, None),
        ("text", StatsFormat::Text, None),
        ("on", StatsFormat::Text, None),
        ("1", StatsFormat::Text, None),
        ("JSON", StatsFormat::Json, None),
        (
            "json:/data/run 1.json",
            StatsFormat::Json,
            Some("/data/run 1.json"),
        ),
        ("text:a:b", StatsFormat::Text, Some("a:b")),
        ("on:log", StatsFormat::Text, Some("log")),
    ];
    for (text, format, file) in specs {
        let stats = Stats {
            format,
            file: file.map(Into::into),
        };
        assert_eq!(clean(&[("RONDO_STATS", text)]).stats, stats, "{text}");
    }
    for text in ["xml", "json:", "off:file", ":file", "jsonfile"] {
        assert_eq!(
            warning("RONDO_STATS", text),
            format!(
                "RONDO_STATS={text:?} is not off, text or json, the last two with an optional \
                 :FILE; using the default off"
            )
        );
    }
}

#[test]
fn an_empty_value_means_the_default() {
    for opt in OPTIONS {
        for empty in ["", " ", "\t"] {
            let loaded = load(&[(&opt.variable(), empty)]);
            assert_eq!(
                (loaded.config, loaded.warnings),
                (Config::default(), vec![])
            );
        }
    }
}

#[test]
fn an_unknown_variable_is_reported_with_the_nearest_name() {
    let expected = [
        (
            "RONDO_BCAST_MIN_BYTE",
            "did you mean RONDO_BCAST_MIN_BYTES?",
        ),
        ("RONDO_STAT", "did you mean RONDO_STATS?"),
        ("RONDO_ALPHA", "did you mean RONDO_ALPHA_US?"),
        ("RONDO_TIMEOUT", "did you mean RONDO_TIMEOUT_S?"),
        ("RONDO_WINDWO", "did you mean RONDO_WINDOW?"),
        ("RONDO_trace", "did you mean RONDO_TRACE?"),
        ("RONDO_XYZZY", "RONDO_HELP=on lists all"),
        ("RONDO_", "RONDO_HELP=on lists all"),
    ];
    for (name, hint) in expected {
        assert_eq!(
            warning(name, "1"),
            format!("unknown variable {name}; {hint}")
        );
    }
}

#[test]
fn variables_of_others_are_passed_over() {
    let config = clean(&[
        ("PATH", "/bin"),
        ("RONDOX", "1"),
        ("rondo_bcast", "1"),
        ("MY_RONDO_BCAST", "1"),
        ("RONDO_TEST_MODES", "bare"),
        ("RONDO_LIB_mpich", "librondo.so"),
        ("RONDO_ABI", "mpich"),
        ("RONDO_HOST", "MPICH 4.0.2"),
        ("RONDO_SOURCES", "0123456789abcdef"),
    ]);
    assert_eq!(config, Config::default());
}

#[test]
fn every_mistake_gets_its_own_warning_in_a_fixed_order() {
    let vars = [
        ("RONDO_ZZZ", "1"),
        ("RONDO_WINDOW", "x"),
        ("RONDO_AAA", "1"),
        ("RONDO", "x"),
    ];
    let warnings = load(&vars).warnings;
    let starts = [
        "RONDO=",
        "RONDO_WINDOW=",
        "unknown variable RONDO_AAA",
        "unknown variable RONDO_ZZZ",
    ];
    assert_eq!(warnings.len(), starts.len());
    for (warning, start) in warnings.iter().zip(starts) {
        assert!(warning.starts_with(start), "{warning}");
    }
    let mut reversed = vars;
    reversed.reverse();
    assert_eq!(load(&reversed).warnings, warnings);
}

#[test]
fn the_first_of_two_equal_variables_counts() {
    assert_eq!(
        clean(&[("RONDO_WINDOW", "3"), ("RONDO_WINDOW", "4")]).window,
        3
    );
}

#[test]
fn what_is_not_text_is_reported() {
    let broken = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let vars = [
        (broken(b"RONDO_WINDOW"), broken(b"1\xff")),
        (broken(b"RONDO_\xff"), broken(b"1")),
    ];
    let loaded = Config::from_vars(vars.into_iter());
    assert_eq!(
        loaded.warnings,
        [
            "RONDO_WINDOW=\"1\u{fffd}\" is not text in UTF-8; using the default 0",
            "unknown variable RONDO_\u{fffd}; RONDO_HELP=on lists all",
        ]
    );
    assert_eq!(loaded.config, Config::default());
}

/// As MPICH reads its variables: its own name for the switch goes before the older ones.
#[test]
fn mpich_is_told_to_outlive_failed_processes() {
    let (newest, older, oldest) = (
        "MPIR_CVAR_ENABLE_FT",
        "MPIR_PARAM_ENABLE_FT",
        "MPICH_ENABLE_FT",
    );
    for name in [newest, older, oldest] {
        for word in ["YES", "yes", "TRUE", "true", "ON", "on", "1"] {
            assert!(load(&[(name, word)]).outlives, "{name}={word}");
        }
        for word in ["NO", "no", "FALSE", "false", "OFF", "off", "0", "", "2"] {
            assert!(!load(&[(name, word)]).outlives, "{name}={word}");
        }
    }
    assert!(!load(&[]).outlives);
    assert!(!load(&[(oldest, "1"), (newest, "0")]).outlives);
    assert!(!load(&[(older, "0"), (oldest, "1")]).outlives);
    assert!(load(&[(oldest, "0"), (older, "no"), (newest, "on")]).outlives);
    assert!(!load(&[(newest, "0"), (newest, "1")]).outlives);
    let loaded = load(&[(newest, "1")]);
    assert_eq!(loaded.warnings, [""; 0]);
}

/// For programs with more rights than their user.
#[test]
fn options_that_name_files_can_be_left_out() {
    let vars = [
        ("RONDO_RULES", "rules.json"),
        ("RONDO_LEARN", "save:/etc/passwd"),
        ("RONDO_STATS", "json:stats.json"),
        ("RONDO_NODE", "n1"),
        ("RONDO_BCAST", "ring"),
        ("RONDO_TRACE", "choice"),
    ];
    let loaded = load(&vars).without_files();
    let expected = Config {
        node: "n1".into(),
        trace: true,
        ..Config::default()
    };
    assert_eq!(loaded.config, expected);
    let [before, rules, learn, stats] = &loaded.warnings[..] else {
        panic!("{:?}", loaded.warnings);
    };
    assert!(before.starts_with("RONDO_BCAST="), "{before}");
    for (warning, start) in [
        (rules, "RONDO_RULES=\"rules.json\" is ignored: "),
        (learn, "RONDO_LEARN=\"save:/etc/passwd\" is ignored: "),
        (stats, "RONDO_STATS=\"json:stats.json\" is ignored: "),
    ] {
        assert!(warning.starts_with(start), "{warning}");
    }
    for (opt, source) in OPTIONS.iter().zip(&loaded.sources) {
        let kept = ["RONDO_NODE", "RONDO_TRACE"].contains(&opt.variable().as_str());
        assert_eq!(*source != Source::Default, kept, "{}", opt.variable());
    }
    // The same options without a file, and others, stay.
    let vars = [
        ("RONDO_LEARN", "off"),
        ("RONDO_STATS", "text"),
        ("RONDO_SHM", "off"),
    ];
    let loaded = load(&vars).without_files();
    assert_eq!(loaded.config, clean(&vars));
    assert_eq!(loaded.warnings, [""; 0]);
}

/// Whatever option is added: a file that is named is left out.
#[test]
fn every_option_that_takes_a_file_can_be_left_out() {
    for opt in OPTIONS
        .iter()
        .filter(|opt| opt.values().to_lowercase().contains("file"))
    {
        let (variable, values) = (opt.variable(), opt.values());
        let form = values
            .split([',', ';'])
            .map(str::trim)
            .find(|form| form.contains("FILE"));
        let value = form.unwrap_or("x").replace("FILE", "x");
        let loaded = load(&[(&variable, &value)]);
        assert_ne!(loaded.config, Config::default(), "{variable}={value}");
        let loaded = loaded.without_files();
        assert_eq!(loaded.config, Config::default(), "{variable}={value}");
        assert_eq!(loaded.warnings.len(), 1, "{variable}={value}");
    }
}

#[test]
fn learning_is_on_off_or_saved() {
    let learn = |text: &str| clean(&[("RONDO_LEARN", text)]).learn;
    let on = Learn {
        on: true,
        save: None,
    };
    assert_eq!(Config::default().learn, on);
    for text in ["on", "1", "YES"] {
        assert_eq!(learn(text), on);
    }
    assert_eq!(
        learn("off"),
        Learn {
            on: false,
            save: None
        }
    );
    let save = Some("a: b.json".into());
    assert_eq!(learn("Save: a: b.json"), Learn { on: true, save });
    for text in ["save", "save:", "keep:x", "maybe"] {
        let warning = warning("RONDO_LEARN", text);
        assert!(warning.contains("is not on, off or save:FILE"), "{warning}");
    }
}

#[test]
fn a_warning_does_not_repeat_a_long_value() {
    let warning = warning("RONDO_WINDOW", &"é".repeat(10_000));
    assert!(warning.len() < 300, "{} bytes", warning.len());
    assert!(warning.contains("é...\""));
}

#[test]
fn rank_0_decides_all_but_local_output() {
    let environment = [
        ("RONDO", "off"),
        ("RONDO_BCAST", "binomial"),
        ("RONDO_WINDOW", "9"),
        ("RONDO_STATS", "json:root.json"),
        ("RONDO_HELP", "on"),
    ];
    let root = clean(&environment);
    let own = clean(&[("RONDO_STATS", "text:own.txt"), ("RONDO_WINDOW", "5")]);
    let agreed = own.adopt(&root.encode());
    let stats = Stats {
        format: StatsFormat::Json,
        file: Some("own.txt".into()),
    };
    assert_eq!(
        agreed,
        Config {
            stats,
            help: false,
            ..root.clone()
        }
    );
    assert_eq!(agreed.encode(), root.encode());
}

#[test]
fn numbers_that_differ_name_the_variable_that_does() {
    let (own, root) = (
        Config::default(),
        clean(&[("RONDO_WINDOW", "5"), ("RONDO_STATS", "on")]),
    );
    let numbers = own.encode().into_iter().zip(root.encode());
    let differing = numbers.enumerate().filter(|(_, (own, root))| own != root);
    let names: Vec<String> = differing.map(|(i, _)| config::variable_at(i)).collect();
    assert_eq!(names, ["RONDO_WINDOW", "RONDO_STATS"]);
    assert_eq!(config::variable_at(ENCODED_OPTIONS), "");
}

#[test]
fn a_number_that_is_no_value_gives_the_default() {
    let own = clean(&[
        ("RONDO_WINDOW", "5"),
        ("RONDO_BCAST", "host"),
        ("RONDO_ALLGATHERV", "bruck"),
        ("RONDO_ALLGATHERV_MIN_BYTES", "1"),
        ("RONDO_ALPHA_US", "3"),
    ]);
    let agreed = own.adopt(&[u64::MAX; ENCODED_OPTIONS]);
    // A switch is on for every number but 0, and any number of bytes is a bound below which to stay.
    let expected = Config {
        trace: true,
        ..Config::default()
    };
    assert_eq!(agreed, expected);
    assert_eq!(agreed[Collective::Bcast].min_bytes, None);
    assert_eq!(agreed[Collective::Allgatherv].min_bytes, None);
}

/// An algorithm has the same number in all options, and means nothing where it does not exist.
#[test]
fn the_number_of_a_foreign_algorithm_gives_the_default() {
    let root = clean(&[
        ("RONDO_BCAST", "binomial"),
        ("RONDO_ALLGATHERV", "ring"),
        ("RONDO_ALLGATHER", "circulant"),
    ]);
    let mut numbers = root.encode();
    let place = |variable: &str| {
        let mut places = 0..ENCODED_OPTIONS;
        let place = places.find(|&i| config::variable_at(i) == variable);
        place.expect("a number")
    };
    let (bcast, allgatherv) = (place("RONDO_BCAST"), place("RONDO_ALLGATHERV"));
    numbers.swap(bcast, allgatherv);
    let agreed = Config::default().adopt(&numbers);
    let mut expected = Config::default();
    expected[Collective::Allgather].setting = Setting::Use(Algorithm::Circulant);
    assert_eq!(agreed, expected);
    numbers[bcast] = root.encode()[place("RONDO_ALLGATHER")];
    let agreed = Config::default().adopt(&numbers);
    assert_eq!(
        agreed[Collective::Bcast].setting,
        Setting::Use(Algorithm::Circulant)
    );
}

#[test]
fn every_option_of_the_communicator_has_a_number() {
    let shared = OPTIONS
        .iter()
        .filter(|opt| opt.scope == Scope::Communicator);
    assert_eq!(shared.count(), ENCODED_OPTIONS);
}

#[test]
fn the_table_shows_value_source_and_meaning_in_100_columns() {
    let loaded = load(&[("RONDO_BLOCK_BYTES", "65536"), ("RONDO_BCAST", "nonsense")]);
    let table = config::table(&loaded);
    for line in table.lines() {
        assert!(
            line.chars().count() <= 100 && line == line.trim_end(),
            "{line:?}"
        );
    }
    let cells = |variable: &str| -> Vec<&str> {
        let mut lines = table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        let cells = lines
            .find(|cells| cells[0] == variable)
            .expect("every option has a line");
        cells[1..3].to_vec()
    };
    assert_eq!(cells("RONDO_BLOCK_BYTES"), ["64K", "environment"]);
    assert_eq!(cells("RONDO_BCAST"), ["auto", "default"]);
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for opt in OPTIONS {
        assert_eq!(cells(&opt.variable()).len(), 2);
        let doc = opt.doc();
        let first: Vec<&str> = doc.split_whitespace().take(3).collect();
        assert!(words.contains(&first.join(" ")), "{}", opt.variable());
    }
    assert!(config::help(&loaded).contains(&table));
}

#[test]
fn a_long_value_has_a_line_of_its_own_and_is_not_cut() {
    let spec = format!("json:/{}", "x".repeat(120));
    let table = config::table(&load(&[("RONDO_STATS", &spec)]));
    let line = table
        .lines()
        .find(|line| line.starts_with("RONDO_STATS"))
        .expect("a line");
    assert!(line.ends_with(&spec), "{line}");
}

#[test]
fn the_markdown_page_has_a_section_for_each_option() {
    let page = config::markdown();
    assert!(page.lines().all(|line| line.chars().count() <= 120));
    let sections: Vec<&str> = page.split("\n## ").skip(1).collect();
    assert_eq!(sections.len(), OPTIONS.len());
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (opt, section) in OPTIONS.iter().zip(sections) {
        let section = words(section);
        let default = match opt.default {
            "" => "* default: empty".to_owned(),
            value => format!("* default: `{value}`"),
        };
        assert!(section.starts_with(&format!("`{}` ", opt.variable())));
        assert!(section.contains(&words(&opt.doc())), "{section}");
        assert!(section.contains(&format!(" * values: {} ", opt.values())));
        assert!(section.ends_with(&default), "{section}");
    }
}

/// Environments with a value, mostly a usable one, for some of the options.
fn environments() -> impl Strategy<Value = Vec<(OsString, OsString)>> {
    let value = prop_oneof![
        "on|off|host|circulant|binomial|bruck|ring|text|json|json:f",
        "[0-9]{1,5}",
        "[0-9]{1,3}\\.[0-9]{1,3}",
        "[0-9]{1,3}[KMG]",
    ];
    let index = 0..OPTIONS.len();
    let pair = (index, value).prop_map(|(i, value)| (OPTIONS[i].variable().into(), value.into()));
    prop::collection::vec(pair, 0..OPTIONS.len())
}

proptest! {
    #[test]
    fn numbers_carry_a_configuration_to_another_rank(root in environments(), own in environments()) {
        let root = Config::from_vars(root.into_iter()).config;
        let own = Config::from_vars(own.into_iter()).config;
        let agreed = own.adopt(&root.encode());
        prop_assert_eq!(agreed.encode(), root.encode());
        let stats = Stats { format: root.stats.format, file: own.stats.file };
        let learn = Learn { on: root.learn.on, save: own.learn.save };
        let Config { help, mpmd, node, rules, .. } = own;
        let own = Config { stats, learn, help, mpmd, node, rules, ..root };
        prop_assert_eq!(agreed, own);
    }

    #[test]
    fn no_number_breaks_a_configuration(numbers in prop::array::uniform::<_, ENCODED_OPTIONS>(any::<u64>())) {
        let agreed = Config::default().adopt(&numbers);
        prop_assert!(agreed.network.alpha_us.is_none_or(|us| (0.0..=1e6).contains(&us)) && agreed.window <= 1024);
        // Adopting is settled after one step: what was accepted is a value of its option.
        prop_assert_eq!(Config::default().adopt(&agreed.encode()), agreed);
    }

    #[test]
    fn a_size_that_is_shown_is_read_back(bytes in any::<u64>(), shift in 0u32..64) {
        let bytes = (bytes >> shift << (shift / 2)) >> 4;
        let mut config = Config::default();
        config[Collective::Bcast].min_bytes = Some(bytes);
        let shown = option("RONDO_BCAST_MIN_BYTES").show(&config);
        prop_assert_eq!(clean(&[("RONDO_BCAST_MIN_BYTES", &shown)])[Collective::Bcast].min_bytes, Some(bytes));
    }

    #[test]
    fn a_size_with_decimals_is_exact(bytes in 0u64..1 << 30) {
        // Ten binary digits are ten decimals at most: 1/1024 is 0.0009765625.
        let text = format!("{}.{:010}K", bytes / 1024, bytes % 1024 * 9_765_625);
        prop_assert_eq!(clean(&[("RONDO_BLOCK_BYTES", &text)]).block_bytes, bytes);
    }

    #[test]
    fn a_value_that_is_shown_is_read_back(environment in environments()) {
        let config = Config::from_vars(environment.into_iter()).config;
        let shown = OPTIONS.iter().map(|opt| (opt.variable().into(), opt.show(&config).into()));
        let again = Config::from_vars(shown);
        prop_assert_eq!(again.warnings, Vec::<String>::new());
        prop_assert_eq!(again.config, config);
    }

    #[test]
    fn no_text_makes_it_panic(i in 0..OPTIONS.len(), value in ".*", name in "RONDO_.*") {
        let loaded = load(&[(&OPTIONS[i].variable(), &value), (&name, &value)]);
        prop_assert!(loaded.warnings.len() <= 2);
        prop_assert_eq!(loaded.sources.len(), OPTIONS.len());
    }

    #[test]
    fn no_number_like_text_makes_it_panic(i in 0..OPTIONS.len(), value in "-?[0-9.eE+]{0,60}[kKmMgG]?(iB|B)?") {
        let loaded = load(&[(&OPTIONS[i].variable(), &value)]);
        prop_assert!(loaded.warnings.len() <= 1);
        prop_assert!(loaded.config.block_bytes <= 1 << 30 && loaded.config.window <= 1024);
    }

    #[test]
    fn no_bytes_make_it_panic(i in 0..OPTIONS.len(), value in prop::collection::vec(1u8.., 0..40)) {
        let pair = (OPTIONS[i].variable().into(), OsString::from_vec(value));
        let loaded = Config::from_vars([pair].into_iter());
        prop_assert!(loaded.warnings.len() <= 1);
    }
}
