"""Pages of known text for the OCR tests: rendered, a little turned and blurred, the same bytes each time.

`python -m tests.python.ocr.render FOLDER` writes them as PNG files to look at.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont


@dataclass(frozen=True)
class RenderedPage:
    """What is on a page and how it is spoilt: `turn` in degrees, counter-clockwise; `blur` a radius in pixels."""

    font: str  # a file of Debian's fonts-dejavu-core or fonts-wqy-microhei
    size: int
    turn: float
    blur: float
    lines: tuple

    @property
    def text(self):
        return "\n".join(self.lines)


PAGES = {
    "english": RenderedPage(
        font="/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf",
        size=22,
        turn=1.5,
        blur=1.1,
        lines=(
            "Tide tables for the harbour",
            "High water comes twice a day, about 50 minutes later",
            "than on the day before. At spring tide the quay wall",
            "stands 7.35 m above the sea bed, at neap tide only 5.8 m.",
            "Boats with a draught of more than 2 m should wait for",
            "the flood; the pilot answers on channel 12.",
            "Lights: two red over one green mean \"keep out\".",
            "Mooring costs 18 pounds a night, paid at the office.",
        ),
    ),
    "chinese": RenderedPage(
        font="/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
        size=24,
        turn=-1.2,
        blur=1.0,
        lines=(
            "城市图书馆开放时间",
            "周一至周五上午九点开门，晚上八点半关门。",
            "周末和节假日只在下午开放，儿童阅览室除外。",
            "读者凭借书证每次最多可借图书十二册，期限30天。",
            "过期的图书每册每天收费0.20元，请按时归还。",
            "馆内禁止吸烟，手机请调成静音，谢谢合作！",
            "地址：人民路168号，电话：65530127。",
        ),
    ),
}


def render(page):
    """The picture of a `RenderedPage`: a uint8 array (H, W, 3), blue first."""
    # The basic layout engine needs no further library, so that the picture does not depend on one.
    font = ImageFont.truetype(page.font, page.size, layout_engine=ImageFont.Layout.BASIC)
    step, margin = int(1.9 * page.size), 2 * page.size
    width = max(int(font.getlength(line)) for line in page.lines) + 2 * margin
    picture = Image.new("L", (width, step * len(page.lines) + 2 * margin), 244)
    draw = ImageDraw.Draw(picture)
    for number, line in enumerate(page.lines):
        draw.text((margin, margin + number * step), line, font=font, fill=38)
    picture = picture.rotate(page.turn, resample=Image.Resampling.BICUBIC, expand=True, fillcolor=244)
    picture = picture.filter(ImageFilter.GaussianBlur(page.blur))
    return np.repeat(np.asarray(picture)[:, :, np.newaxis], 3, axis=2)


def main(folder):
    for name, page in PAGES.items():
        Image.fromarray(render(page)).save(Path(folder) / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1])
