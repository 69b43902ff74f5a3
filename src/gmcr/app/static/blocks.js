// The report's blocks as elements, as its own page lays them out.

import { sortable } from "/static/charts.js";
import { el, fold, t } from "/static/dom.js";
import { figure, spark } from "/static/pictures.js";

const MARKS = { good: "✓", care: "!", bad: "✗", none: "–" };

// The answer: what there is, how far to trust it, each component at a glance
export function answerBlock(page) {
  const { verdict } = page;
  const cards = page.cards.map((card) =>
    el("li", {}, el("b", {}, card.name), " ", el("span", {}, card.text), spark(card.profile), card.amounts ? [el("span", {}, card.along), spark(card.amounts)] : null));
  return el("section", { id: "answer", "aria-labelledby": "answer-title" },
    el("h1", { id: "answer-title" }, page.heading),
    el("p", { class: "lead" }, page.answer.join(" ")),
    el("div", { class: `verdict ${verdict.status}` }, el("h2", {}, verdict.words ? verdict.words[0].toUpperCase() + verdict.words.slice(1) : t("answer.unjudged")), el("p", {}, verdict.means)),
    el("ul", { class: "cards" }, cards),
    page.components.length > page.cards.length ? el("p", { class: "note" }, t("answer.most", { n: page.components.length })) : null,
    el("ul", { class: "checks" }, page.checks.map((one) =>
      el("li", { class: one.status }, el("span", { class: "mark", "aria-hidden": "true" }, MARKS[one.status]), el("span", {}, jump(one.section, one.subject), " ", one.text)))),
    el("ul", { class: "tiles" }, page.tiles.map(([value, label]) => el("li", {}, el("b", {}, value), " ", el("span", {}, label)))));
}

// To another section of this view; an address would name another view
function jump(name, words) {
  const go = (event) => {
    event.preventDefault();
    const target = document.getElementById(`part-${name}`) ?? document.getElementById("answer");
    target.scrollIntoView();
    target.querySelector("h1, h2")?.focus();
  };
  return el("a", { href: `#part-${name}`, onclick: go }, words);
}

export function sectionBlock(one, charts) {
  return el("section", { id: `part-${one.name}`, "aria-labelledby": `part-${one.name}-title` },
    el("h2", { id: `part-${one.name}-title`, tabindex: "-1" }, one.title), one.blocks.map((block) => blockOf(block, charts)));
}

function blockOf(block, charts) {
  if (block.kind === "text") return textOf(block);
  if (block.kind === "chart") return chartOf(block, charts);
  if (block.kind === "row") return el("div", {}, el("div", { class: "grid" }, block.charts.map((one) => chartOf(one, charts))), block.note ? el("p", { class: "note" }, block.note) : null);
  if (block.kind === "table") return tableOf(block);
  if (block.kind === "points") {
    const list = el("ul", {}, block.points.map((text) => el("li", {}, text)));
    return block.lead ? el("div", { class: "callout" }, el("p", {}, block.lead), list) : list;
  }
  return el("dl", {}, block.terms.flatMap(([label, text, kind]) => [el("dt", {}, label), el("dd", {}, kind === "code" ? el("code", {}, text) : text)]));
}

function textOf({ style, text }) {
  if (style === "heading") return el("h3", {}, text);
  if (style === "strong") return el("p", {}, el("strong", {}, text));
  if (style === "code") return el("p", {}, el("code", {}, text));
  if (style === "verbatim") return el("pre", { tabindex: "0" }, text);
  return el("p", { class: style || false }, text);
}

function chartOf({ name, note, chart }, charts) {
  const made = figure(chart, { name, note, id: `figure-${name}` });
  charts.set(name, made);
  return made;
}

function tableOf(block) {
  const headings = block.columns.map((one) => el("th", { scope: "col", class: one.numeric ? "n" : one.pictures ? "pictures" : false }, one.heading));
  const rows = block.rows.map((row) => el("tr", {}, row.map((cell, place) => {
    const column = block.columns[place];
    const content = cell.curve ? spark(cell.curve) : cell.status ? el("span", { class: `status ${cell.status}` }, cell.text) : cell.text;
    return el("td", { class: column.numeric ? "n" : column.wordy ? "words" : false, "data-v": cell.sort ?? false }, content);
  })));
  const table = el("table", { id: `table-${block.name}`, class: "sortable" }, el("caption", {}, block.caption), el("thead", {}, el("tr", {}, headings)), el("tbody", {}, rows));
  const box = el("div", { class: block.tall ? "scroll tall" : "scroll", role: "region", "aria-label": block.caption, tabindex: "0" }, table);
  const note = block.note ? el("p", { class: "note" }, block.note) : null;
  sortable(table);
  return block.folded ? fold(block.folded, box, note) : el("div", {}, box, note);
}

// Which runs differ most from the others, from the table of their areas
export function runsBlock(page) {
  const areas = page.sections.flatMap((one) => one.blocks).find((block) => block.kind === "table" && block.name === "areas");
  if (!areas || areas.rows.length < 2) return null;
  const found = [];
  areas.columns.slice(1).forEach((column, place) => {
    const values = areas.rows.map((row) => row[place + 1].sort ?? 0);
    const ordered = [...values].sort((a, b) => a - b);
    const middle = (ordered[Math.floor((ordered.length - 1) / 2)] + ordered[Math.ceil((ordered.length - 1) / 2)]) / 2;
    if (middle > 0) values.forEach((value, run) => found.push({ run: areas.rows[run][0].text, component: column.heading, value: areas.rows[run][place + 1].text, times: value / middle }));
  });
  const apart = ({ times }) => Math.abs(Math.log(Math.max(times, 1e-6)));
  found.sort((a, b) => apart(b) - apart(a));
  return { rows: found.slice(0, 10).map((one) => [one.run, one.component, one.value, `${one.times.toPrecision(2)} ×`]) };
}
