//! Which ABIs there are, and what is known of the hosts of each.

use std::ffi::c_int;

/// The ABI of an MPI library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abi {
    /// Open MPI 4 and 5: handles are pointers.
    OpenMpi,
    /// MPICH and its derivatives (Intel MPI, Cray, MVAPICH): handles are `int`.
    Mpich,
    /// The ABI of the MPI standard (MPI 5.0): handles are pointers with small values.
    Standard,
    /// SMPI, the MPI of the simulator SimGrid: handles are pointers. Only by the feature `direct`.
    Smpi,
    /// A later version of the ABI of the MPI standard, with another major number: none of the builds is for it.
    Later,
    /// That of an MPI library which has the marks of no ABI above: none of the builds is for it.
    Unknown,
}

impl Abi {
    /// The ABI that this build was made for.
    pub const BUILT: Abi = if cfg!(abi = "openmpi") {
        Abi::OpenMpi
    } else if cfg!(abi = "smpi") {
        Abi::Smpi
    } else if cfg!(abi = "standard") {
        Abi::Standard
    } else {
        Abi::Mpich
    };

    /// `MPI_COMM_WORLD` of the ABI of MPICH, which a program may run on whatever this build speaks.
    pub const MPICH_WORLD: c_int = 0x4400_0000;
    /// `MPI_COMM_WORLD` of the ABI of the standard.
    pub const STANDARD_WORLD: usize = 0x101;

    /// Name for messages, also the name of the build directory.
    pub fn name(self) -> &'static str {
        match self {
            Abi::OpenMpi => "openmpi",
            Abi::Mpich => "mpich",
            Abi::Standard => "the MPI-standard ABI",
            Abi::Smpi => "smpi",
            Abi::Later => "a later version of the MPI-standard ABI",
            Abi::Unknown => "an unknown ABI",
        }
    }

    /// Is time simulated? It then passes in messages only, and not while a rank looks for them; and the clock
    /// of the machine says nothing.
    pub const fn is_simulated(self) -> bool {
        matches!(self, Abi::Smpi)
    }

    /// Do the hosts of this ABI reduce short vectors inside nodes before one rank of each sends them to others?
    pub fn host_leads(self) -> bool {
        match self {
            Abi::OpenMpi | Abi::Smpi => false,
            Abi::Mpich | Abi::Standard | Abi::Later | Abi::Unknown => true,
        }
    }

    /// Do the hosts of this ABI copy long vectors from process to process where the ranks of one node reduce them, each
    /// to a part, so that shared memory is no faster (docs/results/reductions.md)?
    pub fn host_copies(self) -> bool {
        match self {
            Abi::OpenMpi | Abi::Smpi => false,
            Abi::Mpich | Abi::Standard | Abi::Later | Abi::Unknown => true,
        }
    }

    /// Length in bytes up to which the hosts of this ABI send a message without asking the receiver
    /// first, as measured over TCP (docs/tuning.md).
    ///
    /// In a simulation, asking costs nothing; there the length only bounds memory.
    pub fn eager_bytes(self) -> u64 {
        match self {
            Abi::OpenMpi => 32 << 10,
            Abi::Mpich | Abi::Standard | Abi::Later | Abi::Unknown => 16 << 10,
            Abi::Smpi => 1 << 20,
        }
    }
}
