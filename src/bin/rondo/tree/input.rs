//! What the arguments of `rondo tree` mean.

use crate::Failure;
use rondo::tree::{self, Cost, Distribution};
use serde_json::Number;
use std::{fmt, fs, path::Path, path::PathBuf, str::FromStr};

/// Where the sizes of blocks come from.
#[derive(Clone)]
pub enum Sizes {
    Named(Distribution),
    File(PathBuf),
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes::Named(Distribution::Same)
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        if let Some(path) = text.strip_prefix("file:") {
            return Ok(Sizes::File(path.into()));
        }
        let found = Distribution::ALL.into_iter().find(|d| d.name() == text);
        let names = || Distribution::ALL.map(Distribution::name).join(", ");
        found
            .map(Sizes::Named)
            .ok_or_else(|| format!("take one of {}, or file:PATH", names()))
    }
}

impl Sizes {
    pub fn name(&self) -> String {
        match self {
            Sizes::Named(distribution) => distribution.name().into(),
            Sizes::File(path) => path.display().to_string(),
        }
    }
}

/// The sizes in a file, one on each line.
pub fn read(path: &Path) -> Result<Vec<u64>, Failure> {
    let fail = |what: String| Failure::Failed(format!("{}: {what}", path.display()));
    let bytes = fs::read(path).map_err(|error| fail(error.to_string()))?;
    // What is not UTF-8 is no number either.
    let text = String::from_utf8_lossy(&bytes);
    let size = |(line, text): (usize, &str)| {
        let (line, text) = (line + 1, text.trim());
        let wrong = |error| {
            fail(format!(
                "line {line}: '{text}' is no number of bytes: {error}"
            ))
        };
        text.parse().map_err(wrong)
    };
    let blocks: Vec<u64> = text
        .lines()
        .enumerate()
        .map(size)
        .collect::<Result<_, _>>()?;
    if blocks.is_empty() {
        return Err(fail("no sizes in it".into()));
    }
    Ok(blocks)
}

/// A rank, or the word best.
#[derive(Clone, Copy)]
pub struct Root(pub tree::Root);

impl FromStr for Root {
    type Err = String;

    fn from_str(text: &str) -> Result<Root, String> {
        if text == "best" {
            return Ok(Root(tree::Root::Best));
        }
        let rank = text
            .parse()
            .map_err(|_| "take a rank, or best".to_owned())?;
        Ok(Root(tree::Root::Given(rank)))
    }
}

/// A number from 0 on with up to nine digits behind the point, exactly.
#[derive(Clone)]
pub struct Decimal {
    /// The number times 10^decimals; not divisible by 10 unless decimals is 0.
    digits: u64,
    decimals: u32,
}

impl Decimal {
    /// digits / 10^decimals.
    fn new(digits: u64, decimals: u32) -> Decimal {
        let mut number = Decimal { digits, decimals };
        while number.decimals > 0 && number.digits.is_multiple_of(10) {
            number.digits /= 10;
            number.decimals -= 1;
        }
        number
    }

    /// The number times 10^decimals, for at least as many decimals as it has.
    fn scaled(&self, decimals: u32) -> Option<u64> {
        self.digits.checked_mul(10u64.pow(decimals - self.decimals))
    }
}

impl FromStr for Decimal {
    type Err = String;

    fn from_str(text: &str) -> Result<Decimal, String> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let all = [whole, fraction].concat();
        let numeric = all.bytes().all(|byte| byte.is_ascii_digit());
        if !numeric || whole.is_empty() || text.ends_with('.') || fraction.len() > 9 {
            return Err("take a number from 0 on, with up to 9 digits behind the point".into());
        }
        let digits = all
            .parse()
            .map_err(|_| "it does not fit 64 bits".to_owned())?;
        Ok(Decimal::new(digits, fraction.len() as u32))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let unit = 10u64.pow(self.decimals);
        write!(f, "{}", self.digits / unit)?;
        match self.decimals {
            0 => Ok(()),
            width => write!(f, ".{:0width$}", self.digits % unit, width = width as usize),
        }
    }
}

/// The cost parameters as integers: times 10^decimals, as times are then.
pub struct Model {
    pub cost: Cost,
    decimals: u32,
    /// The parameters as they were given.
    pub text: String,
}

impl Model {
    pub fn new(alpha: &Decimal, beta: &Decimal, gamma: &Decimal) -> Result<Model, Failure> {
        let given = [alpha, beta, gamma];
        let decimals = given
            .map(|value| value.decimals)
            .into_iter()
            .max()
            .unwrap_or(0);
        let [Some(alpha), Some(beta), Some(gamma)] = given.map(|value| value.scaled(decimals))
        else {
            return Err(too_large());
        };
        let [a, b, c] = given;
        Ok(Model {
            cost: Cost { alpha, beta, gamma },
            decimals,
            text: format!("alpha {a}, beta {b}, gamma {c}"),
        })
    }

    /// A time in the unit of the parameters.
    pub fn show(&self, time: u64) -> String {
        Decimal::new(time, self.decimals).to_string()
    }

    /// The same for JSON: an integer if it is one.
    pub fn number(&self, time: u64) -> Number {
        let text = self.show(time);
        text.parse()
            .expect("digits, with a point between them at most")
    }
}

pub fn too_large() -> Failure {
    Failure::Usage("times do not fit 64 bits: take smaller parameters or blocks".into())
}
