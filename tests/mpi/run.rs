//! One case: the command that runs it, and the check of what it did.

use crate::compile;
use crate::ctests;
use crate::host::{Host, Language};
use crate::list::{Env, Expect, Launch, Mode, Test};
use crate::process::{self, Outcome};
use crate::shape::Shape;
use crate::verdict::{self, Bare, Ran};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A program, a number of ranks and a mode, on one MPI.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    pub host: &'a Host,
    pub test: &'a Test,
    pub ranks: u32,
    pub shape: Option<&'a Shape>,
    pub mode_name: &'a str,
    pub mode: &'a Mode,
    /// Where its files go, which no other case uses meanwhile; nowhere until a job takes it.
    pub scratch: &'a Path,
    /// Do other cases run meanwhile?
    pub in_company: bool,
}

/// Launchers may lose what a rank said just before it aborted, so a text that must be there gets this many
/// chances. A wrong exit status is final.
const ATTEMPTS_AT_LAST_WORDS: u32 = 4;

/// A job that aborts is ended by its launcher, and once in some thousand such jobs launchers of MPICH and Open MPI do
/// not notice, or leave a rank. So a case that has to abort gets this many chances to come to its end; what happened
/// the first time is printed. It is no chance for a job that ends in any wrong way.
const ATTEMPTS_AT_ABORTS: u32 = 2;

/// How long a rank that waits for messages leaves its core to other cases (`yield.c`).
const NAP_US: &str = "50";

/// Where Open MPI makes the files that its ranks share memory by. Their names have 16 bits of a hash of the launcher's
/// process id: of two jobs that run at once, one would now and then take or remove the other's file.
const BACKING_DIRECTORIES: [&str; 4] = [
    "OMPI_MCA_btl_sm_backing_directory",
    "OMPI_MCA_btl_vader_backing_directory",
    "OMPI_MCA_osc_sm_backing_directory",
    "OMPI_MCA_osc_rdma_backing_directory",
];

/// The directory for these files of a job whose other files go to `scratch`.
pub fn backing_directory(scratch: &Path) -> PathBuf {
    let name = scratch.file_name().unwrap_or_default();
    Path::new("/dev/shm").join(name)
}

impl Case<'_> {
    /// What the user sees and filters by.
    pub fn name(&self) -> String {
        let Case {
            host,
            test,
            ranks,
            mode_name,
            ..
        } = self;
        let mut name = format!("{} {} {mode_name} np={ranks}", host.name(), test.program);
        if let Some(shape) = self.shape {
            name += &format!(" on {}", shape.text());
        }
        if !test.words.is_empty() {
            name += &format!(" [{}]", test.words.join(" "));
        }
        for (key, value) in &test.env {
            name += &format!(" {key}={value}");
        }
        match test.launch {
            Launch::Mpirun => {}
            Launch::Everywhere => name += " (preloaded into the launcher)",
            Launch::Direct => name += " (no launcher)",
        }
        name
    }

    /// Runs it, and tells what Rondo counted if the row is one of the record. An error says what is wrong, what was
    /// printed, and how to repeat it.
    pub fn check(&self, bare: &mut Bare) -> Result<Vec<Ran>, String> {
        let statistics = self.statistics_file();
        let mut attempt = 1;
        loop {
            let _ = std::fs::remove_file(&statistics);
            let mut command = self.command();
            let limit = Duration::from_secs(self.limit());
            let outcome = process::run(&mut command, limit, self.scratch)
                .map_err(|e| format!("{:?}: {e}", command.get_program()))?;
            let lost = self.test.expect == Expect::Refused
                && verdict::is_abort(&outcome)
                && (!verdict::names_collective(self.test, &outcome)
                    || (self.mode.preload && verdict::said(&self.test.says, &outcome).is_err()));
            let hung = outcome.status.is_none() && attempt < self.test.attempts;
            let aborts = matches!(self.test.expect, Expect::Abort | Expect::Refused);
            let stays = outcome.status.is_none() || verdict::nothing_left(&outcome).is_err();
            if aborts && stays && attempt < ATTEMPTS_AT_ABORTS {
                let why = format!("{} has not ended in run {attempt}", self.name());
                println!("{}", explain(&why, &outcome, &command));
                attempt += 1;
                continue;
            }
            if hung || (lost && attempt < ATTEMPTS_AT_LAST_WORDS) {
                attempt += 1;
                continue;
            }
            return self
                .judge(&outcome, bare)
                .map_err(|why| explain(&why, &outcome, &command));
        }
    }

    /// Seconds until it counts as hanging. Beside others it may be slow because they have the cores.
    fn limit(&self) -> u64 {
        self.test.limit() * if self.in_company { 6 } else { 1 }
    }

    fn judge(&self, outcome: &Outcome, bare: &mut Bare) -> Result<Vec<Ran>, String> {
        verdict::ending(self.test, outcome, self.ranks, self.limit())?;
        verdict::nothing_left(outcome)?;
        if self.mode.preload {
            verdict::said(&self.test.says, outcome)?;
        }
        if self.mode.preload && !self.test.statistics.is_empty() {
            verdict::statistics(&self.test.statistics, &self.statistics_file(), self.ranks)?;
        }
        bare.compare(self.test.same, self.mode_name == "bare", outcome)?;
        match self.test.record && self.mode.preload {
            true => verdict::ran(&self.statistics_file()),
            false => Ok(Vec::new()),
        }
    }

    /// All that Rondo, the program and the launcher need, spelled out so that a shell can repeat it.
    fn command(&self) -> Command {
        let program = self.host.program(&self.test.program);
        let preload = self.preload();
        let env = self.env();
        if self.test.launch == Launch::Direct {
            let mut command = Command::new(program);
            command
                .args(self.args())
                .envs(&env)
                .env("LD_PRELOAD", preload);
            return command;
        }
        let mut command = Command::new(self.host.tool("mpirun"));
        let mut variables = env;
        if self.in_company && self.host.yield_library().is_some() {
            variables.insert("YIELD_NAP_US".into(), NAP_US.into());
        }
        if self.test.launch == Launch::Everywhere {
            command.env("LD_PRELOAD", preload);
        } else if !preload.is_empty() {
            variables.insert("LD_PRELOAD".into(), preload);
        }
        if self.host.has_orte() {
            let directory = backing_directory(self.scratch);
            command.envs(BACKING_DIRECTORIES.map(|variable| (variable, &directory)));
            command.args(["--allow-run-as-root", "--oversubscribe"]);
            command.args(["--mca", "mpi_yield_when_idle", "1"]);
            for (key, value) in &variables {
                command.args(["-x", &format!("{key}={value}")]);
            }
        } else {
            for (key, value) in &variables {
                command.args(["-genv", key, value]);
            }
        }
        command.args(["-np", &self.ranks.to_string()]);
        command.args(&self.test.launcher);
        if let Some(shape) = self.shape {
            command.arg(self.host.program("on_node")).arg(shape.list());
        }
        command.args(self.mode.wrapper.iter().map(|word| self.expand(word)));
        match compile::source(&self.test.program) {
            Ok((script, Language::Python)) => command.arg(self.host.python()).arg(script),
            _ => command.arg(program),
        };
        command.args(self.args());
        command
    }

    /// The value of LD_PRELOAD: what makes ranks yield where that is needed, then Rondo between what the row names.
    fn preload(&self) -> String {
        let yields = self
            .host
            .yield_library()
            .filter(|_| self.test.launch == Launch::Mpirun);
        let rondo = self.mode.preload.then(|| match self.mode.misfit {
            true => self.host.misfit(),
            false => self.host.library(),
        });
        let built = |name: &String| self.host.program(&format!("{name}.so"));
        let front = self.test.front.iter().map(built);
        let behind = self.test.behind.iter().map(built);
        let parts = yields.into_iter().chain(front).chain(rondo).chain(behind);
        parts
            .map(|path| path.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(":")
    }

    fn env(&self) -> Env {
        let both = self.mode.env.iter().chain(&self.test.env);
        both.map(|(key, value)| (key.clone(), self.expand(value)))
            .collect()
    }

    /// Where the row has Rondo write its statistics.
    fn statistics_file(&self) -> PathBuf {
        self.scratch.join("stats.json")
    }

    fn args(&self) -> Vec<String> {
        self.test.words.iter().map(|a| self.expand(a)).collect()
    }

    fn expand(&self, text: &str) -> String {
        text.replace("{build}", &self.host.directory().to_string_lossy())
            .replace("{ctests}", &ctests::root().to_string_lossy())
            .replace("{scratch}", &self.scratch.to_string_lossy())
    }
}

/// The reason, the ends of both outputs and the command.
fn explain(why: &str, outcome: &Outcome, command: &Command) -> String {
    let tail = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..]
            .iter()
            .map(|l| format!("  | {l}\n"))
            .collect::<String>()
    };
    let set = command
        .get_envs()
        .filter(|(key, _)| *key != "RONDO_TEST_RUN")
        .filter(|(key, _)| !BACKING_DIRECTORIES.iter().any(|variable| key == variable))
        .filter_map(|(key, value)| {
            Some(quoted(&format!(
                "{}={}",
                key.to_string_lossy(),
                value?.to_string_lossy()
            )))
        });
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    let line: Vec<String> = std::iter::once("env".to_owned())
        .chain(set)
        .chain(words)
        .collect();
    let line = line.join(" ");
    format!(
        "{why}\nstdout ends:\n{}stderr ends:\n{}{}to repeat:\n  {line}",
        tail(&outcome.stdout),
        tail(&outcome.stderr),
        outcome.stacks
    )
}

/// A word as a POSIX shell must see it.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}
