// Unmix: what is told of it, how far it is, and how it ended.

import * as api from "/static/api.js";
import { button, el, fold, section, sentence, spoken, t, trying, has } from "/static/dom.js";
import { sendAll } from "/static/drop.js";
import { check, choice, group, text, whole } from "/static/forms.js";
import { knownForm } from "/static/known.js";
import { figure } from "/static/pictures.js";

const ACTIVE = ["waiting", "running"];
const NOISE = ["constant", "proportional", "poisson", "counts", "instrument"];

export const isActive = (job) => ACTIVE.includes(job.state);

export async function unmix(tools) {
  const facts = tools.facts();
  if (facts.data === null) return { nodes: [section(t("fit.title"), el("p", {}, t("need.data")))] };
  const status = el("div", { id: "fit-status" });
  const form = el("section", { "aria-labelledby": "fit-form" });
  const change = (changes) => tools.settle(changes);
  let ticking = null;
  let was = null;

  function update() {
    const job = tools.facts().jobs.filter((one) => one.kind === "fit").at(-1);
    clearInterval(ticking);
    const now = job ? `${job.job} ${job.state}` : "";
    if (was !== null && was !== now && job && job.state === "done" && was.startsWith(job.job)) {
      tools.go("answer");
      return;
    }
    was = now;
    status.replaceChildren(...(job ? shown(job) : []));
    start.disabled = below.disabled = Boolean(job && isActive(job));
  }

  function shown(job) {
    if (job.state === "waiting") return [el("section", {}, el("h2", {}, t("fit.waiting")), el("p", { role: "status" }, t("fit.place", { n: job.place })), el("div", { class: "tools" }, button(t("fit.cancel"), () => stop(job, false))))];
    if (job.state === "running") return [running(job)];
    if (job.state === "done") return [el("section", {}, el("h2", {}, t(job.kept ? "fit.kept" : "fit.done")), el("p", {}, t("fit.took", { time: spoken(job.seconds) }), " ", el("a", { href: `#/p/${encodeURIComponent(facts.project)}/answer` }, t("fit.look"))), path(job))];
    const goOn = job.state === "lost" || job.state === "stopped" ? button(t("fit.go_on"), () => begin(true)) : null;
    return [el("section", { class: job.state === "stopped" ? "" : "wrong" }, el("h2", {}, t(`fit.${job.state}`)), el("p", { role: "alert" }, reason(job)), goOn ? el("div", { class: "tools" }, goOn) : null)];
  }

  function running(job) {
    const stage = job.progress.at(-1)?.stage ?? "beginning";
    const began = Date.now() - 1000 * job.seconds;
    const time = el("p", { class: "note" });
    const tell = () => {
      const elapsed = (Date.now() - began) / 1000;
      const left = job.left === null ? null : job.left - (elapsed - job.seconds);
      time.textContent = `${t("fit.elapsed", { time: spoken(elapsed) })} ${left === null ? t("fit.left.unknown") : left > 1 ? t("fit.left", { time: spoken(left) }) : t("fit.left.longer")}`;
    };
    tell();
    ticking = setInterval(tell, 1000);
    const last = job.progress.filter((one) => one.solution).at(-1)?.solution;
    const found = last ? el("p", { role: "status" }, t("fit.found", { count: last.count, r2: (100 * last.r2).toFixed(2) })) : null;
    const keep = last ? button(t("fit.keep"), () => stop(job, true), { id: "keep" }) : null;
    return el("section", {}, el("h2", {}, t("fit.running")), el("p", { role: "status", class: "stage" }, t(has(`fit.stage.${stage}`) ? `fit.stage.${stage}` : "fit.stage.fitting")),
      el("progress", { "aria-label": t("fit.running") }), time, found, path(job), el("div", { class: "tools" }, keep, button(t("fit.cancel"), () => stop(job, false), { id: "cancel" })), el("p", { class: "note" }, t("fit.leave")));
  }

  const stop = (job, keep) => trying(() => api.stop(facts.project, job.job, keep).then(() => tools.refresh()));

  async function begin(goOn = false) {
    await tools.settle({});
    await trying(() => api.fit(facts.project, goOn));
    await tools.refresh();
    status.querySelector("h2")?.scrollIntoView({ block: "nearest" });
  }

  const start = button(t("fit.start"), () => begin(), { class: "main", id: "start" });
  const below = button(t("fit.start"), () => begin());

  async function draw() {
    const { settings } = tools.facts();
    let columns = [];
    try {
      columns = (await api.reading(facts.project)).metadata.filter((one) => one.own);
    } catch {
      // it is told where it was read
    }
    const known = columns.filter((one) => one.numeric).map((one) => one.name);
    const signs = { auto: "", true: "true", false: "false" };
    const own = { signed: settings.signed === true ? signs.true : settings.signed === false ? signs.false : "" };
    const noises = [["", t("choice.noise.auto")], ...NOISE.map((name) => [name, t(`choice.noise.${name}`)])];
    form.replaceChildren(
      el("h2", { id: "fit-form" }, t("fit.form")),
      el("p", {}, t("fit.form.hint")),
      group(t("fit.count"), whole("components", settings, change, { most: 10000 }), whole("max_components", settings, change)),
      knownForm(settings, (constraint) => change({ constraint })),
      fold(t("fit.more"),
        group(t("fit.profiles"), library(settings)),
        known.length ? group(t("fit.amounts"), text("known", settings, change, { list: known })) : null,
        group(t("fit.noise"), choice("noise", settings, change, noises),
          choice("signed", own, change, [["", t("choice.signed.auto")], ["false", t("choice.signed.false")], ["true", t("choice.signed.true")]], { typed: (value) => (value === "" ? null : value === "true") }),
          whole("background", settings, change, { least: 0, most: 100 }),
          choice("disturbances", settings, change, [["", t("choice.disturbances.keep")], ["tell", t("choice.disturbances.tell")], ["mask", t("choice.disturbances.mask")]])),
        group(t("fit.search"), whole("k_max", settings, change), whole("starts", settings, change), whole("seed", settings, change, { least: 0, most: 4294967295 }), check("closure", settings, change))),
      el("div", { class: "tools" }, below));
  }

  function library(settings) {
    const box = el("div", { class: "field" }, el("label", { for: "fixed" }, t("option.fixed")));
    const input = el("input", { type: "file", id: "fixed", onchange: () => trying(async () => {
      const name = await sendAll(facts.project, "given", { files: [...input.files], folder: null }, box);
      if (name) await tools.settle({ fixed: name });
      await draw();
    }) });
    box.append(input, el("span", { class: "note" }, t("option.fixed.hint")));
    if (settings.fixed) box.append(el("span", {}, settings.fixed, " ", button(t("option.blank.none"), () => trying(async () => {
      await tools.settle({ fixed: null, fixed_names: null });
      await draw();
    }), { class: "quiet" })), text("fixed_names", settings, change));
    return box;
  }

  await draw();
  update();
  return { nodes: [el("section", {}, el("h1", {}, t("fit.title")), el("p", { class: "lead" }, t("fit.lead")), el("div", { class: "tools" }, start)), status, form], update, end: () => clearInterval(ticking) };
}

// Why a job failed, in a sentence
export function reason(job) {
  if (job.state === "stopped") return t("fit.stopped.text");
  if (job.reason === "said") return sentence({ told: { sentence: job.sentence } });
  return t(`reason.${job.reason ?? "unexpected"}`);
}

// The path: the solutions that were met, as they come
function path(job) {
  const met = job.progress.filter((one) => one.solution);
  if (met.length < 2) return null;
  const x = met.map((_, i) => i + 1);
  const counts = { kind: "plane", alt: t("fit.path.alt", { n: met.length }), x_label: t("fit.path.x"), y_label: t("fit.path.y"), x, series: [{ name: t("fit.path.y"), style: "line+points", place: 0, shown: true, y: met.map((one) => one.solution.count), labels: met.map((one) => `${has(`met.${one.solution.stage}`) ? t(`met.${one.solution.stage}`) : one.solution.stage}: ${t("fit.found", { count: one.solution.count, r2: (100 * one.solution.r2).toFixed(2) })}`) }], rules: [], choose: false, reverse: false, log: false, whole: true };
  const spread = { ...counts, y_label: t("fit.path.r2"), series: [{ ...counts.series[0], name: t("fit.path.r2"), y: met.map((one) => 1 - one.solution.r2) }], log: met.every((one) => one.solution.r2 < 1) };
  return el("div", { class: "grid path" }, figure(counts, { name: "path-count", title: t("fit.path.count") }), figure(spread, { name: "path-r2", title: t("fit.path.left") }));
}

// A short line on a job of another kind, with a way to end it
export function jobLine(tools, job) {
  const project = tools.facts().project;
  if (isActive(job)) {
    const words = job.state === "waiting" ? t("fit.place", { n: job.place }) : t(`kind.${job.kind}`);
    return el("p", { class: "working", role: "status" }, `${words} `, job.left ? `${t("fit.left", { time: spoken(job.left) })} ` : "", button(t("fit.cancel"), () => trying(() => api.stop(project, job.job, false).then(() => tools.refresh())), { class: "quiet" }));
  }
  if (job.state === "failed" || job.state === "lost") return el("p", { class: "wrong", role: "alert" }, `${t(`kind.${job.kind}.failed`)} ${reason(job)}`);
  return null;
}
