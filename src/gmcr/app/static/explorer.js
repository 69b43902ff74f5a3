// One sample: what was measured, and what it is made of. Whoever drags a range sees whose signal it is.

import { format } from "/static/charts.js";
import * as api from "/static/api.js";
import { button, el, t, table, trying } from "/static/dom.js";
import { figure, ranges } from "/static/pictures.js";

const MOST_LINES = 12;

export function explorer(tools, project, count, page) {
  const { sample } = page;
  const n = sample.names.length;
  const picture = el("div", {});
  const shares = el("div", { "aria-live": "polite" });
  const box = el("input", { type: "number", id: "sample", min: 1, max: n, step: 1, value: 1, inputmode: "numeric" });
  const name = el("select", { id: "sample-name", "aria-label": t("sample.name") });
  if (n <= 2000) name.append(...sample.names.map((one, place) => el("option", { value: place }, one)));
  const whole = { kind: "plane", x_label: sample.axis_label, y_label: t("sample.signal"), x: sample.axis, rules: [], choose: false, reverse: sample.reverse, log: false, whole: false };
  let number = 0;
  let held = null; // the amounts of the sample that is shown
  let asking = 0;

  // The largest contributions, in the order of the components
  const largest = (amounts) => amounts.map((amount, j) => [Math.abs(amount) * Math.max(...sample.profiles[j].map(Math.abs)), j]).sort((a, b) => b[0] - a[0]).slice(0, MOST_LINES).filter(([size]) => size > 0).map(([, j]) => j).sort((a, b) => a - b);

  async function show(place) {
    if (place === undefined || !(place >= 0 && place < n)) return;
    number = place;
    box.value = String(place + 1);
    name.value = String(place);
    const mine = ++asking;
    const found = await trying(() => api.sample(project, count ?? undefined, place, page.components.length + (sample.measured ? sample.channels : 0)));
    if (!found || mine !== asking) return;
    const amounts = found.values.slice(0, page.components.length);
    const measured = found.values.slice(page.components.length);
    held = amounts;
    const together = sample.axis.map((_, k) => amounts.reduce((sum, amount, j) => sum + amount * sample.profiles[j][k], 0));
    const line = (title, y, place_, shown = true) => ({ name: title, style: "line", place: place_, shown, y });
    const series = largest(amounts).map((j) => line(page.components[j], sample.profiles[j].map((value) => value * amounts[j]), j));
    const all = line(t("sample.together"), together, page.components.length);
    const spec = { ...whole, alt: t("sample.alt", { name: sample.names[place] }), series: [...(sample.measured ? [line(t("sample.measured"), measured, -1)] : []), all, ...series] };
    const made = figure(spec, { name: "sample", title: sample.names[place], kind: ranges(actions) });
    picture.replaceChildren(made);
    shares.replaceChildren();
  }

  const cut = (name_) => (range) => trying(async () => {
    const { settings } = tools.facts();
    await tools.settle(name_ === "range" ? { range } : { drop: [...(settings.drop ?? []), range] });
    tools.go("steps");
  });
  const actions = [[t("range.whose"), (text, range) => whose(text, range)], [t("range.drop"), cut("drop")], [t("range.keep"), cut("range")]];

  // Whose signal a range is, in this sample and in all of them
  function whose(text, [low, high]) {
    const inside = sample.axis.map((x) => x >= low && x <= high);
    const sums = sample.profiles.map((profile) => profile.reduce((sum, value, k) => sum + (inside[k] ? Math.abs(value) : 0), 0));
    const part = (amounts) => {
      const own = sums.map((sum, j) => sum * Math.abs(amounts[j]));
      const all = own.reduce((a, b) => a + b, 0) || 1;
      return own.map((value) => value / all);
    };
    const [here, everywhere] = [part(held), part(sample.totals)];
    const order = page.components.map((_, j) => j).sort((a, b) => everywhere[b] - everywhere[a]).slice(0, MOST_LINES);
    shares.replaceChildren(table(t("range.shares", { range: text }), [t("answer.component"), t("range.here"), t("range.all")], order.map((j) => [page.components[j], `${format(100 * here[j])} %`, `${format(100 * everywhere[j])} %`])));
  }

  box.addEventListener("change", () => show(Math.round(Number(box.value)) - 1));
  name.addEventListener("change", () => show(Number(name.value)));
  let waiting;
  const step = (by) => () => show((number + by + n) % n);
  const node = el("section", { id: "explorer", "aria-labelledby": "explorer-title" }, el("h2", { id: "explorer-title" }, t("sample.title", { row: page.row })), el("p", { class: "note" }, t("sample.hint")),
    el("div", { class: "tools" }, el("label", { for: "sample" }, t("sample.number", { n })), button("‹", step(-1), { "aria-label": t("sample.before") }), box, button("›", step(1), { "aria-label": t("sample.after") }), n <= 2000 ? name : null), picture, shares);
  show(0);
  return {
    node,
    hover: (place) => {
      if (place === undefined || place === number) return;
      clearTimeout(waiting);
      waiting = setTimeout(() => show(place), 60);
    },
  };
}
