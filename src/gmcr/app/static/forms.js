// Controls, each of which stands for an option of the command and has its name.

import { el, t } from "/static/dom.js";

let identities = 0;
const identity = (name) => `${name}-${++identities}`;

function labelled(name, control, { hint = true, text = null } = {}) {
  const label = el("label", { for: control.id }, text ?? t(`option.${name}`));
  const parts = [label, control];
  const key = `option.${name}.hint`;
  if (hint) {
    const note = el("span", { class: "note", id: `${control.id}-hint` }, t(key));
    control.setAttribute("aria-describedby", note.id);
    parts.push(note);
  }
  return el("div", { class: "field" }, parts);
}

export function check(name, settings, change, options = {}) {
  const box = el("input", { type: "checkbox", id: identity(name), "data-option": name, onchange: () => change({ [name]: box.checked }) });
  box.checked = Boolean(settings[name]);
  const label = el("label", { for: box.id }, options.text ?? t(`option.${name}`));
  const note = options.hint === false ? null : el("span", { class: "note", id: `${box.id}-hint` }, t(`option.${name}.hint`));
  if (note) box.setAttribute("aria-describedby", note.id);
  return el("div", { class: "field check" }, box, label, note);
}

export function text(name, settings, change, options = {}) {
  const box = el("input", { type: "text", id: identity(name), "data-option": name, value: settings[name] ?? "", spellcheck: "false", autocomplete: "off" });
  if (options.list) {
    const list = el("datalist", { id: identity("list") }, options.list.map((value) => el("option", { value })));
    box.setAttribute("list", list.id);
    box.addEventListener("change", () => change({ [name]: box.value.trim() }));
    const field = labelled(name, box, options);
    field.append(list);
    return field;
  }
  box.addEventListener("change", () => change({ [name]: box.value.trim() }));
  return labelled(name, box, options);
}

export function whole(name, settings, change, { least = 1, most = 10000, ...options } = {}) {
  const box = el("input", { type: "number", id: identity(name), "data-option": name, min: least, max: most, step: 1, value: settings[name] ?? "", inputmode: "numeric" });
  box.addEventListener("change", () => {
    const value = box.value === "" ? null : Math.round(Number(box.value));
    if (value === null || (Number.isFinite(value) && value >= least && value <= most)) {
      box.removeAttribute("aria-invalid");
      change({ [name]: value });
    } else box.setAttribute("aria-invalid", "true");
  });
  return labelled(name, box, options);
}

// One of several; values are texts, of which the first is nothing
export function choice(name, settings, change, values, options = {}) {
  const box = el("select", { id: identity(name), "data-option": name });
  for (const [value, words] of values) box.append(el("option", { value }, words));
  const own = settings[name] ?? "";
  if (own !== "" && !values.some(([value]) => value === String(own))) box.append(el("option", { value: own }, String(own)));
  box.value = String(own);
  box.addEventListener("change", () => change({ [name]: options.typed ? options.typed(box.value) : box.value || null }));
  return labelled(name, box, options);
}

// Draw a form anew; what is being typed in it stays, and so does the focus
export function redraw(form, ...children) {
  const at = form.contains(document.activeElement) ? document.activeElement : null;
  form.replaceChildren(...children);
  const box = at?.dataset.option ? form.querySelector(`[data-option="${CSS.escape(at.dataset.option)}"]`) : null;
  if (!box) return;
  if (box.matches("input:not([type=checkbox])") && box.value !== at.value) {
    box.value = at.value;
    box.addEventListener("blur", () => box.dispatchEvent(new Event("change")), { once: true });
  }
  box.focus();
}

export function group(title, ...fields) {
  return el("fieldset", {}, el("legend", {}, title), fields);
}
