"""What is said of errors of JAX's devices. Each text is what JAX 0.11.2 printed on a machine with an NVIDIA H100."""

from __future__ import annotations

import pytest

from xlalint.decoder.answers import explain_log

HELD = (
    "E1127 18:56:15.943030    3177 cuda_executor.cc:1365] [0] Failed to allocate device memory of 24.06GiB"
    " (25835636736 bytes): RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of memory\n"
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 13.43GiB with allocator"
    " GPU_0_bfc on device 0. [tf-allocator-allocation-error='']"
)
TOO_LARGE = (
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 894.07GiB with allocator"
    " GPU_0_bfc on device 0. [executable_name='jit__lambda'] [tf-allocator-allocation-error='']"
)
UNSEEN = (
    "RuntimeError: jaxlib/cuda/versions_helpers.cc:135: operation cuInit(0) failed: CUDA_ERROR_NO_DEVICE\n"
    "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu."
)
NO_LIBTPU = (
    "RuntimeError: Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open"
    " shared object file: No such file or directory (set JAX_PLATFORMS='' to automatically choose an available backend)"
)
NO_PLUGIN = (
    "RuntimeError: Unable to initialize backend 'cuda': Backend 'cuda' is not in the list of known backends: ['cpu',"
    " 'tpu']. (set JAX_PLATFORMS='' to automatically choose an available backend)"
)
FLAG = "F1127 parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --xla_gpu_enable_fast_thing=true"
NO_PRIMITIVE = "NotImplementedError: MLIR translation rule for primitive 'schur' not found for platform cuda"
INTEGERS = (
    "jax.errors.JaxRuntimeError: UNIMPLEMENTED:\n"
    "Can't lower one or more integer convolutions to idioms supported by CuDNN."
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HELD, "another process holds it"),
        (TOO_LARGE, "does not fit into device memory"),
        (UNSEEN, "sees no GPU"),
        (NO_LIBTPU, "libtpu is not installed"),
        (NO_PLUGIN, "its CUDA plugin is not installed"),
        (FLAG, "does not have the flags --xla_gpu_enable_fast_thing=true"),
        (NO_PRIMITIVE, "JAX has no `schur` for this device (cuda)."),
        (INTEGERS, "8-bit ones"),
    ],
)
def test_it_is_answered_without_a_rule(text: str, said: str) -> None:
    answer = explain_log(text).answers[0]
    assert said in answer.reason
    assert answer.codes == ()
    assert answer.rewrite
