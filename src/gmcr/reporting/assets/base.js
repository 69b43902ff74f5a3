// What all charts share. The page runs base.js, plane.js, cells.js, tables.js and start.js as one strict script; text
// from the data only ever becomes textContent.

const data = JSON.parse(document.getElementById("data").textContent);
const live = document.getElementById("live");
const SVG = new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg").namespaceURI;

// Elements

function put(node, attributes, parent, text) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}
const html = (tag, attributes, parent, text) => put(document.createElement(tag), attributes, parent, text);
const draw = (tag, attributes, parent, text) => put(document.createElementNS(SVG, tag), attributes, parent, text);

function button(text, parent, action, attributes = {}) {
  const made = html("button", { type: "button", ...attributes }, parent, text);
  made.addEventListener("click", action);
  return made;
}

function checkbox(text, parent, checked, action) {
  const label = html("label", {}, parent);
  const box = html("input", { type: "checkbox" }, label);
  box.checked = checked;
  box.addEventListener("change", () => action(box.checked));
  label.append(text);
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
let identities = 0;

// Numbers

function format(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(4)));
}

function ticks(low, high, most, whole) {
  if (!(high > low)) return [low];
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
  if (whole) step = Math.max(1, Math.round(step));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

function logTicks(low, high) {
  const [a, b] = [Math.log10(low), Math.log10(high)];
  if (b - a < 1) return ticks(low, high, 4).filter((value) => value > 0);
  const step = Math.max(1, Math.ceil((b - a) / 5));
  const found = [];
  for (let k = Math.ceil(a); k <= b; k += step) found.push(10 ** k);
  return found;
}

function tickLabels(values) {
  const gap = values.length > 1 ? Math.abs(values[1] - values[0]) : 0;
  const digits = gap > 0 ? clamp(Math.ceil(-Math.log10(gap) - 1e-9), 0, 8) : 0;
  const largest = Math.max(...values.map(Math.abs));
  const plain = largest === 0 || (largest < 1e5 && largest >= 1e-3);
  return values.map((value) => (plain || !value ? value.toFixed(plain ? digits : 0) : value.toExponential(1).replace(".0e", "e")));
}

const colour = (place) => (place < 0 ? data.muted : data.palette[place % data.palette.length]);
const dash = (place) =>
  place < 0 ? "" : data.dashes[Math.floor(place / data.palette.length) % data.dashes.length];

function swatch(series, parent) {
  const box = draw("svg", { viewBox: "0 0 22 8", "aria-hidden": "true" }, parent);
  const style = { stroke: colour(series.place), "stroke-width": 2.4, "stroke-dasharray": dash(series.place) };
  if (series.style === "points") {
    draw("circle", { cx: 11, cy: 4, r: 3.5, fill: colour(series.place) }, box);
  } else {
    draw("line", { x1: 0, x2: 22, y1: 4, y2: 4, ...style }, box);
  }
}

// What all charts share: a box that can be focused, a tip beside the pointer, redrawing when the width changes

class Chart {
  constructor(figure, spec) {
    this.spec = spec;
    this.box = figure.querySelector(".canvas");
    this.box.textContent = "";
    this.build();
    this.plot = html("div", { class: "plot", tabindex: "0", role: "group" }, this.box);
    this.plot.setAttribute("aria-label", `${spec.alt} ${this.help}`);
    this.tip = html("div", { class: "tip", hidden: "" }, this.box);
    this.after();
    this.plot.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.key(event.key)) event.preventDefault();
    });
    this.plot.addEventListener("pointermove", (event) => this.move(...this.at(event), event));
    this.plot.addEventListener("pointerleave", () => this.leave());
    this.plot.addEventListener("blur", () => this.leave());
    new ResizeObserver(() => {
      if (this.plot.clientWidth && this.plot.clientWidth !== this.drawn) this.render();
    }).observe(this.plot);
    this.render();
  }

  build() {}
  after() {}
  leave() {
    this.tip.hidden = true;
  }

  render() {
    this.drawn = this.plot.clientWidth;
    this.width = Math.max(this.drawn || 640, 160);
    this.paint();
  }

  at(event) {
    const frame = this.plot.getBoundingClientRect();
    const scale = this.width / (frame.width || this.width);
    return [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
  }

  canvas(height) {
    this.height = height;
    this.plot.querySelector("svg")?.remove();
    const size = { viewBox: `0 0 ${this.width} ${height}`, "aria-hidden": "true" };
    this.svg = draw("svg", size);
    this.plot.prepend(this.svg);
    return this.svg;
  }

  tell(lines, x, y, aloud) {
    this.tip.textContent = "";
    lines.forEach((line, index) => html(index ? "div" : "b", {}, this.tip, line));
    this.tip.hidden = false;
    const left = x + 14 + this.tip.offsetWidth > this.width ? x - 14 - this.tip.offsetWidth : x + 14;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${this.plot.offsetTop + clamp(y - 12, 0, Math.max(0, this.height - this.tip.offsetHeight))}px`;
    if (aloud) live.textContent = lines.join(", ");
  }
}
