//! Where a datatype's bytes lie: in one run that can be sent from the user's buffer, or scattered.
//!
//! The bytes of a message are those of its type map *in type map order*. They can be used in place
//! only if that order is the order of their addresses and leaves no gap. Size = extent does not show
//! it: a type may permute its elements. So the constructors of the type are followed.

use crate::host::library::abi::{self, Abi};
use crate::host::library::sys;
use crate::host::library::table::{EnvelopeLargeFn, Mpi};
use crate::host::object::attr::{Attribute, Datatype};
use crate::host::object::code::{Code, check};
use parking_lot::Mutex;
use std::ffi::{c_int, c_void};

/// What Rondo needs to know of a datatype.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Bytes of data in one element.
    pub size: u64,
    /// Distance in bytes from one element to the next.
    pub extent: i64,
    /// If the bytes of one element are a single ascending run: where it starts, relative to the
    /// element's address.
    pub run: Option<i64>,
}

impl Layout {
    /// Start of the data, relative to the buffer address, if `count` elements are a single run.
    pub fn contiguous(&self, count: u64) -> Option<i64> {
        self.run
            .filter(|_| count <= 1 || self.extent == self.size as i64)
    }
}

/// Layouts of derived types, kept on the type: they never change.
static LAYOUT: Attribute<Datatype, Layout> = Attribute::new();

/// Held while a layout is worked out and set.
static FIRST_USE: Mutex<()> = Mutex::new(());

impl Mpi {
    /// Bytes of data in one element of `datatype`.
    pub fn type_size(&self, datatype: Datatype) -> Result<u64, Code> {
        let mut size: sys::MPI_Count = 0;
        // SAFETY: the type is the caller's, valid by the MPI contract, or an inner one of it that is not freed yet.
        check(unsafe { (self.f.type_size)(datatype.0, &mut size) })?;
        u64::try_from(size).map_err(|_| Code::intern())
    }

    /// Bytes from one element of `datatype` to the next.
    pub fn extent(&self, datatype: Datatype) -> Result<i64, Code> {
        extent(self, datatype)
    }

    /// The bytes that elements of `datatype` span: from where, relative to an element's address, and how many.
    pub(in crate::host) fn true_extent(&self, datatype: Datatype) -> Result<(i64, i64), Code> {
        let (mut lower, mut extent): (sys::MPI_Aint, sys::MPI_Aint) = (0, 0);
        // SAFETY: the handle is as in `type_size`. The host writes two addresses.
        check(unsafe { (self.f.type_get_true_extent)(datatype.0, &mut lower, &mut extent) })?;
        Ok((to_i64(lower), to_i64(extent)))
    }

    /// Is `datatype` the host's own? `None` if it is none.
    pub(in crate::host) fn is_predefined(&self, datatype: Datatype) -> Option<bool> {
        let envelope = Envelope::of(self, datatype).ok()?;
        Some(is_predefined(envelope.combiner))
    }

    /// The layout of `datatype`, worked out once per derived type. Errors of the host come back as codes, no handler is
    /// called.
    ///
    /// An uncommitted type is an error, as it is in every host function that moves data.
    pub fn layout(&self, datatype: Datatype) -> Result<Layout, Code> {
        let envelope = Envelope::of(self, datatype)?;
        if is_predefined(envelope.combiner) {
            return predefined(self, datatype);
        }
        if let Some(known) = LAYOUT.get(self, datatype)? {
            return Ok(*known);
        }
        self.require_committed(datatype)?;
        // Another thread may be about to set it; setting it again would drop what others have got.
        let _one = FIRST_USE.lock();
        if let Some(known) = LAYOUT.get(self, datatype)? {
            return Ok(*known);
        }
        let layout = Evaluation::default().derived(self, datatype, &envelope)?;
        LAYOUT.set(self, datatype, layout)?;
        Ok(layout)
    }

    /// No MPI function tells whether a type is committed, but packing no element of it does. Without a communicator to
    /// ask on, it is taken for one that is.
    fn require_committed(&self, datatype: Datatype) -> Result<(), Code> {
        // There ranks share the memory of a process, and would share the communicator.
        let asked_on = match Abi::BUILT.is_simulated() {
            true => None,
            false => self.own_self(),
        };
        let Some(own) = asked_on else {
            return Ok(());
        };
        let (mut from, mut to, mut position) = ([0u8; 16], [0u8; 16], 0);
        // SAFETY: no element is read and none written; both buffers are valid all the same.
        check(unsafe {
            (self.f.pack)(
                from.as_mut_ptr().cast::<c_void>(),
                0,
                datatype.0,
                to.as_mut_ptr().cast(),
                to.len() as c_int,
                &mut position,
                own.0,
            )
        })
    }
}

/// How many numbers and types describe a type, and by which constructor it was made.
struct Envelope {
    integers: c_int,
    addresses: c_int,
    datatypes: c_int,
    combiner: u32,
}

/// What [`Envelope`] says of a type made with large counts, which `MPI_Type_get_contents` cannot
/// describe. No constructor has this number.
const OPAQUE: u32 = u32::MAX;

impl Envelope {
    fn of(mpi: &Mpi, datatype: Datatype) -> Result<Envelope, Code> {
        match mpi.type_get_envelope_large {
            Some(query) => Envelope::large(query, datatype),
            None => Envelope::small(mpi, datatype),
        }
    }

    fn small(mpi: &Mpi, datatype: Datatype) -> Result<Envelope, Code> {
        let (mut integers, mut addresses, mut datatypes, mut combiner) = (0, 0, 0, 0);
        // SAFETY: the type is the caller's, valid by the MPI contract, or an inner one of it that is not freed yet. The
        // host writes four integers.
        check(unsafe {
            (mpi.f.type_get_envelope)(
                datatype.0,
                &mut integers,
                &mut addresses,
                &mut datatypes,
                &mut combiner,
            )
        })?;
        let combiner = combiner as u32;
        Ok(Envelope {
            integers,
            addresses,
            datatypes,
            combiner,
        })
    }

    /// On a type with large counts the other query is an error that ends the program.
    fn large(query: EnvelopeLargeFn, datatype: Datatype) -> Result<Envelope, Code> {
        let (mut integers, mut addresses, mut counts, mut datatypes) = (0, 0, 0, 0);
        let mut combiner = 0;
        // SAFETY: the type is as in `small`, and the host has this function. It writes four counts and an integer.
        check(unsafe {
            query(
                datatype.0,
                &mut integers,
                &mut addresses,
                &mut counts,
                &mut datatypes,
                &mut combiner,
            )
        })?;
        let small = |count| c_int::try_from(count).map_err(|_| Code::intern());
        Ok(Envelope {
            integers: small(integers)?,
            addresses: small(addresses)?,
            datatypes: small(datatypes)?,
            combiner: if counts == 0 { combiner as u32 } else { OPAQUE },
        })
    }
}

/// The arguments a type was made with. The inner types are references of ours and freed with it.
struct Contents<'a> {
    mpi: &'a Mpi,
    integers: Vec<c_int>,
    addresses: Vec<sys::MPI_Aint>,
    datatypes: Vec<sys::MPI_Datatype>,
}

impl<'a> Contents<'a> {
    fn of(mpi: &'a Mpi, datatype: Datatype, envelope: &Envelope) -> Result<Self, Code> {
        let mut contents = Contents {
            mpi,
            integers: vec![0; envelope.integers as usize],
            addresses: vec![0; envelope.addresses as usize],
            datatypes: Vec::with_capacity(envelope.datatypes as usize),
        };
        let mut datatypes = vec![mpi.h.datatype_null; envelope.datatypes as usize];
        // SAFETY: the arrays have the lengths that the envelope gave.
        check(unsafe {
            (mpi.f.type_get_contents)(
                datatype.0,
                envelope.integers,
                envelope.addresses,
                envelope.datatypes,
                contents.integers.as_mut_ptr(),
                contents.addresses.as_mut_ptr(),
                datatypes.as_mut_ptr(),
            )
        })?;
        contents.datatypes = datatypes;
        Ok(contents)
    }
}

impl Drop for Contents<'_> {
    fn drop(&mut self) {
        for &inner in &self.datatypes {
            let combiner = Envelope::of(self.mpi, Datatype(inner)).map(|e| e.combiner);
            if combiner.is_ok_and(is_constructor) {
                let mut handle = inner;
                // SAFETY: MPI_Type_get_contents gave us a reference to a derived type to free.
                unsafe { (self.mpi.f.type_free)(&mut handle) };
            }
        }
    }
}

/// Does this combiner say that a constructor made the type, so that the handle on it is to be freed? Predefined types
/// have no such handle, and not all of them are named: those of `MPI_Type_create_f90_real` and its like (MPI 4.1,
/// section 19.1.9), and those of `MPI_Type_get_value_index`. What is not known is not freed: that loses a handle, the
/// other an innocent program.
fn is_constructor(combiner: u32) -> bool {
    MADE_OF_OTHERS.contains(&combiner) || [OPAQUE, abi::SUBARRAY, abi::DARRAY].contains(&combiner)
}

/// Constructors that [`run`] knows.
const MADE_OF_OTHERS: [u32; 10] = [
    abi::DUP,
    abi::RESIZED,
    abi::CONTIGUOUS,
    abi::VECTOR,
    abi::HVECTOR,
    abi::INDEXED,
    abi::HINDEXED,
    abi::INDEXED_BLOCK,
    abi::HINDEXED_BLOCK,
    abi::STRUCT,
];

/// Does this combiner say that the type is the host's own, and no constructor's?
fn is_predefined(combiner: u32) -> bool {
    [
        abi::NAMED,
        abi::F90_REAL,
        abi::F90_COMPLEX,
        abi::F90_INTEGER,
    ]
    .contains(&combiner)
}

/// A predefined type is one run unless there is padding inside (`MPI_SHORT_INT`); it may be behind (`MPI_DOUBLE_INT`).
fn predefined(mpi: &Mpi, datatype: Datatype) -> Result<Layout, Code> {
    let (size, extent) = (mpi.type_size(datatype)?, extent(mpi, datatype)?);
    let is_run = size as i64 == extent || mpi.true_extent(datatype)? == (0, size as i64);
    let run = is_run.then_some(0);
    Ok(Layout { size, extent, run })
}

fn extent(mpi: &Mpi, datatype: Datatype) -> Result<i64, Code> {
    let (mut lower, mut extent): (sys::MPI_Aint, sys::MPI_Aint) = (0, 0);
    // SAFETY: the handle is as in `Mpi::type_size`. The host writes two addresses.
    check(unsafe { (mpi.f.type_get_extent)(datatype.0, &mut lower, &mut extent) })?;
    Ok(to_i64(extent))
}

/// `MPI_Aint` is `isize` in one ABI and `c_long` in the other.
fn to_i64(address: impl TryInto<i64>) -> i64 {
    address.try_into().unwrap_or(i64::MAX) // never: both have 64 bits
}

/// Types inside types, so many deep, are followed, and so many in all. A type that is inside another one several times
/// is followed each time, as hosts may return another handle of it each time. What is beyond that is packed.
const DEPTH_MAX: u32 = 64;
const FOLLOWED_MAX: u32 = 4096;

/// A layout being worked out.
#[derive(Default)]
struct Evaluation {
    /// Inside how many types the one at hand is.
    depth: u32,
    /// How many were followed.
    followed: u32,
}

impl Evaluation {
    fn inner(&mut self, mpi: &Mpi, handle: sys::MPI_Datatype) -> Result<Layout, Code> {
        let datatype = Datatype(handle);
        let envelope = Envelope::of(mpi, datatype)?;
        match is_predefined(envelope.combiner) {
            true => predefined(mpi, datatype),
            false => self.derived(mpi, datatype, &envelope),
        }
    }

    fn derived(
        &mut self,
        mpi: &Mpi,
        datatype: Datatype,
        envelope: &Envelope,
    ) -> Result<Layout, Code> {
        let (size, extent) = (mpi.type_size(datatype)?, extent(mpi, datatype)?);
        let is_followed = MADE_OF_OTHERS.contains(&envelope.combiner)
            && self.depth < DEPTH_MAX
            && self.followed < FOLLOWED_MAX;
        let run = match (size, is_followed) {
            (0, _) => Some(0),
            (_, true) => self.follow(mpi, datatype, envelope)?,
            (_, false) => None, // subarrays, large counts and the like too
        };
        Ok(Layout { size, extent, run })
    }

    /// Follows one constructor.
    fn follow(
        &mut self,
        mpi: &Mpi,
        datatype: Datatype,
        envelope: &Envelope,
    ) -> Result<Option<i64>, Code> {
        let contents = Contents::of(mpi, datatype, envelope)?;
        self.depth += 1;
        self.followed += 1;
        let old = |&handle| self.inner(mpi, handle);
        let old: Result<Vec<Layout>, Code> = contents.datatypes.iter().map(old).collect();
        self.depth -= 1;
        Ok(run(envelope.combiner, &contents, &old?))
    }
}

/// Where the run of a type begins that a constructor made of types with these layouts (MPI 4.1, sections 5.1.2 and
/// 5.1.13, for what its contents mean).
fn run(c: u32, contents: &Contents, old: &[Layout]) -> Option<i64> {
    let (ints, addresses) = (&contents.integers, &contents.addresses);
    let mut scan = Scan::new();
    if c == abi::STRUCT {
        for (i, old) in old.iter().enumerate() {
            scan.block(ints[1 + i] as i64, to_i64(addresses[i]), old);
        }
        return scan.run();
    }
    let old = old[0];
    if c == abi::DUP || c == abi::RESIZED {
        return old.run;
    } else if c == abi::CONTIGUOUS {
        scan.block(ints[0] as i64, 0, &old);
    } else if c == abi::VECTOR || c == abi::HVECTOR {
        let stride = if c == abi::VECTOR {
            ints[2] as i64 * old.extent
        } else {
            to_i64(addresses[0])
        };
        scan.vector(ints[0] as i64, ints[1] as i64, stride, &old);
    } else {
        let blocks = ints[0] as usize;
        for i in 0..blocks {
            let length = if c == abi::INDEXED_BLOCK || c == abi::HINDEXED_BLOCK {
                ints[1]
            } else {
                ints[1 + i]
            };
            let displacement = if c == abi::INDEXED {
                ints[1 + blocks + i] as i64 * old.extent
            } else if c == abi::INDEXED_BLOCK {
                ints[2 + i] as i64 * old.extent
            } else {
                to_i64(addresses[i])
            };
            scan.block(length as i64, displacement, &old);
        }
    }
    scan.run()
}

/// Walks a type map block by block and sees whether it stays one ascending run.
struct Scan {
    start: Option<i64>,
    next: i64,
    broken: bool,
}

impl Scan {
    fn new() -> Scan {
        Scan {
            start: None,
            next: 0,
            broken: false,
        }
    }

    /// `length` elements of `old` in a row, the first at `displacement`.
    fn block(&mut self, length: i64, displacement: i64, old: &Layout) {
        if length <= 0 || old.size == 0 {
            return;
        }
        let Some(offset) = old.contiguous(length as u64) else {
            self.broken = true;
            return;
        };
        let at = displacement + offset;
        self.broken |= self.start.is_some() && at != self.next;
        self.start.get_or_insert(at);
        self.next = at + length * old.size as i64;
    }

    /// `count` blocks of `length` elements, `stride` bytes from one block's start to the next's.
    fn vector(&mut self, count: i64, length: i64, stride: i64, old: &Layout) {
        if count > 1 && stride != length * old.size as i64 {
            self.broken = true;
            return;
        }
        // The blocks follow each other without a gap, so they are one block, unless the elements
        // inside a block do not; `block` sees to that with the first one.
        self.block(length, 0, old);
        self.next += (count - 1).max(0) * length * old.size as i64;
        self.broken |= count <= 0;
    }

    fn run(&self) -> Option<i64> {
        self.start.filter(|_| !self.broken)
    }
}
