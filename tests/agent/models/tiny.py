"""A cross-encoder small enough to be built in a test, laid out as Hugging Face's exports are.

It takes a hypothesis for entailed where the premise has its words, and for contradicted where one
of them says `not` alone: too little for a judge, enough to tell whether it is asked and read right.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import onnx
from onnx import TensorProto, helper
from tokenizers import BertWordPieceTokenizer

from agent.memory import embedders

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("contradiction", "entailment", "neutral")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def build(folder: Path, labels: tuple[str, ...] = LABELS, weights: str = "model.onnx") -> Path:
    """Write the model into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    named = {str(n): name for n, name in enumerate(labels)}
    (folder / "config.json").write_text(json.dumps({"id2label": named}))
    words = str(embedders._WORDPIECES)
    tokens = BertWordPieceTokenizer(words, lowercase=True)
    tokens.save(str(folder / "tokenizer.json"))
    (folder / weights).parent.mkdir(exist_ok=True)
    onnx.save(_model(tokens.token_to_id("not")), str(folder / weights))
    return folder


def _model(word: int) -> onnx.ModelProto:
    """Logits of the three labels for one pair, from which of its tokens are the same."""
    numbers = {
        "not_id": (TensorProto.INT64, [1], [word]),
        "one": (TensorProto.INT64, [1], [1]),
        "two": (TensorProto.INT64, [1], [2]),
        "half": (TensorProto.FLOAT, [1], [0.75]),
        "steep": (TensorProto.FLOAT, [1], [40.0]),
        "strong": (TensorProto.FLOAT, [1], [30.0]),
        "zero": (TensorProto.FLOAT, [1, 1], [0.0]),
    }
    node = helper.make_node
    nodes = [
        node("Sub", ["attention_mask", "token_type_ids"], ["premise_n"]),
        node("Cast", ["premise_n"], ["premise"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["said"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["input_ids", "two"], ["down"]),
        node("Unsqueeze", ["input_ids", "one"], ["across"]),
        node("Equal", ["down", "across"], ["same_b"]),
        node("Cast", ["same_b"], ["same"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["premise", "one"], ["there"]),
        node("Mul", ["same", "there"], ["met"]),
        node("ReduceMax", ["met", "two"], ["in_premise"], keepdims=0),
        node("Mul", ["in_premise", "said"], ["covered_each"]),
        node("ReduceSum", ["covered_each", "one"], ["covered"]),
        node("ReduceSum", ["said", "one"], ["words"]),
        node("Div", ["covered", "words"], ["share"]),
        node("Sub", ["share", "half"], ["above"]),
        node("Mul", ["above", "steep"], ["entails"]),
        node("Equal", ["input_ids", "not_id"], ["nots_b"]),
        node("Cast", ["nots_b"], ["nots"], to=TensorProto.FLOAT),
        node("Mul", ["nots", "said"], ["not_said_each"]),
        node("Mul", ["nots", "premise"], ["not_there_each"]),
        node("ReduceMax", ["not_said_each", "one"], ["not_said"]),
        node("ReduceMax", ["not_there_each", "one"], ["not_there"]),
        node("Sub", ["not_said", "not_there"], ["alone"]),
        node("Mul", ["alone", "strong"], ["contradicts"]),
        node("Concat", ["contradicts", "entails", "zero"], ["logits"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, [1, None]) for name in INPUTS],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 3])],
        [helper.make_tensor(name, *number) for name, number in numbers.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
