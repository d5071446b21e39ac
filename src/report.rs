//! THE standard error stream. Standard output is the user's.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

/// Messages of one process at the most; a job of thousands of ranks must not drown its log.
const LINES_MAX: u32 = 100;

static LINES: AtomicU32 = AtomicU32::new(0);

/// One message of this process. `rank` is that in `MPI_COMM_WORLD`, negative if not known.
pub fn line(rank: i32, text: &str) {
    match LINES.fetch_add(1, Ordering::Relaxed) {
        n if n < LINES_MAX => write(rank, text),
        LINES_MAX => write(rank, "further messages of this process are not shown"),
        _ => {}
    }
}

/// Why the job ends. To be called right before it is aborted.
pub fn fatal(rank: i32, text: &str) {
    write(rank, text);
    // Launchers read the output of a rank at their leisure and drop what is left when they kill it.
    std::thread::sleep(Duration::from_millis(200));
}

/// A text of several lines that the user asked for, as it is.
pub fn block(text: &str) {
    // One write, so that the lines of several ranks do not mix. There is nowhere to report a
    // failure to.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

thread_local! {
    static UNDER_WAY: Cell<&'static str> = const { Cell::new("no collective") };
}

/// Which collective this thread is in.
pub fn under_way() -> &'static str {
    UNDER_WAY.get()
}

/// Says which collective this thread is in, should it fail.
pub fn enter(collective: &'static str) {
    UNDER_WAY.set(collective);
}

/// This process, once it is known.
static RANK: AtomicI32 = AtomicI32::new(-1);

/// Bytes of the line of [`refused`].
const LINE_BYTES: usize = 200;

/// Says that the system gave no memory. Allocates none.
#[cold]
pub fn refused(bytes: usize) {
    if LINES.load(Ordering::Relaxed) >= LINES_MAX {
        return; // the next line says that there are no more
    }
    LINES.fetch_add(1, Ordering::Relaxed);
    let mut line = Cursor::new([0; LINE_BYTES]);
    let rank = RANK.load(Ordering::Relaxed);
    let _ = match rank {
        0.. => write!(line, "rondo: rank {rank}: "),
        _ => write!(line, "rondo: "),
    };
    let _ = match UNDER_WAY.get().starts_with("MPI_") {
        true => write!(line, "no memory in {}", UNDER_WAY.get()),
        false => write!(line, "no memory"),
    };
    let _ = writeln!(line, ": the system refused {bytes} bytes");
    let length = line.position() as usize;
    let _ = std::io::stderr().write_all(&line.get_ref()[..length]);
}

/// Makes a panic, which is a bug of Rondo's, end the process with a message that names rank and
/// collective. The launcher then ends the job.
pub fn on_panic(rank: i32) {
    RANK.store(rank, Ordering::Relaxed);
    std::panic::set_hook(Box::new(move |panic| {
        let collective = UNDER_WAY.get();
        // Outside of calls there is nothing to go around.
        let way = collective.strip_prefix("MPI_").map(|name| {
            let name = name.to_uppercase();
            format!(" (until then RONDO_{name}=host goes around it)")
        });
        let way = way.unwrap_or_default();
        fatal(
            rank,
            &format!(
                "internal error in {collective}, please report it with the output of 'rondo info'{way}: {panic}"
            ),
        );
        std::process::abort();
    }));
}

fn write(rank: i32, text: &str) {
    let prefix = match rank {
        0.. => format!("rondo: rank {rank}: "),
        _ => "rondo: ".to_owned(),
    };
    block(&format!("{prefix}{text}\n"));
}
