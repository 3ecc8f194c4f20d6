"""Reads the Parquet file that the example wrote, and writes one that it reads: check.py written.parquet to-read.parquet"""

import sys

import pyarrow as pa
import pyarrow.parquet as pq

written, to_read = sys.argv[1:]
table = pq.read_table(written)
assert table.num_rows == 1000, table
types = {field.name: field.type for field in table.schema}
assert types['station'] == pa.string(), types
assert types['at'] == pa.timestamp('us', tz='UTC'), types
assert pa.types.is_struct(types['place']), types
assert types['celsius'] == pa.float32() and table['celsius'].null_count == 200, types
assert table['station'].to_pylist()[:3] == ['Köln', 'Zürich', 'São Paulo']
assert table['samples'].to_pylist()[0] == [1, 2, 3]
assert table['celsius'].to_pylist()[:2] == [None, table['celsius'][1].as_py()]
assert table['at'][1].as_py().isoformat() == '2023-11-14T22:14:20+00:00', table['at'][1]
# A table as Python programs make it: every column is nullable, the columns are in another order, and there is one more.
rows = table.to_pylist()
schema = pa.schema([
    ('more', pa.int8()),
    ('celsius', pa.float64()),
    ('samples', pa.list_(pa.uint16(), 3)),
    ('place', pa.struct([('longitude', pa.float64()), ('latitude', pa.float64())])),
    ('at', pa.timestamp('us')),
    ('station', pa.large_string()),
])
for row in rows:
    row['at'] = row['at'].replace(tzinfo=None)
    row['more'] = None
pq.write_table(pa.Table.from_pylist(rows, schema), to_read)
