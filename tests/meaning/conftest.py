from pathlib import Path

import pytest
from tests.meaning.model import put_model

pytest.importorskip("onnxruntime")


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a model in it."""
    folder = tmp_path_factory.mktemp("model")
    put_model(folder)
    return folder
