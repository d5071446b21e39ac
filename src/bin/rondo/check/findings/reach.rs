//! Does the library reach the ranks, do calls reach the library, and does it fit the MPI library?

#![forbid(unsafe_code)]

use super::{Evidence, Finding, fine, left, problem};
use crate::check::{
    job::End,
    ranks::{Reach, in_words},
};
use crate::program::Program;
use rondo::decide::Why;
use rondo::records::{Kind, Obstacle};
use std::collections::BTreeSet;

/// What else helps a program that has the MPI library in itself.
const INTO: &str =
    "link the librondo.a that scripts/build --direct makes into it, before MPI (not for Open MPI)";

/// What helps a job that is to outlive failed processes.
const NOT_TO_OUTLIVE: &str = "start the job without that (Open MPI: mpirun without --with-ft; MPICH: \
                              MPIR_CVAR_ENABLE_FT unset on all ranks), or without Rondo";

/// Is the library where it should be?
pub fn reach(evidence: &Evidence) -> Vec<Finding> {
    let ranks = &evidence.ranks;
    if ranks.all().next().is_none() {
        return vec![nowhere(evidence)];
    }
    let (nowhere, beside) = (ranks.with(Reach::Nowhere), ranks.with(Reach::BesideMpi));
    let mut found = vec![];
    if !nowhere.is_empty() {
        let whom = in_words(&nowhere, ranks.count);
        let what = format!("the library did not reach {whom} of {}", ranks.count);
        let why = keeps_out(evidence).unwrap_or_else(|| not_handed_on(evidence));
        found.push(problem(Kind::NotLoaded, what, why));
    }
    if !beside.is_empty() {
        found.push(beside_mpi(evidence, &beside));
    }
    if ranks.apart {
        found.push(apart(evidence));
    }
    if found.is_empty() {
        let whom = in_words(&(0..ranks.count).collect::<Vec<_>>(), ranks.count);
        found.push(fine(Kind::Loaded, format!("the library is in {whom}")));
    }
    found
}

/// MPI does not know of the launcher.
fn apart(evidence: &Evidence) -> Finding {
    let mut libraries = evidence
        .ranks
        .callers()
        .filter_map(|(_, it, _)| it.mpi.as_deref());
    let library = libraries.next().unwrap_or("its MPI library");
    problem(
        Kind::JobsOfOne,
        format!(
            "each of the {} processes is a job of one rank: the program runs on another MPI library ({library}) than \
             the launcher's",
            evidence.ranks.count
        ),
        "start the program by the launcher of its own MPI library, or build it for the launcher's; under srun, --mpi \
         says how MPI libraries find each other",
    )
}

/// What to do about a word for the launcher that keeps the library out, if there is one.
fn replaced(evidence: &Evidence) -> Option<String> {
    let word = evidence.against.as_ref()?.display();
    Some(format!(
        "{word} may replace the LD_PRELOAD that Rondo sets: leave it out, or let LD_PRELOAD={} be in it",
        evidence.library.display()
    ))
}

/// No process had the library: the launcher failed by itself, or still waited when the job was ended, or its ranks
/// lacked it.
fn nowhere(evidence: &Evidence) -> Finding {
    let what = "the library reached no process of the job";
    if let Some(why) = keeps_out(evidence) {
        return problem(Kind::NotLoaded, what, why);
    }
    let otherwise = not_handed_on(evidence);
    let ended = match evidence.end {
        End::Status(0) | End::Waiting => return problem(Kind::NotLoaded, what, otherwise),
        End::Limit(_) => {
            let advice = format!(
                "if the launcher waited for its turn, start it where nodes are granted already, or take a longer \
                 --limit. Otherwise {otherwise}"
            );
            return problem(Kind::NotLoaded, what, advice);
        }
        End::Status(status) => format!("ended with status {status}"),
        End::Signal(signal) => format!("was ended by signal {signal}"),
    };
    let advice = match evidence.programs.is_empty() {
        true => {
            "no word of the command names a program that is there and can be started: is its name misspelt?".to_owned()
        }
        false => format!(
            "what it wrote says why, if ranks did not begin: try the command without 'rondo check'. If they did, \
             {otherwise}"
        ),
    };
    let what = format!("the launcher {ended}, and no rank had the library");
    problem(Kind::NotStarted, what, advice)
}

/// What keeps the library out of processes, if a word of the command or a program's file says it.
fn keeps_out(evidence: &Evidence) -> Option<String> {
    replaced(evidence).or_else(|| {
        evidence.programs.iter().find_map(|program| {
            let path = program.path.display();
            if program.is_static {
                return Some(format!(
                    "{path} is linked statically, so that nothing can be preloaded: link the program dynamically, or \
                     {INTO}"
                ));
            }
            program.has_other_rights.then(|| {
                format!(
                    "{path} has rights of its own (set-user-id or set-group-id), so that the loader ignores \
                     LD_PRELOAD: take them away, or link the program with -lrondo"
                )
            })
        })
    })
}

/// What is left to be the reason.
fn not_handed_on(evidence: &Evidence) -> String {
    format!(
        "either the launcher or a script in between does not hand the environment on, so let it (srun --export=ALL, \
         mpirun -x, no env -i or sudo), or {} is not on all nodes, so put it where all nodes see it; and all nodes \
         have to see the folder of --folder. 'ldd' and 'env' as the program of the launcher show what ranks have",
        evidence.library.display()
    )
}

/// Processes of these ranks had the library, but no MPI library.
fn beside_mpi(evidence: &Evidence, ranks: &[u32]) -> Finding {
    let all = evidence.ranks.count;
    let whom = in_words(ranks, all);
    let of_ranks = ranks.iter().flat_map(|rank| evidence.ranks.of(*rank));
    let programs: BTreeSet<&str> = of_ranks.map(|record| &*record.program).collect();
    let own = evidence.programs.iter().find(|own| {
        own.has_mpi
            && own
                .path
                .canonicalize()
                .is_ok_and(|path| programs.iter().any(|it| path.as_os_str() == *it))
    });
    if let Some(own) = own {
        return problem(
            Kind::StaticMpi,
            format!(
                "{} has the MPI library in itself: its calls do not pass the library",
                own.path.display()
            ),
            format!("link the program with the shared MPI library, or {INTO}"),
        );
    }
    let names: Vec<&str> = programs.into_iter().collect();
    let have = if names.len() == 1 { "has" } else { "have" };
    let names = names.join(", ");
    let may_start_mpi = |it: &Program| it.needs_mpi || it.is_script;
    if !evidence.programs.iter().any(may_start_mpi) {
        return problem(
            Kind::NoMpi,
            format!("{names} {have} no MPI: not linked with an MPI library, and none was loaded"),
            "name an MPI program, or link it with MPI. If it starts the MPI program itself, something on the way takes \
             LD_PRELOAD away",
        );
    }
    let advice = || {
        "something takes LD_PRELOAD away before the MPI program starts (env -u, env -i, sudo, a container, a module), \
         or the program has other rights than its user, or is linked statically, or calls no MPI: let the script keep \
         the variable, or set it in the script's last line"
            .to_owned()
    };
    problem(
        Kind::LostOnTheWay,
        format!("on {whom} of {all} the library came no further than {names}, which {have} no MPI"),
        keeps_out(evidence).unwrap_or_else(advice),
    )
}

/// Do calls arrive?
pub fn calls(evidence: &Evidence) -> Vec<Finding> {
    let ranks = &evidence.ranks;
    let (silent, ended) = (ranks.with(Reach::Program), ranks.with(Reach::End));
    let called = ranks.with(Reach::Calls);
    let mut found = vec![];
    if !silent.is_empty() && called.is_empty() && evidence.end != End::Status(0) {
        let what = "the job ended before MPI_Init";
        found.push(problem(Kind::NoCalls, what, "see below why it ended"));
    } else if !silent.is_empty() {
        found.push(problem(
            Kind::CallsDoNotArrive,
            format!("no MPI call of {} of {} came to the library", in_words(&silent, ranks.count), ranks.count),
            "the program loads MPI with RTLD_DEEPBIND, or takes functions from the MPI library by dlsym, or has the \
             MPI library in itself, or ends without MPI_Finalize: load it without that flag, or link with -lrondo \
             before MPI",
        ));
    }
    if !ended.is_empty() {
        let whom = in_words(&ended, ranks.count);
        found.push(fine(
            Kind::NoCalls,
            format!("{whom} of {} called no collective", ranks.count),
        ));
    }
    let sessions = ranks.with(Reach::Sessions);
    if !sessions.is_empty() {
        let whom = in_words(&sessions, ranks.count);
        found.push(fine(
            Kind::Sessions,
            format!(
                "collectives of {whom} come with sessions, without MPI_Init: they are left to the MPI library \
                 (docs/limits.md)"
            ),
        ));
    }
    if !called.is_empty() {
        let whom = in_words(&called, ranks.count);
        found.push(fine(
            Kind::Calls,
            format!("MPI calls of {whom} come to the library"),
        ));
    }
    found
}

/// Do library and MPI library fit each other, and are all libraries the same?
pub fn build(evidence: &Evidence) -> Vec<Finding> {
    let mut callers = evidence.ranks.callers();
    if let Some((rank, _, trouble)) =
        callers.find_map(|(rank, record, called)| Some((rank, record, called.trouble.as_ref()?)))
    {
        let (kind, advice) = match trouble.kind {
            Obstacle::OtherAbi => (
                Kind::DoesNotFit,
                "'rondo run' and 'rondo check' choose the library that fits if all are installed; --lib names one. \
                 docs/use.md lists the MPI libraries that there is one for",
            ),
            Obstacle::UnknownAbi | Obstacle::Lacks => (
                Kind::UnknownMpi,
                "Rondo cannot work there: start the program without it, or build the program for one of the MPI \
                 libraries that docs/use.md lists",
            ),
            Obstacle::Outlives => (Kind::Outlives, NOT_TO_OUTLIVE),
        };
        let what = format!("rank {rank}: {}", trouble.text);
        return vec![problem(kind, what, advice)];
    }
    // With MPICH it is known of a rank when all have agreed.
    let calls = left(evidence, Why::Outlives);
    if calls > 0 {
        let why = Why::Outlives.text();
        let what = format!("{why}, so that {calls} calls of rank 0 were left to the MPI library");
        return vec![problem(Kind::Outlives, what, NOT_TO_OUTLIVE)];
    }
    let records = || evidence.ranks.callers().map(|(_, record, _)| record);
    let builds: BTreeSet<&str> = records().map(|record| &*record.build).collect();
    if builds.len() > 1 {
        let files: BTreeSet<&str> = records().map(|record| &*record.library).collect();
        let files: Vec<&str> = files.into_iter().collect();
        let what = format!(
            "ranks have different builds of Rondo ({})",
            files.join(", ")
        );
        return vec![problem(
            Kind::BuildsDiffer,
            what,
            "let all ranks load the same file",
        )];
    }
    let host = evidence
        .statistics
        .as_ref()
        .and_then(|all| all["host"].as_str());
    let host = host.unwrap_or("the MPI library");
    vec![fine(Kind::Fits, format!("the build fits {host}"))]
}
