"""What experiments recorded, as `fenchel report` shows it: marked, dated, and number by number that of the files."""
import base64
import html
import json
import pathlib
import re
import unittest

from harness import CommandLine

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "results"
PRINTED = {"discrete_1": "0.5967", "discrete_4_3": "0.5946", "discrete_3_2": "0.6032", "discrete_2": "0.5903",
           "both_1": "0.6229", "both_4_3": "0.6280", "both_3_2": "0.6171", "both_2": "0.6247"}


def plain(content):
    return html.unescape(re.sub("<[^>]*>", "", content)).replace("\u2212", "-").replace("\xa0", " ")


def four(number, sign=""):
    return f"{number:{sign}.4f}"


def interval(ends):
    return "" if ends is None else f" [{four(ends[0])}, {four(ends[1])}]"


def continuous(difference):
    return difference["row"].startswith("both_") and difference["row"] in PRINTED


class Recorded(CommandLine):
    page = None

    def setUp(self):
        super().setUp()
        if Recorded.page is None:
            self.succeed("report", "--quiet", "--output", "page")
            Recorded.page = (self.folder / "page" / "index.html").read_text(encoding="utf-8")
        self.audio = json.loads((RESULTS / "audio.json").read_text())
        self.vqa = json.loads((RESULTS / "vqa.json").read_text())

    def section(self, name):
        return re.search(f'<section id="{name}".*?</section>', Recorded.page, re.S)[0]

    def tables(self, name):
        """Of a section: caption, column names, and rows of plain cells."""
        found = []
        for table in re.findall("<table>.*?</table>", self.section(name), re.S):
            rows = re.findall("<tr>(.*?)</tr>", table, re.S)
            found.append((re.search("<caption>(.*?)</caption>", table, re.S)[1],
                          [plain(cell) for cell in re.findall("<th[^>]*>(.*?)</th>", rows[0], re.S)],
                          [[plain(cell) for cell in re.findall("<td[^>]*>(.*?)</td>", row, re.S)] for row in rows[1:]]))
        return found

    def pairs(self, results, data, cells):
        """Each row of the file with its row of the table, which has the same label."""
        rows = {row["label"].replace("alpha", "\u03b1").replace("sigma2", "\u03c3\u00b2"): row
                for row in results["summary"] if row["data"] == data}
        self.assertEqual(sorted(rows), sorted(row[0] for row in cells))
        return [(rows[row[0]], row) for row in cells]

    def difference(self, results, row, against="discrete_1"):
        """As the page prints it; nothing where the file has none."""
        for each in results["differences"]:
            known = each["data"], each["row"], each["against"], each["value"]
            if known == (row["data"], row["name"], against, "accuracy"):
                return four(each["difference"], "+") + interval(each["interval"])
        return ""

    def test_says_when_where_and_at_which_commit(self):
        for name, results in [("audio", self.audio), ("visual-questions", self.vqa)]:
            made = [row["made"] for row in results["rows"]]
            stamp = "recorded on {} on {} at commit {} by python -m experiments.{}, not computed by this program.".format(
                " and ".join(sorted({each["day"] for each in made})),
                *(" and ".join(dict.fromkeys(each[key] for each in made)) for key in ("machine", "commit")),
                results["experiment"])
            content = self.section(name)
            self.assertIn(stamp, plain(re.search('<div class="computed">.*?</div>', content, re.S)[0]))
            captions = [caption for caption in re.findall("<(?:fig)?caption>(.*?)</(?:fig)?caption>", content, re.S)
                        if "as it is printed" not in caption]
            self.assertGreater(len(captions), 3)
            for caption in captions:
                self.assertIn('<span class="recorded">recorded</span>', caption)
                self.assertIn(stamp, plain(caption))
            self.assertNotIn('class="checks"', content)

    def test_audio_shows_the_numbers_of_the_file_beside_the_printed_ones(self):
        tables = self.tables("audio")[1:]
        datas = list(dict.fromkeys(row["data"] for row in self.audio["summary"]))
        self.assertEqual(len(tables), len(datas))
        for data, (caption, header, cells) in zip(datas, tables):
            self.assertTrue(plain(caption).startswith(data))
            self.assertEqual(header[2:5], ["accuracy", "the paper prints", "minus discrete softmax"])
            for row, (label, group, accuracy, printed, baseline, others) in self.pairs(self.audio, data, cells):
                value = row["values"]["accuracy"]
                self.assertEqual(group, row["group"])
                self.assertEqual(accuracy, f"{four(value['mean'])} \u00b1 {four(value['deviation'])}")
                self.assertEqual(printed.partition(" ")[0], PRINTED.get(row["name"], ""), label)
                self.assertEqual(baseline, self.difference(self.audio, row), label)
                for each in self.audio["differences"]:
                    if (each["data"], each["row"]) == (data, row["name"]) and each["against"] != "discrete_1":
                        self.assertIn(self.difference(self.audio, row, each["against"]), others)

    def test_audio_rows_are_in_the_order_of_the_paper(self):
        for _, _, cells in self.tables("audio")[1:]:
            labels = [row[0] for row in cells]
            self.assertEqual(labels[:4], [f"discrete, \u03b1 = {alpha}" for alpha in ("1", "4/3", "3/2", "2")])
            groups = [row[1] for row in cells]
            self.assertEqual(groups, sorted(groups, key=["paper", "control", "ablation", "floor"].index))

    def test_audio_counts_the_differences_from_controls(self):
        ends = [each["interval"] for each in self.audio["differences"]
                if continuous(each) and each["against"] in self.controls()]
        above, below = sum(low > 0 for low, _ in ends), sum(high < 0 for _, high in ends)
        self.assertGreater(len(ends), 0)
        self.assertIn(f"Against controls they are better in {above} of {len(ends)} comparisons, worse in {below} and "
                      f"undecided in {len(ends) - above - below} (over", plain(self.section("audio")))
        _, _, rows = self.tables("audio")[0]
        against = [row for row in rows if row[1] == "continuous minus a control"]
        self.assertEqual([sum(int(row[k]) for row in against) for k in (2, 3, 4, 5)],
                         [len(ends), above, below, len(ends) - above - below])

    def controls(self):
        return {row["name"] for row in self.audio["rows"]
                if row["group"] == "control" and not row["name"].startswith("both_")}

    def test_visual_questions_show_the_numbers_of_the_file(self):
        printed, *tables = self.tables("visual-questions")
        self.assertEqual([row[4] for row in printed[2]], ["65.83", "65.96", "65.79"])
        datas = list(dict.fromkeys(row["data"] for row in self.vqa["summary"]))
        self.assertEqual(len(tables), 3 * len(datas))
        for data, accuracies, by_kind, regions in zip(datas, tables[::3], tables[1::3], tables[2::3]):
            for row, cells in self.pairs(self.vqa, data, accuracies[2]):
                value = row["values"]["accuracy"]
                self.assertEqual(cells[2], four(value["mean"]) + interval(value["interval"]))
                self.assertEqual(cells[3], self.difference(self.vqa, row), cells[0])
            for row, cells in self.pairs(self.vqa, data, by_kind[2]):
                for kind, cell in zip(by_kind[1][1:], cells[1:], strict=True):
                    self.assertEqual(cell, four(row["values"][f"accuracy: {kind}"]["mean"]), (cells[0], kind))
            looking = {row["name"] for row in self.vqa["summary"] if row["data"] == data and "inside" in row["values"]}
            shown = {row[0]: row[1:] for row in regions[2]}
            self.assertEqual(len(shown), len(looking))
            for row, cells in self.pairs(self.vqa, data, accuracies[2]):
                if row["name"] in looking:
                    values = [row["values"][key] for key in ("inside", "iou", "area")]
                    self.assertEqual(shown[cells[0]],
                                     [four(value["mean"]) + interval(value["interval"]) for value in values])

    def test_pictures_are_the_files(self):
        for name, results in [("audio", self.audio), ("visual-questions", self.vqa)]:
            shown = re.findall(r'<figure id="figure-(\w+)">\s*<div class="scroll"[^>]*>\s*<img alt="[^"]+" '
                               r'src="data:image/png;base64,([^"]*)">', self.section(name))
            self.assertEqual([stem for stem, _ in shown], [pathlib.Path(each["file"]).stem for each in results["figures"]])
            self.assertGreater(len(shown), 0)
            for (_, content), each in zip(shown, results["figures"]):
                self.assertEqual(base64.b64decode(content, validate=True), (RESULTS / "figures" / each["file"]).read_bytes())

    def test_says_that_vqa_is_not_to_be_had(self):
        self.assertIn("VQA-v2 and its features are not to be had here", plain(self.section("visual-questions")))


if __name__ == "__main__":
    unittest.main()
