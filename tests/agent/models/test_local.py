"""A model file served on loopback: a real one with random weights, through the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx2
import pytest

from agent.errors import ModelUnavailable, UsageError
from agent.models.local import serve_model_file

if TYPE_CHECKING:
    from pathlib import Path

WIDE, LAYERS, HEADS = 32, 1, 2
WINDOW = 4_096


@pytest.fixture(scope="module")
def gguf_file(tmp_path_factory):
    """Write a llama of some 20,000 random weights whose tokens are single bytes."""
    pytest.importorskip("xllamacpp", reason="no llama.cpp (extra `local`): nothing can serve it")
    gguf = pytest.importorskip("gguf", reason="no library to write a model file with")
    import numpy as np

    path = tmp_path_factory.mktemp("weights") / "random-0.1b.gguf"
    words = [b"<unk>", b"<s>", b"</s>", *(f"<0x{n:02X}>".encode() for n in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(WINDOW * 2)
    writer.add_embedding_length(WIDE)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(2 * WIDE)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDE // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(words)
    writer.add_token_scores([0.0] * len(words))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    rng = np.random.default_rng(7)
    block = {
        **{f"attn_{part}": (WIDE, WIDE) for part in ("q", "k", "v", "output")},
        "ffn_gate": (2 * WIDE, WIDE),
        "ffn_up": (2 * WIDE, WIDE),
        "ffn_down": (WIDE, 2 * WIDE),
        "attn_norm": (WIDE,),
        "ffn_norm": (WIDE,),
    }
    shapes = dict.fromkeys(("token_embd", "output"), (len(words), WIDE)) | {"output_norm": (WIDE,)}
    shapes |= {f"blk.{n}.{name}": shape for n in range(LAYERS) for name, shape in block.items()}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", rng.normal(0, 0.02, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


async def test_model_file_is_served_with_requested_context_window(gguf_file):
    async with httpx2.AsyncClient() as client:
        async with serve_model_file(str(gguf_file), WINDOW) as address:
            props = (await client.get(f"{address.removesuffix('/v1')}/props")).json()
        assert props["default_generation_settings"]["n_ctx"] == WINDOW
        with pytest.raises(httpx2.ConnectError):  # the server stops with the block
            await client.get(f"{address}/models")


def test_model_file_answers_from_command_line(run, web, gguf_file):
    """Random weights name nothing that is on a page; the run reports only that."""
    flags = ["--model", f"local:{gguf_file}", "--context-window", str(WINDOW), *web, "--json"]
    done = run("When was Hesk Light first lit?", *flags)
    report = json.loads(done.stdout)
    assert (done.returncode, report["status"]) == (3, "not_found"), done.stderr
    assert report["searches"]  # guided, since its name shows that it is small
    assert report["usage"]["model_calls"] > 1


async def test_invalid_model_file_raises_error(tmp_path: Path):
    with pytest.raises(UsageError, match="model file not found"):
        async with serve_model_file(str(tmp_path / "none.gguf"), WINDOW):
            pass
    pytest.importorskip("xllamacpp", reason="no llama.cpp (extra `local`)")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and nothing more")
    with pytest.raises(ModelUnavailable, match="cannot serve"):
        async with serve_model_file(str(broken), WINDOW):
            pass
