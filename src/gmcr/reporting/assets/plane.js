// Lines, points and bars over two axes

class Plane extends Chart {
  get help() {
    return `Arrow keys read values${this.zooms ? "; plus, minus and 0 zoom" : ""}.`;
  }

  build() {
    const { spec } = this;
    this.shown = spec.series.map((series) => series.shown);
    spec.series.forEach((series) => (series.x ??= spec.x));
    const all = spec.series.flatMap((series) => [series.x[0], series.x[series.x.length - 1], ...(series.style === "line" ? [] : series.x)]);
    let [low, high] = [Math.min(...all), Math.max(...all)];
    this.lines = spec.series.every((series) => series.style === "line");
    if (spec.series.some((series) => series.style === "bars")) [low, high] = [0, 1];
    else if (!this.lines) {
      const room = 0.03 * (high - low) || 0.5;
      [low, high] = [low - room, high + room];
    }
    this.whole = [low, high > low ? high : low + 1];
    this.view = [...this.whole];
    this.errors = this.bands = true;
    this.zooms = this.lines && spec.x.length > 40;
    if (this.zooms) this.toolbar();
  }

  toolbar() {
    const { spec } = this;
    const tools = html("div", { class: spec.choose ? "tools" : "tools small" }, this.box);
    const actions = [["Zoom in", "+", () => this.zoom(0.5)], ["Zoom out", "−", () => this.zoom(2)], ["Whole axis", "↔", () => this.reset()]];
    for (const [name, sign, action] of actions)
      button(spec.choose ? name : sign, tools, action, { "aria-label": `${name}, ${spec.title}`, title: name });
    if (spec.series.some((series) => series.error !== undefined))
      checkbox("standard errors", tools, true, (on) => this.option("errors", on));
    if (spec.series.some((series) => series.band))
      checkbox("what would fit as well", tools, true, (on) => this.option("bands", on));
  }

  after() {
    const { spec } = this;
    if (spec.choose && spec.series.length > 1) this.chooser();
    else if (spec.series.length > 1) {
      const legend = html("div", { class: "legend" }, this.box);
      spec.series.forEach((series) => {
        const entry = html("span", {}, legend);
        swatch(series, entry);
        entry.append(series.name);
      });
    }
    if (this.zooms) this.dragging();
  }

  chooser() {
    const tools = html("div", { class: "tools" }, this.box);
    const set = (on) => {
      this.shown.fill(on);
      this.chips.forEach((chip) => chip.setAttribute("aria-pressed", on));
      this.render();
    };
    html("span", {}, tools, "Shown:");
    button("All", tools, () => set(true));
    button("None", tools, () => set(false));
    const box = html("div", { class: "chips", role: "group", "aria-label": "Choose what to see" }, this.box);
    const order = this.spec.series.map((_, index) => index);
    order.sort((a, b) => this.shown[b] - this.shown[a] || a - b); // where they scroll, those shown come first
    this.chips = order.map((index) => {
      const series = this.spec.series[index];
      const chip = button("", box, () => {
        this.shown[index] = !this.shown[index];
        chip.setAttribute("aria-pressed", this.shown[index]);
        this.render();
      }, { "aria-pressed": this.shown[index], title: series.name });
      swatch(series, chip);
      html("span", {}, chip, series.name);
      return chip;
    });
  }

  option(name, on) {
    this[name] = on;
    this.render();
  }

  dragging() {
    let from = null;
    this.plot.addEventListener("pointerdown", (event) => {
      if (event.button === 0) from = this.at(event)[0];
    });
    this.plot.addEventListener("pointermove", (event) => {
      if (from === null) return;
      this.brush?.remove();
      const [a, b] = [from, this.at(event)[0]].sort((p, q) => p - q);
      const size = { x: a, width: b - a, y: this.top, height: this.bottom - this.top };
      this.brush = draw("rect", { class: "brush", ...size }, this.svg);
    });
    const end = (event) => {
      if (from === null) return;
      const [a, b] = [from, this.at(event)[0]];
      from = null;
      this.brush?.remove();
      if (event.type === "pointerup" && Math.abs(a - b) > 8)
        this.chosen([this.value(a), this.value(b)].sort((p, q) => p - q));
    };
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) this.plot.addEventListener(name, end);
    this.plot.addEventListener("dblclick", () => this.reset());
  }

  // A range that was dragged; other pages do something else with it
  chosen(range) {
    this.show(range);
  }

  show([low, high]) {
    const least = (this.whole[1] - this.whole[0]) / 2000;
    if (high - low < least) return;
    this.view = [Math.max(low, this.whole[0]), Math.min(high, this.whole[1])];
    this.render();
  }

  reset() {
    this.view = [...this.whole];
    this.render();
  }

  zoom(factor) {
    const span = (this.view[1] - this.view[0]) * factor;
    let middle = (this.view[0] + this.view[1]) / 2;
    if (this.cursor && !this.cursor.hidden) middle = this.cursor.x;
    const low = clamp(middle - span / 2, this.whole[0], Math.max(this.whole[0], this.whole[1] - span));
    this.show([low, low + span]);
  }

  // From values to places

  px(x) {
    const share = (x - this.view[0]) / (this.view[1] - this.view[0]);
    return this.left + (this.spec.reverse ? 1 - share : share) * (this.right - this.left);
  }

  value(px) {
    const share = clamp((px - this.left) / (this.right - this.left), 0, 1);
    return this.view[0] + (this.spec.reverse ? 1 - share : share) * (this.view[1] - this.view[0]);
  }

  py(y) {
    const [low, high] = this.range;
    const share = this.spec.log
      ? (Math.log(Math.max(y, low * 1e-3)) - Math.log(low)) / (Math.log(high) - Math.log(low))
      : (y - low) / (high - low);
    return this.bottom - share * (this.bottom - this.top);
  }

  reach(series, i) {
    const y = series.y[i];
    let [low, high] = [y, y];
    if (this.errors && series.error !== undefined) {
      const error = 2 * (Array.isArray(series.error) ? series.error[i] ?? 0 : series.error);
      [low, high] = [y - error, y + error];
    }
    if (this.bands && series.band) {
      low = Math.min(low, series.band[0][i]);
      high = Math.max(high, series.band[1][i]);
    }
    return [low, high];
  }

  ends() {
    let [low, high] = [Infinity, -Infinity];
    const positive = this.spec.log;
    this.spec.series.forEach((series, index) => {
      if (!this.shown[index]) return;
      series.y.forEach((y, i) => {
        if (y === null || series.x[i] < this.view[0] || series.x[i] > this.view[1] || (positive && y <= 0)) return;
        const [a, b] = this.reach(series, i);
        low = Math.min(low, a);
        high = Math.max(high, b);
      });
      if (series.style === "bars") low = Math.min(low, 0);
    });
    for (const rule of this.spec.rules)
      if (!rule.upright && (!positive || rule.at > 0)) [low, high] = [Math.min(low, rule.at), Math.max(high, rule.at)];
    if (low > high) [low, high] = positive ? [1, 10] : [0, 1];
    if (positive) return [low / 1.3, high * 1.3];
    if (low === high) [low, high] = [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2];
    if (low > 0 && low < 0.4 * high) low = 0;
    const room = 0.05 * (high - low);
    return [low === 0 ? 0 : low - room, high + room];
  }

  paint() {
    const { spec } = this;
    const share = spec.choose ? 0.45 : 0.56;
    const svg = this.canvas(Math.round(clamp(this.width * share, spec.choose ? 270 : 200, spec.choose ? 430 : 290)));
    this.range = this.ends();
    const yTicks = spec.log ? logTicks(...this.range) : ticks(...this.range, clamp(this.height / 50, 4, 8));
    const yLabels = spec.log ? yTicks.map(format) : tickLabels(yTicks);
    const widest = Math.max(...yLabels.map((label) => label.length));
    [this.left, this.right, this.top, this.bottom] = [30 + 7 * widest, this.width - 12, 14, this.height - 44];
    const xTicks = ticks(...this.view, clamp((this.right - this.left) / 85, 2, 9), spec.whole);
    const xLabels = tickLabels(xTicks);
    const name = `clip-${++identities}`;
    const clip = draw("clipPath", { id: name }, svg);
    const inside = { x: this.left, y: this.top, width: this.right - this.left, height: this.bottom - this.top };
    draw("rect", inside, clip);
    yTicks.forEach((tick, i) => {
      const y = this.py(tick);
      draw("line", { class: "gridline", x1: this.left, x2: this.right, y1: y, y2: y }, svg);
      draw("text", { x: this.left - 6, y: y + 4, "text-anchor": "end" }, svg, yLabels[i]);
    });
    xTicks.forEach((tick, i) => {
      const x = this.px(tick);
      draw("line", { class: "frame", x1: x, x2: x, y1: this.bottom, y2: this.bottom + 4 }, svg);
      draw("text", { x, y: this.bottom + 18, "text-anchor": "middle" }, svg, xLabels[i]);
    });
    const middle = (this.left + this.right) / 2;
    const letters = Math.floor((this.right - this.left) / 6);
    const label = { class: "title", "text-anchor": "middle" };
    draw("text", { x: middle, y: this.height - 6, ...label }, svg, cut(spec.x_label, letters));
    const height = (this.top + this.bottom) / 2;
    const turned = { x: 12, y: height, transform: `rotate(-90 12 ${height})`, ...label };
    draw("text", turned, svg, cut(spec.y_label, Math.floor((this.bottom - this.top) / 6)));
    const body = draw("g", { "clip-path": `url(#${name})` }, svg);
    spec.series.forEach((series, index) => this.shown[index] && this.series(series, body));
    draw("path", { class: "frame", d: `M${this.left} ${this.top}V${this.bottom}H${this.right}` }, svg);
    spec.rules.forEach((rule) => this.rule(rule, svg));
    this.mark = draw("g", {}, svg);
  }

  rule(rule, svg) {
    if (rule.upright) {
      if (rule.at < this.view[0] || rule.at > this.view[1]) return;
      const x = this.px(rule.at);
      draw("line", { class: "rule", x1: x, x2: x, y1: this.top, y2: this.bottom }, svg);
      const before = x > (this.left + this.right) / 2;
      const place = { x: x + (before ? -5 : 5), y: this.top + 10, "text-anchor": before ? "end" : "start" };
      draw("text", { class: "halo", ...place }, svg, rule.label);
    } else {
      const y = this.py(rule.at);
      draw("line", { class: "rule", x1: this.left, x2: this.right, y1: y, y2: y }, svg);
      draw("text", { class: "halo", x: this.right - 4, y: y > this.top + 24 ? y - 5 : y + 14, "text-anchor": "end" }, svg, rule.label);
    }
  }

  area(series, low, high, style, body) {
    const up = [], down = [];
    series.y.forEach((y, i) => {
      if (y === null || low(i) === null || high(i) === null) return;
      const x = this.px(series.x[i]).toFixed(1);
      up.push(`${x} ${this.py(high(i)).toFixed(1)}`);
      down.push(`${x} ${this.py(low(i)).toFixed(1)}`);
    });
    if (up.length) draw("path", { d: `M${up.join("L")}L${down.reverse().join("L")}Z`, ...style }, body);
  }

  series(series, body) {
    const stroke = colour(series.place);
    if (series.style === "bars") {
      const step = series.x.length > 1 ? series.x[1] - series.x[0] : 1;
      series.y.forEach((y, i) => {
        const [a, b] = [this.px(series.x[i] - 0.44 * step), this.px(series.x[i] + 0.44 * step)];
        const size = { x: Math.min(a, b), width: Math.abs(b - a), y: this.py(y), height: this.py(0) - this.py(y) };
        draw("rect", { fill: stroke, ...size }, body);
      });
      return;
    }
    if (series.style !== "line") {
      const dots = series.x.map((x, i) => (series.y[i] === null ? "" : `M${this.px(x).toFixed(1)} ${this.py(series.y[i]).toFixed(1)}h0`));
      const size = series.x.length > 400 ? 4 : 6.5;
      const round = { "stroke-width": size, "stroke-linecap": "round", "stroke-opacity": series.x.length > 400 ? 0.6 : 0.9 };
      draw("path", { d: dots.join(""), fill: "none", stroke, ...round }, body);
      if (series.style === "points") return;
    }
    if (this.bands && series.band) {
      const style = { fill: stroke, "fill-opacity": 0.14, stroke, "stroke-opacity": 0.5, "stroke-width": 0.7 };
      this.area(series, (i) => series.band[0][i], (i) => series.band[1][i], style, body);
    }
    if (this.errors && series.error !== undefined) {
      const error = (i) => 2 * (Array.isArray(series.error) ? series.error[i] ?? 0 : series.error);
      const style = { fill: stroke, "fill-opacity": 0.3, stroke: "none" };
      this.area(series, (i) => series.y[i] - error(i), (i) => series.y[i] + error(i), style, body);
    }
    let pen = "M", path = "";
    series.y.forEach((y, i) => {
      if (y !== null) path += `${pen}${this.px(series.x[i]).toFixed(1)} ${this.py(y).toFixed(1)}`;
      pen = y === null ? "M" : "L";
    });
    const line = { fill: "none", stroke, "stroke-width": series.place < 0 ? 1.2 : 1.6, "stroke-linejoin": "round" };
    draw("path", { d: path, "stroke-dasharray": dash(series.place), ...line }, body);
  }

  // Reading values

  nearest(series, x) {
    const xs = series.x;
    const rises = xs[xs.length - 1] >= xs[0];
    let [a, b] = [0, xs.length - 1];
    while (b - a > 1) {
      const middle = (a + b) >> 1;
      if (xs[middle] <= x === rises) a = middle;
      else b = middle;
    }
    return Math.abs(xs[a] - x) <= Math.abs(xs[b] - x) ? a : b;
  }

  move(px, py) {
    if (!this.spec.series.some((_, index) => this.shown[index])) return;
    if (this.lines) {
      this.read(this.value(px), py, false);
      return;
    }
    let best = null;
    this.spec.series.forEach((series, s) => {
      series.x.forEach((x, i) => {
        if (series.y[i] === null || !this.shown[s]) return;
        const height = series.style === "bars" ? 0 : this.py(series.y[i]) - py;
        const away = (this.px(x) - px) ** 2 + height ** 2;
        if (!best || away < best.away) best = { away, s, i };
      });
    });
    if (best) this.point(best.s, best.i, false);
  }

  read(x, py, aloud) {
    const visible = this.spec.series.filter((_, index) => this.shown[index]);
    if (!visible.length) return;
    const lead = visible[0];
    const at = lead.x[this.nearest(lead, x)];
    const rows = visible.map((series) => [series, this.nearest(series, at)]);
    rows.sort((a, b) => Math.abs(b[0].y[b[1]] ?? 0) - Math.abs(a[0].y[a[1]] ?? 0));
    const lines = rows.slice(0, 6).map(([series, i]) => `${series.name}: ${format(series.y[i])}`);
    if (rows.length > 6) lines.push(`… ${rows.length - 6} more`);
    this.cursor = { x: at, hidden: false };
    this.mark.textContent = "";
    const px = this.px(at);
    draw("line", { class: "cursor", x1: px, x2: px, y1: this.top, y2: this.bottom }, this.mark);
    this.tell([`${this.spec.x_label} ${String(Number(at.toPrecision(6)))}`, ...lines], px, py ?? this.top + 20, aloud);
  }

  point(s, i, aloud) {
    const series = this.spec.series[s];
    this.cursor = { s, i, x: series.x[i] };
    const [px, py] = [this.px(series.x[i]), this.py(series.y[i])];
    this.mark.textContent = "";
    draw("circle", { class: "cell", cx: px, cy: py, r: 6 }, this.mark);
    const name = series.labels ? series.labels[i] : `${this.spec.x_label} ${format(series.x[i])}`;
    const lines = [name, `${this.spec.y_label}: ${format(series.y[i])}`];
    if (this.spec.series.length > 1) lines.push(series.name);
    this.tell(lines, px, py, aloud);
  }

  leave() {
    super.leave();
    if (this.mark) this.mark.textContent = "";
  }

  key(key) {
    if (this.zooms && "+=".includes(key)) return this.zoom(0.5), true;
    if (this.zooms && "-_".includes(key)) return this.zoom(2), true;
    if (this.zooms && (key === "0" || key === "Escape")) return this.reset(), true;
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -1e9, End: 1e9 };
    if (!(key in steps)) return false;
    const step = this.spec.reverse ? -steps[key] : steps[key];
    if (!this.lines) {
      const all = this.spec.series.flatMap((series, s) => series.x.map((x, i) => ({ x, s, i })));
      all.sort((a, b) => a.x - b.x);
      const now = this.cursor ? all.findIndex((one) => one.s === this.cursor.s && one.i === this.cursor.i) : -1;
      const next = all[clamp(now + step, 0, all.length - 1)];
      this.point(next.s, next.i, true);
      return true;
    }
    const lead = this.spec.series.find((_, index) => this.shown[index]);
    if (!lead) return true;
    const rises = lead.x[lead.x.length - 1] >= lead.x[0];
    const start = this.cursor ? this.cursor.x : this.value(this.spec.reverse ? this.right : this.left);
    const stride = Math.max(1, Math.round(lead.x.length / 250));
    const next = clamp(this.nearest(lead, start) + (rises ? step : -step) * stride, 0, lead.x.length - 1);
    const x = clamp(lead.x[next], ...this.view);
    this.read(x, null, true);
    return true;
  }
}
