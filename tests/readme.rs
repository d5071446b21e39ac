//! The documents and the code cannot part: options, variables, links.

use rondo::config::OPTIONS;
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

#[test]
fn the_page_of_options_is_what_the_tool_prints() {
    let page = fs::read_to_string(root().join("docs/options.md")).expect("there is such a page");
    let output = Command::new(env!("CARGO_BIN_EXE_rondo"))
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
    // It is gone, as the change log says.
    known.push("RONDO_PMPI".into());
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

#[test]
fn documents_fit_into_120_columns() {
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", document.display(), number + 1);
            assert!(line.chars().count() <= 120, "{place}");
        }
    }
}
