//! The MPIs under test: Debian's two, and those that `scripts/matrix` sets up.

use crate::list::repository;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// An MPI library's ABI, by the name of the directory that Rondo's build for it is in.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum Abi {
    OpenMpi,
    Mpich,
    Standard,
}

impl Abi {
    fn name(self) -> &'static str {
        match self {
            Abi::OpenMpi => "openmpi",
            Abi::Mpich => "mpich",
            Abi::Standard => "standard",
        }
    }

    fn of(name: &str) -> Option<Abi> {
        [Abi::OpenMpi, Abi::Mpich, Abi::Standard]
            .into_iter()
            .find(|abi| abi.name() == name)
    }

    /// The library under test for this ABI.
    fn library(self) -> PathBuf {
        if tests_one() {
            return repository().join("build/one/librondo.so");
        }
        let name = self.name();
        let default = || repository().join("build").join(name).join("librondo.so");
        std::env::var_os(format!("RONDO_LIB_{name}")).map_or_else(default, PathBuf::from)
    }
}

/// Is the library for every MPI under test, in place of those for one ABI?
pub fn tests_one() -> bool {
    std::env::var("RONDO_TEST_ONE").is_ok_and(|v| v == "1")
}

/// Where `make matrix` puts what belongs to an MPI.
fn matrix(name: &str) -> PathBuf {
    repository().join("build").join("matrix").join(name)
}

/// What a test program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
    Fortran,
    Python,
}

/// An MPI under test.
pub struct Host {
    name: String,
    pub abi: Abi,
    /// Where it was set up; `None` for Debian's, whose programs are in PATH.
    home: Option<PathBuf>,
    directory: PathBuf,
}

impl Host {
    /// The MPI of this name: `openmpi` and `mpich` are Debian's, others are in `build/matrix`.
    pub fn new(name: &str) -> Result<Host, String> {
        let build = repository().join("build");
        let (abi, home) = match name {
            "openmpi" | "mpich" => (Abi::of(name), None),
            _ => {
                let home = matrix(name);
                let file = home.join("abi");
                let abi = std::fs::read_to_string(&file)
                    .map_err(|e| format!("{}: {e}; make matrix sets it up", file.display()))?;
                (Abi::of(abi.trim()), Some(home))
            }
        };
        let abi = abi.ok_or_else(|| format!("{name}: its ABI is not known here"))?;
        let directory = match &home {
            Some(home) => home.join("ctests"),
            None => build.join(name).join("ctests"),
        };
        std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        Ok(Host {
            name: name.to_owned(),
            abi,
            home,
            directory,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Is it one of Debian's?
    pub fn is_debian(&self) -> bool {
        self.home.is_none()
    }

    /// Is it started by `mpirun` of Open MPI, and not by hydra?
    pub fn has_orte(&self) -> bool {
        self.abi == Abi::OpenMpi
    }

    /// Where compiled programs go.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The library under test.
    pub fn library(&self) -> PathBuf {
        self.abi.library()
    }

    /// A library that was built for another ABI.
    pub fn misfit(&self) -> PathBuf {
        let other = match self.abi {
            Abi::Mpich => Abi::OpenMpi,
            Abi::OpenMpi | Abi::Standard => Abi::Mpich,
        };
        other.library()
    }

    /// The helper that makes waiting ranks yield, where the MPI cannot do so itself.
    pub fn yield_library(&self) -> Option<PathBuf> {
        (!self.has_orte()).then(|| self.directory.join("yield.so"))
    }

    /// `mpicc`, `mpif90` or `mpirun` of this MPI.
    pub fn tool(&self, tool: &str) -> PathBuf {
        if let Some(home) = &self.home {
            return home.join("bin").join(tool);
        }
        let variable = format!("{tool}_{}", self.name).to_uppercase();
        std::env::var_os(variable)
            .map_or_else(|| format!("{tool}.{}", self.name).into(), PathBuf::from)
    }

    /// The Python that has mpi4py for this MPI.
    pub fn python(&self) -> PathBuf {
        matrix(&self.name).join("bin").join("python")
    }

    /// Can programs in this language be had? Fortran bindings are Debian's alone, because a module file fits one
    /// compiler, and mpi4py is what `make matrix` installs.
    pub fn has(&self, language: Language) -> bool {
        match language {
            Language::C | Language::Cpp => true,
            Language::Fortran => self.is_debian(),
            Language::Python => self.python().is_file(),
        }
    }

    /// The path that a row's `program` means.
    pub fn program(&self, name: &str) -> PathBuf {
        // An absolute path replaces the directory.
        self.directory.join(name)
    }
}
