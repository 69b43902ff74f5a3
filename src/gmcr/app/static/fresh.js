// New samples, decoded over what was learned; those that it does not explain are flagged.

import { format } from "/static/charts.js";
import * as api from "/static/api.js";
import { button, el, section, t, table, trying } from "/static/dom.js";
import { dropZone, sendAll } from "/static/drop.js";
import { isActive, jobLine } from "/static/unmix.js";

const MOST_ROWS = 500;

export async function fresh(tools) {
  const project = tools.facts().project;
  if (!tools.facts().run) return { nodes: [section(t("fresh.title"), el("p", {}, t("need.run")))] };
  const start = el("section", {}, el("h1", {}, t("fresh.title")), el("p", { class: "lead" }, t("fresh.lead")));
  const jobs = el("div", {});
  const results = el("div", {});
  const laid = new Map();
  const over = new Set(tools.facts().jobs.filter((job) => !isActive(job)).map((job) => job.job));
  start.append(dropZone((given) => trying(async () => {
    const name = await sendAll(project, "new", given, start);
    if (name) await api.decode(project, name);
    await tools.refresh();
  }), { title: t("fresh.drop"), hint: t("home.formats") }));

  async function update() {
    const facts = tools.facts();
    jobs.replaceChildren(...facts.jobs.filter((job) => job.kind === "decode").map((job) => jobLine(tools, job)).filter(Boolean));
    for (const job of facts.jobs.filter((one) => one.kind === "decode" && !isActive(one) && !over.has(one.job))) {
      over.add(job.job);
      laid.delete(`${job.about.new}.json`);
    }
    for (const name of facts.decoded) {
      if (laid.has(name)) continue;
      const told = await trying(() => api.decoded(project, name.replace(/\.json$/, "")));
      if (told) laid.set(name, resultOf(name.replace(/\.json$/, ""), told));
    }
    results.replaceChildren(...[...laid].filter(([name]) => facts.decoded.includes(name)).map(([, node]) => node));
  }

  function resultOf(name, told) {
    const strangers = told.samples.filter((one) => !one.known);
    const units = told.samples.some((one) => one.amounts);
    const rows = told.samples.slice(0, MOST_ROWS).map((one) => {
      const holds = Object.entries(one.concentrations).map(([component, amount]) => {
        const [low, high] = one.intervals[component] ?? [];
        return `${component} ${format(amount)}${low == null ? "" : ` (${format(low)} – ${format(high)})`}`;
      });
      const amounts = units ? [Object.entries(one.amounts ?? {}).map(([key, value]) => `${key} ${format(value)}`).join(", ")] : [];
      const flag = one.known ? el("span", { class: "status holds" }, t("fresh.known")) : el("span", { class: "status fails" }, t("fresh.unknown"));
      return [one.sample, flag, ...amounts, holds.join(", ") || t("fresh.nothing"), one.confidence === null ? "–" : one.confidence.toFixed(2)];
    });
    const stem = name.replace(/\.[^.]+$/, "");
    const tables = el("div", { class: "tools" });
    api.takings(project).then(({ decoded }) => {
      const own = decoded.filter((file) => [stem, name].includes(file.replace(/(_unexplained)?\.(csv|xlsx)$/, "")));
      tables.append(...own.map((file) => button(t("fresh.save", { file }), () => trying(() => api.save(project, "decoded", file)))));
    }, () => {});
    return section(name,
      el("p", { class: strangers.length ? "care" : "" }, strangers.length ? t("fresh.strangers", { n: strangers.length, of: told.samples.length }) : t("fresh.all", { n: told.samples.length })),
      strangers.length ? el("p", {}, t("fresh.which", { names: strangers.slice(0, 12).map((one) => one.sample).join(", ") + (strangers.length > 12 ? ", …" : "") })) : null,
      table(t("fresh.table"), [t("reading.sample"), t("fresh.explained"), ...(units ? [t("fresh.amounts")] : []), t("fresh.holds"), t("fresh.confidence")], rows),
      told.samples.length > MOST_ROWS ? el("p", { class: "note" }, t("chart.thinned", { n: MOST_ROWS, of: told.samples.length })) : null, tables);
  }

  await update();
  return { nodes: [start, jobs, results], update };
}
