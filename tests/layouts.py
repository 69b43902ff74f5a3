"""Tables as instruments and people write them: a written list of layouts, each either way round.

A layout says how samples and channels are labelled, what stands in the corner when samples are in rows and when
they are in columns, and how the file is written. The numbers are the same in all of them.
"""

from dataclasses import dataclass

import numpy as np

N_SAMPLES, N_CHANNELS = 9, 26


def numbers(n_samples=N_SAMPLES, n_channels=N_CHANNELS):
    """Peaks that come and go: (samples, channels), positive, no row or column going one way."""
    at, order = np.arange(n_channels), np.arange(n_samples)
    peaks = np.exp(-(((at - np.array([[6], [15], [21]])) / 3.0) ** 2))
    amounts = 1.2 + np.cos(np.outer(order + 0.3, [1.1, 1.9, 2.7]))
    return np.round(amounts @ peaks + 0.05 * np.sin(np.outer(order + 1, 3 * at + 1)) + 0.2, 4)


def steps(start, step, form="{:g}"):
    """Labels in even steps."""
    return lambda count: [form.format(start + step * index) for index in range(count)]


def curved(start, stop, form="{:.2f}"):
    """Labels in steps that grow, as those of gratings and of time-resolved measurements do."""
    return lambda count: [form.format(value) for value in np.geomspace(start, stop, count)]


def of(*values):
    """Labels as they are, over and over where there are not enough, with a number behind."""
    return lambda count: [
        values[i % len(values)] + ("" if i < len(values) else str(i // len(values))) for i in range(count)
    ]


NAMES = of("blank", "glucose A", "glucose B", "lactose", "standard-1", "honey (old)", "QC", "unknown", "mead")
WELLS = of("A1", "A2", "A3", "B1", "B2", "B3", "C1", "C2", "C3")
IDS = of("10423", "10388", "10501", "9977", "10220", "10999", "10001", "10418", "10317")


@dataclass(frozen=True)
class Layout:
    name: str
    samples: object  # how many -> labels
    channels: object
    in_rows: str = ""  # the corner where samples are in rows
    in_columns: str = ""
    unit: str | None = (
        None  # of the channels, as gmcr spells it, where samples are in columns and the corner tells
    )
    separator: str = ","
    comma: bool = False  # decimal commas
    above: tuple[str, ...] = ()  # lines above the table
    below: tuple[str, ...] = ()
    units: tuple[str, str] | None = None  # second row of the table in columns: of the axis, of the values
    header: bool = True  # whether labels of the columns are written
    labels: bool = True  # whether labels of the rows are written
    unclear: bool = False  # whether nobody could tell, so that it is to be asked for

    def text(self, columns):
        """The file's text, with samples in columns or in rows."""
        D = numbers()
        rows, top = (D.T, self.samples(len(D))) if columns else (D, self.channels(D.shape[1]))
        left = self.channels(D.shape[1]) if columns else self.samples(len(D))
        cells = [
            [*([label] if self.labels else []), *map(repr, row.tolist())] for label, row in zip(left, rows)
        ]
        corner = [self.in_columns if columns else self.in_rows] if self.labels else []
        head = [[*corner, *top]] if self.header else []
        if self.units and columns:
            head.append([self.units[0], *[self.units[1]] * len(top)])
        if self.comma:
            head, cells = ([[_with_comma(cell) for cell in row] for row in part] for part in (head, cells))
        lines = [self.separator.join(row) for row in (*head, *cells)]
        return "\n".join((*self.above, *lines, *self.below)) + "\n"


def _with_comma(cell):
    return cell.replace(".", ",") if cell.replace(".", "").replace("-", "").isdigit() else cell


NM, UV = steps(400, 10), steps(190, 1.5)
LAYOUTS = [
    # Spreadsheets and programs
    Layout("a spreadsheet, samples named", NAMES, NM, "sample", "wavelength"),
    Layout("empty corner", NAMES, NM),
    Layout("pandas, numbered", steps(0, 1), NM),
    Layout("R, write.csv", steps(1, 1), steps(400, 10, "X{:g}")),
    Layout("R, row names", of("s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"), steps(400, 10, "X{:g}")),
    Layout("unit in each label", NAMES, steps(400, 10, "{:g} nm"), "name", "name", "nm"),
    Layout("unit without a space", NAMES, steps(400, 10, "{:g}nm"), "", "", "nm"),
    Layout("absorbances by wavelength", NAMES, steps(250, 4, "A{:g}"), "sample", ""),
    Layout("wl_400", IDS, steps(400, 2.5, "wl_{:g}"), "ID", "ID"),
    Layout("ids that are numbers", IDS, NM, "ID", "nm", "nm"),
    Layout("channels by number", steps(1, 1, "mix {:g}"), steps(1, 1, "ch{:g}"), "", "channel"),
    Layout("the unit beside names", NAMES, NM, "nm", "nm", "nm"),
    Layout("both headings whole", NAMES, NM, "Sample Name", "Wavelength (nm)", "nm"),
    Layout("both words in the corner", steps(0, 0.5), NM, "time \\ wavelength", "wavelength \\ time"),
    Layout("both words and a slash", steps(0, 0.5), NM, "Time/Wavelength", "Wavelength/Time"),
    Layout("files as samples", steps(1, 1, "scan{:03.0f}.spc"), UV, "file", "nm", "nm"),
    Layout("dates as samples", steps(1, 1, "2024-03-{:02.0f} 10:15"), UV, "acquired", "wavelength (nm)"),
    # Times, temperatures, titrations
    Layout("kinetics in minutes", steps(0, 0.5), NM, "Time (min)", "Wavelength (nm)", "nm"),
    Layout("kinetics in seconds", curved(0.1, 900), UV, "t / s", "lambda / nm", "nm"),
    Layout("bare units in corners", steps(2, 2), NM, "min", "nm", "nm"),
    Layout("HPLC-DAD", steps(1.2, 0.00667, "{:.5f}"), steps(210, 2), "RT", "nm", "nm", "\t"),
    Layout("times with units", steps(0, 5, "{:g} min"), NM, "", "wavelength", ),
    Layout("labels t=0 s", steps(0, 30, "t={:g} s"), NM, "", "nm", "nm"),
    Layout("melting", steps(20, 5), UV, "Temperature (°C)", "Wavelength (nm)", "nm", "\t"),
    Layout("titration", of("2.1", "3.0", "3.8", "4.4", "5.2", "6.1", "7.3", "8.8", "10.2"), UV, "pH", "nm", "nm"),
    Layout("volumes of titrant", steps(0, 0.25), UV, "Volume (mL)", "Wavelength (nm)", "nm"),
    Layout("dilutions", steps(0, 10, "{:g} µM"), UV, "", "Wavelength (nm)", "nm"),
    Layout("spectroelectrochemistry", steps(-0.4, 0.1, "{:.1f}"), UV, "Potential (V)", "Wavelength (nm)", "nm"),
    Layout("scans counted", steps(1, 1), steps(40, 1), "scan", "m/z", "m/z", "\t"),
    Layout("index from zero", steps(0, 1), NM, "index", "wavelength"),
    # Instruments
    Layout("Shimadzu UVProbe", NAMES, steps(800, -2), "Sample ID", "Wavelength nm.", None, "\t"),
    Layout("Cary, units row", NAMES, steps(800, -2), "Sample", "Wavelength", "nm", units=("nm", "Abs")),
    Layout("Ocean Optics", NAMES, curved(339, 1025), "", "Wavelengths", None, "\t", above=("FLAME", "Boxcar 3")),
    Layout("FTIR, falling", NAMES, steps(3999.64, -128.5, "{:.2f}"), "Sample", "cm-1", "cm⁻¹"),
    Layout("Raman", NAMES, curved(201.3, 3200.4), "spectrum", "Raman shift (cm-1)", "cm⁻¹", "\t"),
    Layout("NIR, Unscrambler", NAMES, steps(1100, 2, "{:.6f}"), "", "", None, "\t"),
    Layout("NMR buckets", NAMES, steps(9.98, -0.04, "{:.2f}"), "Sample", "ppm", "ppm", ";"),
    Layout("XRD", NAMES, steps(5, 0.02, "{:.2f}"), "sample", "2theta (deg)"),
    Layout("XPS", NAMES, steps(295, -0.1, "{:.1f}"), "name", "Binding energy (eV)", "eV"),
    Layout("plate reader", WELLS, steps(230, 5), "Well", "Wavelength", above=("Plate reader", "Mode: A")),
    Layout("fluorimeter, decimal commas", NAMES, steps(300, 2.5), "Probe", "nm", "nm", ";", True),
    Layout("a footer below", NAMES, NM, "Sample", "nm", "nm", below=("End of data",)),
    # Languages
    Layout("German", steps(1, 1, "Probe {:g}"), NM, "Probe", "Wellenlänge [nm]", "nm", ";", True),
    Layout("German, times", steps(0, 0.5), steps(400.5, 10), "Zeit (min)", "Wellenlänge in nm", "nm", ";", True),
    Layout("French", steps(1, 1, "éch. {:g}"), steps(4000, -99), "éch.", "nombre d'onde cm-1", "cm⁻¹", ";", True),
    Layout("French, times", steps(0, 10), NM, "temps (s)", "longueur d'onde (nm)", "nm", ";"),
    Layout("Spanish", NAMES, NM, "muestra", "longitud de onda (nm)", "nm", ";", True),
    Layout("Spanish, times", curved(0.5, 60), NM, "tiempo (h)", "longitud de onda (nm)", "nm", ";"),
    Layout("Portuguese", NAMES, NM, "amostra", "comprimento de onda (nm)", "nm", ";", True),
    Layout("Italian, temperatures", steps(15, 5), NM, "temperatura (°C)", "lunghezza d'onda (nm)", "nm", ";"),
    Layout("Dutch", NAMES, NM, "monster", "golflengte (nm)", "nm", ";", True),
    Layout("Polish", NAMES, NM, "próbka", "długość fali (nm)", "nm", ";", True),
    Layout("Russian", steps(1, 1, "образец {:g}"), NM, "образец", "длина волны, нм", "nm", ";", True),
    Layout("Russian, times", steps(0, 5), NM, "время, мин", "длина волны, нм", "nm", ";"),
    Layout("Chinese", steps(1, 1, "样品{:g}"), NM, "样品", "波长（nm）", "nm"),
    Layout("Chinese, times", steps(0, 5), NM, "时间（min）", "波长（nm）", "nm"),
    Layout("Japanese", NAMES, steps(4000, -100), "試料", "波数 (cm-1)", "cm⁻¹"),
    # What a file does not say
    Layout("bare numbers", NAMES, NM, header=False, labels=False, unclear=True),
    Layout("two axes without a word", steps(5, 2.5), NM, unclear=True),
    Layout("two lists of names", NAMES, of(*"abcdefghijklmnopqrstuvwxyz"), unclear=True),
]  # fmt: skip
