# SPDX-License-Identifier: MIT
"""ONNX Runtime: a product and a ReLU on its CUDA provider."""
import numpy as np, onnx, onnxruntime as ort
from onnx import helper, TensorProto
W = helper.make_tensor("W", TensorProto.FLOAT, [512, 512], np.ones(512*512, np.float32))
g = helper.make_graph([helper.make_node("MatMul", ["x", "W"], ["h"]), helper.make_node("Relu", ["h"], ["y"])], "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 512])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 512])], [W])
m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 17)]); m.ir_version = 9
s = ort.InferenceSession(m.SerializeToString(), providers=["CUDAExecutionProvider"])
assert s.get_providers()[0] == "CUDAExecutionProvider"
y, = s.run(None, {"x": np.ones((4096, 512), np.float32)})
print("done")
