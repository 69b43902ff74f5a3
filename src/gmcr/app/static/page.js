// The page: which view is shown, and what it is told. An address such as #/p/NAME/answer names a project and a view.

import { data, recolour } from "/static/charts.js";
import * as api from "/static/api.js";
import { el, say, sentence, t, trying } from "/static/dom.js";
import * as stream from "/static/stream.js";
import { home } from "/static/home.js";
import { VIEWS, done } from "/static/views.js";

const main = document.getElementById("main");
const ways = document.getElementById("ways");
const title = document.getElementById("title");
let shown = null; // the view on the page: { name, way, update, end }
let facts = null; // the project as it was last told

function address() {
  const parts = location.hash.replace(/^#\/?/, "").split("/");
  try {
    if (parts[0] === "p" && parts[1]) return { name: decodeURIComponent(parts[1]), way: parts[2] || "" };
  } catch {
    // no address of ours
  }
  return { name: null, way: "" };
}

export const link = (name, way) => `#/p/${encodeURIComponent(name)}/${way}`;

// What to look at next, of a project that is opened
function suited(project) {
  const working = project.jobs.some((job) => job.kind === "fit" && ["waiting", "running"].includes(job.state));
  if (working) return "fit";
  return project.run ? "answer" : "data";
}

async function show(focus) {
  const { name, way } = address();
  shown?.end?.();
  shown = null;
  say("");
  main.textContent = "";
  main.append(el("p", { class: "wait" }, t("page.wait")));
  if (name === null) {
    facts = null;
    ways.hidden = true;
    title.textContent = "";
    document.title = "gmcr";
    const view = await trying(() => home(open));
    if (view) put({ name, way, ...view }, focus);
    return;
  }
  try {
    await written; // so that what was just told is in what is asked for
    const told = await api.show(name);
    const now = address();
    if (now.name !== name || now.way !== way) return; // somebody went on meanwhile
    facts = told;
  } catch (error) {
    main.textContent = "";
    ways.hidden = true;
    title.textContent = name;
    main.append(el("section", {}, el("h1", {}, t("project.none")), el("p", {}, sentence(error)), el("p", {}, el("a", { href: "#/" }, t("project.all")))));
    return;
  }
  if (!(way in VIEWS)) {
    location.replace(link(name, suited(facts)));
    return;
  }
  head();
  const view = await trying(() => VIEWS[way]({ ...tools, facts: () => facts }));
  const now = address();
  if (view && now.name === name && now.way === way) put({ name, way, ...view }, focus);
}

function put(view, focus) {
  shown = view;
  main.textContent = "";
  main.append(...view.nodes);
  if (focus) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

// The project's title, and the ways through it
function head() {
  const { name, way } = address();
  document.title = `${facts.title} · gmcr`;
  if (title.textContent !== facts.title) title.textContent = facts.title;
  const items = Object.keys(VIEWS).map((one, place) => {
    const state = done(facts, one);
    const mark = el("span", { class: `step ${state}`, "aria-hidden": "true" }, state === "done" ? "✓" : String(place + 1));
    const words = state === "working" ? el("span", { class: "sr" }, ` (${t("ways.working")})`) : state === "done" ? el("span", { class: "sr" }, ` (${t("ways.done")})`) : null;
    return el("li", {}, el("a", { href: link(name, one), "aria-current": one === way ? "page" : false }, mark, t(`ways.${one}`), words));
  });
  const list = el("ol", {}, items);
  if (list.outerHTML !== ways.firstElementChild?.outerHTML) {
    const focused = [...ways.querySelectorAll("a")].indexOf(document.activeElement);
    ways.textContent = "";
    ways.append(list);
    if (focused >= 0) ways.querySelectorAll("a")[focused]?.focus();
  }
  ways.hidden = false;
}

let written = Promise.resolve(); // once all settings of this page are on the server

// What views can do
const tools = {
  go: (way) => {
    location.hash = link(facts.name ?? facts.project, way);
  },
  open: (name, way) => open(name, way),
  // Settings are written one after the other, and the last ones stay
  settle: (changes) => {
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === "" || value === false || (Array.isArray(value) && !value.length)) delete facts.settings[key];
      else facts.settings[key] = value;
    }
    if ("signed" in changes && changes.signed === false) facts.settings.signed = false;
    const { project } = facts;
    const settings = { ...facts.settings };
    written = written.then(() => trying(() => api.settle(project, settings)));
    return written;
  },
  refresh: () => refresh(),
};

function open(name, way = "data") {
  location.hash = link(name, way);
}

let asking = false;
let again = false;

// Ask for the project anew, and tell the view
async function refresh() {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    do {
      again = false;
      const { name } = address();
      if (name === null) {
        await shown?.update?.();
      } else if (facts) {
        const before = written;
        await before;
        const told = await api.show(name);
        if (address().name !== name) continue;
        if (written !== before) told.settings = facts.settings; // they were changed here meanwhile
        facts = told;
        head();
        await shown?.update?.();
      }
    } while (again);
  } catch (error) {
    if (error.status === 404) show(false);
    else if (error.told) lost(error.told.error);
    else console.error(error);
  } finally {
    asking = false;
  }
}

let away = false;

function lost(why) {
  away = true;
  say(t(why === "refused" ? "page.refused" : "page.gone"), true);
}

stream.begin((told) => {
  if (told.lost) {
    lost(told.lost);
    return;
  }
  if (away) {
    away = false;
    say(t("page.back"));
  }
  const { name } = address();
  if (told.begun || (told.changed && (name === null || told.changed.includes(name)))) refresh();
});

// Light and dark: as the system has it, or as chosen

const THEMES = ["auto", "light", "dark"];
const theme = document.getElementById("theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
let chosen = THEMES.includes(localStorage.getItem("gmcr-theme")) ? localStorage.getItem("gmcr-theme") : "auto";

function colour() {
  const now = chosen === "auto" ? (dark.matches ? "dark" : "light") : chosen;
  document.documentElement.dataset.theme = now;
  Object.assign(data, data.themes[now]);
  recolour();
  theme.textContent = t(`theme.${chosen}`);
  theme.setAttribute("aria-label", t("theme.label", { now: t(`theme.${chosen}`) }));
}

theme.addEventListener("click", () => {
  chosen = THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length];
  localStorage.setItem("gmcr-theme", chosen);
  colour();
  show(false);
});
dark.addEventListener("change", () => {
  colour();
  show(false);
});

document.getElementById("quit").addEventListener("click", async () => {
  if (!confirm(t("page.quit.sure"))) return;
  await trying(() => api.quit());
  main.textContent = "";
  ways.hidden = true;
  main.append(el("section", {}, el("h1", {}, t("page.closed")), el("p", {}, t("page.closed.text"))));
});

colour();
addEventListener("hashchange", () => {
  if (location.hash !== "#main") show(true);
});
await show(false);
document.documentElement.dataset.ready = "yes";
