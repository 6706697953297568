#!/usr/bin/env python3
"""click_report.py PAGE: clicks and types through a page of `sorrel report`, in light and in dark.

Every control has a name; keys and buttons do what they say; tables are filled; text and colors can be told apart; the page
asks for nothing from a network, and prints no error. Exit status 77, with a line, if Playwright (PyPI: playwright) or a
Chromium is not installed.
"""
import os
import pathlib
import shutil
import sys

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    print("skipped: Playwright is not installed (pip install playwright)")
    sys.exit(77)

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WHERE = "#where"


def luminance(color):
    channels = [int(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


class Clicker:
    def __init__(self, page):
        self.page = page
        self.canvas = page.get_by_role("application")

    def picture(self):
        """What the timeline shows."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return self.page.evaluate("document.getElementById('timeline').toDataURL()")

    def changes(self, what, act, is_changed=True):
        before = self.picture()
        act()
        assert (self.picture() != before) == is_changed, f"{what}: the timeline {'stays' if is_changed else 'changes'}"

    def button(self, name):
        return lambda: self.page.get_by_role("button", name=name, exact=True).click()

    def box(self, name):
        return self.page.get_by_role("checkbox", name=name)

    def choice(self, name):
        return self.page.get_by_role("combobox", name=name)

    def key(self, key):
        def press():
            self.canvas.focus()
            self.page.keyboard.press(key)

        return press

    def names(self):
        """Each control, picture and table has a name for readers of the screen."""
        tree = self.page.evaluate("""() => [...document.querySelectorAll('button, input, select, canvas, table, section, summary')]
          .filter((each) => each.checkVisibility())
          .map((each) => [each.tagName, each.id, (each.getAttribute('aria-label') || each.textContent
            || (each.labels && each.labels.length > 0 && each.labels[0].textContent)
            || document.getElementById(each.getAttribute('aria-labelledby'))?.textContent || '').trim()])""")
        assert len(tree) > 12, tree
        for tag, number, name in tree:
            assert name, f"<{tag.lower()} id={number!r}> has no name"
        assert self.page.get_by_role("heading", level=1).inner_text()

    def buttons(self):
        show_all = self.button("show all")
        whole = self.picture()
        self.changes("zoom in", self.button("Zoom in"))
        self.changes("later", self.button("Later"))
        self.changes("earlier", self.button("Earlier"))
        self.changes("zoom out", self.button("Zoom out"))
        show_all()
        assert self.picture() == whole, "show all"
        self.changes("taller rows", self.button("taller rows"))
        self.changes("more rows", self.button("more rows"))
        self.changes("critical path", lambda: self.box("critical path").check())
        self.changes("critical path", lambda: self.box("critical path").uncheck())
        self.changes("messages", lambda: self.box("messages").uncheck())
        self.box("messages").check()
        show_all()

    def keys(self):
        for key in ("+", "ArrowRight", "ArrowLeft", "-", "t", "S", "Home"):
            self.key(key)()
        self.changes("+", self.key("+"))
        self.changes("right", self.key("ArrowRight"))
        self.key("Home")()
        self.key("ArrowDown")()
        first = self.page.inner_text(WHERE)
        assert first.startswith("rank 0"), first
        self.key("ArrowDown")()
        assert self.page.inner_text(WHERE).startswith("rank 1"), self.page.inner_text(WHERE)
        spans = set()
        for key in ("n", "n", "N", "p"):
            self.key(key)()
            spans.add(self.page.inner_text(WHERE))
        assert len(spans) >= 3, spans
        self.key("Home")()

    def mouse(self):
        box = self.canvas.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.click(x, y)
        assert self.page.inner_text(WHERE).startswith("rank "), self.page.inner_text(WHERE)
        self.changes("double click", lambda: self.page.mouse.dblclick(x, y))

        def drag():
            self.page.mouse.move(x, y)
            self.page.mouse.down()
            self.page.mouse.move(x - 150, y, steps=4)
            self.page.mouse.up()

        self.changes("drag", drag)
        self.changes("wheel", lambda: self.page.mouse.wheel(0, -240))
        self.button("show all")()

    def rows(self):
        legend = self.page.get_by_role("list", name="Colors")
        of_ranks = legend.inner_text()
        self.changes("rows of workers", lambda: self.choice("Rows").select_option("workers"))
        of_workers = legend.inner_text()
        assert "runs a rank" in of_workers and of_workers != of_ranks, of_workers
        self.key("ArrowDown")()
        assert self.page.inner_text(WHERE).startswith("worker 0"), self.page.inner_text(WHERE)
        number = self.page.get_by_role("spinbutton", name="Rank")
        number.fill("1")
        number.press("Enter")
        assert self.page.inner_text(WHERE).startswith("rank 1"), self.page.inner_text(WHERE)
        assert self.choice("Rows").input_value() == "ranks" and legend.inner_text() == of_ranks, legend.inner_text()
        self.button("show all")()

    def tables(self):
        calls = self.page.get_by_role("table", name="Calls of MPI by place")
        assert "MPI_Waitall" in calls.inner_text(), calls.inner_text()
        pairs = self.page.get_by_role("table", name="The pairs with the most messages")
        matrix = self.page.get_by_role("img", name="Matrix of bytes")
        assert matrix.is_visible() and pairs.is_visible()
        self.choice("Show").select_option("messages")
        assert self.page.get_by_role("img", name="Matrix of messages").is_visible()
        more = self.page.get_by_role("button", name="Show all").filter(has_text="rows")
        while more.count() > 0:
            rows = self.page.get_by_role("row").count()
            more.first.click()
            assert self.page.get_by_role("row").count() > rows, "no more rows"

    def colors(self, is_dark):
        text, page, note = self.page.evaluate("""() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor,
          getComputedStyle(document.querySelector('.note')).color]""")
        assert (luminance(page) < 0.2) == is_dark, page
        assert contrast(text, page) >= 7 and contrast(note, page) >= 4.5, (text, note, page)
        states = self.page.evaluate("""() => [...document.querySelectorAll('#legend .swatch')].map((each) => getComputedStyle(each).backgroundColor)""")
        assert len(states) >= 3 and len(set(states)) == len(states), states


def look_at(browser, page_file, scheme):
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1200, "height": 900})
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda request: problems.append(request.url) if request.url != page_file.as_uri() and not request.url.startswith(("data:", "blob:")) else None)
    page.goto(page_file.as_uri())
    page.wait_for_selector("#legend li")
    clicker = Clicker(page)
    clicker.names()
    clicker.buttons()
    clicker.keys()
    clicker.mouse()
    clicker.rows()
    clicker.tables()
    clicker.colors(scheme == "dark")
    if folder := os.environ.get("PICTURES"):
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=f"{folder}/{scheme}.png", full_page=True)
    picture = clicker.picture()
    page.close()
    assert not problems, problems
    return picture


def main():
    page_file = pathlib.Path(sys.argv[1]).resolve()
    if BROWSER is None:
        print("skipped: no Chromium is installed (Debian: chromium)")
        sys.exit(77)
    with sync_playwright() as playwright:
        # Without a sandbox: containers have none.
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        light, dark = (look_at(browser, page_file, scheme) for scheme in ("light", "dark"))
        browser.close()
    assert light != dark, "the timeline has the same colors in light and dark"
    print("looked at in light and dark")


if __name__ == "__main__":
    main()
