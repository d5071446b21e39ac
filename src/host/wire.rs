//! [`Wire`] over the host's point-to-point messages.

use super::data::Data;
use super::handles::{Code, Comm, check};
use super::staging::{Run, Staging, StagingRoom, runs};
use super::table::Usable;
use crate::engine::{Event, Piece, Wire};
use mpi_sys as sys;
use std::collections::{TryReserveError, VecDeque};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

/// Empty polls before the processor is given away. A message between two cores takes a microsecond
/// or less, about as long as these polls; beyond that a waiting rank may well be keeping the very
/// rank it waits for from running.
const SPINS: u32 = 20;

/// Idle polls between two looks at the clock.
const POLLS_PER_LOOK: u32 = 256;

/// How long nothing must have happened before a rank looks for messages that do not fit.
const PATIENCE: Duration = Duration::from_millis(100);

/// The same for a message that is longer than any host sends in one go. Between two ranks messages are
/// matched in order, but over several links the rest of a long one may come after a later short one.
const LONG_PATIENCE: Duration = Duration::from_secs(10);

/// See [`LONG_PATIENCE`].
const LONG_BYTES: u64 = 64 << 10;

/// From this length on, a send is complete only when its message has reached a receive
/// (`MPI_Issend`). Hosts call a send complete when it is in the buffers of the operating system, and
/// there the blocks of many rounds would share the link with the one that is needed next; a root, that
/// waits for nobody, would put the whole message there. Shorter messages do no such harm.
const SYNCHRONOUS_BYTES: u64 = 4096;

/// Why a collective ended early.
#[derive(Debug)]
pub enum Failure {
    /// The host reported an error.
    Host(Code, &'static str),
    /// A message came from a rank that is in another call, or has other arguments.
    Mismatch(u32),
    /// This rank sends so many bytes, but by its own receive counts it contributes another number.
    Contribution {
        /// By count and type of what it sends.
        sends: u64,
        /// By its own entry of the receive counts.
        expected: u64,
    },
    /// Nothing arrived for this long; with one rank that was waited for.
    Timeout(Duration, Option<u32>),
}

impl Failure {
    /// Text for a person; `host` explains its own codes.
    pub fn text(&self, host: &Usable) -> String {
        match self {
            Failure::Host(code, what) => format!("{what}: {}", host.error_string(code.get())),
            Failure::Mismatch(from) => format!(
                "what rank {from} sent does not fit: the ranks differ in counts, datatype or root"
            ),
            Failure::Contribution { sends, expected } => format!(
                "it sends {sends} bytes, but by its receive counts it contributes {expected}"
            ),
            Failure::Timeout(limit, from) => {
                let seconds = limit.as_secs();
                let whom =
                    from.map_or_else(String::new, |rank| format!(", waiting for rank {rank}"));
                format!("no progress in {seconds} s (RONDO_TIMEOUT_S){whom}")
            }
        }
    }

    /// The MPI error to end the job with.
    pub fn code(&self) -> Code {
        match self {
            Failure::Host(code, _) => *code,
            Failure::Mismatch(_) | Failure::Contribution { .. } => Code::truncate(),
            Failure::Timeout(..) => Code::intern(),
        }
    }
}

pub(super) fn at(what: &'static str) -> impl Fn(Code) -> Failure {
    move |code| Failure::Host(code, what)
}

/// A receive in flight.
struct Receive {
    request: sys::MPI_Request,
    from: u32,
    len: u64,
    /// Is the message to be taken from staging memory to its places?
    staged: bool,
}

/// A send in flight.
struct Sending {
    request: sys::MPI_Request,
    staged: bool,
}

/// The requests in flight, oldest first, and the staging memory for messages whose pieces do not lie
/// side by side. The memory is kept from call to call so that a call allocates nothing.
///
/// Only the oldest receive and the oldest send are tested. Blocks arrive about in the order of rounds
/// and are needed in that order, so little is gained by looking at all of them; and `MPI_Testsome`
/// would report an error to the handler of `MPI_COMM_WORLD` on MPICH, where `MPI_Test` asks that of
/// the request's communicator, which is Rondo's own and returns it.
#[derive(Default)]
pub struct Requests {
    receives: VecDeque<Receive>,
    sends: VecDeque<Sending>,
    staged_in: Staging,
    staged_out: Staging,
    /// The message at hand.
    runs: Vec<Run>,
}

// SAFETY: requests are handles that any thread may pass to MPI; a communicator's requests are used by
// one call at a time.
unsafe impl Send for Requests {}

impl Requests {
    /// Makes room for so many requests and for staging, so that a wire does not allocate.
    pub fn reserve(&mut self, receives: u32, sends: u32, staging: StagingRoom) -> Result<(), Code> {
        let mut reserve = || {
            let more = (receives as usize).saturating_sub(self.receives.len());
            self.receives.try_reserve_exact(more)?;
            let more = (sends as usize).saturating_sub(self.sends.len());
            self.sends.try_reserve_exact(more)?;
            self.runs.clear();
            self.runs.try_reserve(staging.pieces)?;
            self.staged_in.begin(&staging)?;
            self.staged_out.begin(&staging)
        };
        reserve().map_err(|_: TryReserveError| Code::no_mem())
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.receives.capacity() * size_of::<Receive>()
            + self.sends.capacity() * size_of::<Sending>()
            + self.runs.capacity() * size_of::<Run>()
            + self.staged_in.bytes()
            + self.staged_out.bytes()
    }
}

/// Tests a request; its status if it is complete.
fn test(host: &Usable, request: &mut sys::MPI_Request) -> Result<Option<sys::MPI_Status>, Failure> {
    let mut done: c_int = 0;
    let mut status = MaybeUninit::<sys::MPI_Status>::zeroed();
    // SAFETY: the request is one that the host gave out and has not completed yet.
    check(unsafe { (host.f.test)(request, &mut done, status.as_mut_ptr()) })
        .map_err(at("a message failed"))?;
    // SAFETY: MPI_Status is a struct of integers, for which zero is a value.
    Ok((done != 0).then(|| unsafe { status.assume_init() }))
}

/// The wire of one call.
pub struct MpiWire<'a> {
    host: &'a Usable,
    comm: Comm,
    /// What tells this call's messages from those of any other call, see `call_tag`.
    tag: c_int,
    requests: &'a mut Requests,
    data: Data<'a>,
    /// If the data are packed: is that to be done as they are sent, or are they to be unpacked?
    packs: bool,
    timeout: Option<Duration>,
    idle: Idle,
}

/// What happened since the last completion: nothing, and for how long.
#[derive(Default)]
struct Idle {
    polls: u32,
    since: Option<Instant>,
    /// A message that does not fit was seen at the last look.
    suspicion: bool,
}

/// The tag of a call: a hash of everything that the ranks must agree on. Ranks that disagree never
/// take each other's blocks; `MpiWire::look_for_strangers` sees to it that they do not wait for ever.
pub fn call_tag(facts: [u64; 4], mask: u32) -> i32 {
    let h = facts.into_iter().fold(0u64, |h, fact| {
        // The finaliser of splitmix64: every input bit reaches every output bit.
        let h = (h ^ fact).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        h ^ (h >> 31)
    });
    (h & u64::from(mask)) as i32
}

impl<'a> MpiWire<'a> {
    /// A wire over `comm` for `data`; `packs` at the root of a broadcast, where they are the user's.
    pub fn new(
        host: &'a Usable,
        comm: Comm,
        tag: i32,
        requests: &'a mut Requests,
        data: Data<'a>,
        packs: bool,
        timeout_s: u32,
    ) -> MpiWire<'a> {
        let timeout = (timeout_s > 0).then(|| Duration::from_secs(timeout_s.into()));
        MpiWire {
            host,
            comm,
            tag,
            requests,
            data,
            packs,
            timeout,
            idle: Idle::default(),
        }
    }

    /// After the last message: puts what is left where the user wants it.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.unpack(u64::MAX)
    }

    fn unpack(&mut self, arrived: u64) -> Result<(), Failure> {
        match &mut self.data {
            Data::Packed(packed) if !self.packs => packed.unpack(self.host, self.comm, arrived),
            _ => Ok(()),
        }
    }

    /// Is this message as long as it should be?
    fn verify(&self, status: &sys::MPI_Status, from: u32, len: u64) -> Result<(), Failure> {
        let mut got: c_int = 0;
        // SAFETY: the status is one that the host filled in.
        check(unsafe { (self.host.f.get_count)(status, self.host.h.byte, &mut got) })
            .map_err(at("looking at a message"))?;
        if got as u64 == len {
            Ok(())
        } else {
            Err(Failure::Mismatch(from))
        }
    }

    /// Nothing has happened for a while: is it because the ranks disagree about the call?
    fn look_around(&mut self) -> Result<(), Failure> {
        let idle = self.idle.since.get_or_insert_with(Instant::now).elapsed();
        if idle > PATIENCE {
            self.look_for_strangers(idle)?;
        }
        match self.timeout {
            Some(limit) if idle > limit => {
                let oldest = self.requests.receives.front();
                Err(Failure::Timeout(limit, oldest.map(|receive| receive.from)))
            }
            _ => Ok(()),
        }
    }

    /// Looks for a message of another call from a rank whose message to this call is still missing.
    /// Messages of one rank come in order, so the missing one will not come any more: that rank is in
    /// another call, or takes this one for another. A message may have arrived between the last test
    /// and this look; only one that is still there at the next look, with tests in between, counts.
    fn look_for_strangers(&mut self, idle: Duration) -> Result<(), Failure> {
        let missing = |receive: &&Receive| receive.len <= LONG_BYTES || idle > LONG_PATIENCE;
        for receive in self.requests.receives.iter().filter(missing) {
            let mut found: c_int = 0;
            let mut status = MaybeUninit::<sys::MPI_Status>::zeroed();
            // SAFETY: the communicator is valid; flag and status are places of the right type.
            check(unsafe {
                let (from, any) = (receive.from as c_int, sys::MPI_ANY_TAG);
                (self.host.f.iprobe)(from, any, self.comm.0, &mut found, status.as_mut_ptr())
            })
            .map_err(at("looking for messages"))?;
            // SAFETY: MPI_Status is a struct of integers, for which zero is a value.
            let tag = unsafe { status.assume_init() }.MPI_TAG;
            if found != 0 && tag != self.tag {
                if self.idle.suspicion {
                    return Err(Failure::Mismatch(receive.from));
                }
                self.idle.suspicion = true;
                return Ok(());
            }
        }
        self.idle.suspicion = false;
        Ok(())
    }
}

impl Wire for MpiWire<'_> {
    type Error = Failure;

    fn recv(&mut self, from: u32, pieces: &[Piece]) -> Result<bool, Failure> {
        let len = runs(&mut self.data, pieces, &mut self.requests.runs);
        let (address, staged) = match self.requests.runs[..] {
            [run] => (run.address, false),
            _ => match self.requests.staged_in.reserve(&self.requests.runs, len) {
                Some(address) => (address, true),
                None => return Ok(false),
            },
        };
        let mut request = self.host.h.request_null;
        // SAFETY: the pieces lie inside the parts, whose memory is the user's buffer (by the caller's
        // MPI contract), the packed copy or staging memory; nothing else touches these bytes until
        // the request is complete, and the call does not return before. Messages fit an int.
        check(unsafe {
            (self.host.f.irecv)(
                address.cast(),
                len as c_int,
                self.host.h.byte,
                from as c_int,
                self.tag,
                self.comm.0,
                &mut request,
            )
        })
        .map_err(at("receiving"))?;
        self.requests.receives.push_back(Receive {
            request,
            from,
            len,
            staged,
        });
        Ok(true)
    }

    fn send(&mut self, to: u32, pieces: &[Piece]) -> Result<bool, Failure> {
        if let (Data::Packed(packed), true) = (&mut self.data, self.packs) {
            let end = pieces.iter().map(|piece| piece.span.end()).max();
            packed.pack(self.host, self.comm, end.unwrap_or(0))?;
        }
        let len = runs(&mut self.data, pieces, &mut self.requests.runs);
        let (address, staged) = match self.requests.runs[..] {
            [run] => (run.address, false),
            _ => match self.requests.staged_out.reserve(&self.requests.runs, len) {
                Some(address) => {
                    self.requests.staged_out.gather();
                    (address, true)
                }
                None => return Ok(false),
            },
        };
        let mut request = self.host.h.request_null;
        let send = match len {
            ..SYNCHRONOUS_BYTES => self.host.f.isend,
            _ => self.host.f.issend,
        };
        // SAFETY: as in `recv`; the bytes are there, because the engine sends only blocks that have
        // arrived, or that are this rank's own.
        check(unsafe {
            send(
                address.cast_const().cast(),
                len as c_int,
                self.host.h.byte,
                to as c_int,
                self.tag,
                self.comm.0,
                &mut request,
            )
        })
        .map_err(at("sending"))?;
        self.requests.sends.push_back(Sending { request, staged });
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Event>, Failure> {
        let host = self.host;
        let event = if let Some(oldest) = self.requests.receives.front_mut()
            && let Some(status) = test(host, &mut oldest.request)?
        {
            let Receive {
                from, len, staged, ..
            } = *oldest;
            self.requests.receives.pop_front();
            self.verify(&status, from, len)?;
            if staged {
                self.requests.staged_in.scatter();
                self.requests.staged_in.release();
            }
            Event::Received
        } else if let Some(oldest) = self.requests.sends.front_mut()
            && test(host, &mut oldest.request)?.is_some()
        {
            if oldest.staged {
                self.requests.staged_out.release();
            }
            self.requests.sends.pop_front();
            Event::Sent
        } else {
            return Ok(None);
        };
        self.idle = Idle::default();
        Ok(Some(event))
    }

    fn idle(&mut self, arrived: u64) -> Result<(), Failure> {
        self.unpack(arrived)?;
        self.idle.polls = self.idle.polls.wrapping_add(1);
        if self.idle.polls < SPINS {
            std::hint::spin_loop();
            return Ok(());
        }
        std::thread::yield_now();
        if self.idle.polls.is_multiple_of(POLLS_PER_LOOK) {
            self.look_around()
        } else {
            Ok(())
        }
    }
}
