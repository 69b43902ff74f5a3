// How the data were read, as a picture and a table, and what turns it round if it is wrong.

import * as api from "/static/api.js";
import { dropZone, sendAll } from "/static/drop.js";
import { button, el, fold, section, sentence, t, table, trying } from "/static/dom.js";
import { check, choice, group, redraw, text } from "/static/forms.js";
import { figure } from "/static/pictures.js";

const UNITS = ["nm", "cm-1", "µm", "ppm", "m/z", "eV", "min", "s"];

export async function dataView(tools) {
  const facts = tools.facts();
  if (facts.data === null) return { nodes: [missing(tools)] };
  const told = el("div", { class: "told" });
  const controls = el("section", { hidden: true });
  let known = null; // how it was read last
  let number = 0;

  const change = async (changes) => {
    await tools.settle(changes);
    await read();
  };

  async function read() {
    const mine = ++number;
    told.setAttribute("aria-busy", "true");
    if (!known) told.replaceChildren(el("section", {}, el("h1", {}, t("reading.title")), el("p", { class: "wait", role: "status" }, t("reading.wait"))));
    let found;
    try {
      found = await api.reading(facts.project);
    } catch (error) {
      if (mine !== number) return;
      told.removeAttribute("aria-busy");
      told.replaceChildren(el("section", { class: "wrong" }, el("h1", {}, t("reading.failed")), el("p", { role: "alert" }, sentence(error)), el("p", {}, t("reading.failed.hint"))));
      turn(known ?? { metadata: [], named: false });
      return;
    }
    if (mine !== number) return;
    known = found;
    told.removeAttribute("aria-busy");
    told.replaceChildren(...shown(found));
    turn(found);
  }

  function shown(found) {
    const size = { samples: found.samples.toLocaleString(), channels: found.channels.toLocaleString(), file: facts.data };
    const what = found.image ? t("reading.image", { ...size, height: found.image[0], width: found.image[1] }) : t("reading.size", size);
    const axis = found.axis ? `${t("reading.axis", { ...found.axis, first: shortly(found.axis.first), last: shortly(found.axis.last) }).trim()}.` : found.named ? t("reading.named") : t("reading.noaxis");
    const first = section(t("reading.picture"), figure(found.chart, { title: t("reading.chart"), name: "read" }));
    if (found.map) first.append(figure(found.map, { title: t("reading.map"), name: "read-map" }));
    const rows = found.table.rows.map((row, i) => [found.table.names[i], ...row]);
    const more = found.samples > rows.length || found.channels > found.table.columns.length;
    first.append(table(t(more ? "reading.first" : "reading.all"), [t("reading.sample"), ...found.table.columns], rows, { class: "numbers" }));
    if (found.runs) first.append(table(t("reading.runs"), [t("reading.run"), t("reading.length")], found.runs.map(([label, length]) => [label, String(length)])));
    if (found.metadata.length) first.append(fold(t("reading.metadata"), table(t("reading.metadata"), [t("reading.name"), t("reading.values")], found.metadata.map((one) => [one.name, one.values.slice(0, 6).join(", ") + (one.values.length > 6 ? ", …" : "")]))));
    return [
      el("section", {}, el("h1", {}, t("reading.title")), el("p", { class: "lead" }, `${what} ${axis}`),
        found.missing ? el("p", {}, t("reading.missing", { n: found.missing.toLocaleString() })) : null,
        found.runs_error ? el("p", { class: "wrong", role: "alert" }, found.runs_error) : null,
        fold(t("reading.notes"), el("ul", { class: "notes" }, found.notes.map((note) => el("li", {}, note)))),
        el("p", {}, t("reading.right")),
        el("div", { class: "tools" }, button(t("reading.on.steps"), () => tools.go("steps"), { class: "main" }), button(t("reading.on.fit"), () => tools.go("fit")))),
      first,
    ];
  }

  function turn(found) {
    const { settings } = tools.facts();
    const columns = found.metadata.filter((one) => one.own);
    const own = columns.map((one) => [one.name, t("choice.column", { name: one.name })]);
    const numeric = columns.filter((one) => one.numeric).map((one) => [one.name, t("choice.column", { name: one.name })]);
    const names = ["", "rows", "columns"].map((value) => [value, t(`choice.samples_in.${value || "auto"}`)]);
    const fields = [choice("samples_in", settings, change, names)];
    if (/\.(xlsx|xlsm)$/i.test(facts.data)) fields.push(check("sheets", settings, change));
    fields.push(text("unit", settings, change, { list: UNITS }));
    if (found.named || settings.metadata) fields.push(text("metadata", settings, change, { list: found.named ? found.table.columns : [] }));
    const later = (changes) => change(changes);
    const belonging = group(t("reading.belong"),
      text("runs", settings, later, { list: own.map(([name]) => name) }),
      choice("order", settings, later, [["", t("choice.order.none")], ["rows", t("choice.order.rows")], ["names", t("choice.order.names")], ...numeric]),
      choice("replicates", settings, later, [["", t("choice.replicates.none")], ["names", t("choice.replicates.names")], ...own]));
    controls.hidden = false;
    controls.setAttribute("aria-labelledby", "turn");
    redraw(controls, el("h2", { id: "turn" }, t("reading.turn")), el("p", { class: "note" }, t("reading.turn.hint")), group(t("reading.file"), fields), belonging);
  }

  read();
  return { nodes: [told, controls] };
}

const shortly = (value) => String(Number(value.toPrecision(6)));

function missing(tools) {
  const facts = tools.facts();
  const box = el("section", {}, el("h1", {}, t("reading.none")), el("p", {}, t(facts.run ? "reading.none.run" : "reading.none.hint")));
  box.append(dropZone((given) => trying(async () => {
    if ((await sendAll(facts.project, "data", given, box)) !== null) {
      await tools.refresh();
      tools.open(facts.project, "data");
      dispatchEvent(new Event("hashchange"));
    }
  }), { title: t("home.drop"), hint: t("home.formats") }));
  return box;
}
