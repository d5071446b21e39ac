#![forbid(unsafe_code)]
//! The part of the configuration that the ranks of a communicator must have in common, as numbers of
//! 64 bits: rank 0 sends its numbers, and all other ranks adopt them.

use super::options::MOST_BYTES;
use super::{
    Config, Gpu, Hierarchy, OPTIONS, Opt, Reproducible, Scope, Setting, StatsFormat, ValueType,
};

/// How many numbers [`Config::encode`] makes: the number of options of [`Scope::Communicator`].
pub const ENCODED_OPTIONS: usize = {
    let (mut i, mut numbers) = (0, 0);
    while i < OPTIONS.len() {
        if matches!(OPTIONS[i].scope, Scope::Communicator) {
            numbers += 1;
        }
        i += 1;
    }
    numbers
};

/// The number for `auto` where a number may be; above every bound.
const AUTO: u64 = u64::MAX;

impl Config {
    /// The options of [`Scope::Communicator`] as numbers, to be sent from rank 0 of a communicator to
    /// its other ranks. Processes of the same version of Rondo agree on the meaning.
    pub fn encode(&self) -> [u64; ENCODED_OPTIONS] {
        let mut config = self.clone();
        let mut numbers = [0; ENCODED_OPTIONS];
        for (number, opt) in numbers.iter_mut().zip(agreed()) {
            *number = match opt.value_type {
                ValueType::Switch(field) | ValueType::Trace(field) => (*field(&mut config)).into(),
                ValueType::Algorithm(collective) => config[collective].setting.encode(),
                ValueType::MinBytes(collective) => config[collective].min_bytes.unwrap_or(AUTO),
                ValueType::Bytes(field, _) => *field(&mut config),
                ValueType::BytesOrAuto(field, _) => field(&mut config).unwrap_or(AUTO),
                ValueType::Integer(field, _) => (*field(&mut config)).into(),
                ValueType::RealOrAuto(field, _) => field(&mut config).map_or(AUTO, f64::to_bits),
                ValueType::Learn(field) => field(&mut config).on.into(),
                ValueType::Stats(field) => position(StatsFormat::NAMES, field(&mut config).format),
                ValueType::Hierarchy(field) => position(Hierarchy::NAMES, *field(&mut config)),
                ValueType::Gpu(field) => position(Gpu::NAMES, *field(&mut config)),
                ValueType::Reproducible(field) => {
                    position(Reproducible::NAMES, *field(&mut config))
                }
                ValueType::Text(_) => 0, // does not fit a number: a process's own business
            };
        }
        numbers
    }

    /// This configuration with the options of [`Scope::Communicator`] replaced by those in `numbers`,
    /// which rank 0 made with [`Config::encode`]. The others, and the file of the statistics, stay.
    ///
    /// A number that is no value of its option gives the default. Only another version of Rondo can
    /// send one, and versions are compared before this.
    pub fn adopt(&self, numbers: &[u64; ENCODED_OPTIONS]) -> Config {
        let mut config = self.clone();
        let mut default = Config::default();
        for (&number, opt) in numbers.iter().zip(agreed()) {
            let (c, d) = (&mut config, &mut default);
            match opt.value_type {
                ValueType::Switch(field) | ValueType::Trace(field) => *field(c) = number != 0,
                ValueType::Algorithm(collective) => {
                    let setting = Setting::decode(number, collective.algorithms());
                    c[collective].setting = setting.unwrap_or(d[collective].setting);
                }
                ValueType::MinBytes(collective) => {
                    c[collective].min_bytes = Some(number).filter(|number| *number <= MOST_BYTES);
                }
                ValueType::Bytes(field, max) => {
                    *field(c) = if number <= max { number } else { *field(d) }
                }
                ValueType::BytesOrAuto(field, max) => {
                    *field(c) = if number <= max { Some(number) } else { None };
                }
                ValueType::Integer(field, max) => {
                    let value = u32::try_from(number).ok().filter(|value| *value <= max);
                    *field(c) = value.unwrap_or(*field(d));
                }
                ValueType::RealOrAuto(field, max) => {
                    // `AUTO` is no number. To compare it with one would set a flag of the program's, or end it. The
                    // bits of numbers that are not negative are in the order of the numbers.
                    let value = Some(number).filter(|number| *number <= max.to_bits());
                    *field(c) = value.map(f64::from_bits);
                }
                ValueType::Learn(field) => field(c).on = number != 0,
                ValueType::Stats(field) => {
                    field(c).format = at(StatsFormat::NAMES, number, field(d).format);
                }
                ValueType::Hierarchy(field) => *field(c) = at(Hierarchy::NAMES, number, *field(d)),
                ValueType::Gpu(field) => *field(c) = at(Gpu::NAMES, number, *field(d)),
                ValueType::Reproducible(field) => {
                    *field(c) = at(Reproducible::NAMES, number, *field(d));
                }
                ValueType::Text(_) => {}
            }
        }
        config
    }
}

/// The environment variable behind number `i` of [`Config::encode`], for messages.
pub fn variable_at(i: usize) -> String {
    agreed().nth(i).map_or_else(String::new, Opt::variable)
}

/// The options that rank 0 decides, in the order of their numbers.
fn agreed() -> impl Iterator<Item = &'static Opt> {
    OPTIONS
        .iter()
        .filter(|opt| opt.scope == Scope::Communicator)
}

/// The number for a value with a name.
fn position<T: PartialEq>(names: &[(&str, T)], value: T) -> u64 {
    names
        .iter()
        .position(|(_, other)| *other == value)
        .map_or(u64::MAX, |i| i as u64)
}

/// The value with a name for a number.
fn at<T: Copy>(names: &[(&str, T)], number: u64, default: T) -> T {
    let row = usize::try_from(number).ok().and_then(|i| names.get(i));
    row.map_or(default, |(_, value)| *value)
}
