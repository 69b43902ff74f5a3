// Hears what has changed. One page of the browser listens to the server and tells the others, since a browser opens few
// connections to a server; when that page is closed, another one takes its place. Whoever hears nothing for a while
// looks by itself.

import * as api from "/static/api.js";

const PATIENCE = 15000; // milliseconds without a word, after which a page looks by itself
const heard = new BroadcastChannel("gmcr");
let listener = () => {};
let last = Date.now();

function tell(told) {
  last = Date.now();
  listener(told);
}

heard.addEventListener("message", (event) => tell(event.data));

const rest = (time) => new Promise((done) => setTimeout(done, time));

async function listen() {
  for (;;) {
    try {
      const answer = await api.stream();
      tell({ begun: true });
      heard.postMessage({ begun: true });
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value;
        const events = text.split("\n\n");
        text = events.pop();
        for (const event of events) {
          const told = JSON.parse(event.replace(/^data: /, ""));
          tell(told);
          heard.postMessage(told);
        }
      }
    } catch (error) {
      tell({ lost: error.status === 403 ? "refused" : "gone" });
    }
    await rest(1000);
  }
}

export function begin(action) {
  listener = action;
  navigator.locks.request("gmcr-stream", listen);
  setInterval(() => {
    if (Date.now() - last > PATIENCE) tell({ begun: true });
  }, PATIENCE);
}
