"use strict";
// The cases that pass the filters, of which only the visible rows are in the page: thousands scroll like ten.

const ROW = 46;
const byId = (id) => document.getElementById(id);
let shownCases = [];

const OUTCOMES = {
  "": ["any outcome", () => true],
  a: ["A solves", (a) => a?.solved === true],
  nota: ["A does not solve", (a) => a !== undefined && a.solved !== true],
  onlya: ["only A solves", (a, b) => a?.solved === true && b !== undefined && b.solved !== true],
  onlyb: ["only B solves", (a, b) => b?.solved === true && a !== undefined && a.solved !== true],
  both: ["both solve", (a, b) => a?.solved === true && b?.solved === true],
  neither: ["neither solves", (a, b) => a?.solved !== true && b?.solved !== true],
  missed: ["planned fault not met", (a, b, item) => item.fault && [a, b].some((entry) => entry && !entry.hit)],
  damage: ["rows damaged", (a, b) => [a, b].some((entry) => entry?.damage > 0)],
  broken: ["infrastructure or unscored", (a, b) => [a, b].some((entry) => entry?.solved === null)],
};

function haystack(item, tasks) {
  item.text ??= `${item.key} ${item.fault ?? ""} ${tasks[item.task].template} ${item.words} ${tasks[item.task].request}`.toLowerCase();
  return item.text;
}

function filterCases(data) {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [a, b] = [byId("a").value, byId("b").value];
  const wanted = { domain: byId("domain").value, condition: byId("condition").value, fault: byId("fault").value };
  const outcome = OUTCOMES[byId("outcome").value][1];
  shownCases = data.cases.filter((item) =>
    Object.entries(wanted).every(([name, value]) => !value || item[name] === value) &&
    outcome(item.runs[a], item.runs[b], item) &&
    words.every((word) => haystack(item, data.tasks).includes(word)));
  byId("count").textContent = `${shownCases.length.toLocaleString("en")} of ${data.cases.length.toLocaleString("en")} cases`;
  byId("spacer").style.height = `${shownCases.length * ROW}px`;
  byId("list").scrollTop = 0;
  drawRows();
}

function drawRows() {
  const list = byId("list");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
  const last = Math.min(shownCases.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 5);
  const rows = [];
  for (let at = first; at < last; at++) rows.push(caseRow(shownCases[at], at));
  byId("spacer").replaceChildren(...rows);
}

function caseRow(item, at) {
  const marks = make("span", "marks");
  for (const run of [byId("a").value, byId("b").value]) marks.append(item.runs[run] ? mark(item.runs[run].solved) : "·");
  const sub = [item.condition, item.fault, item.mode === "oracle" ? null : item.mode, item.attempt ? `run ${item.attempt + 1}` : null];
  const title = item.key.includes("[") ? item.key.replace(/^.*?\[/, `${item.task} [`) : item.task;
  const row = make("div", "case", marks, make("span", "names", make("b", "", title), make("small", "", sub.filter(Boolean).join(" · "))));
  row.style.top = `${at * ROW}px`;
  row.setAttribute("role", "option");
  row.setAttribute("aria-selected", String(item.key === selectedKey));
  row.onclick = () => openCase(item);
  return row;
}

function reveal(at) {
  const list = byId("list");
  if (at * ROW < list.scrollTop) list.scrollTop = at * ROW;
  if ((at + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (at + 1) * ROW - list.clientHeight;
  drawRows();
}
