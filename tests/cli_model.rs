//! `rondo algorithms` and `rondo model`, run as a user runs them.

use rondo::{algorithm::NOTATION, collective::Collective};
use serde_json::Value;
use std::{
    collections::HashSet,
    fs,
    path::PathBuf,
    process::{Command, Output},
};

fn run(args: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rondo"));
    command.env_clear().args(args.split_whitespace());
    command.output().expect("the tool starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The standard output of a run that succeeds without a word on the other one.
fn rondo(args: &str) -> String {
    let output = run(args);
    assert_eq!(text(&output.stderr), "", "{args}");
    assert!(output.status.success(), "{args}");
    text(&output.stdout)
}

fn json(args: &str) -> Value {
    serde_json::from_str(&rondo(&format!("{args} --json"))).expect("JSON")
}

fn text_of(row: &Value, key: &str) -> String {
    row[key].as_str().expect("a text").to_owned()
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("model-{name}"))
}

#[test]
fn all_algorithms_of_all_collectives_are_listed_with_a_formula_and_a_source() {
    let listed = json("algorithms");
    let listed = listed.as_array().expect("an array");
    assert_eq!(listed.len(), Collective::COUNT);
    let whole = rondo("algorithms");
    for (entry, collective) in listed.iter().zip(Collective::ALL) {
        assert_eq!(entry["mpi"], collective.mpi_name());
        let rows = entry["algorithms"].as_array().expect("rows");
        let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
        let known = collective
            .algorithms()
            .iter()
            .map(|algorithm| algorithm.name());
        assert!(names.into_iter().eq(known), "{entry}");
        let one = rondo(&format!("algorithms {}", collective.mpi_name()));
        let (algorithms, _) = one.split_once("\nNotation\n").expect("two parts");
        assert!(whole.contains(algorithms), "{one}");
        for row in rows {
            for key in ["rounds", "time", "source"] {
                let said = row[key].as_str().expect("a text");
                assert!(!said.is_empty() && one.contains(said), "{key}: {row}");
            }
        }
    }
}

/// The option takes it as well.
#[test]
fn other_names_stand_beside_the_names() {
    let mut found = Vec::new();
    for entry in json("algorithms").as_array().expect("an array") {
        let rows = entry["algorithms"].as_array().expect("rows").iter();
        let names = |row: &Value| {
            let others = row["other_names"].as_array().expect("names").clone();
            let name = text_of(row, "name");
            let other = |other: Value| other.as_str().expect("a name").to_owned();
            (others.into_iter()).map(move |it| (name.clone(), other(it)))
        };
        for (name, other) in rows.flat_map(names) {
            let collective = &text_of(entry, "collective");
            let table = rondo(&format!("algorithms {collective}"));
            let lines: Vec<&str> = table.lines().map(str::trim).collect();
            let line = lines
                .iter()
                .position(|line| *line == format!("also    {other}"));
            let before = lines[line.expect("a line of its own") - 1];
            assert_eq!(before.split_whitespace().next(), Some(&*name), "{table}");
            let family = Collective::named(collective)
                .expect("a collective")
                .family();
            let of = |name: &str| family.algorithm(name).map(|algorithm| algorithm.name());
            assert_eq!(of(&other.to_uppercase()), Some(&*name));
            found.push(format!("{collective}: {other} is {name}"));
        }
    }
    let expected = [
        "bcast: two-phase is relay",
        "allgatherv: hypercube is doubling",
        "allgather: hypercube is doubling",
        "allreduce: two-phase is ordered",
        "allreduce: hypercube is doubling",
        "reduce: hypercube is binomial",
        "reduce: two-phase is ordered",
    ];
    assert_eq!(found, expected);
}

/// Words of formulas that are no symbols.
const WORDS: &str = "a about all allreduce among an and as binomial broadcast bruck by bytes ceil circulant each else \
    equal factors find floor for from further gather halving if in is it least linear link log2 many max message \
    messages model more nodes number odd of on one or over part parts prime ranks reduce round rounded scatter share \
    sum that the those time to tree twice unless up where whose with";

/// The letters, and what else words have, of each word; T of T(k, s, d) has its parenthesis.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in text.chars() {
        let word = words.last_mut().expect("there is one");
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '\'' => word.push(c),
            '(' if word.len() == 1 || word == "Fib" => {
                word.push(c);
                words.push(String::new());
            }
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
    words
}

/// In the help text, in the manual page, and below each list.
#[test]
fn every_symbol_of_a_formula_is_explained() {
    let folder = file("man");
    rondo(&format!("man {}", folder.display()));
    let page = fs::read_to_string(folder.join("man1/rondo-algorithms.1")).expect("a page");
    let page = page.replace("\\*(Aq", "'").replace('\\', "");
    let texts = [
        rondo("algorithms --help"),
        rondo("algorithms barrier"),
        page,
    ];
    let mut used = HashSet::new();
    for entry in json("algorithms").as_array().expect("an array") {
        for row in entry["algorithms"].as_array().expect("rows") {
            used.extend(
                ["rounds", "time"]
                    .map(|key| words(&text_of(row, key)))
                    .concat(),
            );
        }
    }
    let symbols: HashSet<String> = NOTATION
        .iter()
        .map(|it| words(it.0).swap_remove(0))
        .collect();
    let is_word = |word: &String| WORDS.split_whitespace().any(|known| known == word);
    for word in used.iter().filter(|word| !is_word(word)) {
        assert!(symbols.contains(word), "{word} is not explained");
    }
    // What explains a symbol has symbols as well.
    used.extend(NOTATION.iter().flat_map(|(_, meaning)| words(meaning)));
    assert!(
        symbols.is_subset(&used),
        "no formula has {:?}",
        symbols.difference(&used)
    );
    for (symbol, meaning) in NOTATION {
        let line = format!("  {symbol:10}  {meaning}\n");
        assert!(texts.iter().all(|text| text.contains(&line)), "{line}");
    }
}

/// On the circulant graph in rounds that the model chooses, and in grids with messages that leave one after the other.
#[test]
fn formulas_of_exchanges_are_those_of_the_predictions() {
    let table = rondo("algorithms alltoall");
    let [circulant, grid] = [
        "ceil(log_k p), k by the model",
        "the sum of max(alpha + 2 (f-2) g, (f-1) g') + (f-1)/f beta m",
    ];
    assert_eq!(table.matches(circulant).count(), 1, "{table}");
    assert_eq!(table.matches(grid).count(), 2, "{table}");
    // Of 5 ranks both grids have one dimension: 100 + 3 (2 * 10), and no byte takes time but that of pieces.
    let report = json("model alltoall -p 5 -b 5 --alpha 100 --gap 10 --beta 0");
    let rows = report["rows"].as_array().expect("rows");
    for name in ["hypercube", "mesh"] {
        let row = rows.iter().find(|row| row["algorithm"] == name);
        let us = row.expect("a row")["us"].as_f64().expect("a time");
        assert!((us - 160.0).abs() < 1.0, "{name}: {us}");
    }
}

#[test]
fn predictions_are_those_of_the_model() {
    let report = json("model bcast -p 36 -b 4000,40 --preset 100-gbit");
    assert_eq!(report["collective"], "bcast");
    assert_eq!(report["network"]["alpha_us"], 1.9);
    assert_eq!(report["eager_bytes"], 1 << 20);
    assert_eq!(report["placed_bytes"], 4096);
    assert_eq!(report["copies_free"], true);
    let usual = json("model bcast -p 36 -b 1");
    assert_eq!(
        (&usual["placed_bytes"], &usual["copies_free"]),
        (&Value::Null, &false.into())
    );
    let table = rondo("model bcast -p 36 -b 1 --preset 100-gbit");
    let manners = "up to 1024 KiB, put into place from 4096 bytes on, copies are free";
    assert!(table.contains(manners), "{table}");
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2 * Collective::Bcast.algorithms().len());
    let row = |bytes: u64, name: &str| {
        let mut rows = rows.iter();
        let found = rows.find(|row| row["bytes"] == bytes && row["algorithm"] == name);
        found.expect("a row").clone()
    };
    let postal = row(4000, "postal");
    assert!(
        (postal["us"].as_f64().expect("a time") - 7.0).abs() < 0.05,
        "{postal}"
    );
    assert_eq!(postal["rounds"], Value::Null);
    let binomial = row(40, "binomial");
    assert_eq!(
        (&binomial["rounds"], &binomial["sent"]),
        (&6.into(), &240.into())
    );
    assert!(
        (binomial["us"].as_f64().expect("a time") - 9.8).abs() < 0.05,
        "{binomial}"
    );
    assert_eq!(binomial["why"], Value::Null);
}

#[test]
fn figures_go_before_a_file_and_a_file_before_the_usual_network() {
    let rules = file("rules.json");
    let saved = r#"{"network": {"alpha_us": 100, "beta_ns_per_kb": 7}, "rules": []}"#;
    fs::write(&rules, saved).expect("a file");
    let report = json(&format!(
        "model barrier -p 8 --from {} --alpha 50 --gap 20",
        rules.display()
    ));
    let network = &report["network"];
    assert_eq!(network["alpha_us"], 50.0);
    assert_eq!(network["beta_ns_per_kb"], 7.0);
    assert_eq!(network["node_alpha_us"], 1.0);
    assert_eq!(report["rows"][0]["us"], 150.0);
}

/// A file of 0.2 may have what it took to reduce: it serves, but for that.
#[test]
fn what_it_takes_to_reduce_is_given_and_not_taken_from_a_file() {
    let rules = file("gamma.json");
    let saved = [
        r#"{"network": {"alpha_us": 10, "gap_us": 3},"#,
        r#" "gamma_ns_per_kb": {"floats": 50, "user": 7000}, "rules": []}"#,
    ];
    fs::write(&rules, saved.concat()).expect("a file");
    let asked = format!("model allreduce -p 8 -b 1M --from {}", rules.display());
    let gamma = |more: &str| json(&format!("{asked}{more}"))["gamma_ns_per_kb"].clone();
    assert_eq!(gamma(""), 0.0);
    assert_eq!(gamma(" --gamma 3.5"), 3.5);
    let us = |more: &str| {
        let report = json(&format!("{asked}{more}"));
        let rows = report["rows"].as_array().expect("rows").clone();
        let halving = rows.iter().find(|row| row["algorithm"] == "halving");
        halving.expect("a row")["us"].as_f64().expect("a time")
    };
    // All but its own part of the vector, 7/8 of a MiB.
    assert!((us(" --gamma 7000") - us(" --gamma 0") - 7000.0 * 896.0 / 1000.0).abs() < 1.0);
}

/// Who gives the latency alone, of a faster network than the usual one, has said nothing of the gap.
#[test]
fn a_gap_that_is_not_given_is_no_longer_than_a_message() {
    let report = json("model barrier -p 8 --alpha 2");
    assert_eq!(report["network"]["gap_us"], 2.0);
    assert_eq!(report["rows"][0]["us"], 6.0);
    let rules = file("gap.json");
    let saved = r#"{"network": {"alpha_us": 100, "gap_us": 40}, "rules": []}"#;
    fs::write(&rules, saved).expect("a file");
    let report = json(&format!(
        "model barrier -p 8 --from {} --alpha 5",
        rules.display()
    ));
    assert_eq!(report["network"]["gap_us"], 5.0);
    let given = json("model barrier -p 8 --alpha 5 --gap 5");
    assert_eq!(given["network"]["gap_us"], 5.0);
}

#[test]
fn a_file_that_ranks_would_ignore_is_refused() {
    let rules = file("wrong.json");
    for (saved, why) in [
        (
            r#"{"network": {"alpha_us": -5}, "rules": []}"#,
            "network: -5",
        ),
        (
            r#"{"network": {"alpha_us": 5}, "rules": [{"collective": "bcast", "algorithm": "x"}]}"#,
            "rule 1: algorithm",
        ),
    ] {
        fs::write(&rules, saved).expect("a file");
        let output = run(&format!("model barrier -p 8 --from {}", rules.display()));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn what_is_not_predicted_has_a_reason() {
    let report = json("model bcast -p 64 --nodes 1 -b 1M");
    let rows = report["rows"].as_array().expect("rows");
    let circulant = rows.iter().find(|row| row["algorithm"] == "circulant");
    let circulant = circulant.expect("a row");
    assert_eq!(circulant["us"], Value::Null);
    let why = "on one node data pass through shared memory, without messages";
    assert_eq!(circulant["why"], why);
    let table = rondo("model bcast -p 64 --nodes 1 -b 1M");
    let line = table.lines().find(|line| line.contains(" circulant "));
    assert!(line.expect("a row").contains(" - "), "{table}");
}

/// On nodes of equal and of different sizes; full-lane needs equal ones in some collectives.
#[test]
fn every_algorithm_is_predicted_over_nodes() {
    for &collective in Collective::ALL {
        let bytes = match collective {
            Collective::Barrier => "",
            _ => " -b 64,4K,64K,4M",
        };
        for nodes in [7, 8, 9, 64] {
            let name = collective.name();
            let report = json(&format!("model {name} -p 64 --nodes {nodes}{bytes}"));
            for row in report["rows"].as_array().expect("rows") {
                let is_known = row["us"].as_f64().is_some_and(|us| us > 0.0);
                let lacks_lanes = || text_of(row, "why").starts_with("no lanes between nodes");
                assert!(is_known || (nodes != 8 && lacks_lanes()), "{name}: {row}");
            }
        }
    }
}

/// Each is simulated, and so compared with predictions, but for lanes, which nodes of one rank have not.
#[test]
fn every_algorithm_has_a_simulated_time() {
    let rows = include_str!("predictions/simulated.csv");
    let row = |line: &'static str| match line.split(',').collect::<Vec<_>>()[..] {
        [case, _, algorithm, _] => (collective_of(case), algorithm),
        _ => panic!("no row: {line}"),
    };
    let simulated: HashSet<_> = rows.lines().map(row).collect();
    for collective in Collective::ALL {
        for algorithm in collective.algorithms() {
            let row = (collective.name(), algorithm.name());
            assert_eq!(simulated.contains(&row), row.1 != "full-lane", "{row:?}");
        }
    }
}

/// The collective of a case that is simulated.
fn collective_of(case: &str) -> &str {
    match case {
        "same" => "allgatherv",
        "max" => "allreduce",
        other => other,
    }
}

/// What as many ranks as there are nodes take, and what is done in the memory of a node of 8 ranks.
#[test]
fn reductions_gathers_and_scatters_over_nodes_are_predicted() {
    let us = |args: &str, name: &str| {
        let report = json(&format!(
            "model {args} -p 64 --nodes 8 --alpha 10 --gap 3 --beta 8000"
        ));
        let rows = report["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["algorithm"] == name);
        row.expect("a row")["us"].as_f64().expect("a time")
    };
    let near = |(args, name): (&str, &str), expected: f64| {
        let us = us(args, name);
        assert!((us - expected).abs() < 1e-6, "{args} by {name}: {us}");
    };
    for name in ["halving", "full-lane"] {
        // Three rounds each way, and 8 KiB in and out of memory.
        let all = (30.0 + 7.0 * 8.5) + (30.0 + 7.0 * 8.0);
        let inside = 2.0 + 0.8 * 16.0 + 3.5;
        near(("allreduce -b 8K --gamma 500", name), all + inside);
        // Out come 128 bytes.
        let inside = 2.0 + 0.8 * 8.125 + 3.5;
        near(
            ("reduce_scatter -b 8K --gamma 500", name),
            30.0 + 7.0 * 8.5 + inside,
        );
    }
    let inside = 2.0 + 0.8 * 2.0 + 3.5 / 8.0;
    near(
        ("allreduce -b 1K --gamma 500", "gather"),
        30.0 + 7.0 * 8.5 + inside,
    );
    for name in ["circulant", "full-lane"] {
        // A leader joins the vectors of the others of its node as well.
        near(
            ("reduce -b 1K --gamma 500", name),
            3.0 * (10.0 + 8.0 + 8.0 * 0.5) + 1.0,
        );
    }
    for name in ["hybrid", "binomial"] {
        for collective in ["gather", "gatherv", "scatter", "scatterv"] {
            // Eight blocks of a node are 512 bytes, each of which is passed on three times.
            let tree = 30.0 + 7.0 * 4.0 + 3.0 * 1.5 * 0.512;
            let inside = 1.0 + 7.0 * 0.1 / 16.0;
            near((&format!("{collective} -b 64"), name), tree + inside);
        }
    }
    // Long blocks go straight, whatever nodes there are.
    for collective in ["gather", "scatter"] {
        let args = format!("{collective} -b 256K");
        near((&args, "hybrid"), us(&args, "linear"));
        // Where a rank has no memory for them, always.
        let args = format!("{collective} -b 8M");
        for name in ["binomial", "adaptive"] {
            near((&args, name), us(&args, "linear"));
        }
    }
}

/// By the formulas by which Rondo decides on them.
#[test]
fn exchanges_and_scans_over_nodes_are_predicted() {
    let row = |args: &str, name: &str| {
        let report = json(&format!("model {args} --alpha 10 --gap 3 --beta 8000"));
        let rows = report["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["algorithm"] == name);
        let row = row.expect("a row");
        let us = row["us"].as_f64().expect("a time");
        let number = |name: &str| row[name].as_u64().expect("a number");
        (us, number("rounds"), number("sent"))
    };
    // Through memory twice, and one message for each node, 8 ranks' for 8 ranks.
    let inside = 2.0 * (1.0 + 0.1 * 8.0) + 0.02 * 64.0;
    let (us, rounds, sent) = row("alltoall -p 64 --nodes 8 -b 4K", "linear");
    assert!((us - (inside + 10.0 + 8.0 * 32.0)).abs() < 1e-6, "{us}");
    assert_eq!((rounds, sent), (1, 8 * 8 * 64));
    // Two rounds between nodes, and three times in memory.
    for name in ["scan", "exscan"] {
        let args = format!("{name} -p 16 --nodes 4 -b 1K --gamma 500");
        let (us, rounds, sent) = row(&args, "doubling");
        assert!((us - (2.0 * 18.5 + 3.0 * 1.4)).abs() < 1e-6, "{us}");
        assert_eq!((rounds, sent), (2, 2 << 10));
    }
}

/// A lane is as fast as a leader where its node has one link.
#[test]
fn full_lane_is_predicted_where_there_are_lanes() {
    let row = |args: &str, name: &str| {
        let report = json(&format!("model {args}"));
        let rows = report["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["algorithm"] == name);
        let row = row.expect("a row").clone();
        (row["us"].as_f64(), row["why"].clone())
    };
    for name in ["bcast", "allgather"] {
        let args = format!("{name} -p 64 --nodes 8 -b 1M");
        let (us, why) = row(&args, "full-lane");
        assert!(us.is_some(), "{why}");
        assert_eq!((us, why), row(&args, "circulant"));
    }
    // A message for each rank of another node, and none inside the own one behind it.
    let (us, _) = row(
        "alltoall -p 64 --nodes 8 -b 4K --alpha 10 --gap 3 --beta 8000",
        "full-lane",
    );
    let inside = 2.0 * (1.0 + 0.1 * 8.0) + 0.02 * 64.0;
    assert!(
        (us.expect("a time") - (inside + 10.0 + 8.0 * 32.0)).abs() < 1e-6,
        "{us:?}"
    );
    for (collective, instead) in [
        ("bcast", "circulant"),
        ("allgather", "circulant"),
        ("alltoall", "linear"),
        ("reduce_scatter", "halving"),
    ] {
        for nodes in ["", " --nodes 1", " --nodes 6"] {
            let (us, why) = row(&format!("{collective} -p 8 -b 64K{nodes}"), "full-lane");
            let said = format!("no lanes between nodes: {instead} takes its place");
            assert_eq!((us, why), (None, said.into()), "{collective}{nodes}");
        }
    }
}

/// In a call no rank knows the sizes of others' blocks, so that Rondo sends each straight, on nodes too, and finds none
/// too long.
#[test]
fn exchanges_of_blocks_of_any_size_are_decided_as_in_a_call() {
    for name in ["alltoallv", "alltoallw"] {
        let report = json(&format!("model {name} -p 64 --nodes 8 -b 64,4G"));
        let rows = report["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 2 * Collective::Alltoallv.algorithms().len());
        for row in rows {
            assert_eq!(row["why"], Value::Null, "{row}");
            assert!(row["us"].as_f64().is_some_and(|us| us > 0.0), "{row}");
        }
    }
}

/// By default both are those of the options' defaults, whatever the environment says.
#[test]
fn trees_and_rounds_are_of_the_arity_and_the_radix_that_are_asked_for() {
    let row = |args: &str, name: &str, key: &str| {
        let report = json(&format!("model {args}"));
        let rows = report["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["algorithm"] == name);
        row.expect("a row")[key].clone()
    };
    let bcast = "bcast -p 64 -b 8 --alpha 100 --gap 10 --beta 0";
    for (arity, messages) in [
        (" --arity 2", 2),
        (" --arity 8", 8),
        ("", 4),
        (" --arity 1", 1),
    ] {
        // The root has so many children, and each gets the one block.
        let sent = row(&format!("{bcast}{arity}"), "kary", "sent");
        assert_eq!(sent, 8 * messages, "{arity}");
    }
    let same = row(&format!("{bcast} --arity 2"), "kary", "us");
    assert_eq!(same, row(bcast, "binary", "us"));
    let star = row(&format!("{bcast} --arity 65536"), "kary", "us");
    assert_eq!(star, row(bcast, "linear", "us"));
    let barrier = "barrier -p 64 --alpha 100 --gap 10";
    for (radix, rounds) in [(" --radix 2", 6), (" --radix 4", 3), (" --radix 64", 1)] {
        let asked = format!("{barrier}{radix}");
        assert_eq!(row(&asked, "dissemination", "rounds"), rounds, "{radix}");
    }
    let report = json(&format!("model {barrier} --radix 4 --arity 3"));
    assert_eq!((&report["radix"], &report["arity"]), (&4.into(), &3.into()));
    let report = json(&format!("model {barrier}"));
    assert_eq!(
        (&report["radix"], &report["arity"]),
        (&Value::Null, &4.into())
    );
    let table = rondo(&format!("model {barrier} --radix 4 --arity 3"));
    for line in ["trees of arity 3\n", "rounds of radix 4\n"] {
        assert!(table.contains(line), "{table}");
        assert!(!rondo(&format!("model {barrier}")).contains(line));
    }
    let mut elsewhere = Command::new(env!("CARGO_BIN_EXE_rondo"));
    elsewhere.args(format!("model {bcast}").split_whitespace());
    elsewhere.envs([
        ("RONDO_TREE_ARITY", "9"),
        ("RONDO_RADIX", "9"),
        ("RONDO_ALPHA_US", "9"),
    ]);
    let output = elsewhere.output().expect("the tool starts");
    assert_eq!(text(&output.stdout), rondo(&format!("model {bcast}")));
}

/// The last row has the nodes that are given, the others as many ranks on each.
#[test]
fn rows_are_of_all_numbers_that_are_given() {
    let report = json("model bcast -p 2:4,6 --nodes 4 -b 1:4,1K");
    let rows = report["rows"].as_array().expect("rows").iter();
    let mut shapes: Vec<[u64; 3]> = rows
        .map(|row| ["ranks", "nodes", "bytes"].map(|name| row[name].as_u64().expect("a number")))
        .collect();
    shapes.dedup();
    let sizes = [1, 2, 4, 1024];
    let of = |[ranks, nodes]: [u64; 2]| sizes.map(|bytes| [ranks, nodes, bytes]);
    assert_eq!(shapes, [[2, 1], [4, 2], [6, 4]].map(of).concat());
}

#[test]
fn nonsense_is_refused_in_one_line() {
    for (args, message) in [
        ("model bcast -b 1", "--ranks"),
        ("model bcst -p 4 -b 1", "bcst"),
        ("model bcast -p 1 -b 1", "1 ranks are not in 2..=1048576"),
        ("model bcast -p 4,2M -b 1", "2097152 ranks are not in 2..="),
        ("model bcast -p x -b 1", "'x'"),
        ("model bcast -p 2.3 -b 1", "'2.3' is no whole number"),
        (
            "model bcast -p 4 --nodes 1.5 -b 1",
            "whole number like 64 or 1K",
        ),
        ("model bcast -p 4", "--bytes"),
        ("model bcast -p 4 -b 0", "begin with 1"),
        ("model bcast -p 4 --nodes 5 -b 1", "5 nodes"),
        ("model barrier -p 4 -b 1", "no bytes"),
        ("model bcast -p 4 -b 1 --alpha -1", "-1"),
        ("model bcast -p 4 -b 1 --gamma nan", "NaN"),
        ("model bcast -p 4 -b 1 --gamma floats", "invalid float"),
        ("model bcast -p 4 -b 1 --preset net", "no preset"),
        ("model bcast -p 4 -b -1", "-1"),
        (
            "model bcast -p 4 -b 1 --alpha 1e300",
            "network: 1e300 is not",
        ),
        (
            "model bcast -p 4 -b 1 --alpha 2 --gap 20",
            "--gap 20 is more than the 2 us that a short message takes",
        ),
        ("model bcast -p 4 -b 1 --gap 11", "--gap 11 is more than"),
        (
            "model alltoall -p 1M -b 8",
            "8 bytes are less than one for each of 1048576 ranks",
        ),
        ("model bcast -p 4 -b 1 --arity 0", "0 is not in 1..=65536"),
        ("model bcast -p 4 -b 1 --arity -2", "whole number"),
        ("model bcast -p 4 -b 1 --arity 65537", "not in 1..=65536"),
        ("model bcast -p 4 -b 1 --arity 2.5", "whole number"),
        ("model bcast -p 4 -b 1 --arity", "--arity"),
        ("model bcast -p 4 -b 1 --radix 1", "1 is not in 2..=64"),
        ("model bcast -p 4 -b 1 --radix 65", "65 is not in 2..=64"),
        ("model bcast -p 4 -b 1 --radix two", "whole number"),
        ("model bcast -p 4 -b 1 --verbose", "--verbose"),
        ("algorithms alltoallx", "alltoallx"),
    ] {
        let output = run(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {said}");
        assert_eq!(text(&output.stdout), "", "{args}");
        assert_eq!(said.lines().count(), 1, "{args}: {said}");
        assert!(said.contains(message), "{args}: {said}");
        assert!(!said.contains("unexpected argument '-1'"), "{said}");
    }
}

#[test]
fn a_missing_file_has_the_status_of_what_failed() {
    let output = run("model bcast -p 4 -b 1 --from /nowhere/rules");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("/nowhere/rules: No such file"), "{said}");
}

#[test]
fn a_barrier_has_no_bytes() {
    let table = rondo("model barrier -p 8");
    assert!(table.starts_with("MPI_Barrier by the model\n"), "{table}");
    let row = table.lines().last().expect("a row");
    assert_eq!(row.split_whitespace().nth(2), Some("-"), "{table}");
}
