//! One MPI: its programs, and the test programs compiled for it.

use crate::list::{Build, List, repository};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// An MPI under test.
pub struct Flavour {
    name: String,
    directory: PathBuf,
}

impl Flavour {
    /// The MPI of this name, `openmpi` or `mpich`, with its directory for compiled programs.
    pub fn new(name: &str) -> Result<Flavour, String> {
        if !["openmpi", "mpich"].contains(&name) {
            return Err(format!("{name} is no MPI known here: openmpi or mpich"));
        }
        let directory = repository().join("build").join(name).join("ctests");
        std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        Ok(Flavour {
            name: name.to_owned(),
            directory,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn is_mpich(&self) -> bool {
        self.name == "mpich"
    }

    /// Where programs and files of test runs go.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The library under test.
    pub fn library(&self) -> PathBuf {
        library(&self.name)
    }

    /// A library that was built for the other MPI.
    pub fn misfit(&self) -> PathBuf {
        library(if self.is_mpich() { "openmpi" } else { "mpich" })
    }

    /// The helper that makes waiting ranks yield, where the MPI cannot do so itself.
    pub fn yield_library(&self) -> Option<PathBuf> {
        self.is_mpich().then(|| self.directory.join("yield.so"))
    }

    /// `mpicc`, `mpif90` or `mpirun` of this MPI.
    pub fn tool(&self, tool: &str) -> String {
        let variable = format!("{tool}_{}", self.name).to_uppercase();
        std::env::var(variable).unwrap_or_else(|_| format!("{tool}.{}", self.name))
    }

    /// The path that a row's `program` means.
    pub fn program(&self, name: &str) -> PathBuf {
        // An absolute path replaces the directory.
        self.directory.join(name)
    }

    /// Compiles what is not a program of some row.
    pub fn build_helpers(&self, list: &List) -> Result<(), String> {
        list.builds.iter().try_for_each(|b| self.build_helper(b))?;
        let mut compile = self.c_compiler(&self.tool("mpicc"));
        compile.arg("-c");
        self.make(compile, "frondo.c", "frondo.o", &[])
    }

    fn build_helper(&self, build: &Build) -> Result<(), String> {
        let compiler = if build.mpi {
            self.tool("mpicc")
        } else {
            "cc".into()
        };
        let mut compile = self.c_compiler(&compiler);
        if build.shared {
            compile.args(["-shared", "-fPIC"]);
        }
        let target = format!("{}{}", build.name, if build.shared { ".so" } else { "" });
        self.make(compile, &format!("{}.c", build.name), &target, &["-ldl"])
    }

    /// Compiles a program of a row, from whichever source file has its name.
    pub fn build_program(&self, list: &List, name: &str) -> Result<(), String> {
        if Path::new(name).is_absolute() || list.builds.iter().any(|b| b.name == name) {
            return Ok(());
        }
        let source = ["c", "f", "f90"]
            .map(|ending| format!("{name}.{ending}"))
            .into_iter()
            .find(|file| repository().join("ctests").join(file).is_file())
            .ok_or_else(|| format!("ctests has no source file for {name}"))?;
        if source.ends_with(".c") {
            let compile = self.c_compiler(&self.tool("mpicc"));
            return self.make(compile, &source, name, &["-ldl", "-lpthread"]);
        }
        let mut compile = Command::new(self.tool("mpif90"));
        // mpif.h has no interfaces, so one file calls mpi_bcast with many types.
        compile
            .args(["-O1", "-g", "-w", "-fallow-argument-mismatch", "-J"])
            .arg(&self.directory);
        let helper = self.directory.join("frondo.o");
        self.make(compile, &source, name, &[&helper.to_string_lossy(), "-ldl"])
    }

    fn c_compiler(&self, compiler: &str) -> Command {
        let mut command = Command::new(compiler);
        command.args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra"]);
        command
    }

    /// Runs the compiler unless the target is newer than everything it may be made of.
    fn make(
        &self,
        mut compile: Command,
        source: &str,
        target: &str,
        after: &[&str],
    ) -> Result<(), String> {
        let source = repository().join("ctests").join(source);
        let target = self.directory.join(target);
        if modified(&target).is_some_and(|made| made > newest_source(&source)) {
            return Ok(());
        }
        compile.arg(&source).arg("-o").arg(&target).args(after);
        let output = compile
            .output()
            .map_err(|e| format!("{:?}: {e}", compile.get_program()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() && said.trim().is_empty() {
            return Ok(());
        }
        // Warnings count: these programs are to show how MPI is used.
        let _ = std::fs::remove_file(&target);
        Err(format!("{compile:?}\n{said}"))
    }
}

fn modified(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|m| m.modified()).ok()
}

/// The time of the last change to this source, or to any header or Fortran helper beside it.
fn newest_source(source: &Path) -> SystemTime {
    let shared = std::fs::read_dir(repository().join("ctests"))
        .into_iter()
        .flatten()
        .flatten();
    let shared = shared
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|e| e == "h") || file.ends_with("frondo.c"));
    let times = shared
        .chain([source.to_owned()])
        .filter_map(|file| modified(&file));
    times.max().unwrap_or_else(SystemTime::now)
}

/// The library that was built for an MPI.
fn library(mpi: &str) -> PathBuf {
    let default = || repository().join("build").join(mpi).join("librondo.so");
    std::env::var_os(format!("RONDO_LIB_{mpi}")).map_or_else(default, PathBuf::from)
}
