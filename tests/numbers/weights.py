#!/usr/bin/python3
"""Writes examples/weights/: the state_dict of a small model of PyTorch as safetensors, and what it says of some rows."""
import json
import os
import sys

import numpy as np
import torch

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "weights")


def save(path, tensors):
    """The format of safetensors: length of the header, header, data."""
    header, data = {}, b""
    for name, value in tensors.items():
        array = np.ascontiguousarray(value.detach().numpy())
        header[name] = {"dtype": {"float32": "F32", "int64": "I64"}[array.dtype.name], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text + data)


def main():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 3))
    x = torch.randn(6, 4)
    labels = torch.tensor([0, 2, 1, 1, 0, 2])
    logits = model(x)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    loss.backward()
    save(os.path.join(FOLDER, "net.safetensors"), model.state_dict())
    save(os.path.join(FOLDER, "torch.safetensors"),
         {"x": x, "labels": labels, "logits": logits, "loss": loss, "gradient": model[0].weight.grad})


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    main()
