"use strict";
const element = (id) => document.getElementById(id);
const poll_ms = 500;
const column_count = 120;
const worker_count_max = 64;
const kinds = [
  ["running", "run", "--computes"], ["blocked", "sleep in a system call", "--late-sender"], ["ready", "ready, worker busy", "--ready"],
  ["waiting", "wait", "--in-flight"], ["ended", "have ended", "--idle"], ["unknown", "not known", "--outside"],
];
const history = [];
const workers = new Map();

function made(tag, text, name) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
}

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function text_of_time(seconds) {
  const pair = (n) => String(Math.floor(n)).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  return (hours ? hours + ":" : "") + pair((seconds / 60) % 60) + ":" + pair(seconds % 60);
}

function text_of_amount(amount, units, step) {
  let unit = 0;
  while (amount >= step && unit + 1 < units.length) {
    amount /= step;
    ++unit;
  }
  return (amount < 10 && unit ? amount.toFixed(1) : Math.round(amount)) + units[unit];
}

const text_of_bytes = (bytes) => text_of_amount(bytes, [" B", " KiB", " MiB", " GiB", " TiB"], 1024);
const text_of_count = (count) => text_of_amount(count, ["", " k", " M", " G"], 1000);

/// A canvas with one pixel of the screen for each of its own; null if it has no size.
function context_of(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio);
  const height = Math.round(canvas.clientHeight * ratio);
  if (width === 0 || height === 0) return null;
  canvas.width = width;
  canvas.height = height;
  return canvas.getContext("2d");
}

/// Columns from the right edge on: draw(context, column, x, width, height) for each.
function draw_columns(canvas, columns, draw) {
  const context = context_of(canvas);
  if (!context) return;
  const width = canvas.width / column_count;
  context.fillStyle = color("--panel");
  context.fillRect(0, 0, canvas.width, canvas.height);
  columns.forEach((column, i) => {
    const x = canvas.width - (columns.length - i) * width;
    draw(context, column, Math.floor(x), Math.ceil(x + width) - Math.floor(x), canvas.height);
  });
}

function draw_worker(canvas, loads) {
  const [busy, idle] = [color("--computes"), color("--idle")];
  draw_columns(canvas, loads, (context, load, x, width, height) => {
    if (load === null) return;
    const filled = Math.round(height * Math.min(1, load / 100));
    context.fillStyle = idle;
    context.fillRect(x, 0, width, height - filled);
    context.fillStyle = busy;
    context.fillRect(x, height - filled, width, filled);
  });
}

function draw_history() {
  const colors = kinds.map(([, , name]) => color(name));
  draw_columns(element("history"), history, (context, counts, x, width, height) => {
    const all = kinds.reduce((sum, [key]) => sum + counts[key], 0);
    let below = 0;
    kinds.forEach(([key], i) => {
      const top = Math.round((height * (below + counts[key])) / Math.max(1, all));
      const bottom = Math.round((height * below) / Math.max(1, all));
      context.fillStyle = colors[i];
      context.fillRect(x, height - top, width, top - bottom);
      below += counts[key];
    });
  });
}

function keep(list, item) {
  list.push(item);
  if (list.length > column_count) list.shift();
}

function show_numbers(state) {
  const sum = (name) => state.workers.reduce((all, worker) => all + (worker[name] || 0), 0);
  const numbers = [
    ["time", text_of_time(state.seconds)], ["processor time", text_of_time(state.cpu_seconds)],
    ["ranks", state.ranks], ["processes", state.processes],
    ["memory", text_of_bytes(state.resident_bytes)], ["messages/s", text_of_count(sum("messages_per_second"))],
    ["bytes/s", text_of_bytes(sum("bytes_per_second"))], ["unexpected", text_of_count(state.unexpected_messages)],
  ];
  element("numbers").replaceChildren(...numbers.map(([name, text]) => {
    const box = made("div");
    box.append(made("dt", name), made("dd", text));
    return box;
  }));
}

function show_workers(list) {
  for (const worker of list.slice(0, worker_count_max)) {
    if (!workers.has(worker.worker)) {
      const row = made("div", undefined, "worker");
      const canvas = made("canvas");
      canvas.setAttribute("role", "img");
      row.append(made("span", `worker ${worker.worker}`), canvas, made("span", "", "facts"));
      element("workers").append(row);
      workers.set(worker.worker, { loads: [], canvas, facts: row.lastChild });
    }
    const own = workers.get(worker.worker);
    keep(own.loads, worker.load_percent);
    const load = worker.load_percent === null ? "-" : `${Math.round(worker.load_percent)} %`;
    const doing = worker.running_ranks > 0 ? "runs" : worker.asleep ? "asleep" : "polls";
    own.facts.textContent = `${load}, ${doing}, ${worker.ready_ranks} ready`;
    own.canvas.setAttribute("aria-label", `Load of worker ${worker.worker}: ${load}`);
    draw_worker(own.canvas, own.loads);
  }
  const more = list.length - worker_count_max;
  element("more-workers").textContent = more > 0 ? `… and ${more} more workers` : "";
}

function show_legend(counts) {
  element("legend").replaceChildren(...kinds.filter(([key]) => counts[key] > 0).map(([key, name, variable]) => {
    const item = made("li");
    const swatch = made("span", undefined, "swatch");
    swatch.style.background = `var(${variable})`;
    item.append(swatch, `${counts[key]} ${name}`);
    return item;
  }));
}

function show_rows(state) {
  const table = made("table");
  const head = table.appendChild(made("thead")).appendChild(made("tr"));
  for (const name of ["ranks", "state", "in", "at", "for", "tag", "communicator"])
    head.appendChild(made("th", name)).setAttribute("scope", "col");
  const body = table.appendChild(made("tbody"));
  for (const row of state.rows) body.appendChild(made("tr")).append(...row.map((cell) => made("td", cell)));
  element("rows").replaceChildren(table);
  if (state.left_out > 0) element("rows").append(made("p", `… and ${state.left_out} more ranks`, "note"));
}

function show(state) {
  element("title").textContent = `Job ${state.job}`;
  element("state").textContent = "runs";
  element("command").textContent = state.command;
  element("notes").textContent = state.notes.join("; ");
  keep(history, state.counts);
  show_numbers(state);
  show_workers(state.workers);
  show_legend(state.counts);
  draw_history();
  show_rows(state);
}

async function poll() {
  let state = null;
  try {
    const answer = await fetch("state", { cache: "no-store", credentials: "omit" });
    if (!answer.ok) throw new Error(String(answer.status));
    state = await answer.json();
  } catch {
    element("state").textContent = "has ended";
    element("state").className = "over";
    return;
  }
  if (state) show(state);
  setTimeout(poll, poll_ms);
}

addEventListener("resize", () => {
  draw_history();
  workers.forEach(({ loads, canvas }) => draw_worker(canvas, loads));
});
poll();
