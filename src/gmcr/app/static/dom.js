// Elements and texts. Text from anywhere only ever becomes textContent.

import { data, html } from "/static/charts.js";

// A text of the reader's language, with values in the places of {names}.
export function t(name, values = {}) {
  const text = data.texts[name];
  if (text === undefined) throw new Error(`there is no text ${name}`);
  return text.replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

export const has = (name) => name in data.texts;

// An element with attributes, and with children: elements, texts, or nothing.
export function el(tag, attributes = {}, ...children) {
  const given = Object.entries(attributes).filter(([name, value]) => !name.startsWith("on") && value !== false && value != null);
  const made = html(tag, Object.fromEntries(given.map(([name, value]) => [name, value === true ? "" : value])));
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on") && value) made.addEventListener(name.slice(2), value);
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const button = (text, action, attributes = {}) => el("button", { type: "button", onclick: action, ...attributes }, text);

export function section(title, ...children) {
  return el("section", {}, el("h2", {}, title), ...children);
}

export function fold(title, ...children) {
  return el("details", {}, el("summary", {}, title), ...children);
}

// Plain tables: headings and rows of texts, or of elements
export function table(caption, headings, rows, attributes = {}) {
  const head = headings.length ? el("thead", {}, el("tr", {}, headings.map((text) => el("th", { scope: "col" }, text)))) : null;
  const body = rows.map(([first, ...rest]) => el("tr", {}, el("th", { scope: "row" }, first), rest.map((cell) => el("td", {}, cell))));
  return el("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    el("table", attributes, el("caption", {}, caption), head, el("tbody", {}, body)));
}

// Time, for people
export function spoken(seconds) {
  if (seconds == null) return "";
  if (seconds < 1) return t("time.short");
  if (seconds < 90) return t("time.seconds", { n: Math.round(seconds) });
  if (seconds < 5400) return t("time.minutes", { n: Math.round(seconds / 60) });
  return t("time.hours", { n: (seconds / 3600).toFixed(1) });
}

export function bytes(size) {
  for (const [power, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) if (size >= power) return `${(size / power).toPrecision(3)} ${unit}`;
  return `${size} B`;
}

const notice = document.getElementById("notice");

// A sentence at the top: what was done, or what went wrong
export function say(text, wrong = false) {
  notice.textContent = "";
  if (!text) return;
  notice.append(el("p", { class: wrong ? "wrong" : "" }, text, button("×", () => say(""), { "aria-label": t("page.dismiss") })));
}

// What went wrong, in a sentence
export function sentence(error) {
  const told = error.told ?? {};
  if (told.sentence) return told.sentence.replace(/^./, (first) => first.toUpperCase());
  return t(has(`error.${told.error}`) ? `error.${told.error}` : "error.unexpected");
}

export async function trying(action) {
  try {
    return await action();
  } catch (error) {
    if (!error.told) console.error(error);
    say(sentence(error), true);
    return undefined;
  }
}

// Runs an action once nothing has called for it for a while
export function settled(action, wait = 350) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, wait);
  };
}
