// Requests to the server. The key is kept where ports count: no other program's page can read it.

const KEY = localStorage.getItem("gmcr-key") ?? "";

export class Refused extends Error {
  constructor(status, told) {
    super(told.error);
    this.status = status;
    this.told = told;
  }
}

async function asked(method, path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { method, ...options, headers: { "x-gmcr-key": localStorage.getItem("gmcr-key") ?? KEY, ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { error: "gone" });
  }
  if (answer.ok) return answer;
  throw new Refused(answer.status, await answer.json().catch(() => ({ error: "unexpected" })));
}

const project = (name, rest = "") => `/api/projects/${encodeURIComponent(name)}${rest}`;
const json = (value) => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(value) });
const query = (values) => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

export const get = async (path, values = {}, options = {}) => (await asked("GET", path + query(values), options)).json();
export const send = async (method, path, value) => (await asked(method, path, json(value))).json();

export const overview = () => get("/api/projects");
export const create = (title) => send("POST", "/api/projects", { title });
export const show = (name) => get(project(name));
export const remove = (name) => asked("DELETE", project(name));
export const retitle = (name, title) => send("PUT", project(name, "/title"), { title });
export const settle = (name, settings) => send("PUT", project(name, "/settings"), settings);
export const copy = (name, title) => send("POST", project(name, "/copy"), { title });
export const reading = (name) => get(project(name, "/reading"));
export const steps = (name, options) => get(project(name, "/steps"), {}, options);
export const fit = (name, goOn) => send("POST", project(name, "/fit"), { go_on: goOn });
export const stop = (name, job, keep) => send("POST", project(name, "/stop"), { job, keep });
export const make = (name, count) => send("POST", project(name, "/page"), count === null ? {} : { count });
export const page = (name, count) => get(project(name, "/page"), { count });
export const sample = (name, count, number, width) => get(project(name, "/sample"), { count, number, width });
export const names = (name, given) => send("POST", project(name, "/names"), { names: given });
export const match = (name, library) => send("POST", project(name, "/match"), { library });
export const decode = (name, given) => send("POST", project(name, "/decode"), { new: given });
export const decoded = (name, given) => get(project(name, "/decoded"), { new: given });
export const compare = (name, other) => send("POST", project(name, "/compare"), { other });
export const compared = (name) => get(project(name, "/compared"));
export const takings = (name) => get(project(name, "/takings"));
export const commands = (name) => get(project(name, "/commands"));
export const discard = (name, place, file) => asked("DELETE", project(name, `/files/${place}`) + query({ name: file }));
export const quit = () => send("POST", "/api/quit", {});
export const stream = (options) => asked("GET", "/api/stream", options);

export async function ticket(name, what, shown, file) {
  const given = { what, show: shown };
  return (await send("POST", project(name, "/ticket"), file ? { ...given, name: file } : given)).address;
}

// A file to one of a project's places; `told` hears how much of it is there
export function give(name, place, file, folder, told) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("PUT", project(name, `/files/${place}`) + query({ name: file.name.normalize("NFC"), folder: folder?.normalize("NFC") }));
    request.setRequestHeader("x-gmcr-key", localStorage.getItem("gmcr-key") ?? KEY);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.addEventListener("progress", (event) => told?.(event.loaded, event.total));
    const refuse = (error) => failed(new Refused(request.status, error));
    request.addEventListener("load", () => {
      let answer = { error: "unexpected" };
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        // no words of ours
      }
      if (request.status === 200) done(answer);
      else refuse(answer);
    });
    // A server that refuses a large file answers before it has read it, and browsers then often tell nothing of why
    request.addEventListener("error", () => refuse({ error: file.size > 1e9 ? "too-large" : "gone" }));
    request.send(file);
  });
}

// Save a file: the browser takes it from an address that works once
export async function save(name, what, file) {
  const link = document.createElement("a");
  link.href = await ticket(name, what, false, file);
  link.download = "";
  link.click();
}
