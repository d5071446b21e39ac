#![forbid(unsafe_code)]
//! From the text of a variable to a value: kind to what people write, exact about what it means.
//!
//! An error is the end of a sentence that begins with the variable and its value.

use super::options::MOST_BYTES;
use super::{
    Config, Gpu, Hierarchy, Learn, OPTIONS, Opt, Reproducible, Setting, Stats, StatsFormat,
    ValueType, removed,
};
use crate::collective::Collective;

type Parsed<T> = Result<T, String>;

impl Opt {
    /// Whether this option can take the value `text`. An error completes a sentence about `text`.
    pub fn check(&self, text: &str) -> Result<(), String> {
        self.set(&mut Config::default(), text.trim())
    }

    /// Does the value of this option in `config` name a file?
    pub(super) fn names_file(&self, config: &Config) -> bool {
        let config = &mut config.clone();
        match self.value_type {
            ValueType::Learn(field) => field(config).save.is_some(),
            ValueType::Stats(field) => field(config).file.is_some(),
            ValueType::Text(field) => self.unit == "file" && !field(config).is_empty(),
            ValueType::Switch(_)
            | ValueType::Algorithm(_)
            | ValueType::MinBytes(_)
            | ValueType::Bytes(..)
            | ValueType::BytesOrAuto(..)
            | ValueType::Integer(..)
            | ValueType::RealOrAuto(..)
            | ValueType::Trace(_)
            | ValueType::Hierarchy(_)
            | ValueType::Gpu(_)
            | ValueType::Reproducible(_) => false,
        }
    }

    /// Sets this option's field of `config` from `text`, which has no blanks around it. On error
    /// `config` is unchanged and the error completes the sentence "RONDO_X="..." ...".
    pub(super) fn set(&self, config: &mut Config, text: &str) -> Parsed<()> {
        match self.value_type {
            ValueType::Switch(field) => *field(config) = switch(text)?,
            ValueType::Algorithm(collective) => {
                config[collective].setting = setting(text, collective)?;
            }
            ValueType::MinBytes(collective) => {
                config[collective].min_bytes = or_auto(text, |text| bytes(text, MOST_BYTES))?;
            }
            ValueType::Bytes(field, max) => *field(config) = bytes(text, max)?,
            ValueType::BytesOrAuto(field, max) => {
                *field(config) = or_auto(text, |text| bytes(text, max))?;
            }
            ValueType::Integer(field, max) => *field(config) = integer(text, max)?,
            ValueType::RealOrAuto(field, max) => {
                *field(config) = or_auto(text, |text| real(text, max))?;
            }
            ValueType::Trace(field) => *field(config) = trace(text)?,
            ValueType::Learn(field) => *field(config) = learn(text)?,
            ValueType::Stats(field) => *field(config) = stats(text)?,
            ValueType::Hierarchy(field) => *field(config) = among(text, Hierarchy::NAMES)?,
            ValueType::Gpu(field) => *field(config) = among(text, Gpu::NAMES)?,
            ValueType::Reproducible(field) => {
                *field(config) = among(text, Reproducible::NAMES)?;
            }
            ValueType::Text(field) => *field(config) = text.to_owned(),
        }
        Ok(())
    }
}

/// A value, or `auto`, which is none.
fn or_auto<T>(text: &str, parse: impl FnOnce(&str) -> Parsed<T>) -> Parsed<Option<T>> {
    if text.eq_ignore_ascii_case("auto") {
        return Ok(None);
    }
    parse(text).map(Some)
}

/// Both positions of a switch, with everything that people call them.
fn switch(text: &str) -> Parsed<bool> {
    match text.to_ascii_lowercase().as_str() {
        "on" | "1" | "true" | "yes" => Ok(true),
        "off" | "0" | "false" | "no" => Ok(false),
        _ => Err("is neither on nor off".into()),
    }
}

fn setting(text: &str, collective: Collective) -> Parsed<Setting> {
    let named: Vec<_> = Setting::named(collective).collect();
    among(text, &named)
}

/// The value of this name.
pub(crate) fn among<T: Copy>(text: &str, named: &[(&str, T)]) -> Result<T, String> {
    let is_it = |(name, _): &&(&str, T)| name.eq_ignore_ascii_case(text);
    if let Some((_, value)) = named.iter().find(is_it) {
        return Ok(*value);
    }
    let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    let hint = nearest(&text.to_ascii_lowercase(), names.iter().copied());
    let hint = hint.map_or(String::new(), |name| format!(" (did you mean {name}?)"));
    Err(format!("is not one of {}{hint}", names.join(", ")))
}

/// A size such as `65536`, `64K`, `64 kB`, `8MiB` or `1.5M`; every unit is a power of 1024. An error completes a
/// sentence about `text`.
pub fn bytes(text: &str, max: u64) -> Result<u64, String> {
    let no_size = || "is not a size like 65536, 64K or 8M".to_string();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let shift = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err(no_size()),
    };
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|b| b.is_ascii_digit()) => {
            (whole, fraction)
        }
        Some(_) => return Err(no_size()),
        None => (number, "0"),
    };
    if whole.is_empty() || fraction.is_empty() {
        return Err(no_size());
    }
    let too_large = || format!("is more than {max} bytes");
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    let value = (u128::from(whole) << shift) + exact_fraction(fraction, shift)?;
    u64::try_from(value)
        .ok()
        .filter(|value| *value <= max)
        .ok_or_else(too_large)
}

/// The bytes in the decimals of a size, if they are a whole number: `0.digits` times `2^shift`.
fn exact_fraction(digits: &str, shift: u32) -> Parsed<u128> {
    let broken = || "is not a whole number of bytes".to_string();
    let digits = digits.trim_end_matches('0');
    // With d decimals the size is digits * 2^(shift-d) / 5^d, and the last digit is not 0: more
    // decimals than the power of two cannot be whole. At most 30 are left, which fit in u128.
    let decimals = digits.len() as u32;
    if decimals > shift {
        return Err(broken());
    }
    let value = digits
        .bytes()
        .fold(0, |value, digit| value * 10 + u128::from(digit - b'0'));
    let fives = 5u128.pow(decimals);
    if value % fives == 0 {
        Ok((value / fives) << (shift - decimals))
    } else {
        Err(broken())
    }
}

fn integer(text: &str, max: u32) -> Parsed<u32> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("is not a whole number".into());
    }
    let value = text.parse().ok().filter(|value| *value <= max);
    value.ok_or_else(|| format!("is not between 0 and {max}"))
}

fn real(text: &str, max: f64) -> Parsed<f64> {
    let value: f64 = text.parse().map_err(|_| "is not a number")?;
    if value.is_nan() {
        return Err("is not a number".into());
    }
    // A negative zero would print as such and differ from zero between ranks.
    if value.is_sign_negative() || value > max {
        return Err(format!("is not between 0 and {max}"));
    }
    Ok(value)
}

fn trace(text: &str) -> Parsed<bool> {
    if text.eq_ignore_ascii_case("choice") {
        return Ok(true);
    }
    switch(text).map_err(|_| "is neither choice nor off".into())
}

/// A switch, or where to save what is learnt: `save:rules.json`.
fn learn(text: &str) -> Parsed<Learn> {
    let wrong = || "is not on, off or save:FILE".to_string();
    match text.split_once(':') {
        None => {
            let on = switch(text).map_err(|_| wrong())?;
            Ok(Learn { on, save: None })
        }
        Some((keyword, file)) if keyword.trim_end().eq_ignore_ascii_case("save") => {
            let file = Some(file.trim_start()).filter(|file| !file.is_empty());
            let save = Some(file.ok_or_else(wrong)?.into());
            Ok(Learn { on: true, save })
        }
        Some(_) => Err(wrong()),
    }
}

/// `off`, or a format with an optional file: `text`, `json`, `json:run.json`. A switch means text.
fn stats(text: &str) -> Parsed<Stats> {
    let wrong = || "is not off, text or json, the last two with an optional :FILE".to_string();
    let (keyword, file) = match text.split_once(':') {
        Some((keyword, file)) => (keyword.trim_end(), Some(file.trim_start())),
        None => (text, None),
    };
    let mut names = StatsFormat::NAMES.iter();
    let format = match (
        names.find(|(name, _)| name.eq_ignore_ascii_case(keyword)),
        switch(keyword),
    ) {
        (Some((_, format)), _) => *format,
        (None, Ok(true)) => StatsFormat::Text,
        (None, Ok(false)) => StatsFormat::Off,
        (None, Err(_)) => return Err(wrong()),
    };
    if file.is_some_and(|file| file.is_empty() || format == StatsFormat::Off) {
        return Err(wrong());
    }
    Ok(Stats {
        format,
        file: file.map(Into::into),
    })
}

/// The name most like `text`, if one is like it at all.
fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Jaro-Winkler favours a common beginning, which is what a forgotten unit or a plural leaves.
    let rated = names.map(|name| (strsim::jaro_winkler(text, name), name));
    let best = rated.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= 0.8).then_some(best.1)
}

/// The warning for a variable that is no option.
pub(super) fn unknown(variable: &str) -> String {
    if let Some(sentence) = removed(variable) {
        return sentence;
    }
    let name = variable
        .strip_prefix("RONDO_")
        .unwrap_or(variable)
        .to_ascii_uppercase();
    let variable = shortened(variable);
    let names = OPTIONS.iter().map(|opt| opt.name);
    match nearest(&name, names.filter(|name| !name.is_empty())) {
        Some(known) => format!("unknown variable {variable}; did you mean RONDO_{known}?"),
        None => format!("unknown variable {variable}; RONDO_HELP=on lists all"),
    }
}

/// The warning for a value that an option cannot take.
pub(super) fn unusable(opt: &Opt, text: &str, problem: &str) -> String {
    let (variable, default) = (opt.variable(), opt.default);
    format!(
        "{variable}={:?} {problem}; using the default {default}",
        shortened(text)
    )
}

/// The warning for a file that is not opened.
pub(super) fn untrusted(opt: &Opt, text: &str) -> String {
    let variable = opt.variable();
    format!(
        "{variable}={:?} is ignored: it names a file, and this program has more rights than its user",
        shortened(text)
    )
}

/// A text short enough to be repeated in a message.
fn shortened(text: &str) -> String {
    const CHARS: usize = 60;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
