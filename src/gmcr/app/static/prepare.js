// Steps before unmixing, with a few samples before and after them.

import * as api from "/static/api.js";
import { button, el, section, sentence, t, trying } from "/static/dom.js";
import { sendAll } from "/static/drop.js";
import { check, choice, group, redraw, text, whole } from "/static/forms.js";
import { figure, ranges } from "/static/pictures.js";

const BASELINES = ["asls", "arpls", "airpls", "snip", "polynomial"];

export async function prepare(tools) {
  const facts = tools.facts();
  if (facts.data === null) return { nodes: [section(t("prepare.title"), el("p", {}, t("need.data")))] };
  const pictures = el("div", { class: "pictures" });
  const form = el("section", { "aria-labelledby": "steps-form" });
  let asking = null;

  const change = async (changes) => {
    await tools.settle(changes);
    await look();
  };

  async function look() {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    pictures.setAttribute("aria-busy", "true");
    if (!pictures.children.length) pictures.append(el("p", { class: "wait", role: "status" }, t("prepare.wait")));
    let found;
    try {
      found = await api.steps(facts.project, { signal });
    } catch (error) {
      if (signal.aborted) return;
      pictures.removeAttribute("aria-busy");
      pictures.replaceChildren(el("p", { class: "wrong", role: "alert" }, sentence(error)));
      return;
    }
    pictures.removeAttribute("aria-busy");
    pictures.replaceChildren(...shown(found));
  }

  function shown(found) {
    const cut = [
      [t("range.keep"), (range) => trying(() => changed({ range }))],
      [t("range.drop"), (range) => trying(() => changed({ drop: [...(tools.facts().settings.drop ?? []), range] }))],
    ];
    const told = found.did.length ? el("ol", { class: "did" }, found.did.map((line) => el("li", {}, line))) : el("p", { class: "note" }, t("prepare.none"));
    return [
      el("div", { class: "grid" },
        figure(found.before, { name: "before", title: t("prepare.before"), kind: ranges(cut) }),
        figure(found.after, { name: "after", title: t("prepare.after") })),
      el("p", { class: "note" }, t("prepare.drag")),
      told,
      found.warned.map((line) => el("p", { class: "care" }, line)),
      el("p", { class: "note" }, t("prepare.left", { samples: found.samples.toLocaleString(), channels: found.channels.toLocaleString() })),
    ].flat();
  }

  const changed = async (changes) => {
    await tools.settle(changes);
    draw();
    await look();
  };

  function draw() {
    const { settings } = tools.facts();
    const gone = (settings.drop ?? []).map((range, place) => el("li", {}, range, " ", button(t("range.back"), () => trying(() => changed({ drop: settings.drop.filter((_, other) => other !== place) })), { class: "quiet", "aria-label": t("range.back.label", { range }) })));
    const baseline = settings.baseline ?? "";
    const [method, more] = [baseline.split(":")[0], baseline.split(":").slice(1).join(":")];
    const methods = [["", t("choice.baseline.none")], ...BASELINES.map((name) => [name, t(`choice.baseline.${name}`)])];
    const base = { method, more };
    const tell = () => trying(() => changed({ baseline: base.method ? base.method + (base.more ? `:${base.more}` : "") : null }));
    const fields = [
      group(t("prepare.ranges"),
        text("range", settings, change),
        el("div", { class: "field" }, el("span", { class: "label" }, t("option.drop")), gone.length ? el("ul", { class: "plain" }, gone) : el("span", { class: "note" }, t("option.drop.none")), adding(settings))),
      group(t("prepare.mend"), check("despike", settings, change), blank(settings), check("average", settings, change)),
      group(t("prepare.ground"),
        choice("baseline", { baseline: method }, ({ baseline: value }) => {
          base.method = value;
          tell();
        }, methods),
        method ? text("baseline_options", { baseline_options: more }, ({ baseline_options: value }) => {
          base.more = value;
          tell();
        }) : null),
      group(t("prepare.shape"),
        whole("smooth", settings, change, { least: 3, most: 10001 }),
        choice("derivative", settings, change, [["", t("choice.derivative.none")], ["1", t("choice.derivative.1")], ["2", t("choice.derivative.2")]], { typed: (value) => (value ? Number(value) : null) }),
        check("msc", settings, change), check("snv", settings, change),
        choice("normalise", settings, change, [["", t("choice.normalise.none")], ...["area", "maximum", "norm"].map((name) => [name, t(`choice.normalise.${name}`)])])),
    ];
    const clear = button(t("prepare.clear"), () => trying(() => changed(Object.fromEntries(["range", "drop", "baseline", "despike", "smooth", "derivative", "snv", "msc", "normalise", "blank", "average"].map((name) => [name, null])))), { class: "quiet" });
    redraw(form, el("h2", { id: "steps-form" }, t("prepare.steps")), el("p", { class: "note" }, t("prepare.order")), ...fields, el("div", { class: "tools" }, clear));
  }

  // A range typed in, for those who do not drag
  function adding(settings) {
    const box = el("input", { type: "text", "aria-label": t("option.drop.add"), placeholder: "400:450", autocomplete: "off" });
    const add = () => {
      const range = box.value.trim();
      if (range) trying(() => changed({ drop: [...(settings.drop ?? []), range] }));
    };
    return el("div", { class: "tools" }, box, button(t("option.drop.button"), add));
  }

  function blank(settings) {
    const box = el("div", { class: "field" }, el("label", { for: "blank" }, t("option.blank")));
    const input = el("input", { type: "file", id: "blank", onchange: () => trying(async () => {
      const name = await sendAll(facts.project, "given", { files: [...input.files], folder: null }, box);
      if (name) await changed({ blank: name });
    }) });
    box.append(input);
    if (settings.blank) box.append(el("span", {}, settings.blank, " ", button(t("option.blank.none"), () => trying(() => changed({ blank: null })), { class: "quiet" })));
    return box;
  }

  draw();
  look();
  return {
    nodes: [
      el("section", {}, el("h1", {}, t("prepare.title")), el("p", { class: "lead" }, t("prepare.lead")), pictures,
        el("div", { class: "tools" }, button(t("prepare.on"), () => tools.go("fit"), { class: "main" }))),
      form,
    ],
    end: () => asking?.abort(),
  };
}
