//! Finds out for which MPI ABI this build is, names the library, and makes the C header.

use std::path::{Path, PathBuf};
use std::{env, process::Command};

mod sources;

fn main() {
    println!("cargo:rerun-if-env-changed=MPICC");
    println!("cargo:rerun-if-changed=cbindgen.toml");
    for source in sources::SOURCES {
        println!("cargo:rerun-if-changed={source}");
    }

    let Host {
        abi,
        name,
        persistent,
    } = if env::var_os("CARGO_FEATURE_MPI_SYS").is_some() {
        Host::of(&env::var("MPICC").unwrap_or_else(|_| "mpicc".into()))
    } else {
        Host::standard()
    };
    let direct = env::var_os("CARGO_FEATURE_DIRECT").is_some();
    assert!(
        direct || abi != "smpi",
        "the ranks of SMPI share one process, which only the feature `direct` can serve"
    );
    // Its Fortran bindings call PMPI_ names, which are the host's own here: a rank in Fortran would wait for ever for
    // one in C.
    assert!(
        !direct || abi != "openmpi",
        "the feature `direct` cannot serve Open MPI, whose Fortran bindings go by names that it does not see"
    );
    println!("cargo:rustc-cfg=abi=\"{abi}\"");
    // What an MPI lacks must not be exported: programs look.
    let one = env::var_os("CARGO_FEATURE_ONE").is_some();
    if persistent && !one {
        println!("cargo:rustc-cfg=persistent");
    }
    if abi == "mpich" || abi == "standard" || one {
        println!("cargo:rustc-cfg=large");
    }
    println!("cargo:rustc-env=RONDO_ABI={abi}");
    println!("cargo:rustc-env=RONDO_HOST={name}");

    // Ranks compare it: a version has many builds.
    let number = sources::number(Path::new(".")).expect("the sources can be read");
    println!("cargo:rustc-env=RONDO_SOURCES={number:016x}");

    // The soname is what a program linked with -lrondo asks for at run time.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librondo.so.0");
    // The host keeps callbacks of the library's: it has to stay if whoever loaded it is closed.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");

    header();
    hide_symbols_of_tool();
}

/// The tool has the library's code in it, and the linker would export MPI's names from an executable because the MPI
/// library, which it sees and does not need, has them too. They would come before those of a preloaded Rondo
/// (`rondo bench`).
fn hide_symbols_of_tool() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let script = out.join("tool.map");
    std::fs::write(&script, "{ local: *; };\n").expect("OUT_DIR is writable");
    println!(
        "cargo:rustc-link-arg-bins=-Wl,--version-script={}",
        script.display()
    );
}

/// The MPI that this build is for.
struct Host {
    /// As `src/host/library/abi.rs` tells them apart.
    abi: &'static str,
    /// A printable version.
    name: String,
    /// Are there persistent collectives by the names of MPI 4.0?
    persistent: bool,
}

impl Host {
    /// The one of this compiler wrapper.
    fn of(mpicc: &str) -> Host {
        let macros = mpi_macros(mpicc);
        let (abi, name) = identify(&macros).unwrap_or_else(|| {
            panic!(
                "{mpicc}: its mpi.h is not Open MPI's, SMPI's or one with the MPICH ABI; set MPICC, or build for the \
                 ABI of the MPI standard with --no-default-features"
            )
        });
        Host {
            abi,
            name,
            persistent: has_persistent(&macros),
        }
    }

    /// Any one with the ABI of the standard, whose first version is MPI 5.0.
    fn standard() -> Host {
        Host {
            abi: "standard",
            name: "the MPI-standard ABI".into(),
            persistent: true,
        }
    }
}

/// The macros that `mpi.h` of this compiler wrapper defines.
fn mpi_macros(mpicc: &str) -> String {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let probe = out.join("probe.c");
    std::fs::write(&probe, "#include <mpi.h>\n").expect("OUT_DIR is writable");
    let run = Command::new(mpicc)
        .arg("-E")
        .arg("-dM")
        .arg(&probe)
        .output();
    match run {
        Ok(o) if o.status.success() => String::from_utf8_lossy(&o.stdout).into_owned(),
        Ok(o) => panic!("{mpicc} -E: {}", String::from_utf8_lossy(&o.stderr)),
        Err(e) => panic!("cannot run {mpicc}: {e}; set MPICC to your MPI's compiler wrapper"),
    }
}

/// Has this MPI persistent collectives by the names of MPI 4.0?
fn has_persistent(macros: &str) -> bool {
    let at_least = |name: &str, version: u32| {
        let value = value(macros, name).and_then(|value| value.parse().ok());
        value.is_some_and(|found: u32| found >= version)
    };
    at_least("OMPI_MAJOR_VERSION", 5) || at_least("MPI_VERSION", 4)
}

/// What a macro stands for.
fn value(macros: &str, name: &str) -> Option<String> {
    macros.lines().find_map(|l| {
        let (key, value) = l.strip_prefix("#define ")?.split_once(' ')?;
        (key == name).then(|| value.trim_matches('"').to_owned())
    })
}

/// ABI name and a printable version of the MPI that owns these macros.
fn identify(macros: &str) -> Option<(&'static str, String)> {
    let value = |name: &str| value(macros, name);
    if let Some(major) = value("OMPI_MAJOR_VERSION") {
        let part = |name| value(name).unwrap_or_else(|| "?".into());
        let (minor, release) = (part("OMPI_MINOR_VERSION"), part("OMPI_RELEASE_VERSION"));
        return Some(("openmpi", format!("Open MPI {major}.{minor}.{release}")));
    }
    if macros.lines().any(|l| l.trim_end() == "#define SMPI_H") {
        return Some(("smpi", "SMPI".into()));
    }
    let version = value("MPICH_VERSION")?;
    let name = if value("I_MPI_VERSION").is_some() {
        "Intel MPI"
    } else {
        "MPICH"
    };
    Some((
        "mpich",
        format!("{name} {}", value("I_MPI_VERSION").unwrap_or(version)),
    ))
}

/// Makes the C header from `src/abi/rondo.rs`. It goes to the build directory; the one that is
/// checked in is a copy of it, and `make check` proves that it is current.
fn header() {
    let config = cbindgen::Config::from_file("cbindgen.toml").expect("cbindgen.toml is readable");
    let bindings = cbindgen::Builder::new()
        .with_src("src/abi/rondo.rs")
        .with_config(config)
        .generate()
        .expect("src/abi/rondo.rs holds plain extern \"C\" functions");
    // The output directory is <target directory>/<profile>/build/<package>-<hash>/out.
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let profile = out.ancestors().nth(3).expect("cargo nests OUT_DIR");
    let mut header = Vec::new();
    bindings.write(&mut header);
    // What Rust has under this heading is said of arguments; C has no such heading.
    let header = String::from_utf8(header).expect("the source is text");
    let header = header.replace(" # Safety\n", "");
    // C of 1990 has no comments of this kind.
    let header = header.replace("// __cplusplus", "/* __cplusplus */");
    std::fs::write(profile.join("rondo.h"), header).expect("the build directory is writable");
}
