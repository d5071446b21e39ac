//! The MPI ABIs: which one the running host has, and the values of its predefined handles.
//!
//! A build speaks one ABI (that of `MPICC`). It still recognises the others, because the loader
//! does not refuse a library built for the wrong one (`symbols.rs`).

pub use super::flavour::Abi;
use super::symbols::Finder;
use super::sys;
use crate::kernels::Number;
use std::ffi::{c_char, c_void};
#[cfg(any(abi = "openmpi", abi = "standard"))]
use std::ptr;

/// A handle exactly as it arrived in an argument register, whatever ABI the program has.
///
/// The exported functions take handles as whole words and pass them on as whole words: a 32-bit
/// handle sits in the low half of its word and the callee ignores the rest (System V x86-64, AAPCS64
/// and ELFv2 all pass an `int` in a full register or stack slot). So a call can be handed untouched
/// to a host whose handles are wider or narrower than those this build was made for.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct RawHandle(pub(in crate::host) *mut c_void);

impl RawHandle {
    /// Are these the same handle?
    pub fn same(self, other: RawHandle) -> bool {
        self.0 == other.0
    }

    /// As a number. Handles that are an `int` leave the rest of a register as it was.
    pub fn bits(self) -> u64 {
        match cfg!(abi = "mpich") {
            true => self.0.addr() as u32 as u64,
            false => self.0.addr() as u64,
        }
    }
}

/// The predefined handles that Rondo uses, in the ABI of this build.
pub struct Handles {
    /// `MPI_COMM_WORLD`.
    pub world: sys::MPI_Comm,
    /// `MPI_COMM_SELF`.
    pub self_: sys::MPI_Comm,
    /// `MPI_COMM_NULL`.
    pub comm_null: sys::MPI_Comm,
    /// `MPI_DATATYPE_NULL`.
    pub datatype_null: sys::MPI_Datatype,
    /// `MPI_REQUEST_NULL`.
    pub request_null: sys::MPI_Request,
    /// `MPI_BYTE`.
    pub byte: sys::MPI_Datatype,
    /// `MPI_LONG`.
    pub long: sys::MPI_Datatype,
    /// `MPI_DOUBLE`.
    pub double: sys::MPI_Datatype,
    /// `MPI_MAX`.
    pub max: sys::MPI_Op,
    /// `MPI_SUM`.
    pub sum: sys::MPI_Op,
    /// `MPI_OP_NULL`.
    pub op_null: sys::MPI_Op,
    /// The predefined operators: `MPI_SUM`, `MPI_PROD`, `MPI_MAX`, `MPI_MIN`, `MPI_MAXLOC`, `MPI_MINLOC`, and from
    /// [`Handles::BITS`] on `MPI_BAND`, `MPI_BOR`, `MPI_BXOR`, `MPI_LAND`, `MPI_LOR`, `MPI_LXOR`.
    pub ops: [sys::MPI_Op; 12],
    /// Those that are no collective's: `MPI_REPLACE`, `MPI_NO_OP`.
    #[cfg(any(abi = "openmpi", abi = "smpi"))]
    pub rma_ops: [sys::MPI_Op; 2],
    /// Types whose elements kernels reduce, and what their bits mean. Their sizes are the host's to say.
    pub numbers: Vec<(sys::MPI_Datatype, Number)>,
    /// Pairs of integers: `MPI_2INT`, `MPI_SHORT_INT`, `MPI_LONG_INT`, `MPI_2INTEGER`.
    pub integer_pairs: Vec<sys::MPI_Datatype>,
    /// `MPI_ERRORS_RETURN`.
    pub errors_return: sys::MPI_Errhandler,
    /// `MPI_INFO_NULL`.
    pub info_null: sys::MPI_Info,
}

// SAFETY: handles are indices or addresses that any thread may pass to MPI; nobody looks behind them.
unsafe impl Send for Handles {}
// SAFETY: as above, and the struct never changes.
unsafe impl Sync for Handles {}

impl Handles {
    /// Index in `ops` of the first operator on pairs.
    pub const PAIRS: usize = 4;
    /// Index in `ops` of the first operator on bits.
    pub const BITS: usize = 6;
    /// Index in `ops` of the first operator on truth values.
    pub const TRUTHS: usize = 9;

    /// Indices in `ops` of `MPI_MAX`, `MPI_MIN`, `MPI_BAND`, `MPI_BOR`, `MPI_LAND` and `MPI_LOR`.
    pub const IDEMPOTENT: [usize; 6] = [2, 3, 6, 7, 9, 10];
}

#[cfg(abi = "mpich")]
pub use self::mpich::*;
#[cfg(abi = "openmpi")]
pub use self::openmpi::*;
#[cfg(abi = "smpi")]
pub use self::smpi::*;
#[cfg(abi = "standard")]
pub use self::standard::*;

/// The list of types of numbers, which each ABI names in this order.
///
/// Signed: `signed char`, `short`, `int`, `long`, `long long`; of 8, 16, 32 and 64 bits; Fortran's `INTEGER`,
/// `INTEGER*1`, `INTEGER*2`, `INTEGER*4`, `INTEGER*8`; `MPI_Aint`, `MPI_Offset`, `MPI_Count`. Unsigned: as the first
/// nine. Floats: `float`, `double`; Fortran's `REAL`, `REAL*4`, `REAL*8`, `DOUBLE PRECISION`.
#[cfg(not(abi = "smpi"))]
fn numbers(
    signed: [sys::MPI_Datatype; 17],
    unsigned: [sys::MPI_Datatype; 9],
    floats: [sys::MPI_Datatype; 6],
) -> Vec<(sys::MPI_Datatype, Number)> {
    let signed = signed.map(|datatype| (datatype, Number::Signed));
    let unsigned = unsigned.map(|datatype| (datatype, Number::Unsigned));
    let floats = floats.map(|datatype| (datatype, Number::Float));
    signed.into_iter().chain(unsigned).chain(floats).collect()
}

/// Open MPI: a predefined handle is the address of a data object of the library.
#[cfg(abi = "openmpi")]
mod openmpi {
    use super::*;

    /// `MPI_IN_PLACE`.
    pub const IN_PLACE: *const c_void = ptr::dangling();

    impl Handles {
        /// Looks the objects up; `None` if the host lacks one.
        pub fn find(finder: &Finder) -> Option<Handles> {
            let at = |address: *mut c_void| (!address.is_null()).then_some(address);
            macro_rules! op {
                ($name:literal) => {
                    sys::MPI_Op(at(data!(finder, $name))?.cast())
                };
            }
            // One that the host lacks is null here, which is no program's type.
            macro_rules! types {
                ($($name:literal)*) => {
                    [$(sys::MPI_Datatype(data!(finder, $name).cast())),*]
                };
            }
            Some(Handles {
                world: sys::MPI_Comm(at(data!(finder, "ompi_mpi_comm_world"))?.cast()),
                self_: sys::MPI_Comm(at(data!(finder, "ompi_mpi_comm_self"))?.cast()),
                comm_null: sys::MPI_Comm(at(data!(finder, "ompi_mpi_comm_null"))?.cast()),
                datatype_null: sys::MPI_Datatype(
                    at(data!(finder, "ompi_mpi_datatype_null"))?.cast(),
                ),
                request_null: sys::MPI_Request(at(data!(finder, "ompi_request_null"))?.cast()),
                byte: sys::MPI_Datatype(at(data!(finder, "ompi_mpi_byte"))?.cast()),
                long: sys::MPI_Datatype(at(data!(finder, "ompi_mpi_long"))?.cast()),
                double: sys::MPI_Datatype(at(data!(finder, "ompi_mpi_double"))?.cast()),
                max: op!("ompi_mpi_op_max"),
                sum: op!("ompi_mpi_op_sum"),
                op_null: op!("ompi_mpi_op_null"),
                ops: [
                    op!("ompi_mpi_op_sum"),
                    op!("ompi_mpi_op_prod"),
                    op!("ompi_mpi_op_max"),
                    op!("ompi_mpi_op_min"),
                    op!("ompi_mpi_op_maxloc"),
                    op!("ompi_mpi_op_minloc"),
                    op!("ompi_mpi_op_band"),
                    op!("ompi_mpi_op_bor"),
                    op!("ompi_mpi_op_bxor"),
                    op!("ompi_mpi_op_land"),
                    op!("ompi_mpi_op_lor"),
                    op!("ompi_mpi_op_lxor"),
                ],
                rma_ops: [op!("ompi_mpi_op_replace"), op!("ompi_mpi_op_no_op")],
                numbers: numbers(
                    types![
                        "ompi_mpi_signed_char" "ompi_mpi_short" "ompi_mpi_int" "ompi_mpi_long" "ompi_mpi_long_long_int"
                        "ompi_mpi_int8_t" "ompi_mpi_int16_t" "ompi_mpi_int32_t" "ompi_mpi_int64_t"
                        "ompi_mpi_integer" "ompi_mpi_integer1" "ompi_mpi_integer2" "ompi_mpi_integer4"
                        "ompi_mpi_integer8" "ompi_mpi_aint" "ompi_mpi_offset" "ompi_mpi_count"
                    ],
                    types![
                        "ompi_mpi_unsigned_char" "ompi_mpi_unsigned_short" "ompi_mpi_unsigned"
                        "ompi_mpi_unsigned_long" "ompi_mpi_unsigned_long_long"
                        "ompi_mpi_uint8_t" "ompi_mpi_uint16_t" "ompi_mpi_uint32_t" "ompi_mpi_uint64_t"
                    ],
                    types![
                        "ompi_mpi_float" "ompi_mpi_double"
                        "ompi_mpi_real" "ompi_mpi_real4" "ompi_mpi_real8" "ompi_mpi_dblprec"
                    ],
                ),
                integer_pairs: types![
                    "ompi_mpi_2int" "ompi_mpi_short_int" "ompi_mpi_long_int" "ompi_mpi_2integer"
                ]
                .to_vec(),
                errors_return: sys::MPI_Errhandler(
                    at(data!(finder, "ompi_mpi_errors_return"))?.cast(),
                ),
                info_null: sys::MPI_Info(at(data!(finder, "ompi_mpi_info_null"))?.cast()),
            })
        }
    }
}

/// The MPI-standard ABI: a predefined handle is a small value (MPI 5.0, section 20.3).
#[cfg(abi = "standard")]
mod standard {
    use super::*;

    /// `MPI_IN_PLACE`.
    pub const IN_PLACE: *const c_void = ptr::dangling();

    impl Handles {
        /// The constants of the ABI; nothing to look up.
        pub fn find(_finder: &Finder) -> Option<Handles> {
            let value = ptr::without_provenance_mut;
            let datatype = |handle| sys::MPI_Datatype(ptr::without_provenance_mut(handle));
            Some(Handles {
                world: sys::MPI_Comm(value(Abi::STANDARD_WORLD)),
                self_: sys::MPI_Comm(value(0x102)),
                comm_null: sys::MPI_Comm(value(0x100)),
                datatype_null: sys::MPI_Datatype(value(0x200)),
                request_null: sys::MPI_Request(value(0x180)),
                byte: sys::MPI_Datatype(value(0x247)),
                long: sys::MPI_Datatype(value(0x20a)),
                double: sys::MPI_Datatype(value(0x214)),
                max: sys::MPI_Op(value(0x23)),
                sum: sys::MPI_Op(value(0x21)),
                op_null: sys::MPI_Op(value(0x20)),
                ops: [
                    0x21, 0x24, 0x23, 0x22, 0x39, 0x38, 0x28, 0x29, 0x2a, 0x30, 0x31, 0x32,
                ]
                .map(|op| sys::MPI_Op(value(op))),
                numbers: numbers(
                    [
                        0x244, 0x208, 0x209, 0x20a, 0x20b, 0x240, 0x248, 0x250, 0x258, 0x219,
                        0x2c1, 0x2c9, 0x2d1, 0x2d9, 0x201, 0x203, 0x202,
                    ]
                    .map(datatype),
                    [
                        0x245, 0x20c, 0x20d, 0x20e, 0x20f, 0x241, 0x249, 0x251, 0x259,
                    ]
                    .map(datatype),
                    [0x210, 0x214, 0x21a, 0x2d2, 0x2da, 0x21c].map(datatype),
                ),
                integer_pairs: [0x22b, 0x22c, 0x22a, 0x232].map(datatype).to_vec(),
                errors_return: sys::MPI_Errhandler(value(0x143)),
                info_null: sys::MPI_Info(value(0x130)),
            })
        }
    }
}

#[cfg(any(abi = "openmpi", abi = "standard"))]
pub use sys::{
    MPI_COMBINER_CONTIGUOUS as CONTIGUOUS, MPI_COMBINER_DARRAY as DARRAY, MPI_COMBINER_DUP as DUP,
    MPI_COMBINER_F90_COMPLEX as F90_COMPLEX, MPI_COMBINER_F90_INTEGER as F90_INTEGER,
    MPI_COMBINER_F90_REAL as F90_REAL, MPI_COMBINER_HINDEXED as HINDEXED,
    MPI_COMBINER_HINDEXED_BLOCK as HINDEXED_BLOCK, MPI_COMBINER_HVECTOR as HVECTOR,
    MPI_COMBINER_INDEXED as INDEXED, MPI_COMBINER_INDEXED_BLOCK as INDEXED_BLOCK,
    MPI_COMBINER_NAMED as NAMED, MPI_COMBINER_RESIZED as RESIZED, MPI_COMBINER_STRUCT as STRUCT,
    MPI_COMBINER_SUBARRAY as SUBARRAY, MPI_COMBINER_VECTOR as VECTOR,
};

/// MPICH: a handle is an `int` whose top bits say whether it is predefined and which kind of object
/// it names (bits 26 to 29: 1 communicator, 3 datatype, 6 operator), and predefined ones are constants of the ABI.
#[cfg(abi = "mpich")]
mod mpich {
    use super::*;
    use std::ffi::c_int;

    /// `MPI_IN_PLACE`.
    pub const IN_PLACE: *const c_void = usize::MAX as *const c_void;

    impl Handles {
        /// The constants of the MPICH ABI; nothing to look up.
        pub fn find(_finder: &Finder) -> Option<Handles> {
            let datatype = |handle| sys::MPI_Datatype(0x4c00_0000 | handle);
            Some(Handles {
                world: sys::MPI_Comm(Abi::MPICH_WORLD),
                self_: sys::MPI_Comm(0x4400_0001),
                comm_null: sys::MPI_Comm(0x0400_0000),
                datatype_null: sys::MPI_Datatype(0x0c00_0000),
                request_null: sys::MPI_Request(0x2c00_0000),
                byte: sys::MPI_Datatype(0x4c00_010d),
                long: sys::MPI_Datatype(0x4c00_0807),
                double: sys::MPI_Datatype(0x4c00_080b),
                max: sys::MPI_Op(0x5800_0001),
                sum: sys::MPI_Op(0x5800_0003),
                op_null: sys::MPI_Op(0x1800_0000),
                ops: [0x3, 0x4, 0x1, 0x2, 0xc, 0xb, 0x6, 0x8, 0xa, 0x5, 0x7, 0x9]
                    .map(|op| sys::MPI_Op(0x5800_0000 | op)),
                numbers: numbers(
                    [
                        0x118, 0x203, 0x405, 0x807, 0x809, 0x137, 0x238, 0x439, 0x83a, 0x41b,
                        0x12d, 0x22f, 0x430, 0x831, 0x843, 0x844, 0x845,
                    ]
                    .map(datatype),
                    [
                        0x102, 0x204, 0x406, 0x808, 0x819, 0x13b, 0x23c, 0x43d, 0x83e,
                    ]
                    .map(datatype),
                    [0x40a, 0x80b, 0x41c, 0x427, 0x829, 0x81f].map(datatype),
                ),
                integer_pairs: [
                    0x4c00_0816,
                    0x8c00_0003u32 as c_int,
                    0x8c00_0002u32 as c_int,
                    0x4c00_0820,
                ]
                .map(sys::MPI_Datatype)
                .to_vec(),
                errors_return: sys::MPI_Errhandler(0x5400_0001),
                info_null: sys::MPI_Info(0x1c00_0000),
            })
        }

        /// False for a value that cannot be a communicator: the host should complain about it.
        pub fn is_comm(&self, comm: sys::MPI_Comm) -> bool {
            (comm.0 as u32 >> 26) & 0xf == 1 && comm != self.comm_null
        }

        /// False for a value that cannot be a datatype.
        pub fn is_datatype(&self, datatype: sys::MPI_Datatype) -> bool {
            (datatype.0 as u32 >> 26) & 0xf == 3 && datatype != self.datatype_null
        }

        /// False for a value that cannot be an operator.
        pub fn is_op(&self, op: sys::MPI_Op) -> bool {
            (op.0 as u32 >> 26) & 0xf == 6 && op != self.op_null
        }

        /// Is it the host's own, one of [`Handles::ops`] or not (`MPI_REPLACE`, `MPIX_EQUAL`)?
        pub fn is_predefined_op(&self, op: sys::MPI_Op) -> bool {
            op.0 as u32 >> 30 == 1
        }
    }

    impl RawHandle {
        /// A communicator as an argument.
        pub fn of(comm: sys::MPI_Comm) -> RawHandle {
            RawHandle(comm.0 as usize as *mut c_void)
        }

        /// A datatype as an argument.
        pub fn of_type(datatype: sys::MPI_Datatype) -> RawHandle {
            RawHandle(datatype.0 as usize as *mut c_void)
        }

        /// The argument read as a communicator: the low half of the register.
        pub fn comm(self) -> sys::MPI_Comm {
            sys::MPI_Comm(self.0 as usize as c_int)
        }

        /// The argument read as a datatype: the low half of the register.
        pub fn datatype(self) -> sys::MPI_Datatype {
            sys::MPI_Datatype(self.0 as usize as c_int)
        }

        /// An operator as an argument.
        pub fn of_op(op: sys::MPI_Op) -> RawHandle {
            RawHandle(op.0 as usize as *mut c_void)
        }

        /// The argument read as an operator: the low half of the register.
        pub fn op(self) -> sys::MPI_Op {
            sys::MPI_Op(self.0 as usize as c_int)
        }

        /// The argument read as an info object: the low half of the register.
        pub fn info(self) -> sys::MPI_Info {
            sys::MPI_Info(self.0 as usize as c_int)
        }
    }

    pub use sys::{
        MPIR_Combiner_enum_MPI_COMBINER_CONTIGUOUS as CONTIGUOUS,
        MPIR_Combiner_enum_MPI_COMBINER_DARRAY as DARRAY,
        MPIR_Combiner_enum_MPI_COMBINER_DUP as DUP,
        MPIR_Combiner_enum_MPI_COMBINER_F90_COMPLEX as F90_COMPLEX,
        MPIR_Combiner_enum_MPI_COMBINER_F90_INTEGER as F90_INTEGER,
        MPIR_Combiner_enum_MPI_COMBINER_F90_REAL as F90_REAL,
        MPIR_Combiner_enum_MPI_COMBINER_HINDEXED as HINDEXED,
        MPIR_Combiner_enum_MPI_COMBINER_HINDEXED_BLOCK as HINDEXED_BLOCK,
        MPIR_Combiner_enum_MPI_COMBINER_HVECTOR as HVECTOR,
        MPIR_Combiner_enum_MPI_COMBINER_INDEXED as INDEXED,
        MPIR_Combiner_enum_MPI_COMBINER_INDEXED_BLOCK as INDEXED_BLOCK,
        MPIR_Combiner_enum_MPI_COMBINER_NAMED as NAMED,
        MPIR_Combiner_enum_MPI_COMBINER_RESIZED as RESIZED,
        MPIR_Combiner_enum_MPI_COMBINER_STRUCT as STRUCT,
        MPIR_Combiner_enum_MPI_COMBINER_SUBARRAY as SUBARRAY,
        MPIR_Combiner_enum_MPI_COMBINER_VECTOR as VECTOR,
    };
}

/// Where handles are pointers.
#[cfg(not(abi = "mpich"))]
mod pointers {
    use super::*;

    impl Handles {
        /// False for a value that cannot be a communicator: the host should complain about it.
        pub fn is_comm(&self, comm: sys::MPI_Comm) -> bool {
            !comm.0.is_null() && comm != self.comm_null
        }

        /// False for a value that cannot be a datatype.
        pub fn is_datatype(&self, datatype: sys::MPI_Datatype) -> bool {
            !datatype.0.is_null() && datatype != self.datatype_null
        }

        /// False for a value that cannot be an operator.
        pub fn is_op(&self, op: sys::MPI_Op) -> bool {
            !op.0.is_null() && op != self.op_null
        }

        /// Is it the host's own, one of [`Handles::ops`] or not (`MPI_REPLACE`)?
        #[cfg(any(abi = "openmpi", abi = "smpi"))]
        pub fn is_predefined_op(&self, op: sys::MPI_Op) -> bool {
            self.ops.contains(&op) || self.rma_ops.contains(&op)
        }

        /// Is it the host's own, one of [`Handles::ops`] or not (`MPI_REPLACE`)?
        #[cfg(abi = "standard")]
        pub fn is_predefined_op(&self, op: sys::MPI_Op) -> bool {
            op.0.addr() < 0x1000 // as for all predefined handles
        }
    }

    impl RawHandle {
        /// A communicator as an argument.
        pub fn of(comm: sys::MPI_Comm) -> RawHandle {
            RawHandle(comm.0.cast())
        }

        /// A datatype as an argument.
        pub fn of_type(datatype: sys::MPI_Datatype) -> RawHandle {
            RawHandle(datatype.0.cast())
        }

        /// The argument read as a communicator.
        pub fn comm(self) -> sys::MPI_Comm {
            sys::MPI_Comm(self.0.cast())
        }

        /// The argument read as a datatype.
        pub fn datatype(self) -> sys::MPI_Datatype {
            sys::MPI_Datatype(self.0.cast())
        }

        /// An operator as an argument.
        pub fn of_op(op: sys::MPI_Op) -> RawHandle {
            RawHandle(op.0.cast())
        }

        /// The argument read as an operator.
        pub fn op(self) -> sys::MPI_Op {
            sys::MPI_Op(self.0.cast())
        }

        /// The argument read as an info object.
        pub fn info(self) -> sys::MPI_Info {
            sys::MPI_Info(self.0.cast())
        }
    }
}

/// SMPI: a predefined handle is the address of a data object of the library. `MPI_COMM_WORLD` is a variable, and
/// `MPI_COMM_SELF` comes from a function, because the ranks share one process and one library.
#[cfg(abi = "smpi")]
mod smpi {
    use super::*;
    use crate::host::library::loader::as_function;

    /// `MPI_IN_PLACE`.
    pub const IN_PLACE: *const c_void = -222isize as *const c_void;

    impl Handles {
        /// The addresses of the objects.
        pub fn find(finder: &Finder) -> Option<Handles> {
            let null = std::ptr::null_mut();
            macro_rules! op {
                ($name:literal) => {
                    sys::MPI_Op(data!(finder, $name).cast())
                };
            }
            let world: *mut sys::MPI_Comm = data!(finder, "MPI_COMM_WORLD").cast();
            // SAFETY: SMPI's mpi.h: extern MPI_Comm MPI_COMM_WORLD, which is set before any rank runs, and
            // MPI_Comm smpi_process_comm_self().
            let (world, myself) = unsafe {
                let myself: unsafe extern "C" fn() -> sys::MPI_Comm =
                    as_function(function!(finder, "smpi_process_comm_self"))?;
                (*world, myself())
            };
            Some(Handles {
                world,
                self_: myself,
                comm_null: sys::MPI_Comm(null),
                datatype_null: sys::MPI_Datatype(data!(finder, "smpi_MPI_DATATYPE_NULL").cast()),
                request_null: sys::MPI_Request(null.cast()),
                byte: sys::MPI_Datatype(data!(finder, "smpi_MPI_BYTE").cast()),
                long: sys::MPI_Datatype(data!(finder, "smpi_MPI_LONG").cast()),
                double: sys::MPI_Datatype(data!(finder, "smpi_MPI_DOUBLE").cast()),
                max: op!("smpi_MPI_MAX"),
                sum: op!("smpi_MPI_SUM"),
                op_null: sys::MPI_Op(null.cast()),
                ops: [
                    op!("smpi_MPI_SUM"),
                    op!("smpi_MPI_PROD"),
                    op!("smpi_MPI_MAX"),
                    op!("smpi_MPI_MIN"),
                    op!("smpi_MPI_MAXLOC"),
                    op!("smpi_MPI_MINLOC"),
                    op!("smpi_MPI_BAND"),
                    op!("smpi_MPI_BOR"),
                    op!("smpi_MPI_BXOR"),
                    op!("smpi_MPI_LAND"),
                    op!("smpi_MPI_LOR"),
                    op!("smpi_MPI_LXOR"),
                ],
                rma_ops: [op!("smpi_MPI_REPLACE"), op!("smpi_MPI_NO_OP")],
                numbers: Vec::new(), // reductions by the host take no simulated time
                integer_pairs: Vec::new(),
                errors_return: sys::MPI_Errhandler(data!(finder, "smpi_MPI_ERRORS_RETURN").cast()),
                info_null: sys::MPI_Info(null.cast()),
            })
        }
    }

    pub use sys::{
        SMPI_Combiner_enum_MPI_COMBINER_CONTIGUOUS as CONTIGUOUS,
        SMPI_Combiner_enum_MPI_COMBINER_DARRAY as DARRAY,
        SMPI_Combiner_enum_MPI_COMBINER_DUP as DUP,
        SMPI_Combiner_enum_MPI_COMBINER_F90_COMPLEX as F90_COMPLEX,
        SMPI_Combiner_enum_MPI_COMBINER_F90_INTEGER as F90_INTEGER,
        SMPI_Combiner_enum_MPI_COMBINER_F90_REAL as F90_REAL,
        SMPI_Combiner_enum_MPI_COMBINER_HINDEXED as HINDEXED,
        SMPI_Combiner_enum_MPI_COMBINER_HINDEXED_BLOCK as HINDEXED_BLOCK,
        SMPI_Combiner_enum_MPI_COMBINER_HVECTOR as HVECTOR,
        SMPI_Combiner_enum_MPI_COMBINER_INDEXED as INDEXED,
        SMPI_Combiner_enum_MPI_COMBINER_INDEXED_BLOCK as INDEXED_BLOCK,
        SMPI_Combiner_enum_MPI_COMBINER_NAMED as NAMED,
        SMPI_Combiner_enum_MPI_COMBINER_RESIZED as RESIZED,
        SMPI_Combiner_enum_MPI_COMBINER_STRUCT as STRUCT,
        SMPI_Combiner_enum_MPI_COMBINER_SUBARRAY as SUBARRAY,
        SMPI_Combiner_enum_MPI_COMBINER_VECTOR as VECTOR,
    };
}

// Error codes that Rondo gives back. SMPI has them in an enumeration.
#[cfg(abi = "smpi")]
pub use sys::{
    ERROR_ENUM_MPI_ERR_ARG as MPI_ERR_ARG, ERROR_ENUM_MPI_ERR_BUFFER as MPI_ERR_BUFFER,
    ERROR_ENUM_MPI_ERR_COMM as MPI_ERR_COMM, ERROR_ENUM_MPI_ERR_COUNT as MPI_ERR_COUNT,
    ERROR_ENUM_MPI_ERR_INTERN as MPI_ERR_INTERN, ERROR_ENUM_MPI_ERR_NO_MEM as MPI_ERR_NO_MEM,
    ERROR_ENUM_MPI_ERR_OP as MPI_ERR_OP, ERROR_ENUM_MPI_ERR_TRUNCATE as MPI_ERR_TRUNCATE,
    ERROR_ENUM_MPI_ERR_TYPE as MPI_ERR_TYPE, ERROR_ENUM_MPI_SUCCESS as MPI_SUCCESS,
};
#[cfg(not(abi = "smpi"))]
pub use sys::{
    MPI_ERR_ARG, MPI_ERR_BUFFER, MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_INTERN, MPI_ERR_NO_MEM,
    MPI_ERR_OP, MPI_ERR_TRUNCATE, MPI_ERR_TYPE, MPI_SUCCESS,
};

/// `char` buffer of a host function as text.
pub fn text(buffer: &[c_char]) -> String {
    let bytes: Vec<u8> = buffer
        .iter()
        .map(|&c| c as u8)
        .take_while(|&b| b != 0)
        .collect();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
