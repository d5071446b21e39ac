//! What users get Rondo by without its repository: the archive of sources, the Debian package, and Spack.

use super::{builder, root, run};
use std::fs;
use std::process::Command;

/// Where cargo has nothing at home, and where no network is.
#[test]
#[ignore = "part of make matrix: it builds anew"]
fn the_archive_of_sources_has_all_that_rondo_is_built_from() {
    let name = concat!("rondo-", env!("CARGO_PKG_VERSION"));
    let archive = root().join(format!("build/dist/{name}.tar.gz"));
    let made = || {
        run(builder("make").arg("dist"));
        fs::read(&archive).unwrap()
    };
    assert!(made() == made(), "the same commit, the same bytes");
    let folder = root().join("build/dist/test");
    let _ = fs::remove_dir_all(&folder);
    let home = folder.join("cargo-home");
    fs::create_dir_all(&home).unwrap();
    run(Command::new("tar")
        .arg("-xzf")
        .arg(&archive)
        .arg("-C")
        .arg(&folder));
    let sources = folder.join(name);
    run(builder("unshare")
        .args(["--net", "scripts/build", "mpicc.mpich"])
        .env("CARGO_HOME", &home)
        // Only that it can be built is the question, so in the shortest time.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .current_dir(&sources));
    let built = sources.join("build/mpich");
    let symbols = run(Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(built.join("librondo.so")));
    assert!(symbols.contains(" T MPI_Bcast\n"), "{symbols}");
    let version = run(Command::new(built.join("rondo")).arg("--version"));
    assert_eq!(version.trim(), concat!("rondo ", env!("CARGO_PKG_VERSION")));
    fs::remove_dir_all(&folder).unwrap();
}

/// Installed on a copy of this system, by root, and removed again. `make deb` itself ends with an error where lintian
/// has anything to say.
#[test]
#[ignore = "part of make matrix: it builds for all ABIs, and needs root"]
fn the_debian_package_can_be_linked_with_and_started_by() {
    let _ = fs::remove_file(root().join("build/one/librondo.so"));
    run(builder("make").arg("deb"));
    let folder = root().join("build/deb/test");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let machine = run(Command::new("dpkg").arg("--print-architecture"));
    let package = format!("rondo_{}_{}.deb", env!("CARGO_PKG_VERSION"), machine.trim());
    let files = [
        format!("build/deb/{package}"),
        "examples/filecast.c".into(),
        "tests/install/deb.sh".into(),
    ];
    for file in files {
        let name = file.rsplit('/').next().expect("it has one");
        fs::copy(root().join(&file), folder.join(name)).unwrap();
    }
    fs::write(folder.join("CMakeLists.txt"), CMAKE).unwrap();
    let said = run(Command::new("tests/install/clean.sh")
        .arg(&folder)
        .args(["bash", "/mnt/deb.sh"])
        .current_dir(root()));
    for mpi in super::MPIS {
        for way in ["pkg-config", "CMake", "rondo run", "for every MPI"] {
            let line = format!("counted: {way}, {mpi}\n");
            assert!(said.contains(&line), "{line}: {said}");
        }
    }
    for page in [
        "man1/rondo.1",
        "man1/rondo-mpich.1",
        "man1/rondo-check.1",
        "man7/librondo.7",
    ] {
        assert!(said.contains(&format!("manual: {page}\n")), "{said}");
    }
    assert!(said.contains(" files came and went"), "{said}");
}

const CMAKE: &str = "cmake_minimum_required(VERSION 3.18)
project(filecast C)
find_package(Rondo 0.1 REQUIRED)
add_executable(filecast filecast.c)
target_link_libraries(filecast Rondo::rondo)
";

/// Spack itself is not here: what a recipe may use of it is made up, and the recipe's phases run in Spack's order.
#[test]
fn the_recipe_for_spack_builds_and_installs() {
    let prefix = root().join("build/openmpi/install-spack");
    let _ = fs::remove_dir_all(&prefix);
    let said = run(builder("python3")
        .args(["tests/install/spack.py", "packaging/spack/package.py"])
        .arg(&prefix)
        .arg("mpicc.openmpi"));
    for file in [
        "lib/librondo.so",
        "lib/librondo.so.0",
        "bin/rondo",
        "include/rondo.h",
        "share/man/man1/rondo.1",
    ] {
        assert!(prefix.join(file).exists(), "{file}: {said}");
    }
    let library = prefix.join("lib/librondo.so").display().to_string();
    assert!(
        said.contains(&format!("LIBRONDO={library}\n")),
        "what users of the package have in the environment: {said}"
    );
}
