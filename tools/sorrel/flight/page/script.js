"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report || {};
const look = data.look || {};
const element = (id) => document.getElementById(id);
const row_count_max = 60;

/// A new element with a text.
function made(tag, text, name) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
}

function text_of_time(seconds) {
  const pair = (n) => String(Math.floor(n)).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  return (hours ? hours + ":" : "") + pair((seconds / 60) % 60) + ":" + pair(seconds % 60);
}

function text_of_bytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return (bytes < 10 && unit ? bytes.toFixed(1) : Math.round(bytes)) + " " + units[unit];
}

/// "0-3,7"; ranks are ascending.
function text_of_ranks(ranks) {
  const runs = [];
  for (const rank of ranks) {
    const last = runs[runs.length - 1];
    if (last && last[1] + 1 === rank) last[1] = rank;
    else runs.push([rank, rank]);
  }
  const shown = runs.slice(0, 8).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  return shown.join(",") + (runs.length > 8 ? ",…" : "") + (ranks.length > 1 ? ` (${ranks.length})` : "");
}

/// Rows of cells, each a text, a number or an element.
function table(headings, rows) {
  const node = made("table");
  const head = node.appendChild(made("thead")).appendChild(made("tr"));
  headings.forEach((heading) => head.appendChild(made("th", heading)).setAttribute("scope", "col"));
  const body = node.appendChild(made("tbody"));
  for (const row of rows) {
    const line = body.appendChild(made("tr"));
    for (const cell of row) {
      const name = typeof cell === "number" ? "number" : String(cell).length > 30 ? "long" : "";
      const box = line.appendChild(made("td", undefined, name));
      box.append(cell instanceof Node ? cell : String(cell));
    }
  }
  return node;
}

function show(id, node) {
  element(id).append(node);
  element(id + "-section").hidden = false;
}

/// Ranks that do the same as one row, the fewest ranks first; fields count as equal where there are too many rows.
function groups_of(waits) {
  const names = ["state", "call", "place", "peer", "tag", "communicator"];
  let groups = [];
  for (const dropped of [[], ["peer"], ["peer", "tag"], ["peer", "tag", "communicator"]]) {
    const by_key = new Map();
    for (const wait of waits) {
      const fields = names.map((name) => (dropped.includes(name) && wait[name] !== "-" ? "various" : wait[name] || ""));
      const key = fields.join("\u0001");
      if (!by_key.has(key)) by_key.set(key, { ranks: [], fields });
      by_key.get(key).ranks.push(wait.rank);
    }
    groups = [...by_key.values()].sort((one, other) => one.ranks.length - other.ranks.length);
    if (groups.length <= row_count_max) break;
  }
  return groups;
}

function headline() {
  switch (data.kind) {
    case "deadlock": {
      const unknown = report.unknown ? `, ${report.unknown} did not answer` : "";
      return `${report.waits.length + (data.left_out || 0)} of ${report.ranks} ranks wait${unknown}.`;
    }
    case "terminated":
      return `SIGTERM after ${text_of_time(data.seconds)}${look.notes.length > 0 ? ": " + look.notes.join("; ") : ": what the ranks did"}.`;
    case "idle": {
      const other = Math.round(100 * data.other_share);
      return `The job used ${Math.round(100 * data.busy_share)} % of ${data.cores} core${data.cores === 1 ? "" : "s"} for ` +
        `${text_of_time(data.seconds)}` + (other > 0 ? `; other programs took ${other} %.` : ".");
    }
    default: {
      const where = report.rank !== undefined && report.rank !== null ? `rank ${report.rank}: `
        : report.process !== undefined && report.process !== null ? `process ${report.process}: ` : "";
      return where + (report.what || "The report is not complete: standard error has what could be said.");
    }
  }
}

function show_waits() {
  const waits = report.waits || look.rank_states || [];
  if (waits.length === 0) return;
  const has_states = waits.some((wait) => wait.state);
  const groups = groups_of(waits);
  const rows = groups.slice(0, row_count_max).map(({ ranks, fields }) =>
    [text_of_ranks(ranks)].concat(has_states ? fields : fields.slice(1)));
  show("waits", table(["ranks"].concat(has_states ? ["state"] : [], ["in", "at", "for", "tag", "communicator"]), rows));
  const left_out = (data.left_out || 0) + groups.slice(row_count_max).reduce((sum, group) => sum + group.ranks.length, 0);
  if (left_out > 0) element("waits").append(made("p", `… and ${left_out} more ranks`, "note"));
  const cycle = report.cycle || [];
  const shown = cycle.length > 24 ? cycle.slice(0, 20).concat([null], cycle.slice(-2)) : cycle;
  for (const rank of cycle.length > 0 ? shown.concat([cycle[0]]) : []) {
    if (element("cycle").children.length > 0) element("cycle").append(made("li", "waits for", "arrow"));
    element("cycle").append(made("li", rank === null ? "…" : `rank ${rank}`));
  }
  if (report.ended !== undefined && report.ended !== null)
    element("ended").textContent = `Rank ${report.ended} has ended, and others wait for it.`;
}

function show_messages() {
  const rows = (report.unreceived || []).map((messages) => [messages.rank, messages.count, messages.what]);
  for (const rank of look.rank_states || [])
    if (rank.unexpected_messages > 0) rows.push([rank.rank, rank.unexpected_messages, "have come, and no receive is posted"]);
  if (rows.length > 0) show("messages", table(["rank", "messages", "what"], rows.slice(0, row_count_max)));
  const left_out = (data.messages_left_out || 0) + Math.max(0, rows.length - row_count_max);
  if (left_out > 0) element("messages").append(made("p", `… and ${left_out} more rows`, "note"));
}

function bar(share, name) {
  const box = made("span", undefined, "share" + (name ? " " + name : ""));
  box.style.width = `${Math.max(0.1, 6 * Math.min(1, share))}rem`;
  const cell = made("span");
  cell.append(box, ` ${Math.round(100 * share)} %`);
  return cell;
}

function show_workers() {
  const rows = (look.worker_states || []).map((worker) => [
    worker.worker, worker.cpu < 0 ? "-" : worker.cpu,
    worker.load_percent === null ? "-" : bar(worker.load_percent / 100, "computes"),
    worker.messages_per_second === null ? "-" : Math.round(worker.messages_per_second), worker.ready_ranks,
    worker.running_ranks > 0 ? "runs a rank" : worker.asleep ? "asleep" : "polls"]);
  if (rows.length > 0)
    show("workers", table(["worker", "cpu", "load", "messages/s", "ready", "state"], rows.slice(0, row_count_max)));
}

function show_samples() {
  if (!data.samples || data.samples.length === 0) return;
  element("samples-note").textContent =
    `Of all ranks, in ${data.sample_count} sample${data.sample_count === 1 ? "" : "s"} spread over the job.`;
  show("samples", table(["share", "state", "in", "at"], data.samples.slice(0, row_count_max).map((row) =>
    [bar(row.share, row.state === "waits" ? "" : "computes"), row.state, row.call, row.place])));
}

function add_command(name, text) {
  const box = made("div", undefined, "command");
  const line = box.appendChild(made("pre", text));
  line.tabIndex = 0;
  const button = box.appendChild(made("button", "Copy"));
  button.type = "button";
  button.setAttribute("aria-label", `Copy: ${name}`);
  button.addEventListener("click", () => {
    const range = document.createRange();
    range.selectNodeContents(line);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
  });
  element("commands").append(made("h3", name), box);
}

const names = { deadlock: "deadlock", crash: "crash", error: "error", killed: "killed", terminated: "ended by SIGTERM", idle: "idle" };
element("title").textContent = data.program;
element("kind").textContent = names[data.kind] || data.kind;
if (data.kind === "idle") element("kind").className = "calm";
element("headline").textContent = headline();
const size = look.job ? `, ${text_of_bytes(look.resident_bytes)} resident` : "";
element("summary").textContent = `${data.host}, ${data.time}, after ${text_of_time(data.seconds)}${size}`;
if (report.calls && report.calls.length > 0)
  show("calls", document.createTextNode(report.calls.map((call, i) => `#${i} ${call}`).join("\n")));
show_waits();
show_messages();
show_workers();
show_samples();
if (data.next) add_command(data.under_launcher ? "Shows more (behind the launcher)" : "Shows more", data.next);
add_command("The job, in " + data.folder, data.command);
