// Files that are dropped or chosen: one, several, or a folder of them.

import * as api from "/static/api.js";
import { bytes, el, sentence, t } from "/static/dom.js";

let identities = 0;

// A place to drop files on, with buttons that choose them. `taken` gets { files, folder }
export function dropZone(taken, { title, hint, folders = true, several = true }) {
  const identity = `files-${++identities}`;
  const take = (files, folder) => {
    const seen = files.filter((file) => !file.name.startsWith("."));
    if (seen.length) taken({ files: several ? seen : seen.slice(0, 1), folder: seen.length > 1 ? folder : folder && several ? folder : null });
  };
  const chosen = (event) => {
    const files = [...event.target.files];
    const folder = files[0]?.webkitRelativePath?.split("/")[0] || (files.length > 1 ? t("drop.folder") : null);
    // Of a chosen folder its own files alone, as the command reads it
    take(files.filter((file) => !file.webkitRelativePath || file.webkitRelativePath.split("/").length === 2), folder);
    event.target.value = "";
  };
  const input = el("input", { type: "file", id: identity, class: "sr", multiple: several, onchange: chosen });
  const choose = el("label", { class: "choose", for: identity }, t(several ? "drop.files" : "drop.file"));
  const more = [];
  if (folders) {
    const second = el("input", { type: "file", id: `${identity}-folder`, class: "sr", webkitdirectory: true, onchange: chosen });
    more.push(second, el("label", { class: "choose", for: second.id }, t("drop.whole")));
  }
  const zone = el("div", { class: "drop" }, el("p", { class: "drop-title" }, title), el("p", { class: "note" }, hint), el("div", { class: "tools" }, input, choose, more));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const folder = entries.find((entry) => entry.isDirectory);
    if (folder && folders) take(await filesIn(folder), folder.name);
    else take([...event.dataTransfer.files], event.dataTransfer.files.length > 1 ? t("drop.folder") : null);
  });
  return zone;
}

async function filesIn(folder) {
  const reader = folder.createReader();
  const entries = [];
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) break;
    entries.push(...some);
  }
  return Promise.all(entries.filter((entry) => entry.isFile).map((entry) => new Promise((done, failed) => entry.file(done, failed))));
}

// Send files, with a bar that follows; what it is called on the server once all are there, or null
export async function sendAll(project, place, { files, folder }, parent) {
  const total = files.reduce((sum, file) => sum + file.size, 0);
  const bar = el("progress", { max: Math.max(total, 1), value: 0, "aria-label": t("drop.sending") });
  const words = el("p", { role: "status" }, t("drop.sending"));
  const box = el("div", { class: "sending" }, words, bar);
  parent.append(box);
  let before = 0;
  let name = null;
  for (const [place_, file] of files.entries()) {
    words.textContent = t("drop.sent", { name: file.name, n: place_ + 1, of: files.length, size: bytes(total) });
    try {
      name = (await api.give(project, place, file, folder, (loaded) => (bar.value = before + loaded))).name;
    } catch (error) {
      words.textContent = `${file.name}: ${sentence(error)}`;
      words.className = "wrong";
      bar.remove();
      return null;
    }
    before += file.size;
    bar.value = before;
  }
  box.remove();
  return name;
}
