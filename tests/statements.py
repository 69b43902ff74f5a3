"""What a report page states, read back from its HTML, and what of it contradicts something else on it."""

import json
import re
from html.parser import HTMLParser

import numpy as np

VOID = {"meta", "link", "br", "img", "input", "hr", "rect", "polyline", "path"}
STATUS = {"use it": "good", "use with care": "care", "do not use": "bad"}
RANK = ("none", "good", "care", "bad")
OF_VERDICT = re.compile(
    r"(?i)(count|fit|[a-z ]+ explained|supports|uniqueness|stability|starts|all together)\b"
)


class Page(HTMLParser):
    """Texts of sections, items of lists by class, tables by name, and the charts' data."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.texts, self.items, self.tables, self.scripts = [], {}, {}, {}, []
        self.section = self.list = ""
        self.feed(text)
        self.charts = json.loads(self.scripts[0])["charts"]

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.section = attributes["id"]
        elif tag == "ul":
            self.list = attributes.get("class", "")
        elif tag == "li":
            self.items.setdefault(self.list, []).append([attributes.get("class", ""), ""])
        elif tag == "table":
            self.rows = self.tables[attributes.get("id", "")] = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts[-1] += data
        elif "style" not in self.open:
            where = "title" if "title" in self.open else self.section
            self.texts[where] = " ".join(f"{self.texts.get(where, '')} {data}".split())
            if "li" in self.open:
                self.items[self.list][-1][1] += data
            if {"td", "th"} & {*self.open}:
                self.rows[-1][-1] += data

    def column(self, table, *headings):
        """Cells of the first column with one of these headings; none where there is none."""
        head, *rows = self.tables.get(f"table-{table}", [[]])
        place = next((head.index(one) for one in headings if one in head), None)
        return [] if place is None else [row[place] for row in rows]

    def tile(self, what):
        """The value on the tile that tells something, as text."""
        told = [" ".join(text.split()) for _, text in self.items["tiles"]]
        return next((one.removesuffix(what).strip() for one in told if one.endswith(what)), None)


def _percent(text):
    return float(text.strip().rstrip("%").strip()) / 100


def _number(text):
    return float(text.replace(",", ""))


def contradictions(html):
    """Sentences, one for each pair of statements that do not agree; and how many statements were compared."""
    page = Page(html)
    found, compared = [], 0

    def same(what, *values, within=0.0):
        nonlocal compared
        told = [value for value in values if value is not None]
        compared += max(len(told) - 1, 0)
        if told and max(told) - min(told) > within:
            found.append(f"{what}: {told}")

    answer, charts = page.texts["answer"], page.charts
    lead = re.search(
        r"([\d,]+) ([a-z ]+?)s? holds? ([\d,]+) components?, (\d+)(?: to (\d+))? in each ([a-z ]+)[.;]",
        answer,
    )
    n, row, count = int(_number(lead[1])), lead[6].strip(), int(lead[3])
    _of_count(page, answer, charts, count, same)
    _of_rows(page, charts, n, row, count, lead, same)
    _of_verdict(page, answer, charts, same, found)
    _of_explained(page, answer, charts, n, row, same)
    _of_supports(page, charts, n, row, same, found)
    _of_components(page, charts, row, same, found)
    _of_uniqueness(page, row, found)
    return found, compared


def _of_count(page, answer, charts, count, same):
    first = re.match(r"([\d,]+) components?(?:, (over )?(\d+) % sure)?", answer)
    title = int(_number(page.texts["title"].split()[0]))
    same("count", count, int(_number(first[1])), title, int(_number(page.tile("components"))))
    same("components listed", count, len(page.column("components", "component")))
    same("profiles drawn", count, len(charts["profiles"]["series"]))
    same("columns of the heat map", count, len(charts["concentrations"]["columns"]))
    same("cards", min(count, 6), len(page.items["cards"]))
    said = re.search(r"([\d,]+) components?:", page.texts["count"])
    same("count in its section", count, said and int(_number(said[1])))
    if "maps" in charts:
        same("maps", count, len(charts["maps"]["names"]))
    sure = [int(p) for p in re.findall(r"(\d+) % sure", answer + page.texts["count"])]
    chances = charts.get("chances")
    if chances:
        at = dict(zip(chances["x"], chances["series"][0]["y"]))[count]
        sure.append(min(100 * at, 99) if "over 99 %" in answer else 100 * at)
        chosen = next(rule["at"] for rule in chances["rules"] if rule["label"] == "chosen")
        same("count in the chart of chances", count, chosen)
    same("probability of the count", *sure, within=0.51)


def _of_rows(page, charts, n, row, count, lead, same):
    size = re.match(r"([\d,]+) ×", page.tile(f"{row}s × channels"))
    same("rows", n, int(_number(size[1])))
    listed = page.tables["table-samples"][1:]
    note = re.search(r"([\d,]+) of ([\d,]+) \w[\w ]*s are listed", page.texts["concentrations"])
    same("rows listed", len(listed), n if note is None else int(_number(note[1])))
    heat = charts["concentrations"]
    if len(heat["rows"]) == n:
        held = np.zeros(n * count)
        held[heat["at"]] = 1
        held = held.reshape(n, count)
        per_row = held.sum(axis=1)
        same("fewest in a row", int(lead[4]), int(per_row.min()))
        same("most in a row", int(lead[5] or lead[4]), int(per_row.max()))
        mean = float(page.tile(f"components per {row}"))
        same("mean in a row", mean, float(per_row.mean()), within=0.006 * max(mean, 1))
        of = dict(zip(heat["columns"], held.sum(axis=0)))
        for table in ("components", "pairs"):
            names, counts = page.column(table, "component"), page.column(table, f"{row}s")
            for name, told in zip(names, counts):
                same(f"rows that hold {name} ({table})", int(_number(told)), int(of[name]))
    words = {"sample", "pixel", "time point", "point"}
    for other in words - {row}:
        told = page.texts["answer"] + page.texts["fit"] + page.texts["supports"] + page.texts["separation"]
        if row not in other and other not in row and re.search(rf"\b{other}s?\b", told):
            same(f"word for rows: {row} and {other}", 0, 1)


def _of_verdict(page, answer, charts, same, found):
    word = re.search(r"\b(Use it|Use with care|Do not use|Not judged)\b", answer)[1].lower()
    if word == "not judged":
        return
    checks = [(status, " ".join(text.split()).lstrip("✓!✗– ")) for status, text in page.items["checks"]]
    named = [(s, t) for s, t in checks if OF_VERDICT.match(t)]
    same("verdict and its weakest check", RANK.index(STATUS[word]), max(RANK.index(s) for s, _ in named))
    because = re.search(r"Because of ([^.]*)\.", answer)
    for name in re.split(r", | and ", because[1]) if because else []:
        found += [
            f"verdict because of {name}, which is {s}"
            for s, t in named
            if t.lower().startswith(name) and s != STATUS[word]
        ]
    rate = re.search(r"headed \"([a-z ]+)\"", answer)
    if rate[1] != word:
        found.append(f"verdict {word}, rate of {rate[1]}")
    doubted = {t.split(": ")[0].removesuffix(f" {w}") for _, t in checks for w in STATUS if f" {w}: " in t}
    carded = {
        re.match(r"\s*(.*?)\s+largest at", text, re.S)[1]
        for _, text in page.items["cards"]
        if re.search("; (use with care|do not use)", text)
    }
    shown = {re.match(r"\s*(.*?)\s+largest at", text, re.S)[1] for _, text in page.items["cards"]}
    if carded != doubted & shown:
        found.append(f"components in doubt: on cards {sorted(carded)}, in checks {sorted(doubted & shown)}")


def _of_explained(page, answer, charts, n, row, same):
    r2 = page.tile("R²")
    share = re.search(r"They explain ([\d.-]+) % of the variance", answer)
    if r2 and share:
        digits = len(share[1].partition(".")[2])
        same("variance explained", 100 * float(r2), float(share[1]), within=0.51 * 10.0**-digits + 1e-3)
    leave = re.search(r"(\d[\d,]*) [a-z ]+ of [\d,]+ leaves? more than noise\.", answer)
    none = re.search(r"no [a-z ]+ leaves more than noise\.", answer)
    strange = int(_number(leave[1])) if leave else 0 if none else None
    tile = page.tile(f"{row}s explained")
    same(
        "share explained",
        None if tile is None else _percent(tile),
        None if strange is None else 1 - strange / n,
        within=6e-4,
    )
    said = [
        re.search(r"explained ([\d,]+) of ([\d,]+)\.", " ".join(t.split())) for _, t in page.items["checks"]
    ]
    told = page.column("samples", "explained")
    drawn = [
        len(one["y"])
        for one in charts.get("fit", {"series": []})["series"]
        if one["name"] == "more than noise left"
    ]
    whole = "Thinned" not in page.texts["fit"] and "fit" in charts
    same(
        "not explained",
        strange,
        *(int(_number(one[2])) - int(_number(one[1])) for one in said if one),
        told.count("no") if len(told) == n else None,
        sum(drawn) if whole else None,
    )
    ratios = [float(value.replace(",", "")) for value in page.column("samples", "residual / noise")]
    if whole and len(ratios) == n:
        drawn = [value for one in charts["fit"]["series"] for value in one["y"]]
        same("largest residual", max(ratios), max(drawn), within=0.006 * max(ratios))


def _of_supports(page, charts, n, row, same, found):
    confidences = [float(value) for value in page.column("samples", "confidence")]
    tile = page.tile("supports right, expected")
    wrong = re.search(r"Of ([\d,]+) lists?, (fewer than )?([\d.,]+) should be wrong", page.texts["supports"])
    check = next(
        (
            re.search(r"Supports ([\d.]+)% of the lists", " ".join(t.split()))
            for _, t in page.items["checks"]
            if "Supports" in t
        ),
        None,
    )
    stated = [tile is not None, wrong is not None, "confidence" in charts, bool(confidences)]
    same("confidence is stated", *map(int, stated))
    if check is not None:
        same("confidence in its check", _percent(check[1]), None if tile is None else _percent(tile))
    if not all(stated):
        if "Confidence: " not in page.texts["supports"]:
            found.append("confidence is missing, and nothing says why")
        return
    mean = _percent(tile)
    same("lists", n, int(_number(wrong[1])), int(sum(charts["confidence"]["series"][0]["y"])))
    if wrong[2] is None:
        same("lists that should be wrong", n * (1 - mean), _number(wrong[3]), within=0.06 + 6e-4 * n)
    if len(confidences) == n:
        same("mean confidence", mean, float(np.mean(confidences)), within=1.2e-3)


def _of_components(page, charts, row, same, found):
    shares = page.column("components", "share of signal")
    if all(one != "–" for one in shares):
        values = [_percent(one) for one in shares]
        same("shares of the signal", 1.0, sum(values), within=6e-4 * len(values))
        if values != sorted(values, reverse=True):
            found.append(f"components are not in the order of their shares: {shares}")
    peaks = dict(zip(page.column("components", "component"), page.column("components", "largest at")))
    for _, text in page.items["cards"]:
        name, at = re.match(r"\s*(.*?)\s+largest at (\S+?);?(?:\s|$)", text, re.S).groups()
        if peaks.get(name) != at.rstrip(";"):
            found.append(f"{name} is largest at {at} and at {peaks.get(name)}")
    series = {one["name"]: one for one in charts["profiles"]["series"]}
    for name, at in peaks.items():
        x, y = series[name].get("x", charts["profiles"]["x"]), np.abs(series[name]["y"])
        same(
            f"{name} is largest at",
            float(np.max(y)),
            float(y[np.abs(np.array(x) - _number(at)).argmin()]),
            within=2e-3,
        )


def _of_uniqueness(page, row, found):
    check = next((" ".join(t.split()) for _, t in page.items["checks"] if "Uniqueness" in t), "")
    different = page.column("components", "could look different?")
    missing = "Bands of what would fit as well: " in page.texts["profiles"]
    if missing != (not different):
        found.append("bands are neither told nor said to be missing")
    if missing and check and "are missing" not in check:
        found.append("bands are missing, and uniqueness does not say so")
    loose = {
        name
        for name, told in zip(page.column("components", "component"), different)
        if told.startswith("yes")
    }
    if different and loose and not all(name in check for name in sorted(loose)[:8]) and "more" not in check:
        found.append(f"uniqueness does not name {sorted(loose)}: {check}")
    if different and not loose and check and "No component could look different" not in check:
        found.append(f"no component could look different, but: {check}")
    drawn = [one["name"] for one in page.charts["profiles"]["series"] if "band" in one]
    told = {name for name, said in zip(page.column("components", "component"), different) if said != "no"}
    found += [
        f"a band is drawn for {name}, which could not look different" for name in drawn if name not in told
    ]
    trade = "part of one may be counted to another" in page.texts["separation"]
    if trade and different and not loose:
        found.append("components may be counted to each other, but none could look different")
