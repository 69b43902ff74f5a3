// The ways through a project, in their order, and how far each is.

import { answer } from "/static/answer.js";
import { dataView } from "/static/reading.js";
import { fresh } from "/static/fresh.js";
import { prepare } from "/static/prepare.js";
import { take } from "/static/take.js";
import { unmix } from "/static/unmix.js";

export const VIEWS = { data: dataView, steps: prepare, fit: unmix, answer, new: fresh, take };

const STEPS = ["range", "drop", "baseline", "despike", "smooth", "derivative", "snv", "msc", "normalise", "blank", "average"];

export function done(facts, way) {
  const working = (...kinds) => facts.jobs.some((job) => kinds.includes(job.kind) && ["waiting", "running"].includes(job.state));
  const state = (is) => (is ? "done" : "open");
  if (way === "data") return state(facts.data !== null);
  if (way === "steps") return state(STEPS.some((name) => name in facts.settings));
  if (way === "fit") return working("fit") ? "working" : state(facts.run);
  if (way === "answer") return working("count", "page", "names", "match") ? "working" : state(facts.run);
  if (way === "new") return working("decode") ? "working" : state(facts.decoded.length > 0);
  return "open";
}
