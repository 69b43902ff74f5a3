// What is wrong with a page for people who read, hear or type it: functions for tests, each gives a list of findings.

const audit = {
  seen: (one) => one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }),

  name(one) {
    const labelled = one.getAttribute("aria-labelledby");
    const labels = one.labels ? [...one.labels].map((label) => label.textContent).join(" ") : "";
    const by = labelled ? document.getElementById(labelled)?.textContent : "";
    return (one.getAttribute("aria-label") || labels || by || one.textContent || one.title || "").trim();
  },

  names() {
    const can = "a[href], button, input, select, textarea, summary, [tabindex='0'], [role]";
    const all = [...document.querySelectorAll(can)].filter((one) => audit.seen(one) && !one.matches("[role=status], [role=alert]"));
    return all.filter((one) => !audit.name(one)).map((one) => ["no name", one.outerHTML.slice(0, 120)]);
  },

  references() {
    const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
    const twice = ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => ["twice", id]);
    const asked = [...document.querySelectorAll("[aria-describedby], [aria-labelledby]")];
    const named = asked.flatMap((one) => (one.getAttribute("aria-describedby") || one.getAttribute("aria-labelledby")).split(" "));
    return [...twice, ...named.filter((id) => !document.getElementById(id)).map((id) => ["describes nothing", id])];
  },

  headings() {
    const found = [];
    let level = 0;
    for (const one of document.querySelectorAll("main h1, main h2, main h3")) {
      const own = Number(one.tagName[1]);
      if (level && own > level + 1) found.push(["heading", one.textContent]);
      level = own;
    }
    const first = document.querySelectorAll("main h1").length;
    return first === 1 ? found : [...found, ["h1", first]];
  },

  charts() {
    const bare = (box) => !box.getAttribute("aria-label") || !box.closest("figure").querySelector("details");
    return [...document.querySelectorAll("figure.chart .plot")].filter(bare).map((box) => ["chart", box.outerHTML.slice(0, 120)]);
  },

  rgba(text) {
    const values = text.match(/[\d.]+/g).map(Number);
    return [values.slice(0, 3), values[3] ?? 1];
  },

  light([r, g, b]) {
    const channel = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  },

  ground(one) {
    for (let at = one; at; at = at.parentElement) {
      const [colour, alpha] = audit.rgba(getComputedStyle(at).backgroundColor);
      if (alpha > 0.9) return colour;
    }
    return [255, 255, 255];
  },

  texts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.textContent.trim() && audit.seen(node.parentElement)) found.push([node.parentElement, node.textContent.trim()]);
    }
    return found;
  },

  // WCAG AA: 4.5 : 1, and 3 : 1 for large letters
  contrast() {
    const found = [];
    for (const [one, text] of audit.texts()) {
      if (one.closest("script, noscript, svg, .sr, .skip, [disabled], [aria-busy], option")) continue;
      const style = getComputedStyle(one);
      const both = [audit.light(audit.rgba(style.color)[0]), audit.light(audit.ground(one))].sort((p, q) => q - p);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
      const ratio = (both[0] + 0.05) / (both[1] + 0.05);
      if (ratio < (large ? 3 : 4.5)) found.push([`contrast ${ratio.toFixed(2)}`, text.slice(0, 60), one.className]);
    }
    return found;
  },

  all: () => [audit.names(), audit.references(), audit.headings(), audit.charts(), audit.contrast()].flat().slice(0, 10),

  // Texts without the mark that every text of the file of texts has, where they come from no data
  unmarked(mark) {
    const data = "script, noscript, svg, td, th, pre, time, .brand, datalist, option, figure, .notes, .did, [data-from-file]";
    const loose = (text) => /[a-z]{2}/i.test(text) && !text.includes(mark);
    const spoken = [...document.querySelectorAll("main [aria-label], main [placeholder]")].filter((one) => audit.seen(one) && !one.closest("figure"));
    const words = spoken.flatMap((one) => [one.getAttribute("aria-label"), one.getAttribute("placeholder")].filter(Boolean));
    return [...audit.texts().filter(([one, text]) => loose(text) && !one.closest(data)).map(([, text]) => text), ...words.filter(loose)];
  },
};
