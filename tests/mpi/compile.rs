//! The test programs, compiled for an MPI.

use crate::ctests;
use crate::host::{Host, Language};
use crate::list::{Build, List};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

impl Host {
    /// Compiles what is not a program of some row.
    pub fn build_helpers(&self, list: &List) -> Result<(), String> {
        list.builds.iter().try_for_each(|b| self.build_helper(b))?;
        let mut compile = self.c_compiler(&self.tool("mpicc"));
        compile.arg("-c");
        self.make(compile, &helper("frondo.c")?, "frondo.o", &[])
    }

    fn build_helper(&self, build: &Build) -> Result<(), String> {
        let compiler = if build.mpi {
            self.tool("mpicc")
        } else {
            PathBuf::from("cc")
        };
        let mut compile = self.c_compiler(&compiler);
        if build.shared {
            compile.args(["-shared", "-fPIC"]);
        }
        if let Some(name) = &build.soname {
            compile.arg(format!("-Wl,-soname,{name}"));
        }
        let target = format!("{}{}", build.name, if build.shared { ".so" } else { "" });
        let source = helper(&format!("{}.c", build.name))?;
        self.make(compile, &source, &target, &["-ldl"])
    }

    /// Compiles a program of a row, from whichever source file has its name.
    pub fn build_program(&self, list: &List, name: &str) -> Result<(), String> {
        if Path::new(name).is_absolute() || list.builds.iter().any(|b| b.name == name) {
            return Ok(());
        }
        let (source, language) = source(name)?;
        match language {
            Language::Python => return Ok(()),
            Language::C => {
                let compile = self.c_compiler(&self.tool("mpicc"));
                return self.make(compile, &source, name, &["-ldl", "-lm", "-lpthread"]);
            }
            Language::Cpp => {
                let mut compile = Command::new(self.tool("mpicc"));
                // MPI's own C++ bindings, which are no more, would need another library. The headers are C: what they
                // leave to the compiler, a string in place of a character pointer for example, is no matter here.
                compile.args([
                    "-x",
                    "c++",
                    "-std=gnu++17",
                    "-O1",
                    "-g",
                    "-fpermissive",
                    "-w",
                ]);
                compile.args(["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]);
                return self.make(compile, &source, name, &["-ldl", "-lstdc++"]);
            }
            Language::Fortran => {}
        }
        let mut compile = Command::new(self.tool("mpif90"));
        // mpif.h has no interfaces, so one file calls mpi_bcast with many types.
        compile
            .args(["-O1", "-g", "-w", "-fallow-argument-mismatch", "-J"])
            .arg(self.directory());
        let helper = self.directory().join("frondo.o");
        self.make(compile, &source, name, &[&helper.to_string_lossy(), "-ldl"])
    }

    fn c_compiler(&self, compiler: &Path) -> Command {
        let mut command = Command::new(compiler);
        command.args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra"]);
        command
    }

    /// Runs the compiler unless the target is newer than everything it may be made of.
    fn make(
        &self,
        mut compile: Command,
        source: &Path,
        target: &str,
        after: &[&str],
    ) -> Result<(), String> {
        let target = self.directory().join(target);
        let alone = COMPILING
            .lock()
            .expect("no job ends in a panic")
            .entry(target.clone())
            .or_default()
            .clone();
        let _alone = alone.lock().expect("no job ends in a panic");
        if modified(&target).is_some_and(|made| made > newest_source(source)) {
            return Ok(());
        }
        compile.arg("-I").arg(ctests::support());
        compile.arg(source).arg("-o").arg(&target).args(after);
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

/// Two jobs may need the same program: a lock for each.
static COMPILING: Mutex<BTreeMap<PathBuf, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());

/// The file in `ctests` with a program's source.
pub fn source(name: &str) -> Result<(PathBuf, Language), String> {
    let found = [
        ("c", Language::C),
        ("cc", Language::Cpp),
        ("F90", Language::Fortran),
        ("py", Language::Python),
    ]
    .into_iter()
    .find_map(|(ending, language)| Some((ctests::find(&format!("{name}.{ending}"))?, language)));
    found.ok_or_else(|| format!("ctests has no source file for {name}"))
}

/// The file in `ctests` of this name.
fn helper(file: &str) -> Result<PathBuf, String> {
    ctests::find(file).ok_or_else(|| format!("ctests has no {file}"))
}

fn modified(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|m| m.modified()).ok()
}

/// The time of the last change to this source, or to any header or Fortran helper.
fn newest_source(source: &Path) -> SystemTime {
    let shared = std::fs::read_dir(ctests::support())
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
