"""The app in a real browser: the whole way for four kinds of data, each to the numbers of the command line."""

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app_server import PATIENCE, Process, end_jobs, threaded
from browser import need_chromium, open_browser
from gmcr import GMCR, make_mixtures
from gmcr.app import language
from gmcr.cli.app import main

pytestmark = pytest.mark.usefixtures("jobs_without_figures")

READY = "document.documentElement?.dataset.ready == 'yes'"
WHOLE = "document.querySelector('#report')?.dataset.whole == 'yes'"
WAYS = ["data", "steps", "fit", "answer", "new", "take"]
SAID = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")


@pytest.fixture(scope="module")
def browser():
    need_chromium()
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Four kinds of data, each small."""
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    nm = np.arange(220.0, 400, 4)
    S = np.exp(-0.5 * ((nm - np.array([[250], [290], [330]])) / 25) ** 2)

    def noisy(clean, share=2e-3):
        return clean + share * clean.max() * rng.standard_normal(clean.shape)

    mix = make_mixtures(3, 20, snr_db=30, n_features=50, random_state=0, profiles="peaks")
    names = ["<img src=x onerror=hacked=1>", *(f"s{m}" for m in range(1, 20))]
    pd.DataFrame(mix.D, names, np.linspace(400, 700, 50).round(2)).to_csv(folder / "<b>spectra.csv")
    minutes = np.arange(4, 7, 0.12).round(2)
    peaks = np.exp(-0.5 * ((minutes[:, None] - [5.0, 5.3, 5.8]) / 0.25) ** 2)
    with pd.ExcelWriter(folder / "hplc.xlsx") as book:
        for name, amounts in {"standard": [1.0, 0.6, 0.8], "product": [0.5, 1.0, 0.3]}.items():
            pd.DataFrame(noisy(peaks * amounts @ S), minutes, nm).to_excel(book, sheet_name=name)
    image = make_mixtures(3, 48, snr_db=30, n_features=40, random_state=1, profiles="peaks")
    np.save(folder / "image.npy", image.D.reshape(6, 8, 40))
    time_ = np.linspace(0.5, 40, 30).round(2)
    growth, decay = np.exp(-0.3 * time_), np.exp(-0.03 * time_)
    middle = 0.3 / (0.03 - 0.3) * (growth - decay)
    C = np.column_stack([growth, middle, 1 - growth - middle])
    pd.DataFrame(noisy(C @ S), time_, nm).to_csv(folder / "reaction.csv")
    long = make_mixtures(7, 300, snr_db=25, n_features=200, random_state=0)
    pd.DataFrame(long.D, columns=np.arange(200) + 400).to_csv(folder / "long.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("app") / "gmcr"
    running = Process(folder)
    yield running
    assert running.end() == 0
    end_jobs(folder)


@pytest.fixture(scope="module")
def entered(browser, app):
    """The browser, let in through the file that leads there."""
    enter(browser, app)
    return browser


@pytest.fixture(autouse=True)
def quiet(request):
    """Nothing goes wrong in the page without a word, no text from a file is run, and nobody else is asked."""
    yield
    if "entered" in request.fixturenames:
        page = request.getfixturevalue("entered")
        assert page.run("typeof hacked") == "undefined"
        assert page.run("document.querySelectorAll('main img, main b b').length") == 0
        asked = {one["request"]["url"] for one in page.told("Network.requestWillBeSent")}
        here = f"http://{request.getfixturevalue('app').address}/"
        assert not [one for one in asked if not one.startswith((here, "file:", "data:", "blob:"))]
        told = [one for one in page.told(*SAID) if "ERR_CONNECTION" not in json.dumps(one)]
        page.events.clear()
        assert not [one for one in told if "422" not in json.dumps(one) and "404" not in json.dumps(one)]


def enter(page, app):
    page.size(1280)
    page.call("Page.navigate", url=app.opening.as_uri())
    page.wait(READY, PATIENCE)
    assert page.run("location.pathname + location.hash") == "/"


def begin(page, path):
    """Drop a file on the first page; the name of the project once it was read."""
    page.run("location.hash = '#/'")
    page.wait("document.querySelector('.start .drop input')")
    page.choose(".drop input[type=file]", path)
    page.wait(
        "location.hash.endsWith('/data') && document.querySelector('figure[data-chart=read] .plot svg')",
        PATIENCE,
    )
    return page.run("decodeURIComponent(location.hash.split('/')[2])")


def go(page, way):
    page.run(f"document.querySelectorAll('#ways a')[{WAYS.index(way)}].click()")
    page.wait(f"location.hash.endsWith('/{way}') && !document.querySelector('main > .wait')", PATIENCE)


def option(page, name, value):
    """Set a control of the form, as a reader does, and wait until the page has written it down."""
    place = f"document.querySelector('[data-option={json.dumps(name)}]')"
    page.wait(place)
    if isinstance(value, bool):
        page.run(f"{place}.checked !== {json.dumps(value)} && {place}.click()")
        return
    page.run(
        f"""(box => {{ box.focus(); box.value = {json.dumps(str(value))};
            box.dispatchEvent(new Event("input", {{ bubbles: true }}));
            box.dispatchEvent(new Event("change", {{ bubbles: true }})); }})({place})"""
    )


def unmix(page):
    page.click("#start")
    page.wait("location.hash.endsWith('/answer')", PATIENCE)
    page.wait(WHOLE, PATIENCE)


def same_run(folder, other):
    """Whether two runs hold the same numbers."""
    names = {path.name for path in other.glob("*.csv")}
    assert {"profiles.csv", "concentrations.csv", "supports.csv"} <= names
    return names <= {path.name for path in folder.glob("*.csv")} and all(
        (folder / name).read_bytes() == (other / name).read_bytes() for name in names
    )


def command(data, out, *options):
    """The command line on the same file."""
    assert main(["fit", str(data), "-o", str(out), *options]) == 0
    return out


def shown_table(page, name):
    """A table of the page, as texts."""
    return page.run(
        f"""[...document.querySelectorAll("#table-{name} tbody tr")].map(row =>
            [...row.cells].map(cell => cell.textContent))"""
    )


# The whole way


def test_spectra_in_a_csv(entered, app, files, tmp_path):
    """Blind; with steps, a page loaded anew in the middle of the fit, a second tab, another count, names, a
    library,
    new samples, and what is taken away."""
    page = entered
    project = begin(page, files / "<b>spectra.csv")
    folder = app.folder / project
    lead = page.run("document.querySelector('main .lead').textContent")
    assert "20 samples with 50 channels each, from <b>spectra.csv" in lead
    go(page, "steps")
    page.wait("document.querySelector('figure[data-chart=after] .plot svg')", PATIENCE)
    option(page, "range", "420:690")
    page.wait("document.querySelector('.did li')", PATIENCE)
    assert "Cropped to the range 420 to 690" in page.run("document.querySelector('.did').textContent")
    go(page, "fit")
    page.wait("document.querySelector('#start')", PATIENCE)
    page.click("#start")
    page.wait("document.querySelector('#fit-status progress')", PATIENCE)
    page.call("Page.reload")  # closing the tab loses nothing
    page.wait(f"{READY} && document.querySelector('#fit-status h2')", PATIENCE)
    other = page.tab()
    other.open(f"http://{app.address}/#/p/{project}/fit")
    page.wait("location.hash.endsWith('/answer')", PATIENCE)
    page.wait(WHOLE, PATIENCE)
    other.wait("location.hash.endsWith('/answer') || document.querySelector('#fit-status a')", PATIENCE)
    other.close()
    run = command(files / "<b>spectra.csv", tmp_path / "run", "--range", "420:690")
    assert same_run(folder, run)
    found = pd.read_csv(run / "concentrations.csv", index_col=0)
    assert page.run("document.querySelector('#answer h1').textContent").startswith(
        f"{found.shape[1]} component"
    )
    rows = shown_table(page, "samples")
    assert [row[0] for row in rows] == list(found.index)
    assert rows[0][0] == "<img src=x onerror=hacked=1>"
    for row, values in zip(rows, found.to_numpy()):
        held = [float(cell.split(" ±")[0]) if cell else 0.0 for cell in row[1 : 1 + len(values)]]
        np.testing.assert_allclose(held, values, rtol=1e-3)
    # Another count changes everything at once, and back again
    page.click("#fewer")
    page.wait(
        f"document.querySelector('#report').dataset.count == '{found.shape[1] - 1}' && {WHOLE}", PATIENCE
    )
    shutil.copytree(run, tmp_path / "fewer")
    data = files / "<b>spectra.csv"
    assert main(["report", str(tmp_path / "fewer"), str(data), "--components", str(found.shape[1] - 1)]) == 0
    made = json.loads(
        (tmp_path / "fewer" / f"report_{found.shape[1] - 1}.html")
        .read_text()
        .split('id="data">')[1]
        .split("</script>")[0]
    )
    shown = page.run("document.querySelector('#figure-profiles').chart.spec.series.map(one => one.y)")
    assert shown == [one["y"] for one in made["charts"]["profiles"]["series"]]
    page.click("#switch-own")
    page.wait(f"document.querySelector('#report').dataset.count == '{found.shape[1]}' && {WHOLE}", PATIENCE)
    # A sample, and a range of it
    page.run("document.querySelector('#explorer').scrollIntoView()")
    page.wait("document.querySelector('figure[data-chart=sample] .plot svg')", PATIENCE)
    page.run("document.querySelector('#sample-name').value = '4'")
    page.run("document.querySelector('#sample-name').dispatchEvent(new Event('change'))")
    page.wait("document.querySelector('figure[data-chart=sample] figcaption').textContent == 's4'", PATIENCE)
    drag(page, "figure[data-chart=sample] .plot", 0.3, 0.6)
    page.wait("document.querySelector('.asked button:nth-of-type(2)')")
    page.click(".asked button:nth-of-type(2)")
    page.wait("document.querySelector('#explorer table')")
    assert page.run("document.querySelectorAll('#explorer table tbody tr').length") == found.shape[1]
    # Names, by hand and by a library
    page.run("document.querySelector('.names').closest('details').open = true")
    page.run("document.querySelector('#name-0').value = '<i>lac\"tose; ls'")
    page.click(".names .main")
    page.wait("document.querySelector('#table-components td')?.textContent == '<i>lac\"tose; ls'", PATIENCE)
    assert pd.read_csv(folder / "concentrations.csv", index_col=0).columns[0] == '<i>lac"tose; ls'
    library = pd.read_csv(run / "profiles.csv", index_col=0).set_axis(
        [f"pure {j}" for j in range(found.shape[1])]
    )
    library.to_csv(tmp_path / "library.csv")
    page.run("[...document.querySelectorAll('details')].find(one => one.querySelector('.drop')).open = true")
    page.choose("#report .drop input[type=file]", tmp_path / "library.csv")
    page.wait(
        "[...document.querySelectorAll('#table-components td')].some(one => one.textContent.includes('pure 1'))",
        PATIENCE,
    )
    # New samples, some of which hold something else
    fresh = pd.read_csv(data, index_col=0).iloc[1:5]
    fresh.iloc[3] += 3 * np.exp(-0.5 * ((np.arange(50) - 8) / 2.0) ** 2)
    fresh.to_csv(tmp_path / "fresh.csv")
    go(page, "new")
    page.choose(".drop input[type=file]", tmp_path / "fresh.csv")
    page.wait("document.querySelectorAll('main table tbody tr').length == 4", PATIENCE)
    flags = page.run(
        "[...document.querySelectorAll('main tbody .status')].map(one => one.classList.contains('holds'))"
    )
    assert flags == [True, True, True, False]
    assert main(["decode", str(folder), str(tmp_path / "fresh.csv"), "-o", str(tmp_path / "out.csv")]) == 0
    assert (folder / "decoded" / "fresh.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    # What is taken away
    go(page, "take")
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "taken"))
    page.click(".takings li:nth-child(2) button")
    until = time.monotonic() + PATIENCE
    while not (tmp_path / "taken" / "run.xlsx").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    assert (tmp_path / "taken" / "run.xlsx").read_bytes() == (folder / "run.xlsx").read_bytes()
    assert "gmcr fit" in page.run("document.querySelector('#script').textContent")
    page.click(".takings li:nth-child(1) button:nth-of-type(2)")
    page.wait("document.querySelector('iframe')")
    framed = page.wait_for_frame()
    assert framed["heading"].startswith(f"{found.shape[1]} component")
    assert framed["reached"] == "nothing"


def drag(page, selector, begin_, end):
    page.run(f"document.querySelector('{selector}').scrollIntoView({{block: 'center'}})")
    box = page.run(f"document.querySelector('{selector}').getBoundingClientRect().toJSON()")
    y = box["y"] + box["height"] / 2
    at = [box["x"] + share * box["width"] for share in (begin_, (begin_ + end) / 2, end)]
    page.move(at[0], y)
    page.move(at[0], y, "mousePressed", "left")
    page.move(at[1], y)
    page.move(at[2], y)
    page.move(at[2], y, "mouseReleased", "left")


def test_runs_in_a_workbook_while_the_server_is_killed(browser, files, tmp_path):
    """HPLC: a sheet for each injection; peaks have one maximum. The server is killed in the middle of the fit."""
    first = Process(tmp_path / "gmcr")
    second = None
    page = browser.tab()
    try:
        enter(page, first)
        project = begin(page, files / "hplc.xlsx")
        option(page, "sheets", True)
        page.wait(
            "[...document.querySelectorAll('caption')].some(one => one.textContent == 'Runs')", PATIENCE
        )
        option(page, "order", "names")
        page.wait("document.querySelector('.told').getAttribute('aria-busy') === null", PATIENCE)
        go(page, "fit")
        option(page, "components", "3")
        option(page, "unimodal C", True)
        page.click("#start")
        page.wait("document.querySelector('#fit-status .stage')", PATIENCE)
        first.kill()
        page.wait("document.querySelector('#notice .wrong')", PATIENCE)
        second = Process(tmp_path / "gmcr")
        enter(page, second)
        page.click(".projects a")
        page.wait("location.hash.endsWith('/fit') || location.hash.endsWith('/answer')", PATIENCE)
        page.wait("location.hash.endsWith('/answer')", PATIENCE)
        page.wait(WHOLE, PATIENCE)
        options = ["--sheets", "--order", "names", "--components", "3", "--constraint", "unimodal C"]
        run = command(files / "hplc.xlsx", tmp_path / "run", *options)
        assert same_run(tmp_path / "gmcr" / project, run)
        areas = pd.read_csv(run / "areas.csv", index_col=0)
        shown = shown_table(page, "areas")
        assert [row[0] for row in shown] == ["product", "standard"]
        np.testing.assert_allclose([[float(cell) for cell in row[1:]] for row in shown], areas, rtol=1e-3)
        assert "Which runs differ most" in page.run("document.querySelector('#report').textContent")
        # Another count of a run whose samples have an order: what was told is in the model
        page.click("#fewer")
        page.wait(f"document.querySelector('#report').dataset.count == '2' && {WHOLE}", PATIENCE)
        model = GMCR.load(run / "model.gmcr")
        from gmcr import read

        other = model.at(2, read(files / "hplc.xlsx", name="*"))
        profiles = page.run("document.querySelector('#figure-profiles').chart.spec.series.map(one => one.y)")
        np.testing.assert_allclose(profiles, other.components_, rtol=1e-3, atol=1e-6)
        assert second.end() == 0
    finally:
        page.close()
        first.end()
        if second is not None:
            second.end()
        end_jobs(tmp_path / "gmcr")


def test_an_image_on_a_narrow_dark_screen(entered, app, files, tmp_path):
    page = entered
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    page.size(390, 844)
    try:
        project = begin(page, files / "image.npy")
        assert "6 × 8 pixels" in page.run("document.querySelector('main .lead').textContent")
        page.wait("document.documentElement.dataset.theme == 'dark'")
        for way in ("data", "steps", "fit"):
            go(page, way)
            page.wait("document.querySelector('main h1')", PATIENCE)
            check_narrow(page)
            check_accessible(page)
        option(page, "components", "3")
        unmix(page)
        run = command(files / "image.npy", tmp_path / "run", "--components", "3")
        assert same_run(app.folder / project, run)
        with np.load(run / "maps.npz") as maps:
            expected = maps["concentrations"]
        spec = page.run("document.querySelector('#figure-maps').chart.spec")
        assert (spec["height"], spec["width"]) == expected.shape[:2]
        np.testing.assert_allclose(spec["most"], expected.max(axis=(0, 1)), rtol=1e-3)
        check_narrow(page)
        check_accessible(page)
        for way in ("new", "take"):
            go(page, way)
            page.wait("document.querySelector('main h1')", PATIENCE)
            check_narrow(page)
            check_accessible(page)
        page.run("location.hash = '#/'")
        page.wait("document.querySelector('.projects li')", PATIENCE)
        check_narrow(page)
        check_accessible(page)
    finally:
        page.call("Emulation.setEmulatedMedia", features=[])
        page.size(1280)
    check_light(page, project)


def test_a_reaction_with_the_keyboard_alone(entered, app, files, tmp_path):
    """Kinetics. Nothing is clicked: Tab, Enter, arrows and letters."""
    page = entered
    page.run("location.hash = '#/'")
    page.wait("document.querySelector('.start .drop input')")
    page.run("document.body.focus(); document.activeElement.blur()")
    reach(page, "document.activeElement.matches('.drop input[type=file]')")
    assert ringed(page, "document.activeElement.nextElementSibling")
    page.choose(".drop input[type=file]", files / "reaction.csv")  # the system's own dialog
    page.wait("document.querySelector('figure[data-chart=read] .plot svg')", PATIENCE)
    project = page.run("decodeURIComponent(location.hash.split('/')[2])")
    reach(page, "document.activeElement.dataset.option == 'order'")
    page.press("ArrowDown")
    page.press("ArrowDown")
    page.wait("document.activeElement.value == 'names'")
    page.wait("document.querySelector('.told').getAttribute('aria-busy') === null", PATIENCE)
    reach(
        page,
        "document.activeElement.matches('#ways a') && document.activeElement.textContent.includes('Unmix')",
    )
    page.press("Enter")
    page.wait(
        "document.querySelector('#start') && document.activeElement == document.querySelector('main')",
        PATIENCE,
    )
    reach(page, "document.activeElement.dataset.option == 'components'")
    page.type("3")
    reach(page, "document.activeElement.dataset.option == 'kinetic words'")
    page.type("A > B > C")
    reach(page, "document.activeElement.id == 'start'")
    page.press("Enter")
    page.wait("location.hash.endsWith('/answer')", PATIENCE)
    page.wait(WHOLE, PATIENCE)
    options = ["--components", "3", "--constraint", "kinetic A > B > C", "--order", "names"]
    run = command(files / "reaction.csv", tmp_path / "run", *options)
    assert same_run(app.folder / project, run)
    rates = pd.read_csv(app.folder / project / "rates.csv")["rate"]
    np.testing.assert_allclose(rates, [0.3, 0.03], rtol=0.05)
    # The pictures speak, and each has its numbers behind it
    reach(page, "document.activeElement.matches('figure[data-chart=sample] .plot')")
    page.press("ArrowRight")
    assert "signal" in page.run("document.querySelector('figure[data-chart=sample] .plot').ariaLabel")
    assert page.run("document.getElementById('live').textContent") != ""
    page.press("Tab")
    reach(page, "document.activeElement.matches('figure[data-chart=sample] summary')")
    page.press("Enter")
    page.wait("document.querySelector('figure[data-chart=sample] table tbody tr')")
    assert page.run("document.querySelectorAll('figure[data-chart=sample] tbody tr').length") == 45


def reach(page, condition, most=400):
    """Tab until something has the focus, which can be seen all the way."""
    for _ in range(most):
        if page.run(f"document.activeElement != document.body && ({condition})"):
            return
        page.press("Tab")
        if page.run("!document.activeElement.matches('body, iframe, .drop input')"):
            assert ringed(page, "document.activeElement"), page.run(
                "document.activeElement.outerHTML.slice(0, 200)"
            )
    raise AssertionError(f"not reached: {condition}")


def ringed(page, node):
    style = f"getComputedStyle({node})"
    return page.run(f"{style}.outlineStyle != 'none' && parseFloat({style}.outlineWidth) > 0")


def test_cancelling_and_coming_back(entered, app, files):
    page = entered
    project = begin(page, files / "long.csv")
    go(page, "fit")
    page.wait("document.querySelector('#start')", PATIENCE)
    page.click("#start")
    page.wait(
        "document.querySelector('figure[data-chart=path-count] .plot svg')", PATIENCE
    )  # the path, as it comes
    assert "left" in page.run("document.querySelector('#fit-status').textContent")
    page.run(
        "[...document.querySelectorAll('#fit-status button')].find(one => one.textContent == 'Cancel').click()"
    )
    page.wait("document.querySelector('#fit-status h2')?.textContent == 'Cancelled'", PATIENCE)
    assert not (app.folder / project / "model.gmcr").exists()
    page.run("document.querySelector('#fit-status .tools button').click()")
    page.wait("document.querySelector('#keep')", PATIENCE)
    page.click("#keep")
    page.wait("location.hash.endsWith('/answer')", PATIENCE)
    page.wait(WHOLE, PATIENCE)
    assert GMCR.load(app.folder / project / "model.gmcr").interrupted_


# Words, and everybody


def check_narrow(page):
    width = page.run("innerWidth")
    assert page.run("document.scrollingElement.scrollWidth") <= width, page.run("location.hash")


AUDIT = (Path(__file__).parent / "audit.js").read_text()


def check_accessible(page):
    """Names, headings, charts with numbers behind them, and contrast (AA)."""
    found = page.run(f"(() => {{ {AUDIT}; return audit.all(); }})()")
    assert found == [], (page.run("location.hash"), found)


def check_light(page, project):
    """Every view in light colours, with all that can be opened open."""
    page.wait("document.documentElement.dataset.theme == 'light'")
    for theme in ("light", "dark", "light"):  # chosen, chosen, and as the system has it
        page.run("document.querySelector('#theme').click()")
        page.wait(f"document.documentElement.dataset.theme == '{theme}'")
    page.wait("document.querySelector('.projects a')", PATIENCE)
    check_accessible(page)
    page.run(f"location.hash = '#/p/{project}/answer'")
    page.wait(WHOLE, PATIENCE)
    for way in ("answer", "data", "steps", "fit", "new", "take"):
        go(page, way)
        page.wait(f"document.querySelector('main h1') && ('{way}' != 'answer' || {WHOLE})", PATIENCE)
        page.run("document.querySelectorAll('main details').forEach(one => one.open = true)")
        check_accessible(page)


def test_every_text_is_in_the_file_of_texts(browser, tmp_path, monkeypatch, files):
    """In a language whose every text is marked, whatever is not marked comes from files or from the report."""
    told = language._texts("en")
    monkeypatch.setattr(language, "_texts", lambda name: {key: f"§{text}" for key, text in told.items()})
    page = browser.tab()
    with threaded(tmp_path / "gmcr") as (state, address, client):
        project = client.create("§ a title")
        client.give(project, "spectra.csv", (files / "<b>spectra.csv").read_bytes())
        from gmcr.app.entrance import new_token

        page.size(1280)
        page.call("Page.navigate", url=f"http://{address}/enter#{new_token(state.home.private)}")
        # An address that is typed leads in as well; it is used up by then.
        page.wait(READY, PATIENCE)
        for way in ("", f"p/{project}/data", f"p/{project}/steps", f"p/{project}/fit", f"p/{project}/take"):
            page.run(f"location.hash = '#/{way}'")
            page.wait("document.querySelector('main h1') && !document.querySelector('main .wait')", PATIENCE)
            page.run("document.querySelectorAll('main details').forEach(one => one.open = true)")
            loose = page.run(f"(() => {{ {AUDIT}; return audit.unmarked('§'); }})()")
            assert loose == [], way
    page.close()
    used = set()
    for path in (language.files("gmcr.app").joinpath("static")).iterdir():
        used |= {
            key for key in told if f'"{key}"' in path.read_text() or f"{{{{ {key} }}}}" in path.read_text()
        }
    made = (
        "option.",
        "choice.",
        "known.",
        "error.",
        "kind.",
        "reason.",
        "fit.",
        "met.",
        "take.",
        "theme.",
        "ways.",
        "refused.",
    )
    assert {key for key in told if key not in used and not key.startswith(made)} == set()
