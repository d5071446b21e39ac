//! The report of a job: what people read, and what scripts do.

use rondo::algorithm::Algorithm;
use rondo::collective::Collective;
use rondo::decide::{Choice, Form, Method, Why};
use rondo::flow::Path;
use rondo::network::Network;
use rondo::stats::{self, Promised, Report, Row, Saving, Taken};

fn report(summed_ranks: u32) -> Report {
    let row = |algorithm, calls, reason| Row {
        collective: "bcast",
        algorithm,
        calls,
        bytes: 1000 * calls,
        seconds: 0.25,
        reason,
    };
    Report {
        version: "1.2.3",
        host: "Some MPI 7".into(),
        ranks: 4,
        summed_ranks,
        until: None,
        job: Some("the job has 4 ranks on 2 nodes; tags have 31 bits".into()),
        network: Network::default(),
        in_flight: None,
        collectives: vec![
            row("circulant", 10, "measured"),
            row("host", 2, "nonblocking"),
        ],
        promises: vec![Promised {
            promise: "order",
            calls: 7,
        }],
        saved: vec![Saving {
            collective: "bcast",
            calls: 9,
            seconds: 0.125,
        }],
        memory: vec![Taken {
            ranks: 4,
            nodes: 2,
            communicators: 1,
            bytes: 5000,
            shared_bytes: 4096,
        }],
        most_memory: (summed_ranks > 1).then_some(6000),
    }
}

/// The report says this, in both forms.
fn tells(report: &Report, text: &str, json: &str) {
    assert!(report.text().contains(text), "{}", report.text());
    assert!(report.json().contains(json), "{}", report.json());
}

#[test]
fn people_get_a_table() {
    assert_eq!(
        report(4).text(),
        "\
rondo 1.2.3 on Some MPI 7, 4 ranks (calls of rank 0; bytes and seconds of all 4 ranks)
collective           algorithm          calls            bytes      seconds  reason
bcast                circulant             10            10000     0.250000  measured
bcast                host                   2             2000     0.250000  nonblocking
the job has 4 ranks on 2 nodes; tags have 31 bits
reductions under RONDO_REPRODUCIBLE=order: 7 calls
memory: 1 communicator of 4 ranks on 2 nodes: at most 5000 bytes on rank 0, and 4096 shared in a node, for each
memory: at most 6000 bytes on any rank, for one communicator
bcast: 9 calls took 0.125000 s less per rank than the MPI library was measured to take
"
    );
    assert!(
        report(1)
            .text()
            .contains("(calls of rank 0; bytes and seconds of rank 0 too)")
    );
}

/// What took longer is not said to have taken less.
#[test]
fn what_was_lost_is_said() {
    let mut report = report(4);
    report.saved[0].seconds = -0.25;
    let line = "\nbcast: 9 calls took 0.250000 s more per rank than the MPI library was measured to take\n";
    assert!(report.text().contains(line), "{}", report.text());
}

/// An early end shows, and where there was none, nothing does.
#[test]
fn what_ended_a_job_before_its_time_is_said() {
    let mut early = report(1);
    assert!(!early.json().contains("until"));
    early.until = Some("SIGTERM".into());
    assert!(
        early
            .text()
            .contains("4 ranks (until SIGTERM; calls of rank 0; bytes and seconds of rank 0 too)")
    );
    assert!(early.json().contains(r#""until":"SIGTERM""#));
}

#[test]
fn scripts_get_an_object() {
    let json: serde_json::Value = serde_json::from_str(&report(4).json()).unwrap();
    assert_eq!(json["ranks"], 4);
    assert_eq!(
        json["job"],
        "the job has 4 ranks on 2 nodes; tags have 31 bits"
    );
    assert_eq!(json["collectives"][1]["reason"], "nonblocking");
    let saved = serde_json::json!([{ "collective": "bcast", "calls": 9, "seconds": 0.125 }]);
    assert_eq!(json["saved"], saved);
    let promises = serde_json::json!([{ "promise": "order", "calls": 7 }]);
    assert_eq!(json["promises"], promises);
    let memory = serde_json::json!([{
        "ranks": 4, "nodes": 2, "communicators": 1, "bytes": 5000, "shared_bytes": 4096
    }]);
    assert_eq!(json["memory"], memory);
    assert_eq!(json["most_memory_bytes"], 6000);
    assert!(!report(1).json().contains("most_memory"), "of one rank");
}

#[test]
fn the_figures_of_the_network_are_told_where_they_are_known() {
    let mut known = report(4);
    assert!(!known.text().contains("network") && !known.json().contains("network"));
    known.network.alpha_us = Some(1.5);
    assert!(known.text().contains("network: 1.5 us between nodes"));
    assert!(known.json().contains(r#""network":{"alpha_us":1.5}"#));
}

#[test]
fn the_window_and_the_round_trip_are_told_where_they_are_known() {
    let mut known = report(4);
    assert!(!known.text().contains("in flight") && !known.json().contains("in_flight"));
    let mut path = Path {
        window_bytes: 264 << 10,
        round_trip_us: None,
    };
    known.in_flight = Some(path);
    tells(
        &known,
        "\nin flight: window 264 KiB\n",
        r#""in_flight":{"window_bytes":270336}"#,
    );
    path.round_trip_us = Some(4200.25);
    known.in_flight = Some(path);
    tells(
        &known,
        "\nin flight: window 264 KiB, round trip 4200.2 us\n",
        r#""in_flight":{"window_bytes":270336,"round_trip_us":4200.25}"#,
    );
}

/// The report has the communicator of the most nodes, and of that what is newest.
#[test]
fn the_window_between_the_most_nodes_is_told() {
    let path = |window_bytes| Path {
        window_bytes,
        round_trip_us: None,
    };
    assert_eq!(stats::path(), None);
    for (nodes, noted, told) in [(2, 1, 1), (4, 2, 2), (3, 3, 2), (4, 4, 4)] {
        stats::note_path(nodes, path(noted));
        assert_eq!(stats::path(), Some(path(told)), "{nodes}");
    }
}

/// A name may be another one of an algorithm in one collective, and its own in another.
#[test]
fn calls_are_known_by_every_name_of_an_algorithm() {
    let count = |collective, algorithm| {
        let method = Method {
            algorithm,
            form: Form::Flat,
            blocks: 1,
            why: Why::Configured,
        };
        stats::count(collective, Choice::Rondo(method), 8);
    };
    count(Collective::Bcast, Algorithm::Relay);
    count(Collective::Allgather, Algorithm::Doubling);
    count(Collective::Alltoall, Algorithm::Hypercube);
    for (collective, algorithm, calls) in [
        ("bcast", "relay", Some(1)),
        ("MPI_Bcast", "two-phase", Some(1)),
        ("bcast", "Two-Phase", Some(1)),
        ("bcast", "hypercube", Some(0)),
        ("allgather", "doubling", Some(1)),
        ("allgather", "hypercube", Some(1)),
        ("alltoall", "hypercube", Some(1)),
        ("allgather", "halving", Some(0)),
        ("allgather", "two-phase", None),
        ("bcast", "host", Some(0)),
        ("bcast", "relays", None),
    ] {
        let counted = stats::calls(collective, Some(algorithm));
        assert_eq!(counted, calls, "{collective} {algorithm}");
    }
    assert_eq!(stats::calls("bcast", None), Some(1));
}
