"""axe-core, which finds what is in the way of people who cannot see a page or use no mouse.

It is the npm package of package-lock.json (MPL-2.0), kept in .cache/page of the checkout and no part of Tracer. Raises
Skip if it cannot be downloaded.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import npm  # noqa: E402 (found by the path above)
from testing import Skip  # noqa: E402

SHOWN_MAX = 5 # elements of a violation


def source():
    try:
        cache = npm.once("page", [HERE / "package-lock.json"], lambda cache: npm.install(HERE, cache))
    except npm.Unavailable as reason:
        raise Skip(reason) from None
    return (cache / "node_modules/axe-core/axe.min.js").read_text()


def violations(browser, code):
    """A line for each rule that the open page violates; `code` is that of source()."""
    if not browser.script("return typeof axe === 'object'"):
        browser.command("Runtime.evaluate", expression=code)  # the page's own policy would forbid an element
    found = browser.script_async("""const done = arguments[arguments.length - 1];
        axe.run(document, {resultTypes: ["violations"]}).then((found) => done(found.violations.map((each) => [
            each.id, each.impact, each.help, each.nodes.length, each.nodes.slice(0, arguments[0]).map(
            (node) => node.target.join(" ") + ": " + (node.failureSummary || ""))])), (error) => done(String(error)));""", SHOWN_MAX)
    assert isinstance(found, list), found
    return [f"{rule} ({impact}): {text}; {count} elements, such as {'; '.join(nodes)}"
            for rule, impact, text, count, nodes in found]
