//! Airport records, and how they are read from CSV.

use std::io::Read;

use csv::{ReaderBuilder, StringRecord};
use dtype_runtime::Datatype;
use thiserror::Error;

/// An airport. What a receiver needs travels; the name stays at home, because it is of no fixed
/// length and only the sender shows it.
#[derive(Datatype, Clone, Debug, Default, PartialEq)]
pub struct Airport {
    /// The code, filled up with zero bytes.
    pub code: [u8; 4],
    /// The two letters of the state, `NA` where it is not known.
    pub state: [u8; 2],
    /// Degrees, positive to the north.
    pub latitude: f64,
    /// Degrees, positive to the east.
    pub longitude: f64,
    /// Which part of the country the state belongs to.
    pub region: Region,
    /// The name in full.
    #[dtype(skip)]
    pub name: String,
}

/// Which part of the country an airport is in.
#[derive(Datatype, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Region {
    /// The 48 states between Canada and Mexico, and the District of Columbia.
    #[default]
    Contiguous = 1,
    /// Alaska.
    Alaska = 2,
    /// Hawaii.
    Hawaii = 3,
    /// Puerto Rico, the Virgin Islands and the islands of the Pacific.
    Territory = 4,
    /// The state is not known.
    Unknown = 5,
}

impl Region {
    /// The region of a state.
    pub fn of_state(state: [u8; 2]) -> Self {
        match &state {
            b"AK" => Self::Alaska,
            b"HI" => Self::Hawaii,
            b"AS" | b"CQ" | b"GU" | b"PR" | b"VI" => Self::Territory,
            b"NA" => Self::Unknown,
            _ => Self::Contiguous,
        }
    }
}

/// What is wrong with a CSV file.
#[derive(Debug, Error)]
pub enum CsvError {
    /// The header lacks a column.
    #[error("the header has no column {column:?}; it has {header:?}")]
    MissingColumn {
        /// The column that is needed.
        column: &'static str,
        /// The columns that there are.
        header: Vec<String>,
    },
    /// A field does not hold what its column should.
    #[error("line {line}, column {column}: {text:?} is {problem}")]
    Field {
        /// The line in the file, from 1.
        line: u64,
        /// The column's name.
        column: &'static str,
        /// What the field holds.
        text: String,
        /// What is wrong with that.
        problem: &'static str,
    },
    /// A line has more or fewer fields than the header.
    #[error("line {line} has {actual} fields, the header has {expected}")]
    FieldCount {
        /// The line in the file, from 1.
        line: u64,
        /// Fields of the header.
        expected: u64,
        /// Fields of the line.
        actual: u64,
    },
    /// There is no record.
    #[error("the file has no records")]
    Empty,
    /// The file cannot be read, or is not text.
    #[error(transparent)]
    Read(csv::Error),
}

impl From<csv::Error> for CsvError {
    fn from(error: csv::Error) -> Self {
        match error.kind() {
            csv::ErrorKind::UnequalLengths { pos, expected_len, len } => Self::FieldCount {
                line: pos.as_ref().map_or(0, csv::Position::line),
                expected: *expected_len,
                actual: *len,
            },
            _ => Self::Read(error),
        }
    }
}

/// Where the columns are.
struct Columns {
    iata: usize,
    name: usize,
    state: usize,
    latitude: usize,
    longitude: usize,
}

/// Reads airports. The columns may come in any order, and there may be more.
///
/// # Errors
///
/// [`CsvError`], which names the line and the column.
pub fn read(input: impl Read) -> Result<Vec<Airport>, CsvError> {
    let mut reader = ReaderBuilder::new().from_reader(input);
    let columns = Columns::find(reader.headers()?)?;
    let mut airports = Vec::new();
    for record in reader.records() {
        airports.push(columns.airport(&record?)?);
    }
    if airports.is_empty() { Err(CsvError::Empty) } else { Ok(airports) }
}

impl Columns {
    fn find(header: &StringRecord) -> Result<Self, CsvError> {
        let find = |column| {
            header.iter().position(|name| name == column).ok_or_else(|| CsvError::MissingColumn {
                column,
                header: header.iter().map(str::to_owned).collect(),
            })
        };
        Ok(Self {
            iata: find("iata")?,
            name: find("name")?,
            state: find("state")?,
            latitude: find("latitude")?,
            longitude: find("longitude")?,
        })
    }

    fn airport(&self, record: &StringRecord) -> Result<Airport, CsvError> {
        let code = Field::new(record, self.iata, "iata");
        let state = Field::new(record, self.state, "state").exactly()?;
        Ok(Airport {
            code: code.at_most()?,
            state,
            latitude: Field::new(record, self.latitude, "latitude").degrees(90.0)?,
            longitude: Field::new(record, self.longitude, "longitude").degrees(180.0)?,
            region: Region::of_state(state),
            name: Field::new(record, self.name, "name").text.to_owned(),
        })
    }
}

/// A field with what an error has to say of it.
struct Field<'a> {
    text: &'a str,
    line: u64,
    column: &'static str,
}

impl<'a> Field<'a> {
    fn new(record: &'a StringRecord, index: usize, column: &'static str) -> Self {
        // The reader has seen to it that every record has as many fields as the header.
        let text = record.get(index).unwrap_or_default();
        Self { text, line: record.position().map_or(0, csv::Position::line), column }
    }

    fn refuse(&self, problem: &'static str) -> CsvError {
        let Self { text, line, column } = *self;
        CsvError::Field { line, column, text: text.to_owned(), problem }
    }

    fn capitals_and_digits(&self) -> Result<&'a [u8], CsvError> {
        let bytes = self.text.as_bytes();
        if bytes.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) {
            Ok(bytes)
        } else {
            Err(self.refuse("not made of capital letters and digits"))
        }
    }

    /// One to `N` characters, filled up with zero bytes.
    fn at_most<const N: usize>(&self) -> Result<[u8; N], CsvError> {
        let bytes = self.capitals_and_digits()?;
        let mut all = [0; N];
        match all.get_mut(..bytes.len()) {
            _ if bytes.is_empty() => Err(self.refuse("empty")),
            None => Err(self.refuse("too long")),
            Some(front) => {
                front.copy_from_slice(bytes);
                Ok(all)
            }
        }
    }

    fn exactly<const N: usize>(&self) -> Result<[u8; N], CsvError> {
        let bytes = self.capitals_and_digits()?;
        bytes.try_into().map_err(|_| self.refuse("not of two letters"))
    }

    fn degrees(&self, limit: f64) -> Result<f64, CsvError> {
        let degrees: f64 = self.text.parse().map_err(|_| self.refuse("not a number"))?;
        if degrees.abs() <= limit { Ok(degrees) } else { Err(self.refuse("out of range")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "iata,name,city,state,country,latitude,longitude\n";
    const GOOD: &str = "00M,Thigpen,Bay Springs,MS,USA,31.95,-89.23\n";

    fn message(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    fn with(line: &str) -> String {
        message(&format!("{HEADER}{GOOD}{line}\n"))
    }

    #[test]
    fn the_records_of_the_repository() {
        let airports = read(&include_bytes!("../data/airports.csv")[..]).unwrap();
        assert_eq!(airports.len(), 3376);
        assert_eq!(airports[0].code, *b"00M\0");
        assert_eq!(airports[0].name, "Thigpen");
        let count = |region| airports.iter().filter(|airport| airport.region == region).count();
        assert_eq!((count(Region::Alaska), count(Region::Hawaii)), (263, 16));
        assert_eq!((count(Region::Territory), count(Region::Unknown)), (24, 12));
        assert!(airports.iter().any(|airport| airport.name == "W. H. \"Bud\" Barron"));
    }

    #[test]
    fn columns_are_found_by_name() {
        let text = "longitude,state,more,latitude,iata,name\n-89.5,MS,x,31.5,00M,Thigpen\n";
        let airports = read(text.as_bytes()).unwrap();
        assert_eq!((airports[0].latitude, airports[0].longitude), (31.5, -89.5));
    }

    #[test]
    fn mistakes_name_the_line_and_the_column() {
        assert_eq!(
            with("X,Y,Z,MS,USA,north,-89.2"),
            "line 3, column latitude: \"north\" is not a number"
        );
        assert_eq!(
            with("X,Y,Z,MS,USA,90.1,-89.2"),
            "line 3, column latitude: \"90.1\" is out of range"
        );
        assert_eq!(
            with("X,Y,Z,MS,USA,31.9,NaN"),
            "line 3, column longitude: \"NaN\" is out of range"
        );
        assert_eq!(with("ABCDE,Y,Z,MS,USA,1,2"), "line 3, column iata: \"ABCDE\" is too long");
        assert_eq!(with(",Y,Z,MS,USA,1,2"), "line 3, column iata: \"\" is empty");
        assert_eq!(
            with("Ü,Y,Z,MS,USA,1,2"),
            "line 3, column iata: \"Ü\" is not made of capital letters and digits"
        );
        assert_eq!(
            with("X,Y,Z,Miss,USA,1,2"),
            "line 3, column state: \"Miss\" is not made of capital letters and digits"
        );
        assert_eq!(with("X,Y,Z,M,USA,1,2"), "line 3, column state: \"M\" is not of two letters");
        assert_eq!(with("X,Y,Z"), "line 3 has 3 fields, the header has 7");
    }

    #[test]
    fn files_without_records_or_columns() {
        assert_eq!(message(HEADER), "the file has no records");
        assert_eq!(
            message("iata,name\nX,Y\n"),
            "the header has no column \"state\"; it has [\"iata\", \"name\"]"
        );
        assert_eq!(message(""), "the header has no column \"iata\"; it has []");
        assert!(matches!(read(&b"iata,\xFF\n"[..]), Err(CsvError::Read(_))));
    }
}
