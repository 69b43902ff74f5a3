// Charts of the report, put into figures, each with its numbers as a table behind it.

import { Plane, format, kinds } from "/static/charts.js";
import { button, el, fold, t, table } from "/static/dom.js";

const MOST_ROWS = 500;
let identities = 0;

// A figure with a chart; `kind` may be another class than that of the report
export function figure(spec, { name = `chart-${++identities}`, note = "", title = spec.title, kind = null, id = null } = {}) {
  const box = el("figure", { class: "chart", id: id ?? false, "data-chart": name }, el("figcaption", {}, title), el("div", { class: "canvas" }));
  if (note) box.append(el("p", { class: "note" }, note));
  const drawn = { ...spec, title: title || spec.alt };
  box.chart = kind ? kind(box, drawn) : new kinds[spec.kind](box, drawn);
  const behind = fold(t("chart.numbers"));
  behind.addEventListener("toggle", () => {
    if (behind.open && behind.children.length === 1) behind.append(...numbers(drawn));
  });
  box.append(behind);
  return box;
}

function numbers(spec) {
  if (spec.kind === "plane") return planeNumbers(spec);
  if (spec.kind === "heat") return heatNumbers(spec);
  return mapNumbers(spec);
}

function thinned(count) {
  const rows = Array.from({ length: Math.min(count, MOST_ROWS) }, (_, k) => Math.floor((k * count) / Math.min(count, MOST_ROWS)));
  const note = count > MOST_ROWS ? [el("p", { class: "note" }, t("chart.thinned", { n: MOST_ROWS, of: count }))] : [];
  return [rows, note];
}

function planeNumbers(spec) {
  const common = spec.series.every((one) => one.x === spec.series[0].x);
  if (common && spec.series.length) {
    const { x } = spec.series[0];
    const [rows, note] = thinned(x.length);
    const cells = rows.map((i) => [format(x[i]), ...spec.series.map((one) => format(one.y[i]))]);
    return [table(spec.title, [spec.x_label, ...spec.series.map((one) => one.name)], cells), ...note];
  }
  return spec.series.flatMap((one) => {
    const [rows, note] = thinned(one.x.length);
    const label = (i) => (one.labels ? one.labels[i] : format(one.x[i]));
    return [table(one.name, [spec.x_label, spec.y_label], rows.map((i) => [label(i), format(one.y[i])])), ...note];
  });
}

function heatNumbers(spec) {
  const values = new Map(spec.at.map((place, i) => [place, spec.values[i]]));
  const [rows, note] = thinned(spec.rows.length);
  const cells = rows.map((row) => [spec.rows[row], ...spec.columns.map((_, column) => format(values.get(row * spec.columns.length + column) ?? 0))]);
  return [table(spec.title, [spec.y_label, ...spec.columns], cells), ...note];
}

function mapNumbers(spec) {
  const cells = spec.names.map((name, i) => [name, format(spec.least[i]), format(spec.most[i])]);
  return [table(spec.title, [t("chart.map"), t("chart.least"), t("chart.most")], cells)];
}

// Samples over their channels, where a range can be dragged, and something done with it

export class Ranges extends Plane {
  constructor(box, spec, actions) {
    super(box, spec);
    this.actions = actions;
  }

  build() {
    super.build();
    if (!this.zooms && this.lines) {
      this.zooms = true;
      this.toolbar();
    }
  }

  chosen([low, high]) {
    const text = `${Number(low.toPrecision(4))}:${Number(high.toPrecision(4))}`;
    this.asked?.remove();
    const act = (action) => () => {
      this.asked.remove();
      this.plot.focus();
      action(text, [low, high]);
    };
    const list = [[t("range.closer"), () => this.show([low, high])], ...this.actions];
    this.asked = el("div", { class: "asked tools", role: "group", "aria-label": t("range.what", { range: text }) },
      el("span", {}, t("range.what", { range: text })), list.map(([words, action]) => button(words, act(action))), button(t("range.nothing"), () => this.asked.remove()));
    this.plot.after(this.asked);
    this.asked.querySelector("button").focus();
  }
}

export const ranges = (actions) => (box, spec) => new Ranges(box, spec, actions);

// A curve at a glance
export function spark(curve) {
  const [low, high] = [Math.min(0, ...curve.y), Math.max(...curve.y)];
  const points = curve.x.map((x, i) => `${(98 * x + 1).toFixed(1)},${(21 - (20 * (curve.y[i] - low)) / (high - low || 1)).toFixed(1)}`).join(" ");
  const box = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 100 22", preserveAspectRatio: "none", "aria-hidden": "true", class: "spark" })) box.setAttribute(name, value);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  line.setAttribute("points", points);
  box.append(line);
  return box;
}
