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
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/build/openmpi/rondo"));
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

/// The words for a file with these figures.
fn network(name: &str, figures: &str) -> String {
    let path = file(name);
    let text = format!(r#"{{"network": {{{figures}}}, "rules": []}}"#);
    fs::write(&path, text).expect("a file");
    format!("--from {}", path.display())
}

#[test]
fn all_algorithms_of_all_collectives_are_listed_with_a_formula_and_a_source() {
    let whole = rondo("algorithms");
    for collective in Collective::ALL {
        let one = rondo(&format!("algorithms {}", collective.mpi_name()));
        let (algorithms, _) = one.split_once("\nNotation\n").expect("two parts");
        assert!(whole.contains(algorithms), "{one}");
        let head = format!(
            "{}, RONDO_{}\n",
            collective.mpi_name(),
            collective.name().to_uppercase()
        );
        assert!(algorithms.starts_with(&head), "{one}");
        for about in collective.family().about() {
            let name = about.algorithm.name();
            for line in [
                format!("  {name:13}  rounds  {}\n", about.rounds),
                format!("  {:13}  time    {}\n", "", about.time),
                format!("  {:13}  source  {}\n", "", about.source),
            ] {
                assert!(algorithms.contains(&line), "{line} in {one}");
            }
        }
    }
}

/// The option takes it as well.
#[test]
fn other_names_stand_beside_the_names() {
    let mut found = Vec::new();
    for collective in Collective::ALL {
        let table = rondo(&format!("algorithms {}", collective.name()));
        let lines: Vec<&str> = table.lines().collect();
        for pair in lines.windows(2) {
            if let Some(other) = pair[1].trim().strip_prefix("also    ") {
                let name = pair[0].split_whitespace().next().expect("a name");
                let of = |name: &str| collective.family().algorithm(name);
                assert_eq!(of(&other.to_uppercase()), of(name));
                found.push(format!("{}: {other} is {name}", collective.name()));
            }
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
    for about in Collective::ALL.iter().flat_map(|it| it.family().about()) {
        used.extend([about.rounds, about.time].map(words).concat());
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
    let network = network(
        "grids",
        r#""alpha_us": 100, "gap_us": 10, "beta_ns_per_kb": 0"#,
    );
    let report = json(&format!("model alltoall -p 5 -b 5 {network}"));
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
fn figures_of_a_file_go_before_the_usual_network() {
    let network = network(
        "figures",
        r#""alpha_us": 50, "gap_us": 20, "beta_ns_per_kb": 7"#,
    );
    let report = json(&format!("model barrier -p 8 {network}"));
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
fn a_gap_is_no_longer_than_a_message() {
    for (name, figures) in [
        ("fast", r#""alpha_us": 2"#),
        ("wrong-gap", r#""alpha_us": 2, "gap_us": 40"#),
    ] {
        let report = json(&format!("model barrier -p 8 {}", network(name, figures)));
        assert_eq!(report["network"]["gap_us"], 2.0);
        assert_eq!(report["rows"][0]["us"], 6.0);
    }
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

/// But lanes, which there are between nodes of several ranks alone.
#[test]
fn every_algorithm_is_predicted_or_has_a_reason() {
    for &collective in Collective::ALL {
        let bytes = match collective {
            Collective::Barrier => "",
            _ => " -b 64,4K,64K,4M",
        };
        let asked = format!("model {} -p 64{bytes}", collective.name());
        for row in json(&asked)["rows"].as_array().expect("rows") {
            let is_known = row["us"].as_f64().is_some_and(|us| us > 0.0);
            let lacks_lanes = || text_of(row, "why").starts_with("no lanes between nodes");
            assert!(is_known || lacks_lanes(), "{asked}: {row}");
            if !is_known {
                assert!(rondo(&asked).contains(&text_of(row, "why")), "{asked}");
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

/// In a call no rank knows the sizes of others' blocks, so that Rondo sends each straight, and finds none
/// too long.
#[test]
fn exchanges_of_blocks_of_any_size_are_decided_as_in_a_call() {
    for name in ["alltoallv", "alltoallw"] {
        let report = json(&format!("model {name} -p 64 -b 64,4G"));
        let rows = report["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 2 * Collective::Alltoallv.algorithms().len());
        for row in rows {
            assert_eq!(row["why"], Value::Null, "{row}");
            assert!(row["us"].as_f64().is_some_and(|us| us > 0.0), "{row}");
        }
    }
}

/// Whatever the environment says.
#[test]
fn options_have_their_defaults() {
    let asked = "model bcast -p 64 -b 8";
    let mut elsewhere = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/build/openmpi/rondo"));
    elsewhere.args(asked.split_whitespace());
    elsewhere.envs([("RONDO_TREE_ARITY", "9"), ("RONDO_ALPHA_US", "9")]);
    let output = elsewhere.output().expect("the tool starts");
    assert_eq!(text(&output.stdout), rondo(asked));
}

#[test]
fn rows_are_of_all_numbers_that_are_given() {
    let report = json("model bcast -p 2:4,6 -b 1:4,1K");
    let rows = report["rows"].as_array().expect("rows").iter();
    let mut shapes: Vec<[u64; 2]> = rows
        .map(|row| ["ranks", "bytes"].map(|name| row[name].as_u64().expect("a number")))
        .collect();
    shapes.dedup();
    let of = |ranks| [1, 2, 4, 1024].map(|bytes| [ranks, bytes]);
    assert_eq!(shapes, [2, 4, 6].map(of).concat());
}

#[test]
fn nonsense_is_refused() {
    for (args, message) in [
        ("model bcast -b 1", "--ranks"),
        ("model bcst -p 4 -b 1", "bcst"),
        ("model bcast -p 1 -b 1", "1 ranks are not in 2..=1048576"),
        ("model bcast -p 4,2M -b 1", "2097152 ranks are not in 2..="),
        ("model bcast -p x -b 1", "'x'"),
        ("model bcast -p 2.3 -b 1", "'2.3' is no whole number"),
        ("model bcast -p 4", "--bytes"),
        ("model bcast -p 4 -b 0", "begin with 1"),
        ("model barrier -p 4 -b 1", "no bytes"),
        ("model bcast -p 4 -b 1 --gamma nan", "NaN"),
        ("model bcast -p 4 -b 1 --gamma floats", "invalid float"),
        ("model bcast -p 4 -b 1 --preset net", "no preset"),
        ("model bcast -p 4 -b -1", "-1"),
        (
            "model alltoall -p 1M -b 8",
            "8 bytes are less than one for each of 1048576 ranks",
        ),
        ("model bcast -p 4 -b 1 --verbose", "--verbose"),
        ("algorithms alltoallx", "alltoallx"),
    ] {
        let output = run(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {said}");
        assert_eq!(text(&output.stdout), "", "{args}");
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
    assert_eq!(row.split_whitespace().nth(1), Some("-"), "{table}");
}
