// The page: reads the controls, has a worker run the command, and shows what it prints.

const $ = (id) => document.getElementById(id);
const controls = ["from", "compare", "packed", "instances", "row", "unit", "form"];

const FORMS = {
  "c-struct": "C struct",
  "rust-struct": "Rust struct",
  "c": "MPI calls in C",
  "rust": "calls in Rust",
  "numpy": "NumPy dtype",
  "notation": "MPI notation",
  "plan": "how it is packed",
};

const EXAMPLES = [
  ["a struct in Rust", { a: `#[repr(C)]
struct Sample {
    kind: u8,
    position: [f64; 3],
    flags: u16,
    id: u32,
}
` }],
  ["structs in C", { a: `#include <stdint.h>

enum { CHANNELS = 4 };

struct sample { double seconds; float value; };

typedef struct {
    char kind;
    struct sample samples[CHANNELS];
    int64_t serial;
    bool valid;
} sensor;
` }],
  ["a dtype of NumPy", { a: `np.dtype([('name', 'S12'), ('born', 'M8[D]'), ('mass', 'f4'), ('at', 'f8', (3,))], align=True)
` }],
  ["a column of a matrix, MPI", { a: `# The third column of a matrix of 4 rows and 6 columns.
hindexed_block(1, [16], vector(4, 1, 6, f64))
`, row: 48, unit: 8 }],
  ["a subarray, MPI", { a: `subarray([6, 8], [3, 4], [2, 1], C, f32)
`, unit: 4 }],
  ["Rust and its twin in C", { a: `#[repr(C)]
struct Point {
    x: f64,
    tag: [u8; 4],
    id: u64,
}
`, b: `struct point {
    double x;
    long id;
    char tag[4];
};
`, compare: true }],
  ["a message, packed", { a: `struct Reading {
    station: FixedStr<8>,
    at: Timestamp<Seconds>,
    celsius: Maybe<f32>,
}
`, packed: true }],
];

// Milliseconds after which a run is ended: of texts, of files.
const LIMITS = [5_000, 60_000];
// Of what a link keeps, of the rows of a list, of the characters of a text that is shown.
const [MOST_LINKED, MOST_LISTED, MOST_SHOWN] = [32_768, 500, 1 << 20];

/* ---------- running ---------- */

const wasm = fetch("dtype.wasm").then(async (response) => {
  if (!response.ok) throw new Error(`dtype.wasm: ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
});
// A worker made of a blob has this page's Content-Security-Policy; one made of a file would have none.
const start = URL.createObjectURL(
  new Blob([`import ${JSON.stringify(new URL("worker.js", location.href))};`], { type: "text/javascript" }));
let worker, timer, running = false;

function end() {
  clearTimeout(timer);
  worker?.terminate();
  worker = undefined;
  running = false;
}

// Runs commands one after another. A run that is not done yet is ended.
async function run(files, runs, limit, show) {
  if (running) end();
  running = true;
  const module = await wasm;
  if (run.latest !== show) return;
  worker ??= new Worker(start, { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.key === null) {
      clearTimeout(timer);
      running = false;
    }
    show(data.key, data);
  };
  worker.onerror = () => show(null, { failed: "The worker cannot be started." });
  timer = setTimeout(() => {
    end();
    show(null, { failed: `This takes longer than ${limit / 1000} s and was ended.` });
  }, limit);
  // It has the file already, unless it is a new one.
  const sent = file && worker.file === file ? { ...files, [file.name]: null } : files;
  worker.file = file;
  worker.postMessage({ module, files: sent, runs });
}

/* ---------- texts and their mistakes ---------- */

function made(template) {
  return $(template).content.cloneNode(true).firstElementChild;
}

function element(name, text, click) {
  const one = document.createElement(name);
  one.textContent = text;
  if (click) {
    one.type = "button";
    one.onclick = click;
  }
  return one;
}

class Text {
  constructor(key, title) {
    this.key = key;
    this.root = made("text");
    this.area = this.root.querySelector("textarea");
    this.mirror = this.root.querySelector("pre");
    this.list = this.root.querySelector("ul");
    this.name = this.root.querySelector(".name");
    this.area.id = `text-${key}`;
    this.list.id = `mistakes-${key}`;
    this.area.setAttribute("aria-describedby", this.list.id);
    const label = this.root.querySelector(".title");
    label.textContent = title;
    label.htmlFor = this.area.id;
    this.area.onscroll = () => (this.mirror.scrollTop = this.area.scrollTop);
    this.area.oninput = update;
    this.name.oninput = update;
    $("texts").append(this.root);
  }

  get argument() {
    return `@${this.key}` + (this.name.value.trim() && `:${this.name.value.trim()}`);
  }

  // The characters of the text that these bytes are.
  range({ start, end }) {
    const bytes = new TextEncoder().encode(this.area.value);
    const before = (byte) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, byte)).length;
    return [before(start), before(end)];
  }

  select(range) {
    this.area.focus();
    this.area.setSelectionRange(...range);
  }

  show(mistakes) {
    this.area.setAttribute("aria-invalid", mistakes.length > 0);
    const text = this.area.value;
    const ranges = mistakes.map((mistake) => this.range(mistake));
    const parts = [];
    let done = 0;
    for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
      if (from < done) continue;
      const end = Math.max(to, from + 1);
      parts.push(text.slice(done, from), element("mark", text.slice(from, end).replace(/^\n?$/, " \n")));
      done = end;
    }
    this.mirror.replaceChildren(...parts, text.slice(done), "\n");
    this.mirror.scrollTop = this.area.scrollTop;
    this.list.replaceChildren(...mistakes.map((mistake, i) => {
      const item = document.createElement("li");
      const { line, column, message, label, help, replacement, choices } = mistake;
      item.append(element("button", `${line}:${column}`, () => this.select(ranges[i])), ` ${message}`);
      if (label && !choices.length && !message.includes(label)) item.append(` (${label})`);
      if (choices.length) {
        const choose = (name) => () => { this.name.value = name; update(); };
        item.append(": ", ...choices.map((name) => element("button", name, choose(name))));
      } else if (replacement !== null) {
        item.append("; ", element("button", `write ${replacement}`, () => {
          this.area.setRangeText(replacement, ...ranges[i], "end");
          this.select([ranges[i][0], ranges[i][0] + replacement.length]);
          update();
        }));
      } else if (help) {
        item.append(`; ${help}`);
      }
      return item;
    }));
  }
}

/* ---------- layouts ---------- */

const bytes = (count) => `${count} byte${count === 1 ? "" : "s"}`;

// The rows of a table of members, those of variants and unions below them.
function members(all, path = "") {
  return all.flatMap(({ name, type, bits, offset, bytes, padding, inner_padding, members: inside = [] }) => [
    [path + (name ?? "–"), bits ? `${type} : ${bits.width}` : type, offset ?? "–", bytes ?? "–", padding || inner_padding || ""],
    ...members(inside, `${path}${name ?? "–"}.`),
  ]);
}

class View {
  constructor() {
    this.root = made("view");
    this.figure = this.root.querySelector(".picture");
    this.figure.attachShadow({ mode: "open" });
    this.root.classList.add("empty");
    $("views").append(this.root);
  }

  // The picture, from a document of its own: nothing of it is read as HTML, and it can run no script.
  picture(svg) {
    const [, before, style, after] = svg.match(/^(.*?)<style>(.*?)<\/style>(.*)$/s);
    const parsed = new DOMParser().parseFromString(before + after, "image/svg+xml").documentElement;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    this.root.classList.remove("empty");
    this.figure.shadowRoot.adoptedStyleSheets = [sheet];
    this.figure.shadowRoot.replaceChildren(document.importNode(parsed, true));
  }

  layout(type) {
    const p = (name, text) => (this.root.querySelector(`.${name}`).textContent = text);
    const { structure } = type;
    const align = type.align === null ? "" : `, alignment ${type.align}`;
    const source = structure?.source ? ` Declared at ${structure.source}.` : "";
    // What is not all data is known by its size.
    const isData = !structure?.members?.some(({ what }) => what) && structure?.form !== "enum";
    const size = isData ? `${bytes(type.size)} of data in an extent of ${type.extent}` : bytes(structure.size ?? type.extent);
    p("numbers", `${size}${align}.${source}`);
    const gaps = structure?.gaps?.map((gap) => {
      const end = gap.offset + gap.bytes === type.extent;
      return `${gap.bytes} ${end ? "at the end" : gap.after === null ? "at the start" : `after ${gap.after}`}`;
    });
    p("gaps", [
      structure?.padding ? `${bytes(structure.padding)} of padding: ${gaps.join(", ")}.` : "",
      structure?.inner_padding ? `${bytes(structure.inner_padding)} of padding inside fields.` : "",
    ].join(" ").trim());
    const better = structure?.reordered;
    p("order", better
      ? `In the order ${better.order.join(", ")} it has ${bytes(better.extent)}, ${better.saves} less.`
      : structure?.padding ? "No other order of the fields is smaller." : "");
    const row = (cell, values) => {
      const line = document.createElement("tr");
      line.append(...values.map((value) => element(cell, value)));
      return line;
    };
    const fields = structure?.members ? members(structure.members) : type.fields.map((field) => {
      const repeated = field.repeated.map(({ count, stride }) => `${count} every ${stride ?? "?"}`);
      return [field.path, field.basic, field.offset, field.bytes, repeated.join(", ")];
    });
    if (!structure?.members && !type.fields_complete) fields.push(["… and more"]);
    const head = ["field", "type", "offset", "bytes", structure?.members ? "padding inside" : "repeated"];
    this.root.querySelector("table").replaceChildren(row("th", head), ...fields.map((values) => row("td", values)));
  }
}

/* ---------- the page ---------- */

const texts = { a: new Text("a", "Type"), b: new Text("b", "Another type") };
const views = { a: new View(), b: new View() };
let file, item, listed;

function written() {
  return document.querySelector("[name=written]:checked").value;
}

// What to run, by the names of the results.
function job() {
  const runs = {}, files = {};
  const compare = $("compare").checked;
  const options = [...($("from").value && !file ? ["--from", $("from").value] : []), "--errors", "json"];
  const drawn = ["instances", "row", "unit"].flatMap((id) => ($(id).value ? [`--${id}`, $(id).value] : []));
  // As many cells as the page is wide: half the window, or all of a narrow one.
  const width = Math.min(64, Math.max(16, Math.floor(($("views").clientWidth - 80) / 14 / 8) * 8));
  const layout = (key, ...type) => {
    runs[`${key}.picture`] = ["show", "--as", "svg", ...type, ...drawn, "--width", `${width}`, ...options];
    runs[`${key}.layout`] = ["show", "--json", ...type, ...options];
  };
  const last = (...type) => (runs.written = ["show", "--as", written(), ...type, ...options]);
  const packed = $("packed").checked ? ["--packed"] : [];
  const text = [texts.a.argument, ...packed];
  for (const [key, { area }] of Object.entries(texts)) {
    if (key === "a" || compare) files[key] = new Blob([area.value]);
  }
  if (file) files[file.name] = file.blob;
  switch (file && $("kind").value) {
    case "own": {
      if (!file.isArray && !item) {
        runs.list = ["info", "--json", file.name, ...options];
        break;
      }
      const type = file.name + (item ? `:${item}` : "");
      layout("a", type);
      if (file.isArray) runs.values = ["dump", type, "--records", "0..100", "--as", $("form").value, ...options];
      last(type, "--skip");
      break;
    }
    case "messages":
    case "typed": {
      const types = $("kind").value === "typed" ? [texts.a.argument] : [];
      runs.values = ["frame", "--dump", ...types, file.name, ...options];
      break;
    }
    case "records":
    case "packed": {
      const isPacked = $("kind").value === "packed" ? ["--packed"] : [];
      layout("a", texts.a.argument, ...isPacked);
      runs.values = ["dump", texts.a.argument, file.name, ...isPacked, "--records", "0..100", "--as", $("form").value, ...options];
      break;
    }
    default:
      layout("a", ...text);
      if (compare) {
        layout("b", texts.b.argument, ...packed);
        runs.compared = ["compare", texts.a.argument, texts.b.argument, ...packed, ...options];
      }
      last(...text);
  }
  return { files, runs };
}

// The mistakes that a run reports, and its notes.
function mistakes({ status, err }) {
  const all = err.split("\n").filter(Boolean);
  const isJson = (line) => line.startsWith("{");
  const found = status === 2 ? all.filter(isJson).map((line) => JSON.parse(line)) : [];
  return { found, notes: all.filter((line) => !found.length || !isJson(line)) };
}

function update() {
  const { files, runs } = job();
  const has = (name) => name in runs;
  const notes = new Set();
  $("dropped").hidden = !file;
  $("typed").hidden = file && ["own", "messages"].includes($("kind").value);
  for (const id of ["compare", "packed"]) $(id).disabled = Boolean(file);
  $("list").hidden = !file || file.isArray || $("kind").value !== "own";
  texts.b.root.hidden = !$("compare").checked || Boolean(file);
  for (const key of ["a", "b"]) views[key].root.hidden = !has(`${key}.layout`);
  $("values").hidden = !has("values");
  document.querySelector("#values label").hidden = !has("a.layout");
  $("comparison").hidden = !has("compared");
  $("written").hidden = !has("written");
  clearTimeout(update.late);
  update.late = setTimeout(() => ($("status").textContent = "Working …"), 300);
  const show = (name, result) => {
    if (run.latest !== show) return;
    const [key, what] = (name ?? "").split(".");
    if (name === null) {
      clearTimeout(update.late);
      if (result.failed) notes.add(result.failed);
      $("status").textContent = [...notes].join("\n");
      document.body.dataset.done = ++update.count;
      return;
    }
    const { found, notes: said } = mistakes(result);
    if (name === "written") document.querySelector("#written p").textContent = said.join("\n");
    else for (const note of said) notes.add(note);
    if (name === "list" && result.status === 0) {
      listed = JSON.parse(result.out);
      list();
    }
    if (what) {
      const isText = key in texts && (!file || $("kind").value !== "own");
      if (what === "layout" && isText) texts[key].show(found.filter((one) => "start" in one));
      views[key].root.classList.toggle("stale", result.status !== 0);
      if (result.status === 0) views[key][what](what === "layout" ? JSON.parse(result.out) : result.out);
    }
    // What is wrong with one form of a type is said where it would be.
    if (name !== "written") {
      for (const { message, help, start } of found) {
        if (start === undefined) notes.add([message, help].filter(Boolean).join("\n"));
      }
    }
    const pre = { written: "written", values: "values", compared: "comparison" }[name];
    if (pre) {
      // A mistake in a text is shown there.
      const isMistake = !result.out && found.some((one) => "start" in one);
      $(pre).classList.toggle("stale", isMistake);
      $(pre).classList.toggle("said", !result.out);
      const text = result.out || found.map((one) => one.message).join("\n");
      const shown = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}\n… and more` : text;
      if (!isMistake) document.querySelector(`#${pre} pre`).textContent = shown;
    }
  };
  run.latest = show;
  run(files, runs, LIMITS[file ? 1 : 0], show).catch((error) => show(null, { failed: error.message }));
  clearTimeout(update.link);
  update.link = setTimeout(() => history.replaceState(null, "", `#${link()}`), 300);
}
update.count = 0;

// The structs of a program.
function list() {
  const wanted = $("item").value.toLowerCase();
  const found = listed.filter(({ type }) => type.toLowerCase().includes(wanted));
  const table = document.createElement("table");
  const head = document.createElement("tr");
  head.append(...["struct", "size", "padding", "best order"].map((text) => element("th", text)));
  table.append(head);
  for (const one of found.slice(0, MOST_LISTED)) {
    const line = document.createElement("tr");
    const name = document.createElement("td");
    name.append(element("button", one.type, () => choose(one.type)));
    line.append(name, ...[one.size, one.padding, one.reordered].map((number) => element("td", number ?? "–")));
    table.append(line);
  }
  const more = found.length - MOST_LISTED;
  document.querySelector("#list .scroll").replaceChildren(table, more > 0 ? `… and ${more} more` : "");
}

function choose(name) {
  item = name;
  $("item").value = name;
  update();
}

/* ---------- files ---------- */

const MAGIC = [
  ["own", "\x93NUMPY"], ["own", "PK\x03\x04"], ["own", "\x7fELF"], ["own", "!<arch>"], ["own", "MZ"],
  ["own", "\xcf\xfa\xed\xfe"], ["own", "\xca\xfe\xba\xbe"], ["messages", "\xd7DTM"],
];

async function open(blob) {
  const head = String.fromCharCode(...new Uint8Array(await blob.slice(0, 8).arrayBuffer()));
  const known = MAGIC.find(([, magic]) => head.startsWith(magic));
  if (!known && blob.size < 1 << 20) {
    // A text takes the place of the text.
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await blob.arrayBuffer());
      if (!text.includes("\0")) {
        close();
        texts.a.area.value = text;
        texts.a.name.value = "";
        return update();
      }
    } catch {}
  }
  // A name that the command reads as nothing but a file's, and not as that of a text.
  const name = `file-${blob.name.replace(/[^\w.-]/g, "_")}`;
  file = { name, blob, isArray: head.startsWith("\x93NUMPY") };
  item = listed = undefined;
  $("item").value = "";
  document.querySelector("#list .scroll").replaceChildren();
  $("file-name").textContent = blob.name;
  $("kind").value = known?.[0] ?? "records";
  update();
}

function close() {
  file = item = listed = undefined;
  $("file").value = "";
}

/* ---------- links ---------- */

function link() {
  const link = new URLSearchParams();
  for (const [key, text] of Object.entries(texts)) {
    if (key === "b" && !$("compare").checked) continue;
    if (text.area.value.length <= MOST_LINKED) link.set(key, text.area.value);
    if (text.name.value) link.set(`${key}-name`, text.name.value);
  }
  for (const id of controls) {
    const { type, checked, value, options } = $(id);
    if (type === "checkbox" ? checked : value && value !== options?.[0].value) link.set(id, type === "checkbox" ? "1" : value);
  }
  if (written() !== "c-struct") link.set("as", written());
  return link;
}

function load(given) {
  const link = new URLSearchParams(given);
  close();
  for (const [key, text] of Object.entries(texts)) {
    text.area.value = link.get(key) ?? "";
    text.name.value = link.get(`${key}-name`) ?? "";
  }
  for (const id of controls) {
    const value = link.get(id);
    if ($(id).type === "checkbox") $(id).checked = value !== null;
    else $(id).value = value ?? $(id).options?.[0].value ?? "";
  }
  const form = link.get("as");
  document.querySelector(`[name=written][value=${form in FORMS ? form : "c-struct"}]`).checked = true;
  document.querySelector("#input details").open ||= ["instances", "row", "unit"].some((id) => link.has(id));
  update();
}

function example(index) {
  const { compare, packed, ...rest } = EXAMPLES[index][1];
  load({ ...rest, ...(compare && { compare: 1 }), ...(packed && { packed: 1 }) });
}

/* ---------- events ---------- */

for (const [form, title] of Object.entries(FORMS)) {
  const [label, radio] = [document.createElement("label"), document.createElement("input")];
  Object.assign(radio, { type: "radio", name: "written", value: form, checked: form === "c-struct", onchange: update });
  label.append(radio, ` ${title}`);
  document.querySelector("#written fieldset").append(label);
}
EXAMPLES.forEach(([title], i) => $("examples").append(new Option(title, i)));
$("examples").onchange = ({ target }) => target.value && example(target.value);
for (const id of [...controls, "kind"]) $(id).oninput = update;
$("item").oninput = () => listed && list();
$("item").onkeydown = ({ key }) => key === "Enter" && choose($("item").value.trim());
$("file").onchange = ({ target }) => target.files[0] && open(target.files[0]);
$("close").onclick = () => { close(); update(); };
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
});
const copy = async (text) => {
  await navigator.clipboard.writeText(text);
  $("status").textContent = "Copied.";
};
$("share").onclick = () => {
  history.replaceState(null, "", `#${link()}`);
  copy(location.href);
};
document.querySelector("#written > button").onclick = () => copy(document.querySelector("#written pre").textContent);
addEventListener("hashchange", () => load(location.hash.slice(1)));

if (location.hash.length > 1) load(location.hash.slice(1));
else example(0);
