"""The page of `xla-opt --explore` in Chromium, without a network, by mouse and by keys."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from explored import explore
from peers import chromium

from tools import xla_run

pytestmark = pytest.mark.browser

PROGRAMS = Path(__file__).parents[1] / "programs"

LAYER = """\
HloModule layer

ENTRY main {
  x = f32[64,64] parameter(0)
  w = f32[64,64] parameter(1)
  d = f32[64,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(layer)/dot" source_file="model.py" source_line=2}
  t = f32[64,64] tanh(d), metadata={op_name="jit(layer)/tanh" source_file="model.py" source_line=3}
  m = f32[64] reduce(t, f32[] constant(0)), dimensions={1}, to_apply={
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT c = f32[] add(a, b)
  }, metadata={op_name="jit(layer)/sum" source_file="model.py" source_line=4}
  n = f32[64,64] broadcast(m), dimensions={0}
  s = f32[64,64] subtract(t, n), metadata={op_name="jit(layer)/sub" source_file="model.py" source_line=5}
  ROOT e = f32[64,64] exponential(s), metadata={op_name="jit(layer)/exp" source_file="model.py" source_line=6}
}
"""


@dataclass
class Browsed:
    """A page in a browser, and what went wrong there."""

    page: Any
    faults: list[str] = field(default_factory=list[str])

    def texts(self) -> list[str]:
        """What the columns show."""
        return self.page.eval_on_selector_all(
            ".column select", "all => all.map(each => each.selectedOptions[0].textContent)"
        )

    def trail(self) -> list[str]:
        return self.page.locator("#trail li b").all_text_contents()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    options = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(options))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layer")
    explore(folder, LAYER, "-p", "native", "-t", "riscv-asm", name="layer.hlo")
    return folder / "page.html"


def opened(browser: Any, path: Path, address: str = "", **options: Any) -> Browsed:
    """A page without a network; whatever it complains of, or asks for, is a fault."""
    context = browser.new_context(offline=True, **options)
    found = Browsed(context.new_page())
    found.page.on("console", lambda message: found.faults.append(message.text))
    found.page.on("pageerror", lambda error: found.faults.append(str(error)))
    found.page.on(
        "request",
        lambda request: (
            request.url.startswith(("file:", "data:")) or found.faults.append(request.url)
        ),
    )
    found.page.goto(f"{path.as_uri()}{address}")
    found.page.wait_for_selector("body[data-ready]", timeout=60_000)
    return found


@pytest.fixture
def browsed(browser: Any, layer: Path) -> Iterator[Browsed]:
    found = opened(browser, layer, viewport={"width": 1600, "height": 900})
    yield found
    assert found.faults == []
    found.page.context.close()


def test_a_click_is_followed_up_and_down(browsed: Browsed) -> None:
    page = browsed.page
    assert browsed.texts()[0] == "Python"
    assert browsed.texts()[-1] == "riscv64"
    assert len(browsed.texts()) == 4
    columns = page.locator(".columns")
    assert columns.evaluate("each => each.scrollWidth <= each.clientWidth")
    page.get_by_text("jit(layer)/tanh").click()
    assert page.locator(".column .cm-line.chosen").all_text_contents() == ["jit(layer)/tanh"]
    trail = browsed.trail()
    assert trail[0] == "Python"
    assert trail[1] == "layer.hlo"
    assert trail[-2:] == ["LLVM IR", "riscv64"]
    assert page.locator(".column").last.locator(".cm-line.related").count() >= 1


def test_the_trail_opens_what_it_names(browsed: Browsed) -> None:
    page = browsed.page
    page.get_by_text("jit(layer)/tanh").click()
    page.locator("#trail li", has_text="convert-xla-to-linalg").locator("button").click()
    assert "convert-xla-to-linalg" in browsed.texts()
    related = page.locator(".cm-line.related", has_text="math.tanh")
    assert related.count() >= 1


def test_keys(browsed: Browsed) -> None:
    page = browsed.page
    page.get_by_text("jit(layer)/tanh").click()
    page.keyboard.press("ArrowDown")
    assert "jit(layer)/sum" in page.locator(".cm-line.chosen").first.text_content()
    before = browsed.texts()
    page.keyboard.press("]")
    assert browsed.texts()[0] == "layer.hlo" != before[0]
    page.keyboard.press("Escape")
    assert page.locator(".cm-line.chosen").count() == 0
    for number, tab in enumerate(
        ("Levels", "Passes", "Graph", "Fusion", "Memory", "Layouts", "Schedules"), 1
    ):
        page.keyboard.press(str(number))
        assert page.locator('[role="tab"][aria-selected="true"]').text_content() == tab
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    assert "codemirror" in page.locator("#licences").text_content()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()


def test_passes_show_what_they_change(browsed: Browsed) -> None:
    page = browsed.page
    page.keyboard.press("2")
    page.locator(".list button", has_text="convert-xla-to-linalg").click()
    assert "linalg.generic" in page.locator(".bar").text_content()
    assert page.locator(".cm-deletedChunk", has_text="xla.tanh").count() == 1
    page.locator(".list button", has_text="xla-expand-bitcast").click()
    assert "changes nothing" in page.locator(".bar").text_content()


def test_a_pass_in_the_middle_is_shown_where_it_ran(browser: Any, tmp_path: Path) -> None:
    pipeline = "native{to=tensors},linalg-cse,native{from=tensors}"
    explored = explore(tmp_path, LAYER, "-p", pipeline, name="layer.hlo")
    found = opened(browser, tmp_path / "page.html", viewport={"width": 1600, "height": 900})
    page = found.page
    order = [
        each["name"]
        for each in explored.content["documents"]
        if each["level"] not in ("input", "machine")
    ]
    levels = ["xla", "tensors", "given alone", "buffers", "schedules", "loops"]
    groups = page.locator(".column select").first.locator("optgroup")
    titles = groups.evaluate_all("all => all.map(each => each.label)")
    assert [title for title in titles if title not in ("source", "input", "machine")] == levels
    page.keyboard.press("2")
    assert page.locator(".list h3").all_text_contents() == levels
    shown = page.locator(".list button span:first-child").all_text_contents()
    assert shown == [name for name in order if name in shown]
    assert shown.count("linalg-cse") == 2
    assert found.faults == []
    page.context.close()


def test_graph_has_shapes_and_what_is_fused(browsed: Browsed) -> None:
    page = browsed.page
    page.keyboard.press("3")
    nodes = page.locator(".node text:first-of-type").all_text_contents()
    assert sorted(nodes) == sorted(
        [
            *("x", "w", "dot", "tanh", "constant", "reduce", "broadcast", "subtract"),
            "exponential",
            "func.return",
        ]
    )
    assert page.locator(".node .type", has_text="f32[64,64]{1,0}").count() == 7
    groups = sorted(page.locator(".group text").all_text_contents())
    assert len(groups) == 2
    assert re.fullmatch(r"exp_subf\w*_kernel_\d+", groups[0])
    # The sum and what it sums up.
    assert re.fullmatch(r"reduce_addf\w*_tanh\w*_kernel_\d+", groups[1])
    page.locator(".node", has_text="tanh").click()
    assert page.locator(".node.chosen").count() == 1
    assert "riscv64" in browsed.trail()


def test_a_line_of_a_body_is_a_part_of_its_node(browsed: Browsed) -> None:
    page = browsed.page
    page.get_by_text("jit(layer)/tanh").click()
    page.locator("#trail li", has_text="convert-xla-to-linalg").locator("button").click()
    page.locator(".cm-line", has_text="math.tanh").first.click(position={"x": 60, "y": 5})
    page.keyboard.press("3")
    assert page.locator(".node.chosen text:first-of-type").all_text_contents() == ["linalg.generic"]


CHAIN = (
    "HloModule chain\n\nENTRY main {\n  x0 = f32[8] parameter(0)\n  c = f32[8] constant({...})\n"
    + "".join(f"  x{n + 1} = f32[8] multiply(x{n}, c)\n" for n in range(150))
    + "  ROOT r = f32[8] tanh(x150)\n}\n"
).replace("{...}", "{1, 2, 3, 4, 5, 6, 7, 8}")


def test_of_a_large_graph_a_part_is_drawn(browser: Any, tmp_path: Path) -> None:
    explore(tmp_path, CHAIN, "-p", "native{to=xla}", name="chain.hlo")
    found = opened(browser, tmp_path / "page.html", viewport={"width": 1600, "height": 900})
    page = found.page

    def names() -> list[str]:
        return page.locator(".node text:first-of-type").all_text_contents()

    page.locator('[role="tab"]', has_text="Graph").click()
    # The first ones; each of them has a constant of its own.
    assert "tanh" not in names()
    assert names().count("x0") == 1
    assert names().count("constant") == names().count("multiply") > 100
    page.locator('[role="tab"]', has_text="Levels").click()
    page.evaluate("explorer.select(explorer.states.at(-1), explorer.states.at(-1).length - 4)")
    page.locator('[role="tab"]', has_text="Graph").click()
    assert page.locator(".node.chosen text:first-of-type").all_text_contents() == ["tanh"]
    assert 20 < len(names()) < 80
    assert "x0" not in names()
    assert found.faults == []
    page.context.close()


def test_why_operations_are_fused(browsed: Browsed) -> None:
    page = browsed.page
    page.keyboard.press("4")
    row = page.locator("tr", has_text="is stored by group")
    row.locator("button").click()
    assert row.evaluate("each => each.classList.contains('related')")
    remarks = page.locator("#trail ul li").all_text_contents()
    assert any("%t is stored by group" in each and "because" in each for each in remarks)
    page.keyboard.press("Escape")
    assert page.locator("#trail ul").count() == 0


def test_memory_is_drawn(browsed: Browsed) -> None:
    page = browsed.page
    page.keyboard.press("5")
    buffers = page.locator(".buffer")
    assert buffers.count() == page.evaluate("explorer.views.memory.arenas[0].buffers.length") > 0
    box = buffers.first.bounding_box()
    assert box["width"] > 10
    assert box["height"] > 10
    buffers.first.click()
    assert page.locator(".buffer.related").count() == 1
    # What is in use stays in sight.
    assert page.locator(".live:last-child").count() == 1
    assert "layer.hlo" in browsed.trail()


def test_layouts_and_schedules_are_shown(browsed: Browsed) -> None:
    page = browsed.page
    page.keyboard.press("6")
    page.locator(".list button", has_text="f32[64,64]").first.click()
    assert (
        page.locator(".page img").evaluate("image => image.decode().then(() => image.width)") > 400
    )
    drawing, around = page.locator(".page img").bounding_box(), page.locator(".page").bounding_box()
    assert drawing["x"] + drawing["width"] <= around["x"] + around["width"]
    page.keyboard.press("7")
    functions = page.locator("tbody td:nth-child(2)").all_text_contents()
    assert all(re.fullmatch(r"@\w+", each) for each in functions)
    page.locator("tbody button").first.click()
    assert page.locator("tr.related").count() >= 1


def test_two_columns_fit_into_a_notebook(browser: Any, layer: Path) -> None:
    found = opened(browser, layer, viewport={"width": 720, "height": 700})
    columns = found.page.locator(".columns")
    assert len(found.texts()) == 2
    assert columns.evaluate("each => each.scrollWidth <= each.clientWidth")
    found.page.context.close()


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (420, "light"),
        (1600, "dark"),
        pytest.param(420, "dark", marks=pytest.mark.full),
        pytest.param(1600, "light", marks=pytest.mark.full),
    ],
)
def test_it_fits_and_can_be_read(browser: Any, layer: Path, scheme: str, width: int) -> None:
    found = opened(browser, layer, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = found.page
    for tab in page.locator('[role="tab"]').all():
        tab.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # Nothing of a view lies below the trail, or beside its place.
        for part in page.locator("#view .text, #view .drawing, #view .page").all():
            view, own = page.locator("#view").bounding_box(), part.bounding_box()
            assert own["y"] + own["height"] <= view["y"] + view["height"] + 1
    colours = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    ink, paper = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
    assert (ink < paper) == (scheme == "light")
    assert abs(ink - paper) > 450
    assert found.faults == []
    page.context.close()


def test_the_address_says_what_is_shown(browser: Any, browsed: Browsed, layer: Path) -> None:
    page = browsed.page
    page.get_by_text("jit(layer)/tanh").click()
    page.locator(".column button[title^=Close]").nth(1).click()
    address = page.evaluate("location.hash")
    again = opened(browser, layer, address, viewport={"width": 1600, "height": 900})
    assert again.texts() == browsed.texts()
    assert again.trail() == browsed.trail()
    again.page.context.close()


@pytest.mark.full
def test_a_program_of_10_000_operations(browser: Any, tmp_path: Path) -> None:
    layer = """\
  %a{n} = stablehlo.tanh %x{n} : tensor<8x8xf32>
  %b{n} = stablehlo.dot_general %a{n}, %x0, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c{n} = stablehlo.transpose %b{n}, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %x{m} = stablehlo.add %c{n}, %x{n} : tensor<8x8xf32>
"""
    body = "".join(layer.format(n=n, m=n + 1) for n in range(2500))
    program = (
        f"func.func @main(%x0: tensor<8x8xf32>) -> tensor<8x8xf32> {{\n{body}"
        "  return %x2500 : tensor<8x8xf32>\n}\n"
    )
    page = explore(tmp_path, program, "-p", "native")
    assert len(page.lines("as read")) > 10_000
    assert len(page.text) < 10_000_000
    found = opened(browser, tmp_path / "page.html", viewport={"width": 1600, "height": 900})
    found.page.evaluate("explorer.select(explorer.states[0], 5001)")
    assert len(found.trail()) > 4
    for tab in found.page.locator('[role="tab"]').all():
        tab.click()
        assert tab.get_attribute("aria-selected") == "true"
    assert found.faults == []
    found.page.context.close()


def test_long_lines_are_shown_whole(browsed: Browsed) -> None:
    page = browsed.page
    height = "() => document.querySelector('.cm-line').getBoundingClientRect().height"
    before = [page.evaluate(height), browsed.texts()]
    page.get_by_text("jit(layer)/tanh").click()
    page.get_by_role("button", name="Wrap").click()
    assert browsed.texts() == before[1]
    widths = page.eval_on_selector_all(
        ".cm-scroller", "all => all.map(each => each.scrollWidth - each.clientWidth)"
    )
    assert max(widths) <= 0
    page.keyboard.press("w")
    assert page.evaluate(height) == before[0]


def test_blocks_of_memory_have_names(browsed: Browsed) -> None:
    page = browsed.page
    page.get_by_role("tab", name="Memory").click()
    names: list[list[str]] = []
    for width in (1600, 1100, 800, 600, 450):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(100)
        names.append(page.locator("text.name").all_text_contents())
        assert len(names[-1]) == page.locator("rect.buffer").count() > 0
    assert any(re.match(r"%\S+ memref<", name) for name in names[0])
    # A narrow block has its name at least.
    assert any(re.fullmatch(r"%\S+", name) for each in names for name in each)


def test_a_profile_leads_to_the_kernels_that_it_timed(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "layer.hlo").write_text(LAYER)
    times, page_file = tmp_path / "times.json", tmp_path / "page.html"
    run = ["--seed", "0", "--profile-runs", "2", "--profile-json", str(times)]
    assert xla_run.main([str(tmp_path / "layer.hlo"), *run]) == 0
    explore(tmp_path, LAYER, "-p", "native", "--explore-profile", str(times), name="layer.hlo")
    found = opened(browser, page_file, viewport={"width": 1600, "height": 900})
    page = found.page
    page.get_by_role("tab", name="Profile").click()
    kernels = json.loads(times.read_text())["main"]["kernels"]
    names = page.locator("tbody td:first-child button")
    assert names.all_text_contents() == [f"@{each['name']}" for each in kernels]
    assert page.locator("tbody td:nth-child(2)").first.text_content() == "2"
    place = [each["name"].startswith("exp") for each in kernels].index(True)
    names.nth(place).click()
    assert page.locator("tr.related").count() == 1
    assert "jit(layer)/sub" in page.locator("#trail").text_content()
    assert found.faults == []
    page.context.close()


SUM = """
HloModule sum, num_partitions=8
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[4096] parameter(0)
  y = f32[4096] exponential(x)
  ROOT s = f32[4096] all-reduce(y), channel_id=1, replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=add
}
"""


def test_what_a_device_does_when(browser: Any, tmp_path: Path) -> None:
    machine = Path(__file__).parents[2] / "docs/examples/machines/host.toml"
    passes = f'xla-report-communication{{machine="{machine}"}}'
    explore(tmp_path, SUM, "-p", passes, name="sum.hlo")
    found = opened(browser, tmp_path / "page.html", viewport={"width": 1600, "height": 900})
    found.page.get_by_role("tab", name="Communication").click()
    computed, sent = (found.page.locator(".stream").nth(n).locator("rect") for n in range(2))
    assert (computed.count(), sent.count()) == (1, 1)
    end = computed.bounding_box()["x"] + computed.bounding_box()["width"]
    assert end == pytest.approx(sent.bounding_box()["x"], abs=1)
    assert found.faults == []
    found.page.context.close()
