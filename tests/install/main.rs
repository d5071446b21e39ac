//! `make install`, programs linked with what it installed or with what else is for linking, as the README says, and
//! what else users get Rondo by (`packages.rs`).

mod packages;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const MPIS: [&str; 2] = ["openmpi", "mpich"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command to its end; its output on both streams. Anything but success ends the test.
fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

/// Installs for an MPI into a folder of its own and gives that folder.
fn install(mpi: &str, name: &str) -> PathBuf {
    let stage = root().join(format!("build/{mpi}/install-{name}"));
    let _ = fs::remove_dir_all(&stage);
    let destdir = format!("DESTDIR={}", stage.display());
    let mpicc = format!("MPICC=mpicc.{mpi}");
    run(builder("make").args(["install", "PREFIX=/opt/rondo", &destdir, &mpicc]));
    stage.join("opt/rondo")
}

/// Root has no Rust where the user has built, or another one.
#[test]
fn what_is_built_is_installed_without_rust() {
    run(builder("make").args(["build", "MPICC=mpicc.openmpi"]));
    let stage = root().join("build/openmpi/install-root");
    let _ = fs::remove_dir_all(&stage);
    let destdir = format!("DESTDIR={}", stage.display());
    let said = run(builder("make")
        .args(["install", "PREFIX=/opt", &destdir, "MPICC=mpicc.openmpi"])
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", &stage)
        .env_remove("CARGO_HOME"));
    assert!(stage.join("opt/bin/rondo").exists(), "{said}");
    assert!(!said.contains("built "), "{said}");
}

/// A command of this project that builds. Cargo's own variables would change what the inner cargo builds.
fn builder(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in
        env::vars().filter(|(name, _)| name.starts_with("CARGO") || name == "RUSTFLAGS")
    {
        if !["CARGO_HOME", "CARGO"].contains(&name.as_str()) {
            command.env_remove(name);
        }
    }
    command.current_dir(root());
    command
}

/// What `make` would do with these arguments.
fn plan(arguments: &[&str]) -> String {
    run(builder("make").arg("--dry-run").args(arguments))
}

/// Where only the user's own MPI library is, what just tests need is not asked for.
#[test]
fn builds_ask_for_no_more_than_they_take() {
    let own = "MPICC=/opt/mpi/bin/mpicc";
    for (arguments, wrappers) in [
        (&[own] as &[&str], r#""/opt/mpi/bin/mpicc""#),
        (&["build", "MPICC=mpicc"], r#""mpicc""#),
        (&["install", own], r#""/opt/mpi/bin/mpicc""#),
        (&["one", "MPICC_MPICH=own"], r#""mpicc.openmpi" "own""#),
        (
            &["wheel", "MPICC_OPENMPI=own"],
            r#"--wheel "own" "mpicc.mpich""#,
        ),
    ] {
        let plan = plan(arguments);
        assert!(
            plan.contains(&format!("--build {wrappers}")),
            "{arguments:?}: {plan}"
        );
    }
    let flavour = run(builder("scripts/flavour").arg("standard"));
    assert_eq!(flavour, "standard\n", "no MPI library is asked for that");
    let output = builder("scripts/flavour").arg("cc").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        said.contains("cc finds no mpi.h: MPICC is to be the compiler wrapper"),
        "{said}"
    );
    let mut setup = builder("scripts/setup");
    let output = setup.args(["--build", "/opt/mpi/bin/mpicc"]).output();
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    let what = "wrapper /opt/mpi/bin/mpicc cannot be run";
    assert!(said.contains(what), "{said}");
}

/// A bar for the bare run and one for that under Rondo, on each MPI; the longest is as wide as the picture.
#[test]
fn the_demonstration_ends_with_a_picture() {
    let said = run(builder("scripts/demo").args(["examples/filecast.c", "3"]));
    let (_, picture) = said
        .split_once("== milliseconds of a broadcast")
        .unwrap_or_else(|| panic!("{said}"));
    let bars: Vec<&str> = picture.lines().skip(1).collect();
    let names = ["openmpi", "mpich"].map(|mpi| ["bare", "with Rondo"].map(|how| (mpi, how)));
    assert_eq!(bars.len(), 4, "{picture}");
    for (bar, (mpi, how)) in bars.iter().zip(names.as_flattened()) {
        let (name, rest) = bar.split_once('|').expect("a bar");
        let mut words = name.split_whitespace();
        assert_eq!(words.next(), Some(*mpi), "{picture}");
        assert_eq!(words.collect::<Vec<_>>().join(" "), *how, "{picture}");
        let time = rest.split_whitespace().next_back().expect("a time");
        assert!(time.parse::<f64>().is_ok_and(|time| time > 0.0), "{bar}");
    }
    let longest = bars.iter().map(|bar| bar.matches('#').count()).max();
    assert_eq!(longest, Some(60), "{picture}");
}

/// Runs an MPI program on three ranks under a time limit. The loader may be told where libraries are that the program
/// does not find.
fn mpirun(mpi: &str, libraries: &str, program: &Path) -> String {
    let mut command = Command::new("timeout");
    command.args(["300", &format!("mpirun.{mpi}")]);
    let settings = [
        ("LD_LIBRARY_PATH", libraries),
        ("RONDO_BCAST", "circulant"),
        ("RONDO_STATS", "json"),
    ];
    for (name, value) in settings {
        match mpi {
            "openmpi" => command.args(["-x", &format!("{name}={value}")]),
            _ => command.args(["-genv", name, value]),
        };
    }
    if mpi == "openmpi" {
        command.args(["--oversubscribe", "--allow-run-as-root"]);
    }
    run(command.args(["-np", "3"]).arg(program))
}

#[test]
fn what_is_installed_can_be_linked_with() {
    for mpi in MPIS {
        let prefix = install(mpi, "test");
        for file in [
            "lib/librondo.so.0",
            "lib/librondo.so",
            "lib/librondo.a",
            "include/rondo.h",
            "bin/rondo",
            "lib/pkgconfig/rondo.pc",
            "lib/cmake/Rondo/RondoConfig.cmake",
            "lib/cmake/Rondo/RondoConfigVersion.cmake",
            concat!("share/modulefiles/rondo/", env!("CARGO_PKG_VERSION")),
            "share/man/man1/rondo.1",
            "share/man/man1/rondo-run.1",
            "share/man/man1/rondo-check.1",
            "share/man/man7/librondo.7",
        ] {
            assert!(prefix.join(file).exists(), "{mpi}: {file}");
        }
        let info = run(Command::new(prefix.join(format!("bin/rondo-{mpi}"))).arg("info"));
        assert!(info.contains(&format!("{mpi}, built with")), "{info}");
        let lib = prefix.join("lib");
        let library_path = format!("-L{}", lib.display());
        let found_at = format!("-Wl,-rpath,{}", lib.display());
        let archive = lib.join("librondo.a").display().to_string();
        let c = root().join("examples/filecast.c").display().to_string();
        let (cc, f90) = (format!("mpicc.{mpi}"), format!("mpif90.{mpi}"));
        let fortran = root()
            .join("build")
            .join(mpi)
            .join("install-test/hello.f90");
        fs::write(&fortran, FORTRAN).unwrap();
        let fortran = fortran.display().to_string();
        let flags = pkg_config(&prefix, &["--cflags", "--libs"]);
        let flags = shlex::split(&flags).unwrap();
        let found = [&c].into_iter().chain(&flags).map(String::as_str);
        let ways: [(&str, &str, Vec<&str>); 4] = [
            ("found", &cc, found.collect()),
            ("shared", &cc, vec![&c, &library_path, &found_at, "-lrondo"]),
            (
                "static",
                &cc,
                vec![&c, &archive, "-ldl", "-lpthread", "-lm"],
            ),
            (
                "fortran",
                &f90,
                vec![
                    &fortran,
                    "-Wl,--no-as-needed",
                    &library_path,
                    &found_at,
                    "-lrondo",
                ],
            ),
        ];
        for (way, compiler, arguments) in ways {
            let program = prefix.join(way);
            run(Command::new(compiler)
                .args(arguments)
                .arg("-o")
                .arg(&program));
            let mut words = program.clone().into_os_string();
            if way != "fortran" {
                // filecast takes a file; a script gives it one, so that `mpirun` stays the same.
                let script = prefix.join(format!("{way}.sh"));
                fs::write(
                    &script,
                    format!("#!/bin/sh\nexec {} {c}\n", program.display()),
                )
                .unwrap();
                run(Command::new("chmod").arg("+x").arg(&script));
                words = script.into_os_string();
            }
            // What pkg-config says is of the place where it will be used.
            let libraries = if way == "found" {
                lib.to_str()
            } else {
                Some("")
            };
            let output = mpirun(mpi, libraries.unwrap(), Path::new(&words));
            assert!(
                output.contains(r#""collective":"bcast","algorithm":"circulant""#),
                "{mpi}, {way}: Rondo was at work: {output}"
            );
        }
    }
}

/// What pkg-config says of an installation, which is not where it will be used.
fn pkg_config(prefix: &Path, options: &[&str]) -> String {
    let stage = prefix.ancestors().nth(2).expect("opt/rondo is in it");
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_LIBDIR", prefix.join("lib/pkgconfig"));
    command.env("PKG_CONFIG_SYSROOT_DIR", stage);
    run(command.args(options).arg("rondo")).trim().to_owned()
}

#[test]
fn templates_are_filled_in() {
    let version = env!("CARGO_PKG_VERSION");
    let prefix = install("openmpi", "templates");
    assert_eq!(pkg_config(&prefix, &["--modversion"]), version);
    let module = format!("share/modulefiles/rondo/{version}");
    for file in [
        "lib/pkgconfig/rondo.pc",
        "lib/cmake/Rondo/RondoConfig.cmake",
        "lib/cmake/Rondo/RondoConfigVersion.cmake",
        &module,
    ] {
        let text = fs::read_to_string(prefix.join(file)).unwrap();
        assert!(!text.contains('@'), "{file}: {text}");
        let stage = prefix.ancestors().nth(2).unwrap().display().to_string();
        assert!(!text.contains(&stage), "{file} is of where it will be used");
    }
}

#[test]
fn cmake_finds_it() {
    let stage = root().join("build/openmpi/install-cmake");
    let _ = fs::remove_dir_all(&stage);
    let prefix = format!("PREFIX={}", stage.join("opt").display());
    run(builder("make").args(["install", "MPICC=mpicc.openmpi", &prefix]));
    let project = stage.join("project");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join("hello.f90"), FORTRAN).unwrap();
    fs::write(project.join("CMakeLists.txt"), CMAKE).unwrap();
    let build = stage.join("build");
    let found = format!(
        "-DRondo_DIR={}",
        stage.join("opt/lib/cmake/Rondo").display()
    );
    run(Command::new("cmake")
        .args(["-DCMAKE_Fortran_COMPILER=mpif90.openmpi", &found, "-S"])
        .arg(&project)
        .arg("-B")
        .arg(&build));
    run(Command::new("cmake").arg("--build").arg(&build));
    let output = mpirun("openmpi", "", &build.join("hello"));
    assert!(
        output.contains(r#""collective":"bcast","algorithm":"circulant""#),
        "Rondo was at work: {output}"
    );
}

/// Each of two MPIs below one prefix has a module, and what it says leads CMake to the library for that MPI.
#[test]
fn two_mpis_below_one_prefix_are_both_found() {
    let stage = root().join("build/openmpi/install-two");
    let _ = fs::remove_dir_all(&stage);
    let prefix = stage.join("opt");
    for mpi in MPIS {
        let libdir = prefix.join("lib").join(mpi);
        run(builder("make").args([
            "install",
            &format!("MPICC=mpicc.{mpi}"),
            &format!("PREFIX={}", prefix.display()),
            &format!("LIBDIR={}", libdir.display()),
        ]));
    }
    let version = env!("CARGO_PKG_VERSION");
    for mpi in MPIS {
        let module = prefix.join(format!("share/modulefiles/rondo/{version}-{mpi}"));
        let module = fs::read_to_string(module).unwrap();
        let mut lines = module.lines();
        let path = lines.find_map(|line| line.strip_prefix("prepend-path CMAKE_PREFIX_PATH "));
        let project = stage.join(format!("project-{mpi}"));
        fs::create_dir_all(&project).unwrap();
        let text = "cmake_minimum_required(VERSION 3.18)
project(which NONE)
find_package(Rondo REQUIRED)
message(STATUS \"for ${Rondo_MPI_ABI}\")
";
        fs::write(project.join("CMakeLists.txt"), text).unwrap();
        let said = run(Command::new("cmake")
            .env("CMAKE_PREFIX_PATH", path.expect("a prefix for CMake"))
            .arg("-S")
            .arg(&project)
            .arg("-B")
            .arg(project.join("build")));
        assert!(said.contains(&format!("for {mpi}\n")), "{said}");
    }
}

/// The files below a folder, links too, sorted, by their paths from there.
fn files(folder: &Path) -> Vec<PathBuf> {
    let said = run(Command::new("find")
        .arg(folder)
        .args(["!", "-type", "d", "-printf", "%P\\n"]));
    let mut files: Vec<PathBuf> = said.lines().map(PathBuf::from).collect();
    files.sort();
    files
}

/// What is installed can be removed, and nothing else is: neither what others put there, nor what another MPI needs.
#[test]
fn what_is_installed_is_removed_again() {
    let stage = root().join("build/openmpi/install-removed");
    let _ = fs::remove_dir_all(&stage);
    let prefix = stage.join("opt");
    let make = |target: &str, mpi: &str| {
        let libdir = prefix.join("lib").join(mpi);
        let mut command = builder("make");
        command.args([
            target,
            &format!("MPICC=mpicc.{mpi}"),
            &format!("PREFIX={}", prefix.display()),
            &format!("LIBDIR={}", libdir.display()),
        ]);
        command
    };
    let strangers = [
        "bin/other",
        "lib/openmpi/cmake/Rondo/other",
        "share/man/man1/rondo-other.1",
    ];
    for file in strangers {
        let file = prefix.join(file);
        fs::create_dir_all(file.parent().expect("a folder")).unwrap();
        fs::write(file, "").unwrap();
    }
    let alone = files(&prefix);
    run(&mut make("install", "mpich"));
    let with_mpich = files(&prefix);
    run(&mut make("install", "openmpi"));
    assert!(files(&prefix).len() > with_mpich.len());
    run(&mut make("uninstall", "openmpi"));
    assert_eq!(files(&prefix), with_mpich);
    let tool = fs::read_link(prefix.join("bin/rondo")).unwrap();
    assert_eq!(tool, Path::new("rondo-mpich"));
    run(&mut make("uninstall", "mpich"));
    assert_eq!(files(&prefix), alone);
    assert!(!prefix.join("lib/mpich/cmake/Rondo").exists());
    assert!(!prefix.join("share/modulefiles/rondo").exists());
    let again = make("uninstall", "mpich").output().expect("it starts");
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(
        !again.status.success() && said.contains("nothing is removed"),
        "{said}"
    );
}

/// A copy of what installs, with a library for every MPI that is newer than the sources.
fn with_library_for_every_mpi(stage: &Path) -> PathBuf {
    run(builder("make").args(["build", "MPICC=mpicc.openmpi"]));
    let _ = fs::remove_dir_all(stage);
    let copy = stage.join("rondo");
    for folder in ["build/one", "src", "scripts"] {
        fs::create_dir_all(copy.join(folder)).unwrap();
    }
    for part in ["Cargo.toml", "packaging", "include", "build/openmpi"] {
        symlink(root().join(part), copy.join(part)).unwrap();
    }
    for file in ["Cargo.lock", "build.rs", "sources.rs", "cbindgen.toml"] {
        symlink(root().join(file), copy.join(file)).unwrap();
    }
    for script in ["install", "build", "version"] {
        let script = format!("scripts/{script}");
        fs::copy(root().join(&script), copy.join(&script)).unwrap();
    }
    fs::write(copy.join("src/lib.rs"), "").unwrap();
    fs::copy(
        root().join("build/openmpi/librondo.so"),
        copy.join("build/one/librondo.so"),
    )
    .unwrap();
    copy
}

/// Whatever folder the libraries of one MPI are in, `rondo run` finds the one for every MPI; an old one is none.
#[test]
fn the_library_for_every_mpi_is_installed_where_the_tool_looks() {
    let stage = root().join("build/openmpi/install-one");
    let copy = with_library_for_every_mpi(&stage);
    let srun = stage.join("srun");
    fs::write(&srun, "#!/bin/sh\necho slurm 22.05.8\n").unwrap();
    run(Command::new("chmod").arg("+x").arg(&srun));
    let install = |prefix: &Path, libdir: &Path| {
        let mut command = Command::new(copy.join("scripts/install"));
        command.env("PREFIX", prefix).env("LIBDIR", libdir);
        run(command.arg("openmpi").env_remove("DESTDIR"))
    };
    for (libdir, place) in [
        ("lib", "lib"),
        ("lib/openmpi", "lib"),
        ("lib64/openmpi", "lib64"),
        ("elsewhere", "lib"),
    ] {
        let prefix = stage.join("opt");
        let _ = fs::remove_dir_all(&prefix);
        install(&prefix, &prefix.join(libdir));
        // What nobody knows the MPI of is started with the library for every MPI.
        let said = run(Command::new(prefix.join("bin/rondo"))
            .args(["run", "-n"])
            .arg(&srun)
            .arg("true"));
        let library = prefix.join(place).join("rondo/librondo.so");
        let preload = format!("LD_PRELOAD={}", library.display());
        assert!(said.contains(&preload), "{libdir}: {said}");
        let mut remove = Command::new(copy.join("scripts/install"));
        remove.env("PREFIX", &prefix);
        remove.env("LIBDIR", prefix.join(libdir));
        run(remove.args(["--remove", "openmpi"]).env_remove("DESTDIR"));
        assert_eq!(files(&prefix), [] as [PathBuf; 0], "{libdir}");
    }
    let newer = Command::new("touch")
        .args(["-d", "+1 hour"])
        .arg(copy.join("src/lib.rs"))
        .status();
    assert!(newer.unwrap().success());
    let prefix = stage.join("old");
    let said = install(&prefix, &prefix.join("lib"));
    assert!(
        said.contains("is older than the sources and not installed: 'make one'"),
        "{said}"
    );
    assert!(!prefix.join("lib/rondo").exists());
}

/// What is installed names its place, for use from everywhere, and by LD_PRELOAD.
#[test]
fn prefixes_that_cannot_work_are_refused_or_completed() {
    run(builder("make").args(["build", "MPICC=mpicc.openmpi"]));
    let install = |prefix: &str, libdir: &str| {
        let mut command = builder("scripts/install");
        let stage = root().join("build/openmpi/install-places");
        let _ = fs::remove_dir_all(&stage);
        command
            .env("DESTDIR", &stage)
            .env("PREFIX", prefix)
            .env("LIBDIR", libdir);
        let output = command.arg("openmpi").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), said, stage)
    };
    for (prefix, libdir) in [("/opt/my rondo", "/opt/lib"), ("/opt", "/opt/a:b/lib")] {
        let (done, said, stage) = install(prefix, libdir);
        assert!(
            !done && said.contains("with a blank or a colon in it"),
            "{said}"
        );
        assert!(!stage.exists());
    }
    let (done, said, stage) = install("some/where", "some/where/lib");
    assert!(done, "{said}");
    let prefix = root().join("some/where").display().to_string();
    let file = format!("{}{prefix}/lib/pkgconfig/rondo.pc", stage.display());
    let text = fs::read_to_string(file).unwrap();
    assert!(text.starts_with(&format!("prefix={prefix}\n")), "{text}");
}

/// A project that uses what is installed. It has no reference to Rondo, as a Fortran program has none.
const CMAKE: &str = "cmake_minimum_required(VERSION 3.18)
project(hello Fortran)
find_package(Rondo 0.1 REQUIRED)
add_executable(hello hello.f90)
target_link_libraries(hello Rondo::rondo)
";

/// Manual pages are made of the help texts and the table of options, and groff takes them without a complaint.
#[test]
fn manual_pages_say_what_help_says() {
    let prefix = install("openmpi", "manual");
    let page = |name: &str| {
        let path = prefix.join("share/man").join(name);
        run(Command::new("groff")
            .args(["-man", "-Tascii", "-ww", "-P-cbou", "-rHY=0"])
            .arg(path))
    };
    let library = page("man7/librondo.7");
    for opt in rondo::config::OPTIONS {
        assert!(library.contains(&opt.variable()), "{}", opt.variable());
    }
    let tool = page("man1/rondo.1");
    for command in [
        "run",
        "check",
        "info",
        "bench",
        "plot",
        "tune",
        "model",
        "algorithms",
        "schedule",
        "tree",
    ] {
        assert!(
            tool.contains(&format!("rondo-{command}(1)")),
            "{command}: {tool}"
        );
        let text = page(&format!("man1/rondo-{command}.1"));
        assert!(text.contains("SYNOPSIS"), "{command}");
    }
    assert!(!tool.contains("rondo-man(1)"), "for the installation only");
    let run = page("man1/rondo-run.1");
    assert!(run.contains("<LAUNCHER ARGS>"), "{run}");
    let example = "./app           only print the command\n";
    assert!(
        run.contains("EXAMPLES:\n") && run.contains(example),
        "{run}"
    );
}

/// A program that has both MPI and Rondo in it, as docs/design.md says ("Linked instead of preloaded").
#[test]
#[ignore = "part of make matrix: it builds anew"]
fn a_program_with_mpi_linked_into_it_can_have_rondo_linked_into_it() {
    run(builder("scripts/build").args(["--direct", "mpicc.mpich"]));
    let archive = root().join("build/mpich-direct/librondo.a");
    let program = root().join("build/mpich-direct/basic");
    // The library itself, and none of those that `mpicc` would name.
    run(Command::new("cc")
        .arg("-rdynamic") // the program looks Rondo's counters up
        .arg("-I/usr/include/x86_64-linux-gnu/mpich")
        .arg("-I")
        .arg(root().join("ctests/support"))
        .arg(root().join("ctests/bcast/basic.c"))
        .arg("-Wl,--whole-archive")
        .arg(&archive)
        .args(["-Wl,--no-whole-archive", "-l:libmpich.a"])
        .args(["-lhwloc", "-lucp", "-lucs", "-lpthread", "-lm", "-ldl"])
        .arg("-o")
        .arg(&program));
    let libraries = run(Command::new("ldd").arg(&program));
    assert!(!libraries.contains("libmpi"), "{libraries}");
    let output = run(Command::new("timeout")
        .args(["300", "mpirun.mpich", "-np", "4"])
        .args(["-genv", "RONDO_BCAST", "circulant"])
        .args(["-genv", "EXPECT_RONDO", "circulant"])
        .arg(&program));
    assert!(output.ends_with("PASS basic\n"), "{output}");
    let symbols = run(Command::new("nm").arg("--defined-only").arg(&archive));
    assert!(symbols.contains(" T MPI_Bcast\n"));
    assert!(!symbols.contains("PMPI_Bcast"), "it is the library's own");
}

const FORTRAN: &str = "program hello
  use mpi
  implicit none
  integer :: error, numbers(10000)
  call MPI_Init(error)
  call MPI_Bcast(numbers, 10000, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
";
