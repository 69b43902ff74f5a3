// What to take away: the report, a workbook, the model, tables; and the commands that do the same.

import * as api from "/static/api.js";
import { button, bytes, el, has, say, section, t, trying } from "/static/dom.js";

export async function take(tools) {
  const { project } = tools.facts();
  const [told, commands] = await Promise.all([api.takings(project), api.commands(project)]);
  const report = el("div", {});
  const words = (what) => {
    const count = what.match(/^report-(\d+)$/);
    return count ? t("take.report.count", { n: count[1] }) : t(has(`take.${what}`) ? `take.${what}` : "take.table", { what });
  };
  const line = ({ what, size }) => el("li", {}, el("span", {}, words(what)), el("span", { class: "note" }, bytes(size)), button(t("take.save"), () => trying(() => api.save(project, what)), { "aria-label": t("take.save.label", { what: words(what) }) }),
    what.startsWith("report") ? button(t("take.show"), () => trying(() => show(what)), { "aria-label": t("take.show.label", { what: words(what) }) }) : null);

  // A stored report has scripts of its own: they run in a frame from which nothing can be reached
  async function show(what) {
    const frame = el("iframe", { sandbox: "allow-scripts", src: await api.ticket(project, what, true), title: words(what), referrerpolicy: "no-referrer" });
    report.replaceChildren(section(words(what), el("div", { class: "tools" }, button(t("take.hide"), () => report.replaceChildren())), frame));
    report.scrollIntoView();
  }

  const script = el("pre", { tabindex: "0", id: "script" }, commands.script);
  const copied = () => navigator.clipboard.writeText(commands.script).then(() => say(t("take.copied")), () => {
    getSelection().selectAllChildren(script);
    say(t("take.selected"));
  });
  const save = () => {
    const link = el("a", { href: URL.createObjectURL(new Blob([commands.script], { type: "text/x-shellscript" })), download: "gmcr.sh" });
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return {
    nodes: [
      el("section", {}, el("h1", {}, t("take.title")), told.files.length ? el("ul", { class: "takings" }, told.files.map(line)) : el("p", {}, t("need.run")), el("p", { class: "note" }, t("take.folder", { folder: tools.facts().folder }))),
      report,
      section(t("take.commands"), el("p", {}, t("take.commands.hint")), script, el("div", { class: "tools" }, button(t("take.copy"), copied), button(t("take.script"), save))),
    ],
  };
}
