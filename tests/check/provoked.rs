//! What `rondo check` says of ranks that are unlike each other, and of jobs that are to outlive failed processes. All
//! on one machine: a rank is given another name and another kernel, as far as it can see.

use super::{
    JSON, Jobs, compile, ctest, executable, jobs,
    mpirun::{self, untested::not_tested},
    root, said,
};
use std::process::Command;

/// A script that starts rank 1 by this command, and others as they are.
fn unlike(jobs: &Jobs, name: &str, command: &str) -> String {
    let script = format!(
        "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" != 1 ] || exec {command} \"$@\"\nexec \"$@\"\n"
    );
    executable(jobs.file(name), &script);
    format!("./{name}")
}

/// Whether a process can be given a name, and files of the kernel's, of its own.
fn can_be_apart() -> bool {
    let both = "hostname elsewhere && mount --bind /etc/hostname /proc/sys/kernel/random/boot_id";
    let status = Command::new("unshare")
        .args(["--uts", "--mount", "sh", "-c", both])
        .status();
    let can = status.is_ok_and(|status| status.success());
    if !can {
        not_tested("ranks that seem to be on other machines, which takes the rights of root");
    }
    can
}

/// The machine's name for a program that is started as `$@`.
const RENAMED: &str = "unshare --uts sh -c 'hostname elsewhere && exec \"$@\"' sh";

/// What a kernel that was started at another time shows, in the place of what this one does.
fn on_another_kernel(jobs: &Jobs, name: &str) -> String {
    let file = jobs.file(&format!("boot_id.{name}"));
    std::fs::write(&file, "another\n").unwrap();
    let mount = format!("mount --bind {file} /proc/sys/kernel/random/boot_id");
    format!("unshare --mount sh -c '{mount} && exec \"$@\"' sh")
}

#[test]
fn a_machine_with_two_names_is_found_out() {
    if !can_be_apart() {
        return;
    }
    let jobs = jobs();
    let script = unlike(jobs, "renamed", RENAMED);
    let text = jobs
        .check(&[], 3, &[&script, "./checked"])
        .problems(&["node-names"]);
    assert!(text.contains("one machine has several names"), "{text}");
    assert!(text.contains("elsewhere"), "{text}");
}

#[test]
fn two_machines_with_one_name_are_found_out() {
    if !can_be_apart() {
        return;
    }
    let jobs = jobs();
    let script = unlike(jobs, "namesake", &on_another_kernel(jobs, "namesake"));
    let text = jobs
        .check(&[], 3, &[&script, "./checked"])
        .problems(&["node-names"]);
    assert!(text.contains("several machines are called"), "{text}");
}

/// The same sources are one build for whatever ABI. So another build is a copy of the library that says so of itself.
#[test]
fn ranks_with_another_build_are_found_out() {
    let jobs = jobs();
    let library = std::fs::read(mpirun::library("openmpi")).unwrap();
    let mark = concat!("rondo ", env!("CARGO_PKG_VERSION"), " of sources ");
    let at = library
        .windows(mark.len())
        .position(|it| it == mark.as_bytes());
    let mut other = library.clone();
    let digit = &mut other[at.expect("a build says which it is") + mark.len()];
    *digit = if *digit == b'0' { b'1' } else { b'0' };
    std::fs::write(jobs.file("librondo.other.so"), other).unwrap();
    let command = format!("env LD_PRELOAD={}", jobs.file("librondo.other.so"));
    let script = unlike(jobs, "other-build", &command);
    let said = jobs.check(&[], 3, &[&script, "./checked"]);
    let text = said.problems(&["builds-differ"]);
    assert!(text.contains("librondo.other.so"), "{text}");
    let row = &said.report["statistics"]["collectives"][0];
    assert_eq!(row["algorithm"], "host", "they agree that they differ");
}

/// By MPICH's own variable, on all ranks.
#[test]
fn a_job_of_mpich_that_is_to_outlive_its_processes_is_said_to_be() {
    let jobs = jobs();
    let program = jobs.folder.join("checked.outlives");
    compile(Some("mpich"), &ctest("checked.c"), program, &[]);
    let mut command = Command::new(root().join("build/mpich/rondo"));
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command.current_dir(&jobs.folder);
    command.args(["check", JSON, "mpirun.mpich", "-np", "3"]);
    command.args(["-genv", "MPIR_CVAR_ENABLE_FT", "1", "./checked.outlives"]);
    let said = said(&mut command);
    let text = said.problems(&["outlives"]);
    assert!(text.contains("20 calls of rank 0"), "{text}");
    assert!(text.contains("MPIR_CVAR_ENABLE_FT unset"), "{text}");
    assert_eq!(said.kinds("fine"), ["loaded", "end"]);
}

/// Open MPI 5 can do so; Debian's 4.1 cannot.
#[test]
#[ignore = "part of make matrix, which installs Open MPI 5"]
fn a_job_of_open_mpi_that_is_to_outlive_its_processes_is_said_to_be() {
    let jobs = jobs();
    let tool = |name: &str| root().join("build/matrix/openmpi-5.0/bin").join(name);
    let program = jobs.checked_by(&tool("mpicc"), "checked.ulfm");
    let mut command = Command::new(root().join("build/openmpi/rondo"));
    command.env_clear().env("PATH", "/usr/bin:/bin");
    // It wants to look for settings there.
    command.env("HOME", &jobs.folder);
    command.current_dir(&jobs.folder);
    command.args(["check", JSON]).arg(tool("mpirun"));
    command.args([
        "--allow-run-as-root",
        "--oversubscribe",
        "--with-ft",
        "ulfm",
    ]);
    let said = said(command.args(["-np", "3", &program]));
    let text = said.problems(&["outlives"]);
    assert!(text.starts_with("rank 0: the job is to outlive"), "{text}");
    assert!(text.contains("mpirun without --with-ft"), "{text}");
}
