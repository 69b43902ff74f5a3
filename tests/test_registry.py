"""The doors, with packages that are not there: what they add takes part, and what cannot be used is left out."""

import json
import os
import re
import subprocess
import sys
import threading
import warnings
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from gmcr import make_mixtures, registry
from gmcr.constraints import CONSTRAINTS, AtMost
from gmcr.errors import InputError
from gmcr.io.formats import FORMATS, Format
from gmcr.noise import LAWS, Constant, NoiseLaw
from gmcr.rank import RULES
from gmcr.registry import Registry
from gmcr.reporting import SECTIONS

ROOT = Path(__file__).parents[1]
FORMATS_PAGE = ROOT / "docs" / "formats.md"


@pytest.fixture
def doors(monkeypatch):
    """A registry with one built-in thing, apart from gmcr's own."""
    monkeypatch.setattr(registry, "_registries", [])
    made = Registry("colour")
    exec('made.add("red", 1)', {"__name__": "gmcr.colours", "made": made})
    return made


@pytest.fixture
def install(monkeypatch, tmp_path, doors):
    """Packages by name and source of their module; `doors` is there as `colours`."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "colours", SimpleNamespace(doors=doors))

    def installed(**sources):
        entries = []
        for name, source in sources.items():
            (tmp_path / f"{name}_things.py").write_text(f"from colours import doors\n{source}\n")
            monkeypatch.delitem(sys.modules, f"{name}_things", raising=False)
            entry = EntryPoint(name, f"{name}_things", registry.GROUP)
            vars(entry).update(dist=SimpleNamespace(name=f"lab-{name}"))
            entries.append(entry)
        monkeypatch.setattr(registry, "entry_points", lambda group: entries)
        monkeypatch.setattr(registry, "_loaded", False)

    return installed


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # of another test, which is collected here by chance
        result = call()
    return result, [str(warning.message) for warning in caught]


def test_what_is_built_in_comes_first_and_packages_after(doors, install):
    install(a='GMCR_INTERFACE = 1\ndoors.add("green", 2)', b='doors.add("blue", 3)\nGMCR_INTERFACE = 1')
    assert list(doors) == ["red", "green", "blue"]
    assert doors.values() == [1, 2, 3]
    assert doors.items()[1] == ("green", 2)
    assert doors["blue"] == 3
    assert "blue" in doors
    assert "black" not in doors


def test_nothing_is_loaded_for_what_is_built_in(doors, install):
    install(a="raise SystemExit")
    assert warned(lambda: doors["red"]) == (1, [])


def test_a_kind_that_is_not_installed_is_one_sentence(doors, install):
    install(a='GMCR_INTERFACE = 1\ndoors.add("green", 2)')
    with pytest.raises(InputError) as caught:
        doors["infrared" * 20]
    message = str(caught.value)
    assert message.startswith("the colour 'infraredinfra")
    assert message.endswith("is not known here; install the package that adds it, or choose red, green.")
    assert len(message) < 200


def test_a_name_taken_twice_is_refused(doors, install):
    install(
        a='GMCR_INTERFACE = 1\ndoors.add("green", 2)',
        b='GMCR_INTERFACE = 1\ndoors.add("white", 5)\ndoors.add("green", 4)',
        c='GMCR_INTERFACE = 1\ndoors.add("red", 4)',
    )
    things, told = warned(doors.items)
    assert things == [("red", 1), ("green", 2)]  # of b nothing, not even what was free
    assert told == [
        "b of the package lab-b adds nothing to gmcr: the colour 'green' of b of the package lab-b is there "
        "already, from a of the package lab-a; give it another name.",
        "c of the package lab-c adds nothing to gmcr: the colour 'red' of c of the package lab-c is there "
        "already, from gmcr; give it another name.",
    ]
    with pytest.raises(InputError, match=r"of the module test_registry is there already, from gmcr"):
        doors.add("red", 5)
    for nameless in ("", " ", None, 3):
        with pytest.raises(InputError, match="a colour needs a name, not"):
            doors.add(nameless, 5)


class Ranked(NoiseLaw):
    """A law that lacks its methods."""


class Nameless(Constant):
    kind = "other"


@pytest.mark.parametrize(
    ("registry", "thing", "reason"),
    [
        (LAWS, 3, "must be a subclass of NoiseLaw, not 3."),
        (LAWS, Constant(1.0), r"must be a subclass of NoiseLaw, not Constant\(level=1.0\)."),
        (LAWS, AtMost, "must be a subclass of NoiseLaw"),
        (LAWS, Ranked, "must be a class that can be used; it lacks draw, estimate, scaled, sigma."),
        (LAWS, Nameless, "must be a class with kind = 'junk', not 'other'."),
        (CONSTRAINTS, Constant, "must be a subclass of Constraint"),
        (SECTIONS, lambda contents: [], "must be a Section"),
        (RULES, len, "must be a Rule"),
        (FORMATS, Format, "must be a Format"),
    ],
)
def test_what_is_no_such_thing_is_refused(registry, thing, reason):
    with pytest.raises(InputError, match=f"the {registry.sort} 'junk' {reason}"):
        registry.add("junk", thing)
    assert "junk" not in registry


@pytest.mark.parametrize(("said", "heard"), [("GMCR_INTERFACE = 2", "2"), ("", "None")])
def test_another_interface_is_told_and_left_out_whole(doors, install, said, heard):
    install(a=f'{said}\ndoors.add("green", 2)', b='GMCR_INTERFACE = 1\ndoors.add("blue", 3)')
    names, told = warned(lambda: list(doors))
    assert names == ["red", "blue"]
    reason = f"it is written for interface {heard} of gmcr, and this is 1."
    assert told == [f"a of the package lab-a adds nothing to gmcr: {reason}"]
    assert warned(lambda: list(doors)) == (["red", "blue"], [])  # told once


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("raise ValueError('two\\nlines.')", "two lines"),
        ("import nowhere_to_be_found", "No module named 'nowhere_to_be_found'"),
        ("raise SystemExit", "SystemExit"),
        ("1 +", "invalid syntax (a_things.py, line 4)"),
    ],
)
def test_a_package_that_fails_is_told_and_left_out(doors, install, failure, reason):
    install(a=f'GMCR_INTERFACE = 1\ndoors.add("green", 2)\n{failure}')
    assert warned(lambda: list(doors)) == (
        ["red"],
        [f"a of the package lab-a adds nothing to gmcr: {reason}."],
    )


def test_what_gmcr_registers_while_a_package_is_loaded_stays(doors, install, monkeypatch):
    """A package may be the first to import one of gmcr's files."""
    built_in = "exec('doors.add(\"green\", 2)', {'__name__': 'gmcr.more', 'doors': doors})"
    install(a=f"{built_in}\nraise ValueError")
    assert warned(lambda: list(doors))[0] == ["red", "green"]


def test_a_package_may_look_into_a_registry_while_it_is_loaded(doors, install):
    install(a='GMCR_INTERFACE = 1\nassert list(doors) == ["red"]\ndoors.add("green", doors["red"] + 1)')
    assert doors["green"] == 2


def test_threads_wait_for_all_packages(doors, install):
    install(a='GMCR_INTERFACE = 1\nimport time\ntime.sleep(0.2)\ndoors.add("green", 2)')
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(list(doors))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [["red", "green"]] * 4


def alone(code, site, **modules):
    """Run code in a process of its own, with packages installed, and give what it prints."""
    for name, source in modules.items():
        (site / f"{name}.py").write_text(f"GMCR_INTERFACE = 1\n{source}\n")
        metadata = site / f"{name}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[gmcr]\n{name} = {name}\n")
    paths = [str(site), os.environ.get("PYTHONPATH", ""), str(ROOT / "src")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    call = [sys.executable, "-c", code]
    done = subprocess.run(call, cwd=site, env=environment, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


SLOW = "import time\ntime.sleep(1)\nfrom gmcr.noise import LAWS\nlooked = 'x' in LAWS"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_fork_waits_for_packages_that_another_thread_loads(tmp_path):
    code = """
import os, signal, threading, time
from gmcr.noise import LAWS
thread = threading.Thread(target=lambda: list(LAWS)); thread.start(); time.sleep(0.3)
pid = os.fork()
if pid == 0:
    signal.alarm(20); list(LAWS); os._exit(0)
print(os.waitpid(pid, 0)[1])"""
    assert alone(code, tmp_path, slow=SLOW) == "0\n"


def test_an_import_and_a_thread_that_loads_do_not_wait_for_each_other(tmp_path):
    code = """
import faulthandler, threading, time
faulthandler.dump_traceback_later(20, exit=True)
from gmcr.noise import LAWS
def own(): import slow
thread = threading.Thread(target=own); thread.start(); time.sleep(0.3)
list(LAWS); thread.join(); print("done")"""
    assert alone(code, tmp_path, slow=SLOW) == "done\n"


CLASH = """
from gmcr.reporting.section import SECTIONS, Section
SECTIONS.add("certificate", Section("mine", 1, lambda contents: []))
"""
REPORT = """
import gmcr
mix = gmcr.make_mixtures(3, 20, n_features=30, random_state=0)
gmcr.report(mix.D, gmcr.Decomposition.from_factors(mix.C, mix.S), "x.html", seconds=0.0)"""


@pytest.mark.parametrize("first", ["", "from gmcr.io import FORMATS; list(FORMATS)"])
def test_a_section_whose_name_is_taken_is_told_and_left_out(tmp_path, first):
    told = alone(first + REPORT, tmp_path, clash=CLASH)
    assert "clash adds nothing to gmcr: the report section 'certificate'" in told
    assert "Traceback" not in told
    assert (tmp_path / "x.html").exists()
    told = alone("import clash", tmp_path)
    assert "'certificate' of the module clash is there already, from gmcr" in told


# The examples of the documentation, installed


RULE = """
from gmcr.rank import RULES, Answer, Rule



def above(seen):
    return Answer(int((seen.values > 5 * np.median(seen.values)).sum()))


RULES.add("five-medians", Rule("five medians", above))
"""


@pytest.fixture
def lab(tmp_path):
    """A file of a format that only the documentation's example reads, and a command line with it installed."""
    texts = re.findall(
        r"^```text\n# my_lab.py\n(.*?)^```", FORMATS_PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    (module,) = texts
    assert len(module.splitlines()) <= 40
    site = tmp_path / "site"
    metadata = site / "my_lab-1.0.dist-info"
    metadata.mkdir(parents=True)
    (site / "my_lab.py").write_text(module + RULE)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-lab\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[gmcr]\nmy-lab = my_lab\n")
    D = make_mixtures(4, 20, 30, 30, random_state=0).D
    lines = ["LAB 1", " ".join(map(str, range(400, 430)))]
    lines += [f"s{index} " + " ".join(map(repr, row.tolist())) for index, row in enumerate(D)]
    (tmp_path / "a.lab").write_text("\n".join(lines))

    def command(*words, installed=True):
        paths = [str(site)] * installed + [os.environ.get("PYTHONPATH", ""), str(ROOT / "src")]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        call = [sys.executable, "-m", "gmcr", *words]
        return subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return command


def test_a_package_adds_a_format_and_a_rank_rule(lab, tmp_path):
    done = lab("rank", "a.lab")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"five medians +4 +4 +4", done.stdout)
    (tmp_path / "a.other").write_text((tmp_path / "a.lab").read_text())
    facts = json.loads(lab("info", "a.other", "--json").stdout)  # told by its first bytes
    assert (facts["samples"], facts["channels"], facts["axis"]) == (20, 30, "400 to 429 nm")
    (tmp_path / "bad.lab").write_text("LAB 1\n400 401\ns1 1 oops\n")
    done = lab("info", "bad.lab")
    message = "bad.lab is damaged or no my lab file: could not convert string to float: 'oops'."
    assert (done.returncode, done.stderr) == (1, f"gmcr: {message}\n")
    done = lab("info", "a.lab", installed=False)
    assert done.returncode == 1
    assert "a.lab has no extension gmcr reads; give a file ending in .csv, .tsv," in done.stderr
