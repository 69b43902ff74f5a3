// What is known of the samples, as constraints to tick: each becomes words of the command.

import { el, t } from "/static/dom.js";

const SIMPLE = [
  ["unimodal C", "unimodal"],
  ["monotonic C down", "falling"],
  ["monotonic C up", "rising"],
  ["closure 1", "closure"],
  ["unimodal S", "peak"],
  ["trilinear", "trilinear"],
  ["equal", "equal"],
];
const WITH_WORDS = [
  ["zero S ", "zero", /^zero S (.+)$/],
  ["kinetic ", "kinetic", /^kinetic (.+)$/],
  ["at most ", "atmost", /^at most (.+)$/],
];

let identities = 0;

// A group of boxes; `change` gets the list of constraints in words
export function knownForm(settings, change) {
  const given = [...(settings.constraint ?? [])];
  const recognised = (line) => SIMPLE.some(([words]) => words === line) || WITH_WORDS.some(([, , form]) => form.test(line));
  const others = given.filter((line) => !recognised(line));
  const boxes = [];
  const collect = () => change([...boxes.flatMap((one) => one()), ...more.value.split("\n").map((line) => line.trim()).filter(Boolean)]);

  const simple = SIMPLE.map(([words, name]) => {
    const box = el("input", { type: "checkbox", id: `known-${++identities}`, "data-option": words, onchange: collect });
    box.checked = given.includes(words);
    boxes.push(() => (box.checked ? [words] : []));
    return el("div", { class: "field check" }, box, el("label", { for: box.id }, t(`known.${name}`)), el("span", { class: "note" }, t(`known.${name}.hint`)));
  });
  const worded = WITH_WORDS.map(([before, name, form]) => {
    const told = given.map((line) => line.match(form)).find(Boolean);
    const box = el("input", { type: "checkbox", id: `known-${++identities}`, "data-option": before.trim() });
    const words = el("input", { type: "text", value: told?.[1] ?? "", placeholder: t(`known.${name}.example`), "aria-label": t(`known.${name}.words`), autocomplete: "off", spellcheck: "false", "data-option": `${before.trim()} words` });
    box.checked = Boolean(told);
    box.addEventListener("change", () => {
      if (box.checked && !words.value) words.focus();
      else collect();
    });
    words.addEventListener("change", () => {
      box.checked = words.value.trim() !== "";
      collect();
    });
    boxes.push(() => (box.checked && words.value.trim() ? [before + words.value.trim()] : []));
    return el("div", { class: "field check" }, box, el("label", { for: box.id }, t(`known.${name}`)), words, el("span", { class: "note" }, t(`known.${name}.hint`)));
  });
  const more = el("textarea", { id: `known-${++identities}`, rows: 2, spellcheck: "false", onchange: collect }, others.join("\n"));
  const rest = el("div", { class: "field" }, el("label", { for: more.id }, t("known.more")), more, el("span", { class: "note" }, t("known.more.hint")));
  return el("fieldset", {}, el("legend", {}, t("known.title")), el("p", { class: "note" }, t("known.hint")), simple, worded, rest);
}
