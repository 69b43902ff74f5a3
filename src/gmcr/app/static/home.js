// The first page: drop a file, or open what is there.

import * as api from "/static/api.js";
import { dropZone, sendAll } from "/static/drop.js";
import { button, el, say, t, trying } from "/static/dom.js";

export async function home(open) {
  const list = el("ul", { class: "projects" });
  const where = el("p", { class: "note" });
  const start = el("section", { class: "start" }, el("h1", {}, t("home.title")), el("p", { class: "lead" }, t("home.lead")));
  start.append(dropZone((given) => trying(() => begin(given)), { title: t("home.drop"), hint: t("home.formats") }));

  async function begin(given) {
    const title = given.folder ?? given.files[0].name.replace(/\.[^.]+$/, "");
    const { project } = await api.create(title.slice(0, 200));
    const name = await sendAll(project, "data", given, start);
    if (name === null) await api.remove(project);
    else open(project);
  }

  async function update() {
    const told = await api.overview();
    where.textContent = t("home.folder", { folder: told.folder });
    const lines = told.projects.map(card);
    const texts = lines.map((line) => line.textContent).join("\n");
    if (list.dataset.texts === texts) return;
    list.dataset.texts = texts;
    list.textContent = "";
    list.append(...(lines.length ? lines : [el("li", { class: "note" }, t("home.none"))]));
  }
  await update();
  return { nodes: [start, el("section", {}, el("h2", {}, t("home.projects")), list, where)], update };
}

function card(one) {
  const state = one.working.length ? t(`kind.${one.working[0]}`) : one.run ? t("home.fitted") : one.data ? t("home.given") : t("home.empty");
  const link = el("a", { href: `#/p/${encodeURIComponent(one.project)}/` }, one.title);
  const changed = new Date(1000 * one.changed);
  const when = one.changed ? el("time", { datetime: changed.toISOString() }, changed.toLocaleString(document.documentElement.lang)) : null;
  const remove = button(t("home.remove"), () => {
    if (confirm(t("home.remove.sure", { title: one.title }))) trying(() => api.remove(one.project).then(() => say(t("home.removed"))));
  }, { "aria-label": t("home.remove.label", { title: one.title }), class: "quiet" });
  return el("li", {}, link, el("span", { class: "state" }, state), el("span", { class: "note" }, when), remove);
}
