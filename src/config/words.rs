#![forbid(unsafe_code)]
//! The part of the configuration that the ranks of a communicator must have in common, as words of
//! 64 bits: rank 0 sends its words, and all other ranks adopt them.

use super::options::{MOST_BYTES, MOST_RANKS};
use super::{Config, Gpu, Hierarchy, Kind, OPTIONS, Opt, Scope, Setting, StatsFormat};

/// How many words [`Config::to_words`] makes: the number of options of [`Scope::Communicator`].
pub const WORDS: usize = {
    let (mut i, mut words) = (0, 0);
    while i < OPTIONS.len() {
        if matches!(OPTIONS[i].scope, Scope::Communicator) {
            words += 1;
        }
        i += 1;
    }
    words
};

/// The word for `auto` where a number may be; above every bound.
const AUTO: u64 = u64::MAX;

impl Config {
    /// The options of [`Scope::Communicator`] as words, to be sent from rank 0 of a communicator to
    /// its other ranks. Processes of the same version of Rondo agree on the meaning.
    pub fn to_words(&self) -> [u64; WORDS] {
        let mut config = self.clone();
        let mut words = [0; WORDS];
        for (word, opt) in words.iter_mut().zip(agreed()) {
            *word = match opt.kind {
                Kind::Switch(field) | Kind::Trace(field) => (*field(&mut config)).into(),
                Kind::Algorithm(collective) => config[collective].setting.to_word(),
                Kind::MinBytes(collective) => config[collective].min_bytes.unwrap_or(AUTO),
                Kind::MinCommSize(collective) => {
                    config[collective].min_comm_size.map_or(AUTO, u64::from)
                }
                Kind::Bytes(field, _) => *field(&mut config),
                Kind::BytesOrAuto(field, _) => field(&mut config).unwrap_or(AUTO),
                Kind::Integer(field, _) => (*field(&mut config)).into(),
                Kind::Real(field, _) => field(&mut config).to_bits(),
                Kind::Learn(field) => field(&mut config).on.into(),
                Kind::Stats(field) => position(StatsFormat::NAMES, field(&mut config).format),
                Kind::Hierarchy(field) => position(Hierarchy::NAMES, *field(&mut config)),
                Kind::Gpu(field) => position(Gpu::NAMES, *field(&mut config)),
                Kind::Text(_) => 0, // does not fit a word: a process's own business
            };
        }
        words
    }

    /// This configuration with the options of [`Scope::Communicator`] replaced by those in `words`,
    /// which rank 0 made with [`Config::to_words`]. The others, and the file of the statistics, stay.
    ///
    /// A word that is no value of its option gives the default. Only another version of Rondo can
    /// send one, and versions are compared before this.
    pub fn adopt(&self, words: &[u64; WORDS]) -> Config {
        let mut config = self.clone();
        let mut default = Config::default();
        for (&word, opt) in words.iter().zip(agreed()) {
            let (c, d) = (&mut config, &mut default);
            match opt.kind {
                Kind::Switch(field) | Kind::Trace(field) => *field(c) = word != 0,
                Kind::Algorithm(collective) => {
                    let setting = Setting::from_word(word, collective.algorithms());
                    c[collective].setting = setting.unwrap_or(d[collective].setting);
                }
                Kind::MinBytes(collective) => {
                    c[collective].min_bytes = Some(word).filter(|word| *word <= MOST_BYTES);
                }
                Kind::MinCommSize(collective) => {
                    let ranks = u32::try_from(word).ok();
                    c[collective].min_comm_size = ranks.filter(|ranks| *ranks <= MOST_RANKS);
                }
                Kind::Bytes(field, max) => *field(c) = if word <= max { word } else { *field(d) },
                Kind::BytesOrAuto(field, max) => {
                    *field(c) = if word <= max { Some(word) } else { None };
                }
                Kind::Integer(field, max) => {
                    let value = u32::try_from(word).ok().filter(|value| *value <= max);
                    *field(c) = value.unwrap_or(*field(d));
                }
                Kind::Real(field, max) => {
                    let value = f64::from_bits(word);
                    *field(c) = if (0.0..=max).contains(&value) {
                        value
                    } else {
                        *field(d)
                    };
                }
                Kind::Learn(field) => field(c).on = word != 0,
                Kind::Stats(field) => {
                    field(c).format = at(StatsFormat::NAMES, word, field(d).format);
                }
                Kind::Hierarchy(field) => *field(c) = at(Hierarchy::NAMES, word, *field(d)),
                Kind::Gpu(field) => *field(c) = at(Gpu::NAMES, word, *field(d)),
                Kind::Text(_) => {}
            }
        }
        config
    }
}

/// The environment variable behind word `i` of [`Config::to_words`], for messages.
pub fn variable_of_word(i: usize) -> String {
    agreed().nth(i).map_or_else(String::new, Opt::variable)
}

/// The options that rank 0 decides, in the order of their words.
fn agreed() -> impl Iterator<Item = &'static Opt> {
    OPTIONS
        .iter()
        .filter(|opt| opt.scope == Scope::Communicator)
}

/// The word for a value with a name.
fn position<T: PartialEq>(names: &[(&str, T)], value: T) -> u64 {
    names
        .iter()
        .position(|(_, other)| *other == value)
        .map_or(u64::MAX, |i| i as u64)
}

/// The value with a name for a word.
fn at<T: Copy>(names: &[(&str, T)], word: u64, default: T) -> T {
    let row = usize::try_from(word).ok().and_then(|i| names.get(i));
    row.map_or(default, |(_, value)| *value)
}
