//! The host's functions, resolved once, and the few words that identify the host.

use super::abi::{Abi, Handles, RawHandle, text};
use super::collectives::Collectives;
use super::handle::Comm;
use super::identify::{OUTLIVES, is_fault_tolerant, running};
use super::loader::as_function;
use super::symbols::Finder;
use super::sys;
use crate::records::{Obstacle, Trouble};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering::Relaxed};

/// Signature of a communicator attribute's delete callback.
pub type CommDeleteFn =
    unsafe extern "C" fn(sys::MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int;
/// Signature of a datatype attribute's delete callback.
pub type TypeDeleteFn =
    unsafe extern "C" fn(sys::MPI_Datatype, c_int, *mut c_void, *mut c_void) -> c_int;
/// Signature of a communicator attribute's copy callback.
pub type CommCopyFn = unsafe extern "C" fn(
    sys::MPI_Comm,
    c_int,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_int,
) -> c_int;
/// Signature of a datatype attribute's copy callback.
pub type TypeCopyFn = unsafe extern "C" fn(
    sys::MPI_Datatype,
    c_int,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_int,
) -> c_int;

/// Declares a struct of function pointers and the way to fill it from the host.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($field:ident = $symbol:literal ($($arg:ty),*);)* }) => {
        $(#[$doc])*
        pub struct $table {
            $(
                #[doc = concat!("`", $symbol, "`.")]
                pub $field: unsafe extern "C-unwind" fn($($arg),*) -> c_int,
            )*
        }

        impl $table {
            /// Looks every function up; the name of the first one that the host lacks as the error.
            pub fn find(finder: &Finder) -> Result<$table, &'static str> {
                Ok($table {
                    // SAFETY: the host's function of this name has this signature by the MPI
                    // standard; the ABI was compared with that of the build before.
                    $($field: unsafe { as_function(function!(finder, $symbol)) }.ok_or($symbol)?,)*
                })
            }
        }
    };
}

functions! {
    /// The host functions that Rondo calls. Their `PMPI_` names skip every profiler.
    Functions {
        allreduce = "PMPI_Allreduce"(*const c_void, *mut c_void, c_int, sys::MPI_Datatype, sys::MPI_Op, sys::MPI_Comm);
        iallreduce = "PMPI_Iallreduce"(*const c_void, *mut c_void, c_int, sys::MPI_Datatype, sys::MPI_Op,
            sys::MPI_Comm, *mut sys::MPI_Request);
        reduce = "PMPI_Reduce"(*const c_void, *mut c_void, c_int, sys::MPI_Datatype, sys::MPI_Op, c_int, sys::MPI_Comm);
        reduce_local = "PMPI_Reduce_local"(*const c_void, *mut c_void, c_int, sys::MPI_Datatype, sys::MPI_Op);
        op_commutative = "PMPI_Op_commutative"(sys::MPI_Op, *mut c_int);
        isend = "PMPI_Isend"(*const c_void, c_int, sys::MPI_Datatype, c_int, c_int, sys::MPI_Comm,
            *mut sys::MPI_Request);
        issend = "PMPI_Issend"(*const c_void, c_int, sys::MPI_Datatype, c_int, c_int, sys::MPI_Comm,
            *mut sys::MPI_Request);
        irecv = "PMPI_Irecv"(*mut c_void, c_int, sys::MPI_Datatype, c_int, c_int, sys::MPI_Comm, *mut sys::MPI_Request);
        test = "PMPI_Test"(*mut sys::MPI_Request, *mut c_int, *mut sys::MPI_Status);
        request_get_status = "PMPI_Request_get_status"(sys::MPI_Request, *mut c_int, *mut sys::MPI_Status);
        cancel = "PMPI_Cancel"(*mut sys::MPI_Request);
        test_cancelled = "PMPI_Test_cancelled"(*const sys::MPI_Status, *mut c_int);
        waitany = "PMPI_Waitany"(c_int, *mut sys::MPI_Request, *mut c_int, *mut sys::MPI_Status);
        testany = "PMPI_Testany"(c_int, *mut sys::MPI_Request, *mut c_int, *mut c_int, *mut sys::MPI_Status);
        iprobe = "PMPI_Iprobe"(c_int, c_int, sys::MPI_Comm, *mut c_int, *mut sys::MPI_Status);
        sendrecv = "PMPI_Sendrecv"(*const c_void, c_int, sys::MPI_Datatype, c_int, c_int, *mut c_void, c_int,
            sys::MPI_Datatype, c_int, c_int, sys::MPI_Comm, *mut sys::MPI_Status);
        get_count = "PMPI_Get_count"(*const sys::MPI_Status, sys::MPI_Datatype, *mut c_int);
        pack = "PMPI_Pack"(*const c_void, c_int, sys::MPI_Datatype, *mut c_void, c_int, *mut c_int, sys::MPI_Comm);
        unpack = "PMPI_Unpack"(*const c_void, c_int, *mut c_int, *mut c_void, c_int, sys::MPI_Datatype, sys::MPI_Comm);
        comm_rank = "PMPI_Comm_rank"(sys::MPI_Comm, *mut c_int);
        comm_size = "PMPI_Comm_size"(sys::MPI_Comm, *mut c_int);
        comm_test_inter = "PMPI_Comm_test_inter"(sys::MPI_Comm, *mut c_int);
        comm_get_parent = "PMPI_Comm_get_parent"(*mut sys::MPI_Comm);
        comm_group = "PMPI_Comm_group"(sys::MPI_Comm, *mut sys::MPI_Group);
        group_size = "PMPI_Group_size"(sys::MPI_Group, *mut c_int);
        group_translate_ranks = "PMPI_Group_translate_ranks"(sys::MPI_Group, c_int, *const c_int, sys::MPI_Group,
            *mut c_int);
        group_incl = "PMPI_Group_incl"(sys::MPI_Group, c_int, *const c_int, *mut sys::MPI_Group);
        group_free = "PMPI_Group_free"(*mut sys::MPI_Group);
        comm_create = "PMPI_Comm_create"(sys::MPI_Comm, sys::MPI_Group, *mut sys::MPI_Comm);
        comm_free = "PMPI_Comm_free"(*mut sys::MPI_Comm);
        comm_set_errhandler = "PMPI_Comm_set_errhandler"(sys::MPI_Comm, sys::MPI_Errhandler);
        comm_call_errhandler = "PMPI_Comm_call_errhandler"(sys::MPI_Comm, c_int);
        comm_create_keyval = "PMPI_Comm_create_keyval"(CommCopyFn, CommDeleteFn, *mut c_int, *mut c_void);
        comm_get_attr = "PMPI_Comm_get_attr"(sys::MPI_Comm, c_int, *mut c_void, *mut c_int);
        comm_set_attr = "PMPI_Comm_set_attr"(sys::MPI_Comm, c_int, *mut c_void);
        comm_delete_attr = "PMPI_Comm_delete_attr"(sys::MPI_Comm, c_int);
        type_create_keyval = "PMPI_Type_create_keyval"(TypeCopyFn, TypeDeleteFn, *mut c_int, *mut c_void);
        type_get_attr = "PMPI_Type_get_attr"(sys::MPI_Datatype, c_int, *mut c_void, *mut c_int);
        type_set_attr = "PMPI_Type_set_attr"(sys::MPI_Datatype, c_int, *mut c_void);
        type_size = "PMPI_Type_size_x"(sys::MPI_Datatype, *mut sys::MPI_Count);
        type_get_extent = "PMPI_Type_get_extent"(sys::MPI_Datatype, *mut sys::MPI_Aint, *mut sys::MPI_Aint);
        type_get_true_extent = "PMPI_Type_get_true_extent"(sys::MPI_Datatype, *mut sys::MPI_Aint, *mut sys::MPI_Aint);
        type_get_envelope = "PMPI_Type_get_envelope"(sys::MPI_Datatype, *mut c_int, *mut c_int, *mut c_int, *mut c_int);
        type_get_contents = "PMPI_Type_get_contents"(sys::MPI_Datatype, c_int, c_int, c_int, *mut c_int,
            *mut sys::MPI_Aint, *mut sys::MPI_Datatype);
        type_create_hindexed = "PMPI_Type_create_hindexed"(c_int, *const c_int, *const sys::MPI_Aint,
            sys::MPI_Datatype, *mut sys::MPI_Datatype);
        type_commit = "PMPI_Type_commit"(*mut sys::MPI_Datatype);
        type_free = "PMPI_Type_free"(*mut sys::MPI_Datatype);
        get_processor_name = "PMPI_Get_processor_name"(*mut c_char, *mut c_int);
        info_get = "PMPI_Info_get"(sys::MPI_Info, *const c_char, c_int, *mut c_char, *mut c_int);
        query_thread = "PMPI_Query_thread"(*mut c_int);
        initialized = "PMPI_Initialized"(*mut c_int);
        finalized = "PMPI_Finalized"(*mut c_int);
        get_library_version = "PMPI_Get_library_version"(*mut c_char, *mut c_int);
        error_class = "PMPI_Error_class"(c_int, *mut c_int);
        error_string = "PMPI_Error_string"(c_int, *mut c_char, *mut c_int);
        abort = "PMPI_Abort"(sys::MPI_Comm, c_int);
    }
}

/// The host MPI library of this process.
pub struct Host {
    /// The host's own collectives, for calls that Rondo does not take.
    pub(in crate::host) own: Collectives,
    /// What Rondo needs; the reason where it cannot work with this host.
    pub(in crate::host) mpi: Result<Mpi, Trouble>,
    world_rank: WorldRank,
}

/// Signature of `MPI_Type_get_envelope_c`.
pub type EnvelopeLargeFn = unsafe extern "C-unwind" fn(
    sys::MPI_Datatype,
    *mut sys::MPI_Count,
    *mut sys::MPI_Count,
    *mut sys::MPI_Count,
    *mut sys::MPI_Count,
    *mut c_int,
) -> c_int;

/// A host of the ABI this build speaks, with everything Rondo calls.
pub struct Mpi {
    pub(in crate::host) f: Functions,
    /// `None` on hosts without large-count functions.
    pub(in crate::host) type_get_envelope_large: Option<EnvelopeLargeFn>,
    pub(in crate::host) h: Handles,
    /// `PMPI_Wtime`.
    wtime: unsafe extern "C-unwind" fn() -> f64,
    /// See [`Mpi::max_in_time`].
    pub(in crate::host) reduces_apart: bool,
    /// See [`Mpi::outlive`].
    pub(in crate::host) outlives: AtomicBool,
    /// Where the world model of MPI is, see [`Mpi::world_is_up`].
    pub(in crate::host) phase: AtomicU8,
    /// See [`Mpi::own_self`].
    pub(in crate::host) own_self: Mutex<Option<Comm>>,
}

static HOST: OnceCell<Host> = OnceCell::new();

/// What serves as long as there are several MPI libraries of which none is initialised.
static GUESS: OnceCell<Host> = OnceCell::new();

/// What serves as long as there is no MPI library: it has what programs without parallelism have in its place.
static NONE: OnceCell<Host> = OnceCell::new();

/// The host, found at the first call.
#[inline]
pub fn host() -> &'static Host {
    match HOST.get() {
        Some(host) => host,
        None => find(),
    }
}

#[cold]
fn find() -> &'static Host {
    let finder = Finder::of_process();
    let cell = match (finder.is_certain(), finder.is_without_mpi()) {
        (true, _) => &HOST,
        (false, false) => &GUESS,
        (false, true) => &NONE,
    };
    cell.get_or_init(|| Host::find(&finder))
}

impl Host {
    fn find(finder: &Finder) -> Host {
        let (running, world) = running(finder);
        let own = Collectives::find(finder).unwrap_or_else(|name| {
            let text = format!(
                "the MPI library has no {name}, without which nothing can be passed on to it"
            );
            crate::report::line(-1, &text);
            std::process::abort()
        });
        Host {
            own,
            mpi: Mpi::find(finder, running),
            world_rank: WorldRank::new(finder, world),
        }
    }

    /// This process's rank in `MPI_COMM_WORLD`; -1 while there is none.
    pub fn world_rank(&self) -> i32 {
        self.world_rank.get()
    }
}

impl Mpi {
    /// Can the library be handed any call of so many bytes? Without functions for large counts it may not take that
    /// many elements.
    #[inline]
    pub fn takes(&self, bytes: u64) -> bool {
        bytes <= c_int::MAX as u64 || self.type_get_envelope_large.is_some()
    }

    /// What Rondo needs of the running library, or why it can only pass calls on.
    fn find(finder: &Finder, running: Abi) -> Result<Mpi, Trouble> {
        let trouble = |kind: Obstacle, text: String| Trouble { kind, text };
        if running == Abi::Unknown {
            let text = match finder.is_without_mpi() {
                true => {
                    "no MPI library is loaded; every call goes to what the program has in its place"
                }
                false => {
                    "the program's MPI library has an ABI that Rondo does not know; every call goes to it untouched"
                }
            };
            return Err(trouble(Obstacle::UnknownAbi, text.into()));
        }
        if running != Abi::BUILT {
            let kind = match running {
                Abi::Later | Abi::Unknown => Obstacle::UnknownAbi,
                Abi::OpenMpi | Abi::Mpich | Abi::Standard | Abi::Smpi => Obstacle::OtherAbi,
            };
            let text = format!(
                "this librondo.so was built for {}, but the program runs on {}; every call goes to the \
                 MPI library untouched. Preload the library built for the program's MPI",
                Abi::BUILT.name(),
                running.name(),
            );
            return Err(trouble(kind, text));
        }
        if is_fault_tolerant(finder) {
            return Err(trouble(Obstacle::Outlives, OUTLIVES.into()));
        }
        let lacks = |what: &str| {
            let text = format!("the MPI library lacks {what}; every call goes to it untouched");
            trouble(Obstacle::Lacks, text)
        };
        let mut mpi = Mpi {
            f: Functions::find(finder).map_err(lacks)?,
            // SAFETY: the signature is that of the MPI standard.
            type_get_envelope_large: unsafe {
                as_function(large_function!(finder, "PMPI_Type_get_envelope_c"))
            },
            h: Handles::find(finder).ok_or_else(|| lacks("a predefined handle"))?,
            // SAFETY: as above.
            wtime: unsafe { as_function(function!(finder, "PMPI_Wtime")) }
                .ok_or_else(|| lacks("PMPI_Wtime"))?,
            reduces_apart: false,
            outlives: AtomicBool::default(),
            phase: AtomicU8::default(),
            own_self: Mutex::default(),
        };
        // Its derivatives have other names, and it may come behind the standard's ABI.
        let is_open_mpi = Abi::BUILT == Abi::OpenMpi || mpi.version().starts_with("Open MPI");
        mpi.reduces_apart = !is_open_mpi;
        Ok(mpi)
    }
}

/// The rank in `MPI_COMM_WORLD`, asked of the host by its own ABI, whatever this build speaks.
struct WorldRank {
    initialized: unsafe extern "C" fn(*mut c_int) -> c_int,
    rank: unsafe extern "C" fn(RawHandle, *mut c_int) -> c_int,
    world: RawHandle,
    /// The rank once it is known, else -1: a program may begin with sessions, and call `MPI_Init` later.
    known: AtomicI32,
}

// SAFETY: functions, and a handle that any thread may pass to MPI; nobody looks behind it.
unsafe impl Send for WorldRank {}
// SAFETY: as above.
unsafe impl Sync for WorldRank {}

impl WorldRank {
    fn new(finder: &Finder, world: RawHandle) -> WorldRank {
        /// What is asked of a host that lacks the function: an error.
        unsafe extern "C" fn no_initialized(_yes: *mut c_int) -> c_int {
            1
        }
        /// The same.
        unsafe extern "C" fn no_rank(_world: RawHandle, _rank: *mut c_int) -> c_int {
            1
        }
        let initialized = function!(finder, "PMPI_Initialized");
        let rank = match world.0.is_null() {
            true => ptr::null_mut(), // nobody knows it
            false => function!(finder, "PMPI_Comm_rank"),
        };
        // SAFETY: the signatures are the MPI standard's, with the communicator as a word.
        unsafe {
            WorldRank {
                initialized: as_function(initialized).unwrap_or(no_initialized),
                rank: as_function(rank).unwrap_or(no_rank),
                world,
                known: AtomicI32::new(-1),
            }
        }
    }

    fn get(&self) -> i32 {
        let known = self.known.load(Relaxed);
        if known >= 0 {
            return known;
        }
        let (mut yes, mut rank): (c_int, c_int) = (0, -1);
        // SAFETY: `MPI_Initialized` may be called at any time, and MPI_COMM_WORLD is valid once it says so.
        unsafe {
            if (self.initialized)(&mut yes) == 0 && yes != 0 {
                (self.rank)(self.world, &mut rank);
            }
        }
        self.known.store(rank, Relaxed);
        rank
    }
}

impl Mpi {
    /// The host's name and version: how `MPI_Get_library_version` begins.
    pub fn version(&self) -> String {
        let mut buffer = vec![0 as c_char; sys::MPI_MAX_LIBRARY_VERSION_STRING as usize];
        let mut length: c_int = 0;
        // SAFETY: the buffer has the length that the standard asks for.
        unsafe { (self.f.get_library_version)(buffer.as_mut_ptr(), &mut length) };
        let text = text(&buffer);
        // Open MPI goes on with its build, MPICH with its whole configuration.
        let version = text.split(['\n', ',']).next().unwrap_or("");
        let words: Vec<&str> = version.split_whitespace().collect();
        words.join(" ")
    }

    /// Does the host read the variables of MPICH's in the environment?
    pub fn is_of_mpich(&self) -> bool {
        self.reduces_apart
    }

    /// Seconds since some moment, by the host's clock: where it simulates a network, that is the one that counts.
    pub fn time(&self) -> f64 {
        // SAFETY: MPI is up, and the function takes nothing.
        unsafe { (self.wtime)() }
    }

    /// Name of the node this process runs on.
    pub fn node_name(&self) -> String {
        let mut buffer = vec![0 as c_char; sys::MPI_MAX_PROCESSOR_NAME as usize + 1];
        let mut length: c_int = 0;
        // SAFETY: the buffer has the length that the standard asks for.
        unsafe { (self.f.get_processor_name)(buffer.as_mut_ptr(), &mut length) };
        text(&buffer)
    }

    /// The host's text for an error code.
    pub fn error_string(&self, code: c_int) -> String {
        let mut buffer = vec![0 as c_char; sys::MPI_MAX_ERROR_STRING as usize + 1];
        let mut length: c_int = 0;
        // SAFETY: the buffer has the length that the standard asks for.
        unsafe { (self.f.error_string)(code, buffer.as_mut_ptr(), &mut length) };
        text(&buffer)
    }
}
