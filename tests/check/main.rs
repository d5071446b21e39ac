//! `rondo check` against each failure that it knows, provoked on purpose.

#![forbid(unsafe_code)]

mod libraries;
#[path = "../mpirun/mod.rs"]
mod mpirun;
mod options;
mod provoked;
mod scripted;
mod starting;

use mpirun::{compile, ctest, executable::executable, folder, root};
use serde_json::Value;
use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{PermissionsExt, chown},
        process::ExitStatusExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    thread,
    time::Duration,
};

/// What is needed to start jobs on Open MPI and on MPICH.
struct Jobs {
    folder: PathBuf,
}

fn jobs() -> &'static Jobs {
    static JOBS: OnceLock<Jobs> = OnceLock::new();
    JOBS.get_or_init(|| {
        let folder = folder("check");
        let file = |name: &str| folder.join(name);
        let source = |name: &str| ctest(name);
        compile(Some("openmpi"), &source("checked.c"), file("checked"), &[]);
        compile(
            Some("openmpi"),
            &source("checked.c"),
            file("checked.so"),
            mpirun::SHARED,
        );
        compile(None, &source("deepbind.c"), file("deepbind"), &[]);
        for name in ["without", "on_node"] {
            compile(None, &source(&format!("{name}.c")), file(name), &[]);
        }
        fs::write(file("plain.c"), "int main(void) { return 0; }\n").unwrap();
        compile(None, &file("plain.c"), file("static"), &["-static"]);
        compile(None, &file("plain.c"), file("plain"), &[]);
        let script = "#!/bin/sh\nexec env -u LD_PRELOAD \"$@\"\n";
        executable(file("dropping"), script);
        Jobs { folder }
    })
}

/// What the tool said.
struct Said {
    status: Option<i32>,
    report: Value,
    stderr: String,
}

impl Said {
    fn kinds(&self, which: &str) -> Vec<&str> {
        let all = self.report[which].as_array().expect("a list");
        all.iter().map(|it| it["kind"].as_str().unwrap()).collect()
    }

    /// The only problems are of these kinds; the status tells of them. What is said of the first.
    fn problems(&self, kinds: &[&str]) -> String {
        assert_eq!(
            self.kinds("problems"),
            kinds,
            "{} {}",
            self.report,
            self.stderr
        );
        assert_eq!(
            self.status,
            Some(i32::from(!kinds.is_empty())),
            "{}",
            self.stderr
        );
        let all = self.report["problems"].as_array().unwrap();
        let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
        assert!(
            all.iter().all(|it| text(it, "advice").len() > 10),
            "{}",
            self.report
        );
        all.first().map_or(String::new(), |it| {
            text(it, "what") + ": " + &text(it, "advice")
        })
    }
}

impl Jobs {
    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// The tool on a job of Open MPI with so many ranks, of this program with its arguments.
    fn tool(&self, options: &[&str], ranks: u32, program: &[&str]) -> Command {
        let mut command = Command::new(root().join("build/openmpi/rondo"));
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir(&self.folder);
        command.args(["check", JSON]).args(options);
        command.args(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]);
        command.args([
            "--mca",
            "mpi_yield_when_idle",
            "1",
            "-np",
            &ranks.to_string(),
        ]);
        command.args(program);
        command
    }

    /// The program that is checked, by the compiler of another MPI, as a file of this name.
    fn checked_by(&self, compiler: &Path, name: &str) -> String {
        let program = self.file(name);
        let made = Command::new(compiler)
            .args(["-o", &program])
            .args([ctest("checked.c"), "-ldl".into()])
            .status();
        assert!(made.unwrap().success(), "{}", compiler.display());
        program
    }

    fn check(&self, options: &[&str], ranks: u32, program: &[&str]) -> Said {
        said(&mut self.tool(options, ranks, program))
    }
}

/// Behind the text.
const JSON: &str = "--json=/dev/stdout";

fn said(command: &mut Command) -> Said {
    let output = command.output().expect("the tool starts");
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.split_inclusive('\n');
    let text: String = text.skip_while(|line| *line != "{\n").collect();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text} {stderr}"));
    Said {
        status: output.status.code(),
        report,
        stderr,
    }
}

#[test]
fn a_job_that_is_well_is_said_to_be() {
    let jobs = jobs();
    let said = jobs.check(&[], 4, &["./checked"]);
    said.problems(&[]);
    let fine = [
        "loaded",
        "calls",
        "fits",
        "shared-memory",
        "node-names",
        "end",
    ];
    assert_eq!(said.kinds("fine"), fine);
    assert_eq!(said.report["ranks"], 4);
    let rows = said.report["statistics"]["collectives"].as_array().unwrap();
    let calls = rows.iter().map(|row| row["calls"].as_u64().unwrap());
    assert_eq!(calls.sum::<u64>(), 20, "{}", said.report);
    let place = jobs.file("place");
    fs::create_dir_all(&place).unwrap();
    let said = jobs.check(&["--folder", &place], 3, &["./checked", "silent"]);
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "nothing is left");
    said.problems(&[]);
    assert!(said.kinds("fine").contains(&"calls"), "{}", said.report);
}

#[test]
fn people_get_a_text_and_scripts_a_file() {
    let jobs = jobs();
    let file = jobs.file("report.json");
    let mut command = jobs.tool(&[], 3, &["./checked"]);
    let words: Vec<_> = command.get_args().map(|word| word.to_owned()).collect();
    let json = format!("--json={file}");
    command = Command::new(command.get_program());
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("RONDO_BCST", "host");
    command
        .current_dir(&jobs.folder)
        .arg("check")
        .arg(json)
        .args(&words[2..]);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    for line in [
        "rondo check: 3 ranks, ",
        "  ok       the library is in all 3 ranks",
        "  PROBLEM  unknown variable RONDO_BCST; did you mean RONDO_BCAST?",
        "collective           algorithm          calls",
        "1 problem found",
    ] {
        assert!(
            text.lines().any(|it| it.starts_with(line)),
            "{line}: {text}"
        );
    }
    // Numbers end where their heading does.
    let end = text
        .lines()
        .filter(|line| line.starts_with("collective "))
        .find_map(|line| Some(line.find(" calls ")? + 6));
    let end = end.expect("a heading");
    let mut rows = text.lines().filter(|line| line.starts_with("bcast "));
    let first = rows.next().expect("a row");
    let number = first[..end].rsplit(' ').next().expect("a word");
    assert!(
        number.parse::<u32>().is_ok() && first[end..].starts_with(' '),
        "{text}"
    );
    let report: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(report["problems"][0]["kind"], "option");
}

#[test]
fn a_report_that_cannot_be_written_is_not_lost() {
    let jobs = jobs();
    let tool = |json: &str| {
        let mut command = Command::new(root().join("build/openmpi/rondo"));
        let tool = jobs.tool(&[], 3, &["./checked"]);
        command.env_clear().env("PATH", "/usr/bin:/bin");
        command.current_dir(&jobs.folder).arg("check").arg(json);
        let output = command.args(tool.get_args().skip(2)).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        assert_eq!(output.status.code(), Some(1));
        (text(output.stdout), text(output.stderr))
    };
    // It is known before the job is run.
    let (text, said) = tool("--json=/nowhere/report.json");
    assert_eq!(text, "");
    assert!(said.contains("cannot write /nowhere/report.json"), "{said}");
    let (text, said) = tool("--json=/dev/full");
    assert!(text.ends_with("no problem found\n"), "{text}");
    assert!(said.contains("cannot write /dev/full"), "{said}");
}

#[test]
fn a_program_of_another_mpi_than_the_launchers_is_found_out() {
    let jobs = jobs();
    compile(
        Some("mpich"),
        &ctest("checked.c"),
        jobs.folder.join("checked.mpich"),
        &[],
    );
    let said = jobs.check(&[], 3, &["./checked.mpich"]);
    let text = said.problems(&["jobs-of-one"]);
    assert!(
        text.contains("each of the 3 processes") && text.contains("libmpi"),
        "{text}"
    );
    assert_eq!(said.report["ranks"], 3);
}

#[test]
fn a_static_program_takes_nothing() {
    let said = jobs().check(&[], 2, &["./static"]);
    let problem = said.problems(&["not-loaded"]);
    assert!(problem.contains("linked statically"), "{problem}");
    assert!(problem.contains("scripts/build --direct"), "{problem}");
}

/// That may be a word of the command, and is executable as compilers leave it.
#[test]
fn a_static_program_is_told_from_a_library() {
    let jobs = jobs();
    let file = |name: &str| jobs.folder.join(name);
    let all: &[&str] = &["-static"];
    let alone = [mpirun::SHARED, &["-nostdlib"]].concat();
    // A launcher that starts nothing.
    let launcher = file("mpirun-nothing");
    executable(&launcher, "#!/bin/sh\necho Open MPI\n");
    for (name, arguments, is_static) in [
        ("all.static", all, true),
        ("alone.so", &alone, false),
        ("needing.so", mpirun::SHARED, false),
    ] {
        compile(None, &file("plain.c"), file(name), arguments);
        let mut command = Command::new(root().join("build/openmpi/rondo"));
        command.env_clear().current_dir(&jobs.folder);
        command.args(["check", JSON]);
        let said = said(command.arg(&launcher).arg(format!("./{name}")));
        let problem = said.problems(&["not-loaded"]);
        assert_eq!(
            problem.contains("linked statically"),
            is_static,
            "{problem}"
        );
    }
}

#[test]
fn a_program_with_rights_of_its_own_takes_nothing() {
    let jobs = jobs();
    let program = jobs.folder.join("rights");
    fs::copy(jobs.folder.join("checked"), &program).unwrap();
    chown(&program, Some(61_616), Some(61_616)).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
    // Its user may be root, who has all rights: what counts is that it runs as somebody else.
    let said = jobs.check(&["--limit", "15s"], 2, &["./rights"]);
    let text = jobs_text(&said);
    assert_eq!(said.status, Some(1));
    assert!(text.contains("set-user-id"), "{text}");
}

fn jobs_text(said: &Said) -> String {
    said.report["problems"].to_string()
}

#[test]
fn a_variable_that_is_dropped_is_missed() {
    let said = jobs().check(&[], 3, &["./dropping", "./checked"]);
    let text = said.problems(&["lost-on-the-way"]);
    let named = "/usr/bin/env, which have no MPI";
    assert!(
        text.contains("all 3 ranks") && text.contains(named),
        "{text}"
    );
}

#[test]
fn a_program_that_is_missing_or_has_no_mpi_is_said_to_be() {
    let text = jobs()
        .check(&[], 2, &["./nowhere"])
        .problems(&["not-started"]);
    assert!(
        text.contains("no word of the command names a program"),
        "{text}"
    );
    let early = jobs().check(&[], 2, &["./checked", "early"]);
    let text = early.problems(&["no-calls", "job-failed"]);
    assert!(text.contains("before MPI_Init"), "{text}");
    let text = jobs().check(&[], 2, &["./plain"]).problems(&["no-mpi"]);
    assert!(
        text.contains("/plain has no MPI: not linked with an MPI library"),
        "{text}"
    );
}

#[test]
fn a_preload_of_the_users_is_named() {
    let said = jobs().check(&[], 3, &["env", "LD_PRELOAD=libm.so.6", "./checked"]);
    let text = said.problems(&["lost-on-the-way"]);
    assert!(
        text.contains("LD_PRELOAD=libm.so.6 may replace the LD_PRELOAD that Rondo sets"),
        "{text}"
    );
}

/// The others wait for it, and are not left waiting.
#[test]
fn a_rank_without_the_library_is_named() {
    let said = jobs().check(&["--limit", "100s"], 4, &["./without", "2", "./checked"]);
    let text = said.problems(&["lost-on-the-way", "job-hung"]);
    assert!(text.contains("rank 2 of 4"), "{text}");
}

#[test]
fn calls_that_do_not_arrive_are_missed() {
    let said = jobs().check(&[], 3, &["./deepbind", "./checked.so"]);
    let text = said.problems(&["calls-do-not-arrive"]);
    assert!(text.contains("RTLD_DEEPBIND"), "{text}");
}

#[test]
fn shared_memory_that_is_not_to_be_had_is_missed() {
    let said = jobs().check(&[], 3, &["./checked", "limited"]);
    let text = said.problems(&["no-shared-memory"]);
    assert!(text.contains("3 of 3"), "{text}");
    let said = self::said(jobs().tool(&[], 3, &["./checked"]).env("RONDO_SHM", "off"));
    assert!(
        said.problems(&["no-shared-memory"])
            .contains("RONDO_SHM=off")
    );
}

/// By its name, which the loader finds in front of the program's libraries.
#[test]
fn calls_that_a_gpu_keeps_away_are_named() {
    let jobs = jobs();
    let driver = jobs.folder.join("libcuda.so.1");
    compile(None, &ctest("gpu_driver.c"), driver, mpirun::SHARED);
    let tool = || {
        let mut tool = jobs.tool(&[], 3, &["./checked"]);
        tool.env("LD_PRELOAD", jobs.file("libcuda.so.1"));
        tool
    };
    let text = said(&mut tool()).problems(&["gpu"]);
    let what = "a GPU's driver is loaded, so that 20 calls of rank 0 were left to the MPI library";
    assert!(text.contains(what), "{text}");
    assert!(text.contains("RONDO_GPU=off"), "{text}");
    said(tool().env("RONDO_GPU", "off")).problems(&[]);
}

#[test]
fn nodes_that_the_user_names_are_believed() {
    let said = jobs().check(&[], 4, &["./on_node", "0,0,1,1", "./checked"]);
    said.problems(&[]);
    let text = said.report["fine"].to_string();
    assert!(
        text.contains("2 nodes by RONDO_NODE, on machines: 1"),
        "{text}"
    );
}

/// The library for every MPI in the place of the tool's own one, on an MPI of this name with these tools.
fn the_library_for_every_mpi_fits(mpi: &str, tool: &str, compiler: &Path, launcher: &Path) {
    let jobs = jobs();
    let library = root().join("build/one/librondo.so");
    let program = jobs.checked_by(compiler, &format!("checked.one-{mpi}"));
    let mut command = Command::new(root().join("build").join(tool).join("rondo"));
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        // Open MPI 5 looks for settings there.
        .env("HOME", &jobs.folder)
        .env("RONDO_BCAST", "circulant")
        .current_dir(&jobs.folder);
    command.args(["check", JSON, "--lib"]).arg(&library);
    command.arg(launcher);
    if mpi.starts_with("openmpi") {
        command.args(["--allow-run-as-root", "--oversubscribe"]);
    }
    let said = said(command.args(["-np", "3", &program]));
    said.problems(&[]);
    assert_eq!(said.report["library"], library.display().to_string());
    assert!(said.kinds("fine").contains(&"fits"), "{}", said.report);
    let row = &said.report["statistics"]["collectives"][0];
    assert_eq!(
        (&row["algorithm"], &row["calls"]),
        (&"circulant".into(), &20.into()),
        "{mpi}"
    );
}

#[test]
#[ignore = "part of make matrix, which builds the library for every MPI"]
fn the_library_for_every_mpi_is_checked_as_well() {
    for mpi in mpirun::MPIS {
        let tool = |name: &str| PathBuf::from(mpirun::command(name, mpi));
        the_library_for_every_mpi_fits(mpi, mpi, &tool("mpicc"), &tool("mpirun"));
    }
}

#[test]
#[ignore = "part of make matrix, which installs MPI libraries that Debian does not have"]
fn the_library_for_every_mpi_is_checked_on_newer_ones() {
    for mpi in ["openmpi-5.0", "mpich-5.0", "standard-5.0", "intel-2021.18"] {
        let folder = root().join("build/matrix").join(mpi).join("bin");
        let tool = |name: &str| folder.join(name);
        the_library_for_every_mpi_fits(mpi, "openmpi", &tool("mpicc"), &tool("mpirun"));
    }
}

#[test]
fn jobs_that_fail_or_hang_are_no_success() {
    let said = jobs().check(&[], 3, &["./checked", "fail"]);
    assert!(said.problems(&["job-failed"]).contains("status 3"));
    let said = jobs().check(&["--limit", "25s"], 3, &["./checked", "hang"]);
    assert!(said.problems(&["job-hung"]).contains("after 25 s"));
}

/// Debian has MPICH as an archive, too.
#[test]
fn a_program_with_mpi_in_itself_is_found_out() {
    let jobs = jobs();
    let program = jobs.file("inside");
    let mut command = Command::new("cc");
    command.arg("-I/usr/include/x86_64-linux-gnu/mpich");
    command.args(["-o", &program]).arg(ctest("checked.c"));
    command.args([
        "-l:libmpich.a",
        "-lucp",
        "-lucs",
        "-luct",
        "-lhwloc",
        "-lpthread",
        "-lm",
        "-ldl",
        "-lrt",
    ]);
    assert!(command.status().unwrap().success());
    let mut command = Command::new(root().join("build/mpich/rondo"));
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&jobs.folder);
    let said = said(command.args(["check", JSON, "mpirun.mpich", "-np", "3", &program]));
    said.problems(&["static-mpi"]);
}

/// A batch system ends the tool, or Ctrl-C, or a terminal that is closed: the job and the folder go with it.
#[test]
fn the_job_ends_with_the_tool() {
    for (signal, seconds) in [("TERM", "4321"), ("INT", "4322"), ("HUP", "4323")] {
        ends_with_tool(signal, seconds);
    }
}

fn ends_with_tool(signal: &str, seconds: &str) {
    let jobs = jobs();
    let place = jobs.file("ending");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    let left = || {
        let sleeping = Command::new("pgrep")
            .args(["-f", &format!("^sleep {seconds}$")])
            .output();
        !sleeping.unwrap().stdout.is_empty()
    };
    let pause = || thread::sleep(Duration::from_millis(100));
    // Whoever runs the tests may ignore these signals.
    let tool = jobs.tool(&["--folder", &place], 2, &["sleep", seconds]);
    let mut child = Command::new("env")
        .arg("--default-signal")
        .arg(tool.get_program())
        .args(tool.get_args())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&jobs.folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..3000 {
        if left() {
            break;
        }
        pause();
    }
    // It is prepared for signals soon after the launcher has started.
    thread::sleep(Duration::from_secs(1));
    let number = child.id().to_string();
    let kill = Command::new("kill").args(["-s", signal, &number]).status();
    assert!(kill.unwrap().success());
    assert!(child.wait().unwrap().signal().is_some());
    assert_eq!(
        fs::read_dir(&place).unwrap().count(),
        0,
        "{signal}: nothing is left"
    );
    for _ in 0..600 {
        if !left() {
            return;
        }
        pause();
    }
    panic!("{signal}: the job goes on");
}

#[test]
fn the_tool_says_what_it_cannot_do() {
    let run = |args: &[&str]| {
        let mut command = Command::new(root().join("build/openmpi/rondo"));
        let output = command.arg("check").args(args).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    assert_eq!(run(&[]).0, Some(2));
    let (status, text) = run(&["--limit", "soon", "mpirun", "./app"]);
    assert!(
        status == Some(2) && text.contains("invalid value 'soon'"),
        "{text}"
    );
    let (status, text) = run(&["--folder", "/nowhere", "mpirun", "./app"]);
    assert!(status == Some(1) && text.contains("--folder"), "{text}");
    assert_eq!(run(&["mpirun-of-nobody", "./app"]).0, Some(127));
}
