// Colours of amounts

const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
let RAMP, FALLING, NOTHING, NO_PIXEL;

function recolour() {
  [RAMP, FALLING] = [data.ramp.map(rgb), data.ramp_negative.map(rgb)];
  [NOTHING, NO_PIXEL] = [rgb(data.nothing), rgb(data.no_pixel)];
}
recolour();

function shade(share) {
  const ramp = share < 0 ? FALLING : RAMP;
  const place = clamp(Math.abs(share), 0, 1) * (ramp.length - 1);
  const low = Math.min(Math.floor(place), ramp.length - 2);
  return [0, 1, 2].map((k) => Math.round(ramp[low][k] + (place - low) * (ramp[low + 1][k] - ramp[low][k])));
}

function fill(canvas, columns, rows, pixel) {
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  for (let i = 0; i < columns * rows; i++) image.data.set([...pixel(i), 255], 4 * i);
  context.putImageData(image, 0, 0);
}

function colourBar(svg, x, y, low, high, label) {
  const width = 120;
  for (let k = 0; k < 24; k++) {
    const share = low < 0 ? (k / 23) * 2 - 1 : k / 23;
    const size = { x: x + (k * width) / 24, y, width: width / 24 + 0.5, height: 9 };
    draw("rect", { fill: `rgb(${shade(share).join(",")})`, ...size }, svg);
  }
  draw("text", { x, y: y + 22 }, svg, format(low));
  draw("text", { x: x + width, y: y + 22, "text-anchor": "end" }, svg, format(high));
  draw("text", { class: "title", x: x + width + 10, y: y + 9 }, svg, label);
}

// A picture made of cells, with a cursor

class Cells extends Chart {
  get help() {
    return "Arrow keys move from cell to cell.";
  }

  place() {
    // In shares of the plot, so that print, where the plot has another width, keeps it in its frame.
    const { style } = this.surface;
    style.left = `${(100 * this.left) / this.width}%`;
    style.width = `${(100 * (this.right - this.left)) / this.width}%`;
    style.top = `${(100 * this.top) / this.height}%`;
    style.height = `${(100 * (this.bottom - this.top)) / this.height}%`;
  }

  cell(row, column, aloud) {
    this.now = [row, column];
    const [w, h] = [(this.right - this.left) / this.columns, (this.bottom - this.top) / this.rows];
    const [x, y] = [this.left + column * w, this.top + row * h];
    this.pointer?.remove();
    this.pointer = draw("rect", { class: "cell", x: x - 1, y: y - 1, width: w + 2, height: h + 2 }, this.svg);
    this.tell(this.words(row, column), x + w, y + h / 2, aloud);
  }

  move(px, py) {
    const column = Math.floor(((px - this.left) / (this.right - this.left)) * this.columns);
    const row = Math.floor(((py - this.top) / (this.bottom - this.top)) * this.rows);
    if (column < 0 || row < 0 || column >= this.columns || row >= this.rows) this.leave();
    else this.cell(row, column, false);
  }

  leave() {
    super.leave();
    this.pointer?.remove();
  }

  key(key) {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -1e9], End: [0, 1e9] };
    if (!(key in steps)) return false;
    const [row, column] = this.now ?? [0, 0];
    const [down, across] = this.now ? steps[key] : [0, 0];
    this.cell(clamp(row + down, 0, this.rows - 1), clamp(column + across, 0, this.columns - 1), true);
    return true;
  }
}

class Heat extends Cells {
  build() {
    const { spec } = this;
    [this.rows, this.columns] = [spec.rows.length, spec.columns.length];
    this.values = new Map(spec.at.map((place, i) => [place, spec.values[i]]));
    this.peaks = new Array(this.columns).fill(0);
    spec.at.forEach((place, i) => {
      const column = place % this.columns;
      this.peaks[column] = Math.max(this.peaks[column], Math.abs(spec.values[i]));
    });
    this.most = Math.max(...this.peaks) || 1;
    this.negative = spec.values.some((value) => value < 0);
    this.plain = spec.rows.map((_, row) => row);
    this.order = this.plain;
    const tools = html("div", { class: "tools" }, this.box);
    checkbox(`${this.spec.y_label}s alike together`, tools, false, (on) => {
      this.order = on ? this.alike() : this.plain;
      this.render();
    });
    checkbox("each component on its own scale", tools, false, (on) => {
      this.own = on;
      this.render();
    });
  }

  alike() {
    const strongest = this.plain.map((row) => {
      let best = [this.columns, 0];
      for (let column = 0; column < this.columns; column++) {
        const value = Math.abs(this.values.get(row * this.columns + column) ?? 0);
        if (value > best[1]) best = [column, value];
      }
      return best;
    });
    return [...this.plain].sort((a, b) => strongest[a][0] - strongest[b][0] || strongest[b][1] - strongest[a][1]);
  }

  paint() {
    const { spec, rows, columns } = this;
    const named = rows <= 40;
    const longest = Math.max(...spec.rows.map((name) => Math.min(name.length, 14)));
    this.left = clamp(12 + 7 * longest, 40, 0.3 * this.width);
    this.right = Math.min(this.width - 12, this.left + columns * 130);
    const wide = (this.right - this.left) / columns;
    const spelled = wide >= 16;
    const tallest = Math.max(...spec.columns.map((name) => Math.min(name.length, 16)));
    const below = spelled ? (wide > 7.2 * tallest ? 20 : 16 + 5 * tallest) : 36;
    this.top = 44;
    this.bottom = this.top + rows * clamp(420 / rows, 1, 24);
    const svg = this.canvas(Math.round(this.bottom + below + 6));
    const high = this.own ? 1 : this.most;
    colourBar(svg, this.left, 4, this.negative ? -high : 0, high, this.own ? "share of the component's largest" : spec.value_label);
    const tall = (this.bottom - this.top) / rows;
    const every = named ? Math.ceil(13 / tall) : Math.ceil(rows / 10);
    this.order.forEach((row, i) => {
      if (i % every) return;
      const name = cut(spec.rows[row], Math.floor((this.left - 8) / 7));
      draw("text", { x: this.left - 6, y: this.top + (i + 0.5) * tall + 4, "text-anchor": "end" }, svg, name);
    });
    const step = spelled ? 1 : Math.ceil(34 / wide / 5) * 5;
    spec.columns.forEach((name, column) => {
      if (column % step) return;
      const [x, y] = [this.left + (column + 0.5) * wide, this.bottom + 14];
      const flat = !spelled || wide > 7.2 * tallest;
      const turn = flat ? { "text-anchor": "middle" } : { "text-anchor": "end", transform: `rotate(-40 ${x} ${y})` };
      draw("text", { x, y, ...turn }, svg, spelled ? cut(name, 16) : String(column));
    });
    if (!spelled) {
      const x = (this.left + this.right) / 2;
      draw("text", { class: "title", x, y: this.height - 4, "text-anchor": "middle" }, svg, "component number");
    }
    const frame = { x: this.left, y: this.top, width: this.right - this.left, height: this.bottom - this.top };
    draw("rect", { class: "frame", ...frame }, svg);
    this.surface ??= html("canvas", { "aria-hidden": "true" }, this.plot);
    this.place();
    fill(this.surface, columns, rows, (i) => {
      const [row, column] = [this.order[Math.floor(i / columns)], i % columns];
      const value = this.values.get(row * columns + column);
      return value === undefined ? NOTHING : shade(value / (this.own ? this.peaks[column] : this.most));
    });
  }

  words(row, column) {
    const { spec } = this;
    const value = this.values.get(this.order[row] * this.columns + column);
    return [spec.rows[this.order[row]], spec.columns[column], value === undefined ? "not held" : `${spec.value_label}: ${format(value)}`];
  }
}

class Maps extends Cells {
  build() {
    const { spec } = this;
    [this.rows, this.columns, this.chosen] = [spec.height, spec.width, 0];
    this.pictures = spec.pictures.map((text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
    const tools = html("div", { class: "tools" }, this.box);
    const label = html("label", {}, tools, "Component ");
    const select = html("select", {}, label);
    spec.names.forEach((name, index) => html("option", { value: index }, select, cut(name, 60)));
    select.addEventListener("change", () => {
      this.chosen = Number(select.value);
      this.render();
    });
  }

  after() {
    const thumbs = html("div", { class: "thumbs" }, this.box);
    this.spec.names.forEach((name, index) => {
      const one = html("div", {}, thumbs);
      const label = `${name}, up to ${format(this.spec.most[index])}`;
      const canvas = html("canvas", { role: "img", "aria-label": label }, one);
      fill(canvas, this.columns, this.rows, (i) => this.pixel(index, i));
      one.append(label);
    });
    document.querySelectorAll("canvas[data-map]").forEach((canvas) => {
      fill(canvas, this.columns, this.rows, (i) => this.pixel(Number(canvas.dataset.map), i));
    });
  }

  value(index, i) {
    const level = this.pictures[index][i];
    if (level === 0) return null;
    return this.spec.least[index] + ((level - 1) / 254) * (this.spec.most[index] - this.spec.least[index]);
  }

  pixel(index, i) {
    const value = this.value(index, i);
    if (value === null) return NO_PIXEL;
    const most = Math.max(this.spec.most[index], -this.spec.least[index]) || 1;
    return Math.abs(value) < 1e-3 * most ? NOTHING : shade(value / most);
  }

  paint() {
    const { spec } = this;
    const scale = Math.min((this.width - 4) / spec.width, 480 / spec.height, 24);
    [this.left, this.top] = [2, 44];
    [this.right, this.bottom] = [2 + scale * spec.width, 44 + scale * spec.height];
    const svg = this.canvas(Math.round(this.bottom + 4));
    const most = Math.max(spec.most[this.chosen], -spec.least[this.chosen]);
    colourBar(svg, 2, 4, spec.least[this.chosen] < 0 ? -most : 0, most, spec.value_label);
    const frame = { x: this.left, y: this.top, width: this.right - this.left, height: this.bottom - this.top };
    draw("rect", { class: "frame", ...frame }, svg);
    this.surface ??= html("canvas", { "aria-hidden": "true" }, this.plot);
    this.place();
    fill(this.surface, spec.width, spec.height, (i) => this.pixel(this.chosen, i));
  }

  words(row, column) {
    const value = this.value(this.chosen, row * this.columns + column);
    return [`row ${row}, column ${column}`, this.spec.names[this.chosen], value === null ? "no pixel" : `about ${format(value)}`];
  }
}

const kinds = { plane: Plane, heat: Heat, maps: Maps };
