from __future__ import annotations

import re

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.verify.linux.images import DEFAULTS, Image, image_name
from morph_tasks.verify.runners.table import RUNNERS


def test_the_option_wins_over_the_node_and_the_node_over_the_default() -> None:
    assert image_name("unit", "pytest", option="a:1", declared="b:1") == "a:1"
    assert image_name("unit", "pytest", declared="b:1") == "b:1"
    assert image_name("unit", "pytest", option=" ", declared="") == DEFAULTS["pytest"]
    assert image_name("api", "dotnet") == "mcr.microsoft.com/dotnet/sdk:10.0"


def test_a_runner_without_a_default_says_how_to_name_an_image() -> None:
    with pytest.raises(Refusal) as caught:
        image_name("native", "ctest")
    assert caught.value.code == "linux-image-unknown"
    assert "linuxImage" in caught.value.fix
    assert "tests/native" in caught.value.what
    assert image_name("native", "ctest", declared="cmake:1") == "cmake:1"


def test_every_default_is_of_a_known_runner_and_pinned_by_a_tag_that_names_a_version() -> None:
    for runner, image in DEFAULTS.items():
        assert runner in RUNNERS
        tag = image.rpartition("/")[2].partition(":")[2]
        assert re.search(r"\d", tag), image
        assert "latest" not in tag


def test_what_a_record_says_of_the_place() -> None:
    image = Image("python:3", "sha256:abc", "amd64")
    assert image.environment() == {"kind": "linux-container", "image": "python:3", "imageId": "sha256:abc"}
