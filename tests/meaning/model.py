"""A model with the right shape and weights of chance: the real code runs on it, it knows nothing.

Equal texts have equal vectors and others do not, which is all that these tests need.
"""

from pathlib import Path

import numpy as np

from pdpp.meaning.encoder import MODEL_FILE, MODEL_FOLDER, VOCABULARY_FILE
from pdpp.meaning.minilm import LAYERS, WIDTH, Array, build

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_WORDS = "the lift is out of order elevator not work ##ing cat sleep ##s on mat invoice tile"
WORDS = tuple(_WORDS.split())
_INNER = 4 * WIDTH


def weights(vocabulary: int) -> dict[str, Array]:
    chance = np.random.default_rng(7)

    def matrix(*shape: int) -> Array:
        return (chance.standard_normal(shape) * 0.05).astype(np.float32)

    made = {
        "embeddings.word_embeddings.weight": matrix(vocabulary, WIDTH),
        "embeddings.position_embeddings.weight": matrix(512, WIDTH),
        "embeddings.token_type_embeddings.weight": matrix(2, WIDTH),
    }
    norms, linears = ["embeddings.LayerNorm"], {}
    for number in range(LAYERS):
        name = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            linears[f"{name}.attention.self.{part}"] = (WIDTH, WIDTH)
        linears[f"{name}.attention.output.dense"] = (WIDTH, WIDTH)
        linears[f"{name}.intermediate.dense"] = (_INNER, WIDTH)
        linears[f"{name}.output.dense"] = (WIDTH, _INNER)
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    for name, shape in linears.items():
        made[f"{name}.weight"], made[f"{name}.bias"] = matrix(*shape), matrix(shape[0])
    for name in norms:
        made[f"{name}.weight"] = np.ones(WIDTH, dtype=np.float32)
        made[f"{name}.bias"] = np.zeros(WIDTH, dtype=np.float32)
    return made


def put_model(data: Path) -> None:
    """Put the model of chance into a data folder."""
    folder = data / MODEL_FOLDER
    folder.mkdir(parents=True)
    vocabulary = [*SPECIAL, *WORDS]
    (folder / VOCABULARY_FILE).write_text("\n".join(vocabulary))
    (folder / MODEL_FILE).write_bytes(build(weights(len(vocabulary))))
