"""The pictures of the leaderboard in the documentation, taken from a folder of results.

    python benchmarks/leaderboard_pictures.py RESULTS [--direction yelp/negative-to-positive]

Writes leaderboard-desktop.png, leaderboard-dark.png and leaderboard-phone.png.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from urllib.parse import urlencode

from tstbench.spaces.leaderboard import launch

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
PICTURES = {
    "desktop": ("ranking", {"viewport": {"width": 1440, "height": 900}}),
    "dark": ("pictures", {"viewport": {"width": 1440, "height": 1180}, "color_scheme": "dark"}),
    "phone": ("ranking", {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2}),
}


def take(url: str, direction: str, out: Path, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, (view, options) in [*PICTURES.items()] * 2:  # ranks are there the second time
            page = browser.new_context(**options).new_page()
            page.goto(f"{url}?{urlencode({'view': view, 'direction': direction})}")
            page.wait_for_selector("#stage[aria-busy=false]")
            if view == "pictures":
                page.wait_for_selector(".plot svg")  # what is further down is drawn when seen
            page.wait_for_timeout(500)  # fonts and the last transition
            page.screenshot(path=out / f"leaderboard-{name}.png")
            print(out / f"leaderboard-{name}.png")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--direction", default="yelp/negative-to-positive")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    running = launch(options.results, port=0, block=False)
    try:
        take(running.url, options.direction, options.out, options.chromium)
    finally:
        running.close()


if __name__ == "__main__":
    main()
