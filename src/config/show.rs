#![forbid(unsafe_code)]
//! The options as text: for `RONDO_HELP`, for `rondo info` and for docs/options.md.

use super::size::size;
use super::{
    Config, Gpu, Hierarchy, Loaded, OPTIONS, Opt, Reproducible, Setting, Source, StatsFormat,
    ValueType,
};
use crate::collective::Collective;

/// The longest line of [`table`], in characters. Only a value may be longer.
const LINE: usize = 100;

/// The widest column of values; a longer value has a line of its own.
const VALUE: usize = 12;

impl Opt {
    /// The values that this option takes, in words and with their unit.
    pub fn values(&self) -> String {
        let unit = self.unit;
        match self.value_type {
            ValueType::Switch(_) => "on, off".into(),
            ValueType::Algorithm(collective) => {
                list(Setting::among(collective.algorithms()).map(Setting::name))
            }
            ValueType::Bytes(_, max) => format!("{unit}, as 64K or 8M, up to {}", size(max)),
            ValueType::BytesOrAuto(..) | ValueType::MinBytes(_) => {
                format!("auto; {unit}, as 64K or 8M")
            }
            ValueType::Integer(_, max) => format!("0 to {max} {unit}").trim_end().into(),
            ValueType::RealOrAuto(_, max) => format!("auto; 0 to {max} {unit}"),
            ValueType::Trace(_) => "choice, off".into(),
            ValueType::Learn(_) => "on, off, save:FILE".into(),
            ValueType::Stats(_) => {
                let names = StatsFormat::NAMES.iter().map(|(name, _)| *name);
                format!("{}; text:FILE, json:FILE", list(names))
            }
            ValueType::Hierarchy(_) => list(Hierarchy::NAMES.iter().map(|(name, _)| *name)),
            ValueType::Gpu(_) => list(Gpu::NAMES.iter().map(|(name, _)| *name)),
            ValueType::Reproducible(_) => list(Reproducible::NAMES.iter().map(|(name, _)| *name)),
            ValueType::Text(_) if unit.is_empty() => "a name".into(),
            ValueType::Text(_) => format!("a {unit}"),
        }
    }

    /// The value of this option in `config`, as a user would write it.
    pub fn show(&self, config: &Config) -> String {
        let mut config = config.clone();
        let config = &mut config;
        match self.value_type {
            ValueType::Switch(field) => if *field(config) { "on" } else { "off" }.into(),
            ValueType::Algorithm(collective) => config[collective].setting.name().into(),
            ValueType::Bytes(field, _) => size(*field(config)),
            ValueType::BytesOrAuto(field, _) => or_auto(field(config).map(size)),
            ValueType::MinBytes(collective) => or_auto(config[collective].min_bytes.map(size)),
            ValueType::Integer(field, _) => field(config).to_string(),
            ValueType::RealOrAuto(field, _) => or_auto(field(config).map(|real| real.to_string())),
            ValueType::Trace(field) => if *field(config) { "choice" } else { "off" }.into(),
            ValueType::Learn(field) => match &field(config).save {
                Some(file) => format!("save:{}", file.display()),
                None => if field(config).on { "on" } else { "off" }.into(),
            },
            ValueType::Stats(field) => {
                let stats = field(config);
                match &stats.file {
                    Some(file) => format!("{}:{}", stats.format.name(), file.display()),
                    None => stats.format.name().into(),
                }
            }
            ValueType::Hierarchy(field) => field(config).name().into(),
            ValueType::Gpu(field) => field(config).name().into(),
            ValueType::Reproducible(field) => field(config).name().into(),
            ValueType::Text(field) => field(config).clone(),
        }
    }
}

impl Source {
    /// One word for the place that a value comes from.
    pub fn name(&self) -> &'static str {
        match self {
            Source::Default => "default",
            Source::Environment(_) => "environment",
        }
    }
}

/// All options with their value, its source and their meaning, as aligned plain text with a line
/// feed at the end of every line.
pub fn table(loaded: &Loaded) -> String {
    let mut text = String::new();
    row(&mut text, ["option", "value", "source"], "meaning");
    for (opt, source) in OPTIONS.iter().zip(&loaded.sources) {
        let (variable, value) = (opt.variable(), opt.show(&loaded.config));
        let meaning = format!("{} [{}]", opt.doc(), opt.values());
        row(&mut text, [&variable, &value, source.name()], &meaning);
    }
    text
}

/// What `RONDO_HELP` shows: what Rondo is, [`intro`] and [`table`].
pub fn help(loaded: &Loaded) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let (names, table) = (Collective::all_mpi_names(), table(loaded));
    let intro = lines(&intro(), LINE).join("\n");
    format!("Rondo {version} runs {names}.\n\n{intro}\n\n{table}")
}

/// The longest line of [`markdown`], in characters.
const PAGE: usize = 120;

/// What stands before the options wherever they are explained, in Markdown.
const INTRO: &str = "Rondo is configured by environment variables. Sizes are in bytes; K, M and G stand for 1024, \
    1024^2 and 1024^3. Rank 0 of `MPI_COMM_WORLD` warns once about a value that Rondo cannot use, and Rondo goes on \
    with the default. It also warns about a variable that does not exist, and suggests a similar name if there is one. \
    Where the ranks of a communicator must agree, the values of its rank 0 hold for all of them. So a launcher that \
    does not hand the environment to all nodes does no harm. `auto`, the default of most options, leaves the choice to \
    Rondo: by the file of rules, else by built-in thresholds and the cost model, corrected by what it measures \
    (docs/tuning.md). `host` is the MPI library.";

/// The same as plain text.
pub fn intro() -> String {
    INTRO.replace('`', "")
}

/// The page docs/options.md: every option with its meaning, values and default, in Markdown.
pub fn markdown() -> String {
    let mut text = "# Options\n\n".to_owned();
    let made = "`rondo info --markdown` prints this page, and `rondo info` the values in use and where they come from.";
    for paragraph in [INTRO, made] {
        text += &format!("{}\n\n", lines(paragraph, PAGE).join("\n"));
    }
    for opt in OPTIONS {
        let default = match opt.default {
            "" => "empty".to_owned(),
            value => format!("`{value}`"),
        };
        let meaning = lines(&opt.doc(), PAGE).join("\n");
        let values = lines(&format!("values: {}", opt.values()), PAGE - 2).join("\n  ");
        let variable = opt.variable();
        text += &format!("## `{variable}`\n\n{meaning}\n\n* {values}\n* default: {default}\n\n");
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// Appends one option, its meaning broken into lines beside the other columns.
fn row(text: &mut String, [option, value, source]: [&str; 3], meaning: &str) {
    let option_width = OPTIONS
        .iter()
        .map(|opt| opt.variable().len())
        .max()
        .unwrap_or(0);
    let mut start = format!("{option:option_width$}  {value:VALUE$}");
    if value.chars().count() > VALUE {
        *text += &format!("{start}\n");
        start = format!("{:option_width$}  {:VALUE$}", "", "");
    }
    start += &format!("  {source:11}  ");
    let margin = start.len();
    for line in lines(meaning, LINE - margin) {
        *text += &format!("{start}{line}\n");
        start = " ".repeat(margin);
    }
}

/// `text` cut between words into lines of at most `width` characters; a longer word stands alone.
fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn or_auto(value: Option<String>) -> String {
    value.unwrap_or_else(|| "auto".into())
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
