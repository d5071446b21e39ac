//! The documents and the code cannot part: options, variables, links, thresholds. And nothing is wider than a window.

use rondo::{
    algorithm::Algorithm,
    coll::RECEIVE_WINDOW,
    collective::{Collective, Family, LEAST_BYTES, NODE_LEAST_BYTES},
    config::{OPTIONS, removed_names},
    flow,
    host::Abi,
    model::BLOCKS_MAX,
    records::Kind,
};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All documents: the Markdown files of the project's root, and those of docs/ and its folders.
fn documents() -> Vec<PathBuf> {
    let mut documents = Vec::new();
    for folder in [".", "docs", "docs/results"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "md") {
                documents.push(path);
            }
        }
    }
    documents
}

/// Their kinds are for scripts.
#[test]
fn all_problems_that_check_finds_are_listed() {
    let page = fs::read_to_string(root().join("docs/use.md")).unwrap();
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, list) = page
        .split_once("`kind` of a problem is for scripts:")
        .unwrap();
    // Those of problems, and those of what is fine.
    let listed = list.split('.').take(2);
    let listed: Vec<&str> = listed
        .flat_map(|list| list.split('`').skip(1).step_by(2))
        .collect();
    let kinds = Kind::ALL.iter().map(|kind| json!(kind));
    assert_eq!(kinds.collect::<Vec<_>>(), listed);
}

#[test]
fn the_page_of_options_is_what_the_tool_prints() {
    let page = fs::read_to_string(root().join("docs/options.md")).expect("there is such a page");
    let output = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/build/openmpi/rondo"))
        .args(["info", "--markdown"])
        .output()
        .expect("the tool starts");
    assert!(output.status.success());
    assert!(
        page.as_bytes() == output.stdout,
        "docs/options.md is not current. To make it anew: `make build`, then \
         `build/openmpi/rondo info --markdown >docs/options.md` (or `build/mpich/rondo`)"
    );
}

#[test]
fn documents_name_no_variable_that_does_not_exist() {
    let mut known: Vec<String> = OPTIONS.iter().map(|opt| opt.variable()).collect();
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    // The change log names what is gone.
    known.extend(removed_names().map(String::from));
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let names = text.split(word).filter(|name| name.starts_with("RONDO_"));
        // The test-suite has variables of its own.
        let names = names
            .filter(|name| !name.starts_with("RONDO_TEST_") && !name.starts_with("RONDO_LIB_"));
        for name in names.filter(|name| *name != "RONDO_") {
            assert!(
                known.iter().any(|variable| variable == name),
                "{} names {name}",
                document.display()
            );
        }
    }
}

/// A file that is linked or shown is there. (Links to other sites are not followed.)
#[test]
fn links_lead_to_files() {
    let mut links = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| {
            let target = rest.split([')', '#']).next()?;
            (!target.is_empty() && !target.contains("://")).then_some(target)
        });
        let folder = document.parent().expect("it is in a folder");
        for target in targets {
            links += 1;
            let name = document.display();
            assert!(folder.join(target).exists(), "{name} links {target}");
        }
    }
    assert!(links > 10, "{links}");
}

/// The anchors of a document's headings, as GitHub names them: in small letters, without what is neither a letter, a
/// digit, a hyphen nor an underscore, with hyphens for spaces, and a number behind one that is there already.
fn anchors(document: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for line in document.lines() {
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        let Some(title) = title.strip_prefix(' ').filter(|_| (1..=6).contains(&level)) else {
            continue;
        };
        // Of a link, the text counts.
        let texts = title.split("](").enumerate().map(|(i, part)| match i {
            0 => part,
            _ => part.split_once(')').map_or("", |(_, rest)| rest),
        });
        let slug = (texts.collect::<String>().trim().to_lowercase().chars())
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect::<String>();
        let name = (0..)
            .map(|again| match again {
                0 => slug.clone(),
                _ => format!("{slug}-{again}"),
            })
            .find(|name| !anchors.contains(name));
        anchors.extend(name);
    }
    anchors
}

#[test]
fn headings_have_the_anchors_of_github() {
    let document = "# One `MPI_Bcast`, *two*\n\n    # code\n#none\n## Träff: a - b\n### [x.md](y.md) z\n## x.md z\n";
    assert_eq!(
        anchors(document),
        ["one-mpi_bcast-two", "träff-a---b", "xmd-z", "xmd-z-1"]
    );
}

/// A place in a document that is linked is a heading there.
#[test]
fn links_lead_to_headings() {
    let mut links = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for rest in text.split("](").skip(1) {
            let target = rest.split(')').next().unwrap();
            let Some((file, anchor)) = target.split_once('#') else {
                continue;
            };
            if target.contains("://") || !(file.is_empty() || file.ends_with(".md")) {
                continue;
            }
            let name = document.display();
            let linked = match file {
                "" => text.clone(),
                _ => fs::read_to_string(document.parent().unwrap().join(file)).unwrap(),
            };
            links += 1;
            let found = anchors(&linked).iter().any(|heading| heading == anchor);
            assert!(found, "{name} links {target}, which is no heading");
        }
    }
    assert!(links > 10, "{links}");
}

/// Folders whose files, and those of folders in them, have lines as short as those of documents.
const NARROW: &[&str] = &[
    "bench",
    "benches",
    "ctests",
    "examples",
    "fuzz/fuzz_targets",
    "include",
    "packaging",
    "scripts",
    "src",
    "tests",
];

/// The files of a folder, and of those in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push(path),
        }
    }
    files
}

#[test]
fn documents_and_sources_fit_into_120_columns() {
    let sources = NARROW.iter().flat_map(|folder| files(&root().join(folder)));
    for path in documents().into_iter().chain(sources) {
        // Data have lines as long as their rows.
        if path.extension().is_some_and(|it| it == "csv") {
            continue;
        }
        // What an interpreter or an editor left there may be no text.
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", path.display(), number + 1);
            assert!(line.chars().count() <= 120, "{place}");
        }
    }
}

/// Does a document say this, wherever its lines end?
fn says(document: &str, phrase: &str) {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let text: Vec<&str> = text.split_whitespace().collect();
    assert!(
        text.join(" ").contains(phrase),
        "{document} does not say \"{phrase}\", as the code has it"
    );
}

#[test]
fn documents_and_the_header_name_every_collective_and_algorithm() {
    for collective in Collective::ALL {
        says("README.md", &format!("`{}`", collective.mpi_name()));
        says("include/rondo.h", &format!("\"{}\"", collective.name()));
    }
    for algorithm in Algorithm::ALL {
        says("docs/algorithms.md", &format!("| {} ", algorithm.name()));
        says("include/rondo.h", &format!("\"{}\"", algorithm.name()));
    }
}

/// Numbers that prose cannot do without. Where it can, it refers to docs/options.md, which is made from the code.
#[test]
fn thresholds_in_prose_are_those_of_the_code() {
    let kib = |bytes: u64| format!("{} KiB", bytes >> 10);
    let (readme, limits) = (
        |it: &str| says("README.md", it),
        |it: &str| says("docs/limits.md", it),
    );
    let tuning = |phrase: &str| says("docs/tuning.md", phrase);
    let design = |phrase: &str| says("docs/design.md", phrase);

    let (between, within) = (kib(LEAST_BYTES), kib(NODE_LEAST_BYTES));
    tuning(&format!(
        "{between} on between nodes, and from {within} on within one node"
    ));

    let ranks = Family::Rooted.least_ranks();
    readme(&format!("gather and scatter on fewer than {ranks} ranks"));
    limits(&format!("Gather and scatter on fewer than {ranks} ranks"));
    tuning(&format!("Rondo from {ranks} ranks on"));
    design(&format!("gather and scatter on fewer than {ranks} ranks"));
    let left = format!("the built-in choice leaves fewer than {ranks} ranks to the host");
    says("docs/results.md", &left);

    for family in [Family::Broadcast, Family::AllBroadcast] {
        assert_eq!(family.least_ranks(), 3, "prose says \"one or two\"");
    }
    readme("communicators of one or two ranks");
    limits("Communicators of one or two ranks");

    let small = kib(flow::SMALL_WINDOW);
    tuning(&format!("as measured, {small} or two blocks at the least"));
    design(&format!("It is {small} and four times what the path"));
    let (edge, rank) = (flow::EDGE_BYTES >> 20, flow::RANK_BYTES >> 20);
    tuning(&format!(
        "{edge} MiB from one sender; {rank} MiB from all, but at least {small} from each"
    ));
    tuning(&format!("| {RECEIVE_WINDOW}, or 2 ceil(log2 p)"));

    let (openmpi, mpich) = (Abi::OpenMpi.eager_bytes(), Abi::Mpich.eager_bytes());
    let (openmpi, mpich) = (kib(openmpi), kib(mpich));
    tuning(&format!("{openmpi} (Open MPI) and {mpich} (MPICH)"));
    tuning(&format!("at least m / {openmpi} or m / {mpich} blocks"));
    tuning(&format!("a message of up to {openmpi} ({mpich} on MPICH)"));
    tuning(&format!("at most {BLOCKS_MAX} blocks"));
}
