//! What was learnt in one run can be the rules of the next.

use rondo::rules::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn build(mpi: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("build")
        .join(mpi)
}

/// Runs the program `learn` of the MPI tests on four ranks under Rondo with these variables, and gives its output.
fn run(mpi: &str, variables: &[(&str, &str)]) -> String {
    let folder = build(mpi).join("saved");
    fs::create_dir_all(&folder).unwrap();
    let (program, helper) = (folder.join("learn"), folder.join("yield.so"));
    let ctests = Path::new(env!("CARGO_MANIFEST_DIR")).join("ctests");
    let compile = |arguments: &[&str], source: &str, out: &Path| {
        let status = Command::new(format!("mpicc.{mpi}"))
            .args(arguments)
            .arg(ctests.join(source))
            .arg("-o")
            .arg(out)
            .arg("-ldl")
            .status();
        assert!(status.expect("a compiler").success(), "{source}");
    };
    compile(&["-O1"], "learn.c", &program);
    compile(&["-O1", "-shared", "-fPIC"], "yield.c", &helper);
    let library = build(mpi).join("librondo.so");
    let preload = match mpi {
        "mpich" => format!("{}:{}", helper.display(), library.display()),
        _ => library.display().to_string(),
    };
    let mut command = Command::new("timeout");
    command.args(["120", &format!("mpirun.{mpi}")]);
    let all = [("LD_PRELOAD", preload.as_str()), ("EXPECT_RONDO", "any")];
    for (name, value) in all.iter().chain(variables) {
        match mpi {
            "openmpi" => command.args(["-x", &format!("{name}={value}")]),
            _ => command.args(["-genv", name, value]),
        };
    }
    if mpi == "openmpi" {
        command.args(["--oversubscribe", "--allow-run-as-root"]);
        command.args(["--mca", "mpi_yield_when_idle", "1"]);
    }
    let output = command.args(["-np", "4"]).arg(&program).output();
    let output = output.expect("mpirun");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(
        output.status.success() && text.contains("PASS learn"),
        "{mpi}: {text}"
    );
    text
}

#[test]
fn what_was_learnt_is_a_file_of_rules_for_the_next_run() {
    for mpi in ["openmpi", "mpich"] {
        let file = build(mpi).join("saved-rules.json");
        let _ = fs::remove_file(&file);
        let path = file.display().to_string();
        run(mpi, &[("RONDO_LEARN", &format!("save:{path}"))]);
        let text = fs::read_to_string(&file).expect("a file");
        let rules = File::parse(&text).expect("of rules");
        assert!(!rules.host.is_empty() && !rules.rules.is_empty(), "{text}");
        let bcast = rules.rules.iter().find(|rule| rule.collective == "bcast");
        let bcast = bcast.expect("a broadcast was learnt");
        assert_eq!((bcast.comm_size_min, bcast.comm_size_max), (4, 4), "{text}");
        assert!(bcast.msg_size_max < 2 * bcast.msg_size_min, "{text}");
        let text = run(
            mpi,
            &[
                ("RONDO_RULES", &path),
                ("RONDO_STATS", "json"),
                ("RONDO_LEARN", "off"),
            ],
        );
        assert!(text.contains(r#""reason":"by a rule""#), "{mpi}: {text}");
        // Rules of another library are none.
        let foreign = File {
            host: "Some MPI 1.2".into(),
            ..rules
        };
        fs::write(&file, serde_json::to_string(&foreign).unwrap()).unwrap();
        let text = run(mpi, &[("RONDO_RULES", &path), ("RONDO_STATS", "json")]);
        assert!(text.contains("made for Some MPI 1.2"), "{mpi}: {text}");
        assert!(!text.contains(r#""reason":"by a rule""#), "{mpi}: {text}");
    }
}
