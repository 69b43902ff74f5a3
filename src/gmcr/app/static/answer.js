// The report, live: another count changes everything at once; samples, ranges and names can be looked at and changed.

import * as api from "/static/api.js";
import { answerBlock, runsBlock, sectionBlock } from "/static/blocks.js";
import { button, el, fold, say, section, settled, t, table, trying } from "/static/dom.js";
import { dropZone, sendAll } from "/static/drop.js";
import { explorer } from "/static/explorer.js";
import { knownForm } from "/static/known.js";
import { isActive, jobLine } from "/static/unmix.js";

const KEPT = 8; // pages that are held here, so that going back asks nobody

export async function answer(tools) {
  const project = tools.facts().project;
  if (!tools.facts().run) return { nodes: [section(t("answer.title"), el("p", {}, t("need.run")))] };
  const pages = new Map(); // by count and stamp
  const bar = el("section", { class: "switch", "aria-labelledby": "switch-title" });
  const body = el("div", { id: "report" });
  const jobs = el("div", { id: "answer-jobs" });
  const rest = el("div", {});
  const further = el("section", {}, el("h2", {}, t("answer.further")), rest);
  let count = null; // that is asked for; null is the run's own
  let shown = null; // the page that is shown
  let own = null; // the run's own page, which tells what counts there are

  const key = (number) => `${number} ${tools.facts().stamp}`;

  async function pageOf(number) {
    const known = pages.get(key(number));
    if (known) return known;
    const found = await api.page(project, number ?? undefined);
    pages.set(key(number), found);
    if (pages.size > KEPT) pages.delete(pages.keys().next().value);
    return found;
  }

  // Show the count that is asked for, if its page is kept; else have it made
  async function show() {
    const wanted = count;
    const facts = tools.facts();
    if (facts.pages.includes(wanted)) {
      const page = await trying(() => pageOf(wanted));
      if (!page || wanted !== count) return;
      if (wanted === null) own = page;
      if (shown !== page) lay(page);
    } else {
      body.setAttribute("aria-busy", "true");
      const failed = facts.jobs.some((job) => ["page", "count"].includes(job.kind) && (job.about.count ?? null) === wanted && ["failed", "lost", "stopped"].includes(job.state) && asked === key(wanted));
      if (asked !== key(wanted)) {
        asked = key(wanted);
        await trying(() => api.make(project, wanted));
        await tools.refresh();
      } else if (failed && !body.children.length) body.replaceChildren(el("section", {}, el("p", {}, t("answer.nothing"))));
    }
    draw();
  }
  let asked = "";

  function lay(page) {
    const before = performance.now();
    shown = page;
    body.removeAttribute("aria-busy");
    const charts = new Map();
    const looking = page.sample.names.length ? explorer(tools, project, count, page) : null;
    const links = el("ul", {}, page.sections.map((one) => el("li", {}, el("a", { href: `#part-${one.name}`, onclick: (event) => {
      event.preventDefault();
      const target = document.getElementById(`part-${one.name}`);
      target.scrollIntoView();
      target.querySelector("h2").focus();
    } }, one.link))));
    const top = answerBlock(page);
    const differ = runsBlock(page);
    body.replaceChildren(top, further, ...(looking ? [looking.node] : []),
      ...(differ ? [section(t("runs.differ"), el("p", { class: "note" }, t("runs.differ.hint")), table(t("runs.differ"), [t("reading.run"), t("answer.component"), t("runs.area"), t("runs.times")], differ.rows))] : []),
      el("nav", { class: "parts", "aria-label": t("answer.parts") }, links));
    // What is below the first screen is laid out after that was drawn
    const later = page.sections.map((one) => () => body.append(sectionBlock(one, charts)));
    const run = () => {
      const begun = performance.now();
      while (later.length && performance.now() - begun < 30) later.shift()();
      if (later.length && shown === page) setTimeout(run);
      else if (shown === page) {
        if (looking) link(looking, charts, page);
        body.dataset.whole = "yes";
      }
    };
    body.dataset.whole = "no";
    body.dataset.count = page.counts.own;
    body.dataset.laid = (performance.now() - before).toFixed(1);
    setTimeout(run);
    document.getElementById("live").textContent = page.heading;
  }

  // Charts and tables of samples lead to the sample
  function link(looking, charts, page) {
    const places = new Map(page.sample.names.map((name, place) => [name, place]));
    const heat = charts.get("concentrations")?.chart;
    if (heat) follow(heat, (row) => places.get(heat.spec.rows[heat.order[row]]), looking);
    const maps = charts.get("maps")?.chart;
    if (maps && page.sample.pixels && page.sample.shape[0] === maps.spec.height && page.sample.shape[1] === maps.spec.width) {
      const at = new Map(page.sample.pixels.map((pixel, place) => [pixel, place]));
      follow(maps, (row, column) => at.get(row * maps.spec.width + column), looking);
    }
    for (const row of document.querySelectorAll("#table-samples tbody tr"))
      row.addEventListener("pointerenter", () => looking.hover(places.get(row.cells[0].textContent)));
  }

  function follow(chart, placeOf, looking) {
    const cell = chart.cell.bind(chart);
    chart.cell = (row, column, aloud) => {
      cell(row, column, aloud);
      looking.hover(placeOf(row, column));
    };
  }

  // The bar: which count, how likely it is, and what to do with it
  function draw() {
    const counts = own?.counts ?? { own: null, most: 1, low: null, high: null, chances: [] };
    const now = count ?? counts.own;
    const facts = tools.facts();
    jobs.replaceChildren(...facts.jobs.filter((job) => ["count", "page", "names", "match", "compare"].includes(job.kind)).map((job) => jobLine(tools, job)).filter(Boolean));
    if (now === null) {
      bar.replaceChildren(el("p", { class: "wait", role: "status" }, t("answer.making")));
      return;
    }
    const chance = counts.chances.find(([number]) => number === now);
    const words = now === counts.own ? t("switch.own") : t("switch.other", { own: counts.own });
    const told = chance ? t("switch.chance", { p: (100 * chance[1]).toFixed(chance[1] < 0.1 ? 1 : 0) }) : "";
    if (!bar.querySelector("#count")) build();
    const box = bar.querySelector("#count");
    if (document.activeElement !== box) box.value = String(now);
    box.max = String(counts.most);
    bar.querySelector("#fewer").disabled = now <= 1;
    bar.querySelector("#more").disabled = now >= counts.most;
    bar.querySelector("#switch-words").textContent = `${words} ${told}`;
    bar.querySelector("#switch-own").hidden = now === counts.own;
    bar.querySelector("#switch-keep").hidden = now === counts.own;
  }

  const ask = settled(() => show(), 120);

  function to(number) {
    const counts = own?.counts;
    if (!counts || !Number.isFinite(number)) return;
    const wanted = Math.min(Math.max(Math.round(number), 1), counts.most);
    count = wanted === counts.own ? null : wanted;
    if (tools.facts().pages.includes(count)) show();
    else ask(); // while a number is typed
    draw();
  }

  function build() {
    const step = (by) => () => to((count ?? own.counts.own) + by);
    const box = el("input", { type: "number", id: "count", min: 1, step: 1, inputmode: "numeric", "aria-describedby": "switch-words" });
    box.addEventListener("input", () => box.value !== "" && to(Number(box.value)));
    bar.replaceChildren(
      el("h2", { id: "switch-title", class: "sr" }, t("switch.title")),
      el("div", { class: "tools" }, el("label", { for: "count" }, t("switch.label")), button("−", step(-1), { id: "fewer", "aria-label": t("switch.fewer") }), box, button("+", step(1), { id: "more", "aria-label": t("switch.more") }),
        el("span", { id: "switch-words", class: "note", role: "status" }),
        button(t("switch.back"), () => to(own.counts.own), { id: "switch-own" }),
        button(t("switch.keep"), () => trying(async () => {
          await tools.settle({ components: count });
          await api.fit(project, false);
          tools.go("fit");
        }), { id: "switch-keep" })));
  }

  // What can be done with the answer

  function beside() {
    const facts = tools.facts();
    rest.replaceChildren(
      fold(t("names.title"), names()),
      fold(t("match.title"), library()),
      fold(t("known.again"), again()),
      fold(t("compare.title"), comparison()),
      el("div", { class: "tools" }, button(t("copy.button"), () => trying(async () => {
        const { project: other } = await api.copy(project, t("copy.name", { title: facts.title }));
        tools.open(other, "data");
        say(t("copy.done"));
      })), button(t("title.button"), () => {
        const title = prompt(t("title.ask"), facts.title);
        if (title) trying(() => api.retitle(project, title.slice(0, 200)));
      })));
  }

  function names() {
    const box = el("form", { class: "names" });
    const list = el("div", {});
    const fill = () => list.replaceChildren(...(own?.components ?? []).map((name, place) => el("div", { class: "field" }, el("label", { for: `name-${place}` }, t("names.label", { n: place })), el("input", { type: "text", id: `name-${place}`, value: name, maxlength: 200, autocomplete: "off" }))));
    fill();
    box.refill = fill;
    box.append(el("p", { class: "note" }, t("names.hint")), list, el("div", { class: "tools" }, el("button", { type: "submit", class: "main" }, t("names.save"))));
    box.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = {};
      own.components.forEach((name, place) => {
        const value = box.querySelector(`#name-${place}`).value.trim();
        if (value && value !== name) given[place] = value;
      });
      if (Object.keys(given).length) trying(() => api.names(project, given).then(() => tools.refresh()));
    });
    return box;
  }

  function library() {
    const box = el("div", {}, el("p", { class: "note" }, t("match.hint")));
    box.append(dropZone((given) => trying(async () => {
      const name = await sendAll(project, "given", given, box);
      if (name) await api.match(project, name);
      await tools.refresh();
    }), { title: t("match.drop"), hint: t("home.formats") }));
    return box;
  }

  function again() {
    return el("div", {}, knownForm(tools.facts().settings, (constraint) => tools.settle({ constraint })),
      el("div", { class: "tools" }, button(t("known.start"), () => trying(async () => {
        await tools.settle({});
        await api.fit(project, false);
        tools.go("fit");
      }), { class: "main" }), el("a", { href: `#/p/${encodeURIComponent(project)}/fit` }, t("known.all"))));
  }

  function comparison() {
    const box = el("div", {});
    const result = el("div", { id: "compared" });
    const select = el("select", { id: "compare" });
    api.overview().then(({ projects }) => {
      const others = projects.filter((one) => one.run && one.project !== project);
      select.append(...others.map((one) => el("option", { value: one.project }, one.title)));
      box.replaceChildren(el("p", { class: "note" }, t(others.length ? "compare.hint" : "compare.none")), ...(others.length ? [el("div", { class: "tools" }, el("label", { for: "compare" }, t("compare.with")), select, button(t("compare.button"), () => trying(() => api.compare(project, select.value).then(() => tools.refresh())))), result] : []));
    });
    box.tell = async () => {
      const told = await api.compared(project);
      const { told: facts } = told;
      const rows = ["components", "samples", "channels", "selections", "R²"].map((name) => [name, ...facts[name].map((value) => (typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value)))]);
      const pairs = facts.pairs.map((one) => [one.component ?? "–", one.other ?? "–", one.cosine === null ? "–" : one.cosine.toFixed(4), one.correlation === null ? "–" : one.correlation.toFixed(4)]);
      result.replaceChildren(table(t("compare.facts"), ["", t("compare.this"), told.other], rows), table(t("compare.pairs"), [t("compare.this"), told.other, t("compare.cosine"), t("compare.correlation")], pairs));
    };
    return box;
  }

  const over = new Set(tools.facts().jobs.filter((job) => !isActive(job)).map((job) => job.job));

  async function update() {
    const facts = tools.facts();
    if (!facts.run) return;
    for (const job of facts.jobs.filter((one) => !isActive(one) && !over.has(one.job))) {
      over.add(job.job);
      if (job.kind === "compare" && job.state === "done") await trying(() => rest.querySelector("#compared").parentNode.tell());
    }
    const before = own;
    if (facts.pages.includes(null) && !pages.has(key(null))) {
      own = (await trying(() => pageOf(null))) ?? own;
      if (count !== null && own && before && own !== before) count = null; // a run of its own by now
    }
    await show();
    if (own !== before) rest.querySelector(".names")?.refill();
  }

  if (tools.facts().pages.includes(null)) own = await pageOf(null);
  beside();
  await show();
  return { nodes: [bar, jobs, body], update };
}
