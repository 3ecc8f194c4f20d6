//! Airport records, and how they are read from CSV.

use std::io::Read;

use csv::{ReaderBuilder, StringRecord};
use dtype_runtime::Datatype;
use thiserror::Error;

/// An airport. The name is not sent, because its length varies and only the sender shows it.
#[derive(Datatype, Clone, Debug, Default, PartialEq)]
pub struct Airport {
    /// The code, padded with zero bytes.
    pub code: [u8; 4],
    /// The two letters of the state, `NA` where it is unknown.
    pub state: [u8; 2],
    /// Degrees, positive to the north.
    pub latitude: f64,
    /// Degrees, positive to the east.
    pub longitude: f64,
    /// The part of the country that the state belongs to.
    pub region: Region,
    /// The name in full.
    #[dtype(skip)]
    pub name: String,
}

/// The part of the country that an airport is in.
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
    /// The state is unknown.
    Unknown = 5,
}

impl Region {
    /// The region of a state; `None` if there is no such state.
    pub fn of_state(state: [u8; 2]) -> Option<Self> {
        match &state {
            b"AK" => Some(Self::Alaska),
            b"HI" => Some(Self::Hawaii),
            // The Northern Marianas were CQ before they became MP.
            b"AS" | b"CQ" | b"GU" | b"MP" | b"PR" | b"VI" => Some(Self::Territory),
            b"NA" => Some(Self::Unknown),
            _ => CONTIGUOUS.contains(&state).then_some(Self::Contiguous),
        }
    }
}

/// The states between Canada and Mexico, and DC.
const CONTIGUOUS: [[u8; 2]; 49] = [
    *b"AL", *b"AR", *b"AZ", *b"CA", *b"CO", *b"CT", *b"DC", *b"DE", *b"FL", *b"GA", *b"IA", *b"ID",
    *b"IL", *b"IN", *b"KS", *b"KY", *b"LA", *b"MA", *b"MD", *b"ME", *b"MI", *b"MN", *b"MO", *b"MS",
    *b"MT", *b"NC", *b"ND", *b"NE", *b"NH", *b"NJ", *b"NM", *b"NV", *b"NY", *b"OH", *b"OK", *b"OR",
    *b"PA", *b"RI", *b"SC", *b"SD", *b"TN", *b"TX", *b"UT", *b"VA", *b"VT", *b"WA", *b"WI", *b"WV",
    *b"WY",
];

/// The maximum number of characters of a wrong field in an error.
const EXCERPT: usize = 40;

/// An error in a CSV file.
#[derive(Debug, Error)]
pub enum CsvError {
    /// The header lacks a column.
    #[error("the header has no column {column:?}; it has {header:?}")]
    MissingColumn {
        /// The column that is needed.
        column: &'static str,
        /// The columns of the header.
        header: Vec<String>,
    },
    /// A field does not hold what its column should.
    #[error("line {line}, column {column}: {text:?} is {problem}")]
    Field {
        /// The line in the file, from 1.
        line: u64,
        /// The column's name.
        column: &'static str,
        /// The field's text, shortened if it is long.
        text: String,
        /// Why the text is wrong.
        problem: &'static str,
    },
    /// A line has more or fewer fields than the header.
    #[error("line {line} has {actual} fields, the header has {expected}")]
    FieldCount {
        /// The line in the file, from 1.
        line: u64,
        /// The number of fields in the header.
        expected: u64,
        /// The number of fields in the line.
        actual: u64,
    },
    /// There is no record.
    #[error("the file has no records")]
    Empty,
    /// A line holds bytes that are not UTF-8.
    #[error("line {line}, field {field}: not UTF-8")]
    NotText {
        /// The line in the file, from 1.
        line: u64,
        /// The field in the line, from 1.
        field: u64,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Read(csv::Error),
}

impl CsvError {
    /// The CSV reader's error for this file.
    fn new(error: csv::Error, file: &[u8]) -> Self {
        match error.kind() {
            csv::ErrorKind::UnequalLengths { pos, expected_len, len } => Self::FieldCount {
                line: line(pos.as_ref(), file),
                expected: *expected_len,
                actual: *len,
            },
            csv::ErrorKind::Utf8 { pos, err } => {
                Self::NotText { line: line(pos.as_ref(), file), field: err.field() as u64 + 1 }
            }
            _ => Self::Read(error),
        }
    }
}

/// The line on which the record at a position begins, as an editor counts. The reader's own count would be wrong: it does not
/// count blank lines, or the `\n` of a `\r\n`, before a record.
fn line(position: Option<&csv::Position>, file: &[u8]) -> u64 {
    let byte = position.map_or(0, csv::Position::byte);
    let (before, rest) = file.split_at(usize::try_from(byte).map_or(0, |at| at.min(file.len())));
    let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    before.iter().chain(blank).filter(|&&byte| byte == b'\n').count() as u64 + 1
}

/// The index of each column.
struct Columns {
    iata: usize,
    name: usize,
    state: usize,
    latitude: usize,
    longitude: usize,
}

/// Reads airports. The columns may come in any order, and other columns are ignored.
///
/// # Errors
///
/// [`CsvError`], which names the line and the column.
pub fn read(mut input: impl Read) -> Result<Vec<Airport>, CsvError> {
    let mut file = Vec::new();
    input.read_to_end(&mut file).map_err(|error| CsvError::Read(error.into()))?;
    let refuse = |error| CsvError::new(error, &file);
    let mut reader = ReaderBuilder::new().from_reader(&file[..]);
    let columns = Columns::find(reader.headers().map_err(refuse)?)?;
    let mut airports = Vec::new();
    for record in reader.records() {
        airports.push(columns.airport(&Row { record: &record.map_err(refuse)?, file: &file })?);
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

    fn airport(&self, row: &Row<'_>) -> Result<Airport, CsvError> {
        let state_field = row.field(self.state, "state");
        let state = state_field.exactly()?;
        let no_such_state = || state_field.refuse("not a state or territory, nor NA");
        Ok(Airport {
            code: row.field(self.iata, "iata").at_most()?,
            state,
            latitude: row.field(self.latitude, "latitude").degrees(90.0)?,
            longitude: row.field(self.longitude, "longitude").degrees(180.0)?,
            region: Region::of_state(state).ok_or_else(no_such_state)?,
            name: row.field(self.name, "name").text.to_owned(),
        })
    }
}

/// A record, and the file that it comes from.
struct Row<'a> {
    record: &'a StringRecord,
    file: &'a [u8],
}

impl Row<'_> {
    fn field(&self, index: usize, column: &'static str) -> Field<'_> {
        // The reader refuses records with fewer fields than the header.
        Field { text: self.record.get(index).unwrap_or_default(), row: self, column }
    }
}

/// A field, with the facts for an error.
struct Field<'a> {
    text: &'a str,
    row: &'a Row<'a>,
    column: &'static str,
}

impl<'a> Field<'a> {
    fn refuse(&self, problem: &'static str) -> CsvError {
        // A field may be long, and a message must be short enough to read.
        let mut text: String = self.text.chars().take(EXCERPT).collect();
        if text.len() < self.text.len() {
            text.push('…');
        }
        let line = line(self.row.record.position(), self.row.file);
        CsvError::Field { line, column: self.column, text, problem }
    }

    fn capitals_and_digits(&self) -> Result<&'a [u8], CsvError> {
        let bytes = self.text.as_bytes();
        if bytes.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) {
            Ok(bytes)
        } else {
            Err(self.refuse("not made of capital letters and digits"))
        }
    }

    /// The text of at most `N` characters, padded with zero bytes.
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
        assert_eq!(
            with("X,Y,Z,ZZ,USA,1,2"),
            "line 3, column state: \"ZZ\" is not a state or territory, nor NA"
        );
        let shown = "x".repeat(EXCERPT);
        assert_eq!(
            with(&format!("X,Y,Z,MS,USA,{},2", "x".repeat(10_000))),
            format!("line 3, column latitude: \"{shown}…\" is not a number")
        );
    }

    #[test]
    fn lines_are_counted_as_an_editor_counts() {
        // Before the bad line come a blank line and a name that spans two lines, so the bad line is line 6.
        let before = format!("{HEADER}{GOOD}\n{}", GOOD.replace("Thigpen", "\"Thig\npen\""));
        for (bad, said) in [
            ("X,Y,Z,MS,USA,x,1\n", "line 6, column latitude: \"x\" is not a number"),
            ("X,Y,Z\n", "line 6 has 3 fields, the header has 7"),
        ] {
            let text = format!("{before}{bad}");
            assert_eq!(message(&text), said);
            assert_eq!(message(&text.replace('\n', "\r\n")), said);
            assert_eq!(message(&format!("\u{feff}{text}")), said);
        }
        for end in ["\n", "\r\n"] {
            let mut bytes = before.replace('\n', end).into_bytes();
            bytes.extend_from_slice(b"X,Y\xFF,Z,MS,USA,1,1\n");
            assert_eq!(read(&bytes[..]).unwrap_err().to_string(), "line 6, field 2: not UTF-8");
        }
    }

    #[test]
    fn files_without_records_or_columns() {
        assert_eq!(message(HEADER), "the file has no records");
        assert_eq!(
            message("iata,name\nX,Y\n"),
            "the header has no column \"state\"; it has [\"iata\", \"name\"]"
        );
        assert_eq!(message(""), "the header has no column \"iata\"; it has []");
        assert!(matches!(read(&b"iata,\xFF\n"[..]), Err(CsvError::NotText { line: 1, field: 2 })));
    }
}
