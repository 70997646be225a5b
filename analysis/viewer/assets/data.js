"use strict";
// Data arrive as scripts that call chunk(...) and index(...); episodes are asked for by chunk and position.
const chunks = new Map();
const waiting = new Map();

function chunk(number, episodes) {
  chunks.set(number, episodes);
  waiting.get(number)?.resolve();
  waiting.delete(number);
}

async function episodeOf(entry) {
  if (!chunks.has(entry.chunk)) await load(entry.chunk);
  return chunks.get(entry.chunk)[entry.at];
}

function load(number) {
  if (!waiting.has(number)) {
    const pending = {};
    pending.promise = new Promise((resolve, reject) => Object.assign(pending, { resolve, reject }));
    waiting.set(number, pending);
    const script = document.createElement("script");
    script.src = `data/chunk${number}.js`;
    script.onerror = () => {
      waiting.delete(number);
      pending.reject(new Error(`${script.src} is missing: keep the data folder beside index.html`));
    };
    script.onload = () => script.remove();
    document.head.append(script);
  }
  return waiting.get(number).promise;
}

// An element with text or children; text is never parsed as HTML.
function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

function option(select, value, label) {
  select.append(Object.assign(document.createElement("option"), { value, textContent: label }));
}
