"""Reads the file that `tracer report` writes, without a browser: docs/page.md describes the format.

    page = Page(path)
    page.facts["run"]["name"]
    page.tables["tasks"]["begin_us"]    # a list; None is unknown
    page.text(page.tables["tasks"]["name"][0])
"""

import array
import base64
import html.parser
import json
import pathlib
import zlib


class Elements(html.parser.HTMLParser):
    """The elements of the file: (tag, attributes, text until the next tag) of each."""

    def __init__(self, text):
        super().__init__()
        self.all, self.is_open = [], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.all.append((tag, dict(attrs), []))
        self.is_open = True

    def handle_endtag(self, tag):
        self.is_open = False

    def handle_data(self, data):
        if self.is_open:
            self.all[-1][2].append(data)

    def find(self, tag, **attributes):
        """The only element of that kind."""
        found = [(given, "".join(text)) for name, given, text in self.all
                 if name == tag and attributes.items() <= given.items()]
        assert len(found) == 1, f"{len(found)} elements {tag} {attributes}"
        return found[0]


class Data:
    """What the page's zlib stream holds, decompressed."""

    def __init__(self, data):
        self.data = data
        head_bytes = int.from_bytes(self.data[:4], "little")
        head = json.loads(self.data[4:4 + head_bytes])
        self.facts = head["facts"]
        self.tables, self.counts = {}, {}
        at = 4 + head_bytes
        for name, table in head["tables"].items():
            self.counts[name], self.tables[name] = table["count"], {}
            for title, column in table["columns"].items():
                size = table["count"] * column["bytes"]
                self.tables[name][title] = unpack(self.data[at:at + size], table["count"], column)
                at += size
        for name, table in reversed(head["tables"].items()):
            for title, column in table["columns"].items():
                if column.get("rest"):
                    parts, of = (self.tables[table["parts"][0]][key] for key in (title, table["parts"][1]))
                    add_parts(self.tables[name][title], of, parts)
        self.texts = []
        for length in self.tables["texts"]["length"]:
            self.texts.append(self.data[at:at + length].decode())
            at += length
        assert at == len(self.data), f"{len(self.data) - at} bytes follow the texts"

    def text(self, index):
        return None if index is None else self.texts[index]

    def rows(self, table):
        """The rows of a table as dictionaries."""
        columns = self.tables[table]
        return [dict(zip(columns, row)) for row in zip(*columns.values())]


class Page(Data):
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.html = self.path.read_text(encoding="utf-8")
        self.elements = Elements(self.html)
        packed = self.elements.find("script", id="data")[1].strip()
        self.shell_bytes = len(self.html.encode()) - len(packed)
        super().__init__(zlib.decompress(base64.b64decode(packed, validate=True)))


def signed(zigzag):
    return zigzag >> 1 ^ -(zigzag & 1)


def add_parts(values, of, parts):
    """Adds the sums of the parts of each row, which were left out."""
    for row, value in zip(of, parts):
        if values[row] is not None:
            values[row] += value or 0


def unpack(data, count, column):
    """The numbers of a column."""
    wide = bytearray(8 * count)
    for plane in range(column["bytes"]):
        wide[plane::8] = data[plane * count:(plane + 1) * count]
    stored = array.array("Q", bytes(wide))
    if not column.get("delta"):
        values = [number - 1 if number else None for number in stored]
        return [value if value is None else signed(value) for value in values] if column.get("rest") else values
    last, values = 0, []
    for number in stored:
        last += signed(number)
        values.append(last)
    return values
