"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const rankCount = data.ranks.length;

// ---- texts ---------------------------------------------------------------------------------------

function timeText(seconds) {
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  if (size < 1e-6) return (seconds * 1e9).toFixed(0) + " ns";
  if (size < 1e-3) return (seconds * 1e6).toPrecision(3) + " µs";
  if (size < 1) return (seconds * 1e3).toPrecision(3) + " ms";
  return size < 1000 ? seconds.toPrecision(4) + " s" : seconds.toFixed(0) + " s";
}

const momentText = (ns) => `${(ns / 1e6).toFixed(3)} ms`;
const shareText = (part, whole) => (whole > 0 ? ((100 * part) / whole).toFixed(1) : "0.0") + " %";

function countText(value, unit) {
  for (const prefix of ["", "K", "M", "G", "T"]) {
    if (value < 1000 || prefix === "T") return (prefix === "" ? String(value) : value.toPrecision(3)) + " " + prefix + unit;
    value /= 1000;
  }
}

const callText = (row) => (row.call === undefined ? "" : row.call + (row.place === "-" ? "" : " in " + row.place));

// ---- states and colors ---------------------------------------------------------------------------

const states = [
  { key: "nothing", name: "not there" },
  { key: "computes", name: "computes" },
  { key: "in-mpi", name: "in MPI" },
  { key: "idle", name: "idle worker" },
  { key: "in-loop", name: "in a loop" },
  { key: "in-task", name: "in a task" },
  { key: "in-openmp", name: "in OpenMP" },
  ...data.wait_kinds.map(([key, name]) => ({ key: key.replace(/_/g, "-"), name: key === "outside" ? "waits " + name : name })),
];
/** Loops, tasks and regions of OpenMP, whose spans name them in the rows of workers, too. */
const isWork = (kind) => kind >= 4 && kind <= 6;
const pathNames = {
  computes: "computes", in_mpi: "in MPI", in_flight: "in flight", waits: "waits", scheduling: "worker changes ranks", ready: "its worker is busy", other: "other",
};
const pathColors = { computes: "computes", in_mpi: "in-mpi", in_flight: "in-flight", waits: "other", scheduling: "ready" };
let colors = [];

function readColors() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue("--" + name).trim();
  for (const state of states) {
    state.color = read(state.key);
    const value = parseInt(state.color.slice(1), 16);
    // Pixels are red, green, blue, alpha, in the order of bytes.
    state.pixel = 0xff000000 | ((value & 255) << 16) | (value & 0xff00) | (value >> 16);
  }
  colors = { text: read("text"), soft: read("soft"), line: read("line"), page: read("page"), path: read("path"), accent: read("accent"), strong: read("in-mpi") };
}

// ---- small parts of the page -------------------------------------------------------------------

function add(parent, tag, text, className) {
  const child = document.createElement(tag);
  if (text !== undefined) child.textContent = text;
  if (className) child.className = className;
  parent.append(child);
  return child;
}

function swatch(parent, key) {
  add(parent, "span", undefined, "swatch").style.background = `var(--${key})`;
}

/** A table of `rows`, the first ones at first. columns: {name, text(row), isNumber, isWide} */
function makeTable(box, caption, columns, rows, shown) {
  const table = add(box, "table");
  table.setAttribute("aria-label", caption);
  const head = add(add(table, "thead"), "tr");
  for (const column of columns) add(head, "th", column.name, column.isNumber ? "number" : "").scope = "col";
  const body = add(table, "tbody");
  const addRows = (from, to) => {
    for (const row of rows.slice(from, to)) {
      const line = add(body, "tr");
      for (const column of columns) add(line, "td", column.text(row), column.isNumber ? "number" : column.isWide ? "wide" : "");
    }
  };
  addRows(0, shown);
  if (rows.length > shown) {
    const more = add(box, "button", `Show all ${rows.length} rows`);
    more.type = "button";
    more.addEventListener("click", () => {
      addRows(shown, rows.length);
      more.remove();
    });
  }
}

/** Shares in tenths of a percent that add up to 100 %: the largest remainders are rounded up. */
function tenthsOf(parts) {
  const whole = parts.reduce((sum, part) => sum + part, 0);
  if (whole <= 0) return parts.map(() => 0);
  const exact = parts.map((part) => (1000 * part) / whole);
  const tenths = exact.map(Math.floor);
  const order = exact.map((_, i) => i).sort((a, b) => exact[b] - tenths[b] - (exact[a] - tenths[a]));
  const rest = 1000 - tenths.reduce((sum, each) => sum + each, 0);
  for (let i = 0; i < rest; ++i) ++tenths[order[i % order.length]];
  return tenths;
}

const tenthsText = (tenths) => (tenths / 10).toFixed(1);

/**
 * A bar of parts {key, name, of(member)}, with the list of what they are: the sum over `members`, and in brackets the
 * least and the most share that one of them has.
 */
function makeBar(box, name, parts, members) {
  const tenthsOfEach = members.map((member) => tenthsOf(parts.map((part) => part.of(member))));
  const sums = parts.map((part) => members.reduce((sum, member) => sum + part.of(member), 0));
  const tenths = tenthsOf(sums);
  const whole = sums.reduce((sum, each) => sum + each, 0);
  const used = parts.map((part, i) => ({ ...part, index: i, seconds: sums[i] })).filter((part) => part.seconds > 0);
  const title = add(box, "div", undefined, "bar-name");
  add(title, "span", name);
  add(title, "span", timeText(whole));
  const bar = add(box, "div", undefined, "bar");
  bar.setAttribute("aria-hidden", "true");
  const keys = add(box, "ul", undefined, "keys");
  for (const part of used) {
    const piece = add(bar, "span");
    piece.style.background = `var(--${part.key})`;
    piece.style.flexGrow = part.seconds / whole;
    const key = add(keys, "li");
    swatch(key, part.key);
    const each = tenthsOfEach.map((member) => member[part.index]);
    const range = each.length > 1
      ? ` (${tenthsText(each.reduce((a, b) => Math.min(a, b)))} to ${tenthsText(each.reduce((a, b) => Math.max(a, b)))} %)` : "";
    key.append(`${part.name} ${tenthsText(tenths[part.index])} %${range}`);
  }
}

// ---- sums ----------------------------------------------------------------------------------------

function showSums() {
  element("title").textContent = data.trace;
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : word === "process" ? "es" : "s"}`;
  element("summary").textContent = `${timeText(data.seconds)}, ${plural(rankCount, "rank")} on ${plural(data.worker_count, "worker")} of ` +
    `${plural(data.process_count, "process")}, ${data.event_count.toLocaleString("en")} events`;
  if (data.taken) {
    element("taken").textContent = `${data.taken[0].toUpperCase()}${data.taken.slice(1)}.`;
    element("taken").hidden = false;
  }
  const waitParts = data.wait_kinds.map(([key, name]) => ({
    key: key.replace(/_/g, "-"), name, of: (rank) => (rank.waits[key] ? rank.waits[key].seconds : 0),
  }));
  const bars = element("time-bars");
  makeBar(bars, "Time of all ranks", [
    { key: "computes", name: "computes", of: (rank) => rank.computing_seconds },
    { key: "in-mpi", name: "in MPI, not waiting", of: (rank) => rank.transfer_seconds },
    ...waitParts,
  ], data.ranks);
  makeBar(bars, "Time of all workers", [
    { key: "computes", name: "compute", of: (worker) => worker.computing_seconds },
    { key: "in-mpi", name: "in MPI", of: (worker) => worker.transfer_seconds },
    { key: "idle", name: "idle", of: (worker) => worker.idle_seconds - worker.without_thread_seconds },
    { key: "ready", name: "idle, without a thread", of: (worker) => worker.without_thread_seconds },
  ], data.workers);
  const { core_seconds: core, core_wait_seconds: coreWait } = data.threads;
  const whole = data.seconds * data.worker_count;
  add(bars, "p", core === undefined ? "The system does not say for how long the threads of the workers have had a core."
    : `The threads of the workers were on a core for ${timeText(core)}, ${shareText(core, whole)} of the time of all workers, and waited for one for ` +
      `${timeText(coreWait)}, ${shareText(coreWait, whole)}.`, "note");
  makeBar(bars, "Waiting of all ranks", [
    { key: "ready", name: "hidden", of: (rank) => rank.waiting_seconds - rank.exposed_waiting_seconds },
    { key: "late-sender", name: "exposed", of: (rank) => rank.exposed_waiting_seconds },
  ], data.ranks);
}

function behindText(row) {
  const where = callText(row);
  const rank = row.rank === undefined ? "" : `rank ${row.rank}`;
  if (row.what === "computes") return `${rank} computes${where ? " before " + where : ""}`;
  if (row.what === "in_mpi") return `${rank} is in ${where}`;
  if (row.what === "in_flight") return `messages in flight${rank ? " to " + rank : ""}${where ? ", in " + where : ""}`;
  if (row.what === "ready") return rank ? `${rank} is ready, its worker runs other ranks` : "ranks are ready, their workers run other ranks";
  return where ? `${rank}: ${where}` : rank;
}

function showTables() {
  makeTable(element("behind"), "What lies behind the waiting of all ranks", [
    { name: "waiting", isNumber: true, text: (row) => timeText(row.seconds) },
    { name: "share", isNumber: true, text: (row) => shareText(row.seconds, data.waiting_seconds) },
    { name: "because", isWide: true, text: behindText },
  ], data.behind_waits, 15);
  const byWaiting = [...data.ranks].sort((a, b) => b.waiting_seconds - a.waiting_seconds);
  const largestKind = (row) => {
    const kinds = Object.entries(row.waits).sort((a, b) => b[1].seconds - a[1].seconds);
    return kinds.length === 0 ? "" : `${states.find((state) => state.key === kinds[0][0].replace(/_/g, "-")).name} ${shareText(kinds[0][1].seconds, row.waiting_seconds)}`;
  };
  makeTable(element("ranks"), "Times of each rank, those that wait longest first", [
    { name: "rank", isNumber: true, text: (row) => row.rank },
    { name: "computes", isNumber: true, text: (row) => timeText(row.computing_seconds) },
    { name: "in MPI", isNumber: true, text: (row) => timeText(row.transfer_seconds) },
    { name: "waits", isNumber: true, text: (row) => timeText(row.waiting_seconds) },
    { name: "exposed", isNumber: true, text: (row) => timeText(row.exposed_waiting_seconds) },
    { name: "mostly", text: largestKind },
    { name: "most of it because", isWide: true, text: (row) => row.behind_waits.length === 0 ? ""
      : `${shareText(row.behind_waits[0].seconds, row.waiting_seconds)}: ${behindText(row.behind_waits[0])}` },
  ], byWaiting, 25);
  makeTable(element("calls"), "Calls of MPI by place", [
    { name: "function", text: (row) => row.call },
    { name: "at", text: (row) => row.place },
    { name: "calls", isNumber: true, text: (row) => row.count },
    { name: "time", isNumber: true, text: (row) => timeText(row.seconds) },
    { name: "of one call", isNumber: true, text: (row) => `${timeText(row.shortest_seconds)} to ${timeText(row.longest_seconds)}` },
    { name: "waiting", isNumber: true, text: (row) => shareText(Object.values(row.waits).reduce((sum, wait) => sum + wait.seconds, 0), row.seconds) },
    { name: "exposed", isNumber: true, text: (row) => timeText(Object.values(row.waits).reduce((sum, wait) => sum + wait.exposed_seconds, 0)) },
    { name: "mostly", text: (row) => {
      const kinds = Object.entries(row.waits).sort((a, b) => b[1].seconds - a[1].seconds);
      return kinds.length === 0 ? "" : states.find((state) => state.key === kinds[0][0].replace(/_/g, "-")).name;
    } },
  ], data.calls, 25);
  const pathSums = {};
  for (let i = 0; i < data.critical_path.length; ++i) {
    const row = data.critical_path[i];
    pathSums[row.what] = (pathSums[row.what] || 0) + row.seconds;
  }
  makeBar(element("path-bar"), "The path", Object.keys(pathSums).map((what) => ({ key: pathColors[what], name: pathNames[what], of: (sums) => sums[what] })), [pathSums]);
  makeTable(element("path"), "What the critical path runs through", [
    { name: "time", isNumber: true, text: (row) => timeText(row.seconds) },
    { name: "share", isNumber: true, text: (row) => shareText(row.seconds, data.seconds) },
    { name: "rank", isNumber: true, text: (row) => row.rank },
    { name: "what", text: (row) => pathNames[row.what] },
    { name: "at", isWide: true, text: (row) => (row.what === "computes" && row.call ? "before " : "") + callText(row) },
    { name: "steps", isNumber: true, text: (row) => row.steps },
  ], data.critical_path, 20);
}

// ---- the timeline's data ----------------------------------------------------------------------

const encoded = [...document.querySelectorAll("script.level")];
const levels = (data.levels || []).map((level) => ({ ...level, bytes: null, rows: new Map() }));
let cachedSpans = 0;

function levelBytes(index) {
  const level = levels[index];
  if (level.bytes === null) {
    const text = encoded[index].textContent;
    if (Uint8Array.fromBase64) {
      level.bytes = Uint8Array.fromBase64(text);
    } else {
      const raw = atob(text);
      level.bytes = new Uint8Array(raw.length);
      for (let i = 0; i < raw.length; ++i) level.bytes[i] = raw.charCodeAt(i);
    }
    encoded[index].textContent = "";
  }
  return level.bytes;
}

/** The spans of a row: `begins` in nanoseconds, one more than there are spans. */
function rowSpans(index, row) {
  const level = levels[index];
  const known = level.rows.get(row);
  if (known) return known;
  const bytes = levelBytes(index);
  let at = level.row_begins[row];
  const end = level.row_begins[row + 1];
  const number = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const begins = [0];
  const kinds = [];
  const details = [];
  let ns = 0;
  while (at < end) {
    const head = number();
    kinds.push(head % 16);
    details.push(Math.floor(head / 16));
    ns += number() * level.unit_ns;
    begins.push(ns);
  }
  if (cachedSpans > 4e6) {
    for (const each of levels) each.rows.clear();
    cachedSpans = 0;
  }
  cachedSpans += kinds.length;
  const spans = { begins: Float64Array.from(begins), kinds: Uint8Array.from(kinds), details: Uint32Array.from(details) };
  level.rows.set(row, spans);
  return spans;
}

/** Index of the span at `ns`; may be the number of spans. */
function spanAt(spans, ns) {
  let low = 0;
  let high = spans.kinds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans.begins[middle + 1] <= ns) low = middle + 1;
    else high = middle;
  }
  return low;
}

// ---- the timeline's picture ------------------------------------------------------------------

const canvas = element("timeline");
const gutter = 70;
const axisHeight = 22;
const view = { begin: 0, end: data.end_ns, row: 0, rows: 1, showsWorkers: false, selected: 0, selectedNs: null };

const rowTotal = () => (view.showsWorkers ? data.worker_count : rankCount);
const storedRow = (row) => (view.showsWorkers ? rankCount + row : row);
const rowName = (row) => view.showsWorkers
  ? (data.process_count > 1 ? `w ${data.workers[row].process}.${data.workers[row].worker}` : `worker ${data.workers[row].worker}`)
  : `rank ${data.ranks[row].rank}`;

function keepInside() {
  const span = Math.min(Math.max(view.end - view.begin, 50), data.end_ns);
  view.begin = Math.min(Math.max(view.begin, 0), data.end_ns - span);
  view.end = view.begin + span;
  view.rows = Math.min(Math.max(view.rows, Math.min(4, rowTotal())), rowTotal());
  view.row = Math.min(Math.max(view.row, 0), rowTotal() - view.rows);
}

function showAll() {
  view.begin = 0;
  view.end = data.end_ns;
  view.row = 0;
  view.rows = rowTotal();
  view.selectedNs = null;
}

/** The states of a row, one for each column of pixels. */
function columnsOf(level, row, width, columns) {
  const spans = rowSpans(level, row);
  const scale = width / (view.end - view.begin);
  const owed = new Float64Array(16);
  columns.fill(0);
  let index = spanAt(spans, view.begin);
  let x = 0;
  // A column with several states gets that which is owed most.
  let filled = 0;
  for (; index < spans.kinds.length && x < width; ++index) {
    const kind = spans.kinds[index];
    const end = Math.min((spans.begins[index + 1] - view.begin) * scale, width);
    while (x < width && end > x + filled) {
      const here = Math.min(end - x - filled, 1 - filled);
      owed[kind] += here;
      filled += here;
      if (filled < 1 - 1e-9) break;
      let best = 0;
      for (let state = 1; state < 16; ++state) if (owed[state] > owed[best]) best = state;
      owed[best] -= 1;
      columns[x++] = best;
      filled = 0;
      const whole = Math.floor(end - x);
      if (whole > 0) {
        columns.fill(kind, x, x + whole);
        x += whole;
      }
    }
  }
}

function levelFor(width) {
  const ns = (view.end - view.begin) / width;
  let best = 0;
  for (let index = 0; index < levels.length && levels[best].unit_ns > ns; ++index) best = index;
  return best;
}

function tickStep(span, count) {
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw);
}

function drawAxis(context, width) {
  context.fillStyle = colors.soft;
  context.strokeStyle = colors.line;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const step = tickStep(view.end - view.begin, Math.max(2, width / 110));
  const [unit, unitName] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([ns]) => step >= ns / 2 || ns === 1);
  const digits = Math.max(0, Math.ceil(-Math.log10(step / unit)));
  for (let ns = Math.ceil(view.begin / step) * step; ns <= view.end; ns += step) {
    const x = gutter + ((ns - view.begin) / (view.end - view.begin)) * width;
    context.beginPath();
    context.moveTo(x, axisHeight - 5);
    context.lineTo(x, axisHeight);
    context.stroke();
    if (x > gutter + 25 && x < gutter + width - 30) context.fillText(`${(ns / unit).toFixed(digits)} ${unitName}`, x, axisHeight / 2 - 1);
  }
}

function drawLabels(context, rowHeight, height) {
  context.textAlign = "right";
  context.textBaseline = "middle";
  const every = Math.max(1, Math.ceil(13 / rowHeight));
  for (let row = Math.ceil(view.row / every) * every; row < view.row + view.rows; row += every) {
    const y = axisHeight + (row - view.row + 0.5) * rowHeight;
    if (y > axisHeight + height - 5) break;
    context.fillStyle = row === view.selected && view.selectedNs !== null ? colors.accent : colors.soft;
    context.fillText(rowName(row), gutter - 6, y);
  }
}

function drawTexts(context, level, rowHeight, width) {
  if (rowHeight < 15) return;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const scale = width / (view.end - view.begin);
  for (let row = Math.floor(view.row); row < Math.min(view.row + view.rows, rowTotal()); ++row) {
    const spans = rowSpans(level, storedRow(row));
    const y = axisHeight + (row - view.row + 0.5) * rowHeight;
    let budget = 200;
    for (let index = spanAt(spans, view.begin); index < spans.kinds.length && spans.begins[index] < view.end && budget > 0; ++index) {
      const x = Math.max((spans.begins[index] - view.begin) * scale, 0);
      const end = Math.min((spans.begins[index + 1] - view.begin) * scale, width);
      if (end - x < 45 || spans.kinds[index] === 0) continue;
      --budget;
      const detail = spans.details[index];
      const text = view.showsWorkers && !isWork(spans.kinds[index]) ? (spans.kinds[index] === 3 ? "idle" : detail > 0 ? `rank ${data.ranks[detail - 1].rank}` : "")
        : spans.kinds[index] === 1 || detail === 0 ? states[spans.kinds[index]].name : data.sites[detail - 1][0].replace("MPI_", "");
      context.save();
      context.beginPath();
      context.rect(gutter + x + 2, y - 8, end - x - 4, 16);
      context.clip();
      context.fillStyle = luminance(states[spans.kinds[index]].color) > 0.45 ? "#16191c" : "#ffffff";
      context.fillText(text, gutter + x + 4, y);
      context.restore();
    }
  }
}

function luminance(color) {
  const value = parseInt(color.slice(1), 16);
  return (0.3 * (value >> 16) + 0.59 * ((value >> 8) & 255) + 0.11 * (value & 255)) / 255;
}

function drawArrows(context, rowHeight, width, height) {
  if (view.showsWorkers || !element("show-messages").checked || view.rows > 80) return;
  const arrows = data.arrows;
  const inside = [];
  for (let i = 0; i < arrows.length && inside.length <= 1500; i += 4) {
    if (arrows[i + 1] > view.end || arrows[i + 1] + arrows[i + 3] < view.begin) continue;
    const from = arrows[i] - view.row;
    const to = arrows[i + 2] - view.row;
    if (Math.max(from, to) >= 0 && Math.min(from, to) < view.rows) inside.push(i);
  }
  // More would hide what is below.
  if (inside.length > 1500) return;
  const x = (ns) => gutter + ((ns - view.begin) / (view.end - view.begin)) * width;
  const y = (row) => axisHeight + (row - view.row + 0.5) * rowHeight;
  context.strokeStyle = context.fillStyle = colors.text;
  context.globalAlpha = 0.6;
  context.lineWidth = 1;
  for (const i of inside) {
    const endX = x(arrows[i + 1] + arrows[i + 3]);
    const endY = y(arrows[i + 2]);
    context.beginPath();
    context.moveTo(x(arrows[i + 1]), y(arrows[i]));
    context.lineTo(endX, endY);
    context.stroke();
    context.beginPath();
    context.arc(endX, endY, 2, 0, 7);
    context.fill();
  }
  context.globalAlpha = 1;
}

function drawPath(context, rowHeight, width) {
  if (view.showsWorkers || !element("show-path").checked) return;
  const steps = data.path_steps;
  const x = (ns) => gutter + ((ns - view.begin) / (view.end - view.begin)) * width;
  const y = (row) => axisHeight + (row - view.row + 0.5) * rowHeight;
  for (const [color, thickness] of [[colors.page, 5], [colors.path, 2]]) {
    context.strokeStyle = color;
    context.lineWidth = thickness;
    context.beginPath();
    let isBegun = false;
    for (let i = 0; i < steps.length; i += 4) {
      if (steps[i + 2] < view.begin || steps[i + 1] > view.end) continue;
      if (isBegun) context.lineTo(x(steps[i + 1]), y(steps[i]));
      else context.moveTo(x(steps[i + 1]), y(steps[i]));
      context.lineTo(x(steps[i + 2]), y(steps[i]));
      isBegun = true;
    }
    context.stroke();
  }
}

function drawSelection(context, rowHeight, width, height) {
  if (view.selectedNs === null || levels.length === 0) return;
  const spans = rowSpans(levels.length - 1, storedRow(view.selected));
  const index = Math.min(spanAt(spans, view.selectedNs), spans.kinds.length - 1);
  if (index < 0) return;
  const x = (ns) => gutter + Math.min(Math.max((ns - view.begin) / (view.end - view.begin), 0), 1) * width;
  const begin = x(spans.begins[index]);
  context.strokeStyle = colors.accent;
  context.lineWidth = 2;
  context.strokeRect(begin, axisHeight + (view.selected - view.row) * rowHeight, Math.max(x(spans.begins[index + 1]) - begin, 2), Math.max(rowHeight, 2));
}

let isDrawPending = false;

function draw() {
  isDrawPending = false;
  keepInside();
  const ratio = window.devicePixelRatio || 1;
  const cssWidth = canvas.clientWidth;
  const cssHeight = canvas.clientHeight;
  canvas.width = Math.round(cssWidth * ratio);
  canvas.height = Math.round(cssHeight * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = colors.page;
  context.fillRect(0, 0, cssWidth, cssHeight);
  const width = Math.max(Math.floor(cssWidth - gutter), 10);
  const height = Math.max(Math.floor(cssHeight - axisHeight), 10);
  const rowHeight = Math.min(height / view.rows, 40);
  drawAxis(context, width);
  if (levels.length > 0) {
    const level = levelFor(width * ratio);
    const pixelWidth = Math.round(width * ratio);
    const pixelHeight = Math.round(Math.min(height, rowHeight * view.rows) * ratio);
    const image = context.createImageData(pixelWidth, pixelHeight);
    const pixels = new Uint32Array(image.data.buffer);
    const columns = new Uint8Array(pixelWidth);
    const palette = Uint32Array.from({ length: 16 }, (_, state) => (states[state] || states[0]).pixel);
    let drawn = -1;
    const gap = rowHeight >= 5 ? Math.ceil(ratio) : 0;
    for (let y = 0; y < pixelHeight; ++y) {
      const position = view.row + y / ratio / rowHeight;
      const row = Math.min(Math.floor(position), rowTotal() - 1);
      if (row !== drawn) {
        columnsOf(level, storedRow(row), pixelWidth, columns);
        drawn = row;
      }
      const isGap = gap > 0 && (position - row) * rowHeight * ratio < gap;
      const line = pixels.subarray(y * pixelWidth, (y + 1) * pixelWidth);
      if (isGap) line.fill(palette[0]);
      else for (let x = 0; x < pixelWidth; ++x) line[x] = palette[columns[x]];
    }
    context.putImageData(image, Math.round(gutter * ratio), Math.round(axisHeight * ratio));
    context.save();
    context.beginPath();
    context.rect(gutter, axisHeight, width, Math.min(height, rowHeight * view.rows));
    context.clip();
    drawTexts(context, level, rowHeight, width);
    drawArrows(context, rowHeight, width, height);
    drawPath(context, rowHeight, width);
    drawSelection(context, rowHeight, width, height);
    context.restore();
  }
  drawLabels(context, rowHeight, height);
}

function redraw() {
  if (!isDrawPending) requestAnimationFrame(draw);
  isDrawPending = true;
}

// ---- the timeline's controls --------------------------------------------------------------------

function zoom(factor, at = (view.begin + view.end) / 2) {
  const span = Math.min(Math.max((view.end - view.begin) * factor, 50), data.end_ns);
  const share = (at - view.begin) / (view.end - view.begin);
  view.begin = at - share * span;
  view.end = view.begin + span;
  redraw();
}

function move(share) {
  const distance = share * (view.end - view.begin);
  view.begin += distance;
  view.end += distance;
  if (view.begin < 0) [view.begin, view.end] = [0, view.end - view.begin];
  redraw();
}

function changeRows(factor) {
  const middle = view.selectedNs !== null ? view.selected + 0.5 : view.row + view.rows / 2;
  view.rows = Math.round(view.rows * factor);
  view.row = middle - view.rows / 2;
  redraw();
}

function positionOf(event) {
  const box = canvas.getBoundingClientRect();
  const width = box.width - gutter;
  const rowHeight = Math.min((box.height - axisHeight) / view.rows, 40);
  const row = Math.floor(view.row + (event.clientY - box.top - axisHeight) / rowHeight);
  const share = (event.clientX - box.left - gutter) / width;
  return { row, ns: view.begin + share * (view.end - view.begin), isInside: share >= 0 && share <= 1 && row >= 0 && row < rowTotal() };
}

function describe(row, ns) {
  if (levels.length === 0) return "";
  // The finest level whose rows have been needed, or that is asked for by a selection.
  const level = levels.length - 1;
  const spans = rowSpans(level, storedRow(row));
  const index = spanAt(spans, ns);
  if (index >= spans.kinds.length) return `${rowName(row)}, ${momentText(ns)}: ended`;
  const detail = spans.details[index];
  const kind = spans.kinds[index];
  let what = states[kind].name;
  if (view.showsWorkers && !isWork(kind)) {
    what = kind === 3 ? "idle" : detail > 0 ? `runs rank ${data.ranks[detail - 1].rank}` : what;
  } else if (detail > 0) {
    const [name, place] = data.sites[detail - 1];
    what += `, ${kind === 1 ? "before " : ""}${name}${place === "-" ? "" : " in " + place}`;
  }
  return `${rowName(row)}, ${momentText(spans.begins[index])}: ${what}, ${timeText((spans.begins[index + 1] - spans.begins[index]) / 1e9)}`;
}

function select(row, ns) {
  view.selected = Math.min(Math.max(row, 0), rowTotal() - 1);
  view.selectedNs = Math.min(Math.max(ns, 0), data.end_ns);
  if (view.selected < view.row) view.row = view.selected;
  if (view.selected >= view.row + view.rows) view.row = view.selected - view.rows + 1;
  if (view.selectedNs < view.begin || view.selectedNs > view.end) {
    const half = (view.end - view.begin) / 2;
    [view.begin, view.end] = [view.selectedNs - half, view.selectedNs + half];
  }
  element("where").textContent = describe(view.selected, view.selectedNs);
  redraw();
}

/** To the next span, or the previous one, of the selected row. */
function step(direction) {
  const ns = view.selectedNs === null ? view.begin : view.selectedNs;
  const spans = rowSpans(levels.length - 1, storedRow(view.selected));
  const index = Math.min(Math.max(spanAt(spans, ns) + (view.selectedNs === null ? 0 : direction), 0), spans.kinds.length - 1);
  if (index >= 0) select(view.selected, (spans.begins[index] + spans.begins[index + 1]) / 2);
}

const keys = {
  ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2),
  "+": () => zoom(0.5, view.selectedNs ?? undefined), "=": () => zoom(0.5, view.selectedNs ?? undefined), "-": () => zoom(2, view.selectedNs ?? undefined),
  ArrowUp: () => select(view.selected - (view.selectedNs === null ? 0 : 1), view.selectedNs ?? (view.begin + view.end) / 2),
  ArrowDown: () => select(view.selected + (view.selectedNs === null ? 0 : 1), view.selectedNs ?? (view.begin + view.end) / 2),
  PageUp: () => { view.row -= view.rows; redraw(); }, PageDown: () => { view.row += view.rows; redraw(); },
  Home: () => { showAll(); redraw(); },
  n: () => step(1), p: () => step(-1), t: () => changeRows(0.5), s: () => changeRows(2),
};

function connect() {
  canvas.addEventListener("keydown", (event) => {
    const act = event.ctrlKey || event.altKey || event.metaKey ? undefined : keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!act || levels.length === 0) return;
    event.preventDefault();
    act();
  });
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    if (event.shiftKey) {
      view.row += Math.sign(event.deltaY || event.deltaX) * Math.max(1, view.rows / 8);
      redraw();
    } else {
      zoom(event.deltaY > 0 ? 1.25 : 0.8, positionOf(event).ns);
    }
  }, { passive: false });
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, begin: view.begin, end: view.end, row: view.row, isMoved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag !== null) {
      const box = canvas.getBoundingClientRect();
      const distance = ((event.clientX - drag.x) / (box.width - gutter)) * (drag.end - drag.begin);
      drag.isMoved = drag.isMoved || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 4;
      view.begin = drag.begin - distance;
      view.end = drag.end - distance;
      view.row = drag.row - ((event.clientY - drag.y) / (box.height - axisHeight)) * view.rows;
      redraw();
    } else if (levels.length > 0) {
      const { row, ns, isInside } = positionOf(event);
      if (isInside) element("where").textContent = describe(row, ns);
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    const { row, ns, isInside } = positionOf(event);
    if (drag !== null && !drag.isMoved && isInside && levels.length > 0) select(row, ns);
    drag = null;
  });
  canvas.addEventListener("dblclick", (event) => zoom(0.25, positionOf(event).ns));
  const press = (id, act) => element(id).addEventListener("click", act);
  press("zoom-in", () => zoom(0.5));
  press("zoom-out", () => zoom(2));
  press("earlier", () => move(-0.5));
  press("later", () => move(0.5));
  press("taller", () => changeRows(0.5));
  press("shorter", () => changeRows(2));
  press("show-all", () => { showAll(); redraw(); });
  for (const id of ["show-path", "show-messages"]) element(id).addEventListener("change", redraw);
  element("rows").addEventListener("change", (event) => {
    view.showsWorkers = event.target.value === "workers";
    view.selected = 0;
    view.selectedNs = null;
    view.row = 0;
    view.rows = rowTotal();
    showLegend();
    redraw();
  });
  element("find-rank").addEventListener("change", (event) => {
    const row = data.ranks.findIndex((rank) => rank.rank === Number(event.target.value));
    if (row < 0 || levels.length === 0) return;
    if (view.showsWorkers) {
      element("rows").value = "ranks";
      view.showsWorkers = false;
      showLegend();
    }
    view.rows = Math.min(view.rows, 16);
    view.row = row - view.rows / 2;
    select(row, (view.begin + view.end) / 2);
  });
  window.addEventListener("resize", () => { redraw(); drawMatrix(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColors(); redraw(); drawMatrix(); });
}

function showLegend() {
  const legend = element("legend");
  legend.textContent = "";
  const used = new Set(view.showsWorkers ? ["computes", "idle", ...data.work_states]
    : ["computes", "in-mpi", ...data.work_states, ...Object.keys(data.waits).map((key) => key.replace(/_/g, "-"))]);
  for (const state of states.filter((each) => used.has(each.key))) {
    const item = add(legend, "li");
    swatch(item, state.key);
    item.append(!view.showsWorkers || data.work_states.includes(state.key) ? state.name : state.key === "computes" ? "runs a rank" : "idle");
  }
}

// ---- the matrix -----------------------------------------------------------------------------------

const matrix = element("matrix");
const block = data.cell_block;
const matrixCells = Math.ceil(rankCount / block);
const ranksText = (cell) => (block === 1 ? `rank ${data.ranks[cell].rank}`
  : `ranks ${data.ranks[cell * block].rank} to ${data.ranks[Math.min((cell + 1) * block, rankCount) - 1].rank}`);
const amountText = (value, measure) => countText(value, measure === 3 ? "B" : "messages");

function drawMatrix() {
  if (data.cells.length === 0) return;
  const measure = Number(element("measure").value);
  const side = Math.min(512, Math.max(240, document.body.clientWidth - 40));
  const ratio = window.devicePixelRatio || 1;
  matrix.style.width = matrix.style.height = side + "px";
  matrix.width = matrix.height = Math.round(side * ratio);
  const context = matrix.getContext("2d");
  context.fillStyle = colors.page;
  context.fillRect(0, 0, matrix.width, matrix.height);
  const size = matrix.width / matrixCells;
  let largest = 1;
  for (let i = 0; i < data.cells.length; i += 4) largest = Math.max(largest, data.cells[i + measure]);
  context.fillStyle = colors.strong;
  for (let i = 0; i < data.cells.length; i += 4) {
    context.globalAlpha = 0.15 + 0.85 * (Math.log1p(data.cells[i + measure]) / Math.log1p(largest));
    context.fillRect(data.cells[i + 1] * size, data.cells[i] * size, Math.max(size, 1), Math.max(size, 1));
  }
  context.globalAlpha = 1;
}

function showMatrix() {
  element("matrix-part").hidden = data.cells.length === 0;
  element("no-messages").hidden = data.cells.length > 0;
  if (data.cells.length === 0) return;
  const pairs = [];
  for (let i = 0; i < data.cells.length; i += 4) pairs.push(data.cells.slice(i, i + 4));
  const fill = () => {
    const measure = Number(element("measure").value);
    pairs.sort((a, b) => b[measure] - a[measure]);
    element("pairs").textContent = "";
    makeTable(element("pairs"), "The pairs with the most messages", [
      { name: "from", text: (pair) => ranksText(pair[0]) },
      { name: "to", text: (pair) => ranksText(pair[1]) },
      { name: "messages", isNumber: true, text: (pair) => pair[2] },
      { name: "bytes", isNumber: true, text: (pair) => countText(pair[3], "B") },
      { name: "mean size", isNumber: true, text: (pair) => countText(Math.round(pair[3] / pair[2]), "B") },
    ], pairs.slice(0, 200), 12);
    matrix.setAttribute("aria-label", `Matrix of ${measure === 3 ? "bytes" : "messages"}: a line for each sender, a column for each receiver. The table has the largest pairs.`);
    drawMatrix();
  };
  element("measure").addEventListener("change", fill);
  const byPair = new Map(pairs.map((pair) => [pair[0] * matrixCells + pair[1], pair]));
  matrix.addEventListener("pointermove", (event) => {
    const box = matrix.getBoundingClientRect();
    const cell = (position, length) => Math.min(Math.floor((position / length) * matrixCells), matrixCells - 1);
    const from = cell(event.clientY - box.top, box.height);
    const to = cell(event.clientX - box.left, box.width);
    if (from < 0 || to < 0) return;
    const pair = byPair.get(from * matrixCells + to) || [from, to, 0, 0];
    element("matrix-where").textContent = `${ranksText(from)} to ${ranksText(to)}: ${amountText(pair[2], 2)}, ${amountText(pair[3], 3)}`;
  });
  fill();
}

// ---- advice ---------------------------------------------------------------------------------------

/** Words between backquotes are commands. */
function addWords(parent, tag, text) {
  const box = add(parent, tag);
  text.split("`").forEach((part, i) => (i % 2 === 1 ? add(box, "code", part) : box.append(part)));
  return box;
}

function showAdvice() {
  if (data.taken) return;
  element("advice-section").hidden = data.advice.length === 0 && data.predictions.length === 0 && data.not_predicted.length === 0;
  for (const { text, evidence } of data.advice) {
    const item = add(element("advice"), "li");
    addWords(item, "p", text);
    add(item, "p", evidence, "evidence");
  }
  const box = element("predictions");
  for (const why of data.not_predicted) addWords(box, "p", `Not predicted: ${why}.`).className = "note";
  if (data.predictions.length === 0) return;
  add(box, "h3", "Predictions");
  add(box, "p", `From replays of the trace. The replay of the job as it was takes ${timeText(data.replayed_seconds)} instead of ` +
    `${timeText(data.seconds)}; the predictions are scaled by that. In brackets: with the quartiles of the times that messages have taken.`, "note");
  makeTable(box, "Predicted times", [
    { name: "instead", text: (row) => row.what },
    { name: "time", isNumber: true, text: (row) => `${timeText(row.seconds)} (${timeText(row.least_seconds)} to ${timeText(row.most_seconds)})` },
    { name: "change", isNumber: true, text: (row) => `${row.seconds < data.seconds ? "" : "+"}${(100 * (row.seconds / data.seconds - 1)).toFixed(1)} %` },
  ], data.predictions, 20);
}

// ---- begin ---------------------------------------------------------------------------------------

readColors();
showSums();
showLegend();
showAll();
draw();
connect();
showMatrix();
showAdvice();
showTables();
