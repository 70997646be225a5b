"use strict";
// What happens when: the index arrives, a filter changes, a case is opened. The address names case and runs.

let everything;
let selectedKey = null;
let opened = 0;

function index(data) {
  everything = data;
  const last = String(data.runs.length - 1);
  for (const id of ["a", "b"]) data.runs.forEach((name, number) => option(byId(id), String(number), name));
  byId("b").value = data.runs.length > 1 ? "1" : last;
  for (const [value, [label]] of Object.entries(OUTCOMES)) option(byId("outcome"), value, label);
  choices("domain", data.cases.map((item) => item.domain));
  choices("condition", data.cases.map((item) => item.condition));
  choices("fault", data.cases.map((item) => item.fault));
  for (const id of ["domain", "condition", "fault", "outcome"]) byId(id).onchange = () => filterCases(data);
  for (const id of ["a", "b"]) byId(id).onchange = () => { filterCases(data); reopen(); };
  byId("search").oninput = () => filterCases(data);
  byId("clear").onclick = () => {
    for (const id of ["search", "domain", "condition", "fault", "outcome"]) byId(id).value = "";
    filterCases(data);
  };
  byId("list").onscroll = drawRows;
  window.onresize = drawRows;
  window.onhashchange = followAddress;
  document.onkeydown = onKey;
  filterCases(data);
  followAddress();
  if (!selectedKey && data.cases.length) openCase(shownCases[0]);
}

function choices(id, values) {
  option(byId(id), "", "all");
  for (const value of [...new Set(values)].filter(Boolean).sort()) option(byId(id), value, value);
}

function followAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const id of ["a", "b"]) {
    const number = everything.runs.indexOf(wanted.get(id));
    if (number >= 0) byId(id).value = String(number);
  }
  const item = everything.cases.find((candidate) => candidate.key === wanted.get("case"));
  if (item && item.key !== selectedKey) { filterCases(everything); openCase(item); }
}

function reopen() {
  const item = everything.cases.find((candidate) => candidate.key === selectedKey);
  if (item) openCase(item);
}

async function openCase(item) {
  selectedKey = item.key;
  const turn = ++opened;
  const [a, b] = [byId("a").value, byId("b").value];
  const names = { case: item.key, a: everything.runs[a], b: everything.runs[b] };
  history.replaceState(null, "", `#${new URLSearchParams(names)}`);
  if (shownCases.includes(item)) reveal(shownCases.indexOf(item)); else drawRows();
  const runs = a === b ? [a] : [a, b];
  try {
    const found = await Promise.all(runs.map((run) => item.runs[run] ? episodeOf(item.runs[run]) : null));
    if (turn !== opened) return;  // another case was opened meanwhile
    const task = everything.tasks[item.task];
    const columns = make("div", runs.length > 1 ? "columns two" : "columns");
    runs.forEach((run, at) => columns.append(column(everything.runs[run], item.runs[run], found[at], task.queries)));
    byId("view").replaceChildren(caseHeader(item, task), columns);
  } catch (error) {
    byId("view").replaceChildren(make("p", "error", error.message));
  }
  byId("view").scrollTop = 0;
}

function caseHeader(item, task) {
  const tags = make("p", "tags");
  for (const tag of [item.domain, task.template, item.condition, item.fault, item.mode]) if (tag) tags.append(make("span", "", tag));
  const header = make("header", "case-header", make("h1", "", item.key), tags);
  if (task.request) header.append(make("blockquote", "", task.request));
  if (task.policy) header.append(fold("Policy the model was given", make("pre", "policy", task.policy)));
  return header;
}

function onKey(event) {
  const isTyping = /^(INPUT|SELECT)$/.test(event.target.tagName);
  if (event.key === "/" && !isTyping) { event.preventDefault(); byId("search").focus(); }
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (step === undefined || isTyping) return;
  event.preventDefault();
  const at = shownCases.findIndex((item) => item.key === selectedKey);
  const next = shownCases[Math.min(shownCases.length - 1, Math.max(0, at + step))];
  if (next) openCase(next);
}
