"use strict";
// One episode as a column: outcome, checks, turns.

const MARK = { true: ["✓", "good", "solved"], false: ["✗", "bad", "not solved"], null: ["?", "none", "unscored"] };

function mark(outcome) {
  const [sign, look, title] = MARK[outcome === undefined ? null : outcome];
  return Object.assign(make("span", `mark ${look}`, sign), { title });
}

function column(name, entry, episode, queries) {
  const box = make("section", "episode");
  box.append(make("h2", "", name));
  if (!entry) {
    box.append(make("p", "hint", "This run did not play this case."));
    return box;
  }
  const facts = [
    count(entry.turns, "turn"), count(entry.calls, "call"), count(entry.tokens, "token"),
    `ended by ${entry.stop.replace("_", " ")}`, `${episode.wall_s} s`,
  ];
  if (entry.bad) facts.push(count(entry.bad, "bad call"));
  if (entry.damage !== null) facts.push(`${count(entry.damage, "row")} damaged`);
  if (entry.reward !== null) facts.push(`reward ${entry.reward.toFixed(2)}`);
  const outcome = entry.solved === null ? "unscored" : entry.solved ? "solved" : "not solved";
  box.append(make("p", "facts", mark(entry.solved), make("b", "", outcome), `· ${facts.join(" · ")}`));
  if (episode.plan) {
    const met = entry.hit ? "happened" : "was planned and never met";
    box.append(make("p", "facts fault-line", `Fault ${episode.plan.subtype} on ${episode.plan.tool} ${met}`));
  }
  for (const row of episode.damage) box.append(make("p", "facts fault-line", `Damaged: ${row}`));
  if (episode.error) box.append(make("p", "error", episode.error));
  box.append(checksTable(episode.checks, queries));
  episode.turns.forEach((turn, number) => box.append(turnCard(turn, number)));
  return box;
}

function count(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

function checksTable(checks, queries) {
  if (!checks.length) return make("p", "hint", "No check gave a verdict.");
  const table = make("table", "checks");
  const head = make("tr", "");
  for (const title of ["Check", "Expected", "At boundary", "At end"]) head.append(make("th", "", title));
  table.append(make("thead", "", head));
  const body = make("tbody", "");
  checks.forEach((check, number) => {
    const name = make("td", "", check.name);
    if (queries[number]) name.append(fold("query", make("pre", "", queries[number])));
    body.append(make("tr", "", name, make("td", "value", expected(check)), moment(check.boundary), moment(check.end)));
  });
  table.append(body);
  return table;
}

function expected(check) {
  const signs = { equals: "=", greater_than: ">", less_than: "<", contains: "contains" };
  return `${signs[check.comparison] ?? check.comparison} ${JSON.stringify(check.expected)}`;
}

function moment(found) {
  if (!found) return make("td", "hint", "—");
  const value = typeof found.value === "string" ? found.value : JSON.stringify(found.value);
  const cell = make("td", "value", mark(found.passed), ` ${value ?? "none"}`);
  cell.title = found.reason;
  return cell;
}

function turnCard(turn, number) {
  const card = make("article", turn.fault ? "turn has-fault" : "turn");
  const title = turn.call ? make("code", "", turn.call.name) : "message";
  const note = turn.inherited ? "inherited" : `${turn.tokens[0].toLocaleString("en")} tokens in, ${turn.tokens[1].toLocaleString("en")} out`;
  card.append(make("header", "", make("span", "number", String(number + 1)), title, make("span", "note", note)));
  if (turn.advantages) card.append(advantages(turn));
  else if (!turn.call || said(turn)) card.append(make("pre", "said", said(turn) || "(no text)"));
  if (turn.malformed) card.append(make("p", "error", `Malformed call: ${turn.malformed}`));
  if (turn.dropped) card.append(make("p", "error", `${turn.dropped} further calls of this turn were dropped`));
  if (turn.call) card.append(argumentsOf(turn.call));
  if (turn.shown !== undefined) card.append(reply(turn));
  return card;
}

// What the model wrote besides its call.
function said(turn) {
  return turn.text.replace(/<tool_call>[\s\S]*?(<\/tool_call>|$)/g, "").replace(/<\|[a-z_]+\|>/g, "").trim();
}

function argumentsOf(call) {
  const list = make("dl", "arguments");
  for (const [name, value] of Object.entries(call.arguments)) {
    list.append(make("dt", "", name), make("dd", "", typeof value === "string" ? value : JSON.stringify(value)));
  }
  return list;
}

function reply(turn) {
  const box = make("div", "replies");
  const label = turn.executed === false ? "Shown · not executed" : turn.is_error ? "Shown · error" : "Reply";
  if (turn.native === undefined) {
    box.append(make("div", "", make("h4", turn.is_error ? "bad" : "", `${label} · ${turn.ms} ms`), body(turn.shown)));
    return box;
  }
  const [shownPart, nativePart] = differing(turn.shown, turn.native);
  box.append(make("div", "", make("h4", "changed", `Shown to the model · ${turn.fault ?? "changed"}`), body(...shownPart)));
  box.append(make("div", "", make("h4", "", "What the server really said"), body(...nativePart)));
  box.classList.add("two");
  return box;
}

// Both texts as [same start, what differs, same end].
function differing(a, b) {
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return [a, b].map((text) => [text.slice(0, start), text.slice(start, text.length - end), text.slice(text.length - end)]);
}

const LONG = 1200;

function body(before, middle = "", after = "") {
  const text = make("pre", "reply", before, middle ? make("mark", "", middle) : "", after);
  if (before.length + middle.length + after.length > LONG) text.classList.add("long");
  text.onclick = () => text.classList.remove("long");
  return text;
}

function fold(title, ...children) {
  return make("details", "", make("summary", "", title), ...children);
}

// Tokens coloured by their advantage: blue raises their chance, orange lowers it, the shade says how much.
function advantages(turn) {
  const largest = Math.max(...turn.advantages.map(Math.abs), 1e-9);
  const text = make("pre", "said tokens");
  turn.pieces.forEach((piece, at) => {
    const value = turn.advantages[at];
    const token = make("span", "", piece);
    token.style.background = `rgba(${value >= 0 ? "0,114,178" : "230,159,0"},${(0.55 * Math.abs(value)) / largest})`;
    token.title = `advantage ${value >= 0 ? "+" : ""}${value}`;
    text.append(token);
  });
  return text;
}
