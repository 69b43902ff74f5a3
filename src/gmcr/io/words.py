"""Words and units that tell samples from channels, in the languages of those who write tables."""

from __future__ import annotations

import re

from gmcr.io.units import LONGEST, unit_in

# What a heading says of the labels that it stands over or beside.
CHANNELS = "channels"
SAMPLES = "samples"
ORDER = "order"  # samples that follow one another: times, temperatures, scans

OF_ORDER = ("s", "ms", "min", "h")  # the units of an axis that are of samples, unless samples stand elsewhere

# Parts of words in any place; then whole words.
_CHANNELS = re.compile(
    r"(?i)wave|wellen|d.onde|d.onda|de onda|golf(lengte|getal)|våg|bølge|aallon|\bfali\b|falowa|vlnov|hullám"
    r"|волн|波|파장|λ|lambda|shift|verschiebung|décalage|desplazamiento|энерги|частот|theta|θ|channel|kanal\b|\bcanal\b"
    r"|\baxis\b|achse|energ|énerg|freq|frequen|\bm/?z\b|\bmass|\bppm\b|\bnm\b|\bcm.?-?1|\bx\b|mutation|\bfeatures?\b"
    r"|\bvariables?\b|\bbands?\b"
)
_ORDER_WORDS = (
    "time|zeit|dauer|temps|tiempo|tempo|tijd|czas|tid|čas|idő|zaman|rt|tr|retention|retentionszeit|elution|temp"
    "|temperature|temperatur|temperatura|température|ph|scans?|frames?|fractions?|fraktion|cycles?|zyklus|dose"
    "|titrant|volume|volumen|potential|voltage|spannung|delay|depth|tiefe|days?|tage?|jours?|age|conc|concentration"
    "|konzentration|injections?|t|min|mins|minutes?|minuten|sec|secs|seconds?|sekunden|s|h|hrs?|hours?|stunden"
)
_ORDER = re.compile(rf"(?i)(?<![^\W_])({_ORDER_WORDS})(?![^\W_])|врем|температур|时间|時間|시간|温度")
_TIME = re.compile(
    r"(?i)(?<![^\W_])(time|zeit|dauer|temps|tiempo|tempo|tijd|czas|tid|čas|idő|zaman|rt|tr|retention|retentionszeit"
    r"|elution|delay|t|days?|tage?|jours?|age)(?![^\W_])|врем|时间|時間|시간"
)
_ORDER_UNIT = (
    r"(?:°\s?[cf]|k|ml|µl|μl|ul|m?v|[mµμu]?m|[mµμun]?mol(?:/l)?|[mµμun]?g/(?:l|ml)|%|d|days?|bar|kpa|rpm)"
)
_BRACKETED = re.compile(rf"(?i).*[\(\[（]\s*{_ORDER_UNIT}\s*[\)\]）]\s*")
_SAMPLE_WORDS = (
    "samples?|probe|proben|échantillons?|echantillons?|muestras?|amostras?|campion[ei]|monsters?|prov|prøve|näyte"
    "|próbk[ai]|vzor(?:ek|ky)|mint(?:a|ák)|specimens?|spectr(?:um|a)|spektr(?:um|en)|mixtures?|mischung|runs?|batch"
    "|vial|patient|tumou?r|replicates?|components?|compound"
)
_NAME_WORDS = (
    "names?|noms?|nombre|nome|naam|ids?|labels?|files?|filename|datei|fichier|archivo|index|number|nr|no|n°"
)
_SAMPLES = re.compile(
    rf"(?i)(?<![^\W_])({_SAMPLE_WORDS}|{_NAME_WORDS}|wells?|observations?)(?![^\W_])|#|образ|проб|样品|样本|試料|サンプル|시료"
)

# Labels that by themselves are of samples, or of channels. None can match one text in two ways, so that a cell of
# a million digits takes no time.
_LABELS = {
    SAMPLES: re.compile(
        rf"(?i)(s|spec|mix|{_SAMPLE_WORDS}|scans?|образец|проба|样品|样本|試料|시료)[ _.#-]{{0,2}}\d+[a-z]?"
        r"|[^/\\]{1,60}\.(csv|txt|spc|j?dx|dpt|asc|sp|wdf|raw|dat|cdf|d)"
        r"|\d{4}-\d\d-\d\d\D?.{0,20}|\d{1,2}[./]\d{1,2}[./]\d{2,4}\D?.{0,20}|\d{1,2}:\d\d(:\d\d([.,]\d{1,6})?)?"
        rf"|(t|time|zeit|ph|temp|rt)[ _=]{{0,3}}\d{{1,9}}([.,]\d{{1,9}})?.{{0,8}}"
        rf"|[+-]?\d{{1,9}}([.,]\d{{1,9}})? ?({_ORDER_UNIT}|ms|s|sec|min|h|hrs?)"
    ),
    CHANNELS: re.compile(r"(?i)(x|v|ch|channel|kanal|wl|var|band|feature)[ _.-]?\d+(\.\d+)?"),
}
# Before the number of a channel: "X1600" (as R names columns), "A260", "Abs 400", "wl_400".
PREFIX = r"(?i:x|a|abs|absorbance|od|wl|wn|nm|lambda|λ|wavelength|wavenumber|mz|m/z|f|fl|i|int|r|refl|band)"

# Headings of the positions of pixels, across and down.
_PLACE = (
    r"(?i)#?\s*(?:pixel|pos|position|stage|coord)?[ _.]?(?:{})[ _.]?(?:pixel|pos|position|coord|coordinate)?"
    r"\s*(?:[\(\[/].{{0,20}})?"
)
_ACROSS, _DOWN = re.compile(_PLACE.format("x|col|column")), re.compile(_PLACE.format("y|row|line"))


def is_position(across: str, down: str) -> bool:
    """Whether two headings are those of the positions of pixels."""
    return bool(_ACROSS.fullmatch(across.strip()) and _DOWN.fullmatch(down.strip()))


def says(heading: str) -> str:
    """What a heading says of its labels: CHANNELS, SAMPLES, ORDER, or nothing known."""
    text = heading.strip()
    if not text or len(text) > LONGEST:
        return ""
    if _CHANNELS.search(text):
        return CHANNELS
    unit = unit_in(text)
    if unit is not None:
        return ORDER if unit in OF_ORDER else CHANNELS
    if _SAMPLES.search(text):
        return SAMPLES
    return ORDER if _ORDER.search(text) or _BRACKETED.fullmatch(text) else ""


def is_time(heading: str) -> bool:
    """Whether a heading of samples that follow one another says that they do so in time."""
    if says(heading) != ORDER:
        return False
    return unit_in(heading) in OF_ORDER or bool(_TIME.search(heading))


def is_label_of(what: str, text: str) -> bool:
    """Whether a label by itself is one of SAMPLES, or of CHANNELS."""
    return bool(_LABELS[what].fullmatch(text.strip()))
