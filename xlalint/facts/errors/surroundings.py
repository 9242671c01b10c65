"""What no change of the code mends: memory, drivers, libraries, versions."""

from __future__ import annotations

from typing import Final

from .pattern import Pattern, candidate, wording

_LESS: Final = (
    "Use a smaller batch or accumulated gradients; bfloat16 (keras.mixed_precision.set_global_policy);\n"
    "or recompute activations in the backward pass (keras.remat, tf.recompute_grad, jax.checkpoint).\n"
    "xlalint probe --target tpu --batch N reports what a program needs on a TPU, without one."
)

PATTERNS: Final[tuple[Pattern, ...]] = (
    # -- memory
    Pattern(
        wording(r"Ran out of memory in memory space (?P<what>vmem|smem)\b[^\n]*"),
        "One operation does not fit into the small memory of a TPU core ({what}): a dimension of it is too large, or"
        " there are too many arguments.",
        rewrite="Shorter sequences, smaller tiles or a smaller last dimension; a newer libtpu splits more operations.",
    ),
    Pattern(
        wording(
            r"[Ff]ailed to alloc(?:ate)? [^\n]{0,60}(?:device memory|from device)[^\n]*CUDA_ERROR_OUT_OF_MEMORY[^\n]*"
        ),
        "The GPU has less free memory than this program reserves: another process holds it (JAX reserves three quarters"
        " of a GPU when it starts, TensorFlow all of it), or this program has used it up.",
        rewrite="nvidia-smi shows which processes hold memory. In each of them, to reserve only what is used:\n"
        "XLA_PYTHON_CLIENT_PREALLOCATE=false (JAX), TF_FORCE_GPU_ALLOW_GROWTH=true (TensorFlow). If this one runs\n"
        "alone: a smaller batch.",
    ),
    Pattern(
        wording(
            r"(?:Ran out of memory in memory space \w+|Out of memory while trying to allocate|CUDA_ERROR_OUT_OF_MEMORY"
            r"|OOM when allocating tensor with shape|Attempting to (?:reserve|allocate) [\d.]+[KMG]i?B?"
            r" at the bottom of memory|That was not possible\. There are [\d.]+[KMG]i?B? free)[^\n]*"
        ),
        "The compiled program does not fit into device memory, with its arguments, its results and the values it keeps"
        " for the backward pass. Shapes decide, not the code around them.",
        rewrite=_LESS,
    ),
    Pattern(
        wording(r"\b[Ff]ailed to allocate memory\b(?! from)[^\n]*"),
        "The device has no memory left for the result of this operation, beside all that the program holds. Shapes"
        " decide, not the code around them; another program on the same GPU takes its share, too.",
        rewrite=_LESS,
    ),
    # -- versions
    Pattern(
        wording(
            r"module `(?:tensorflow|keras)[\w.]*` has no attribute `\w+`"
            r"|No module named `(?:tensorflow|keras)\.[\w.]+`"
            r"|`\w*Strategy\w*` object has no attribute `\w+`"
        ),
        "This TensorFlow, or its Keras, has no such name: an older or a newer one has it, or none.",
        (candidate("XLA534", "the call sets up a TPU, a strategy or mixed precision"),),
        rewrite="The name under which this version has it, or the version of TensorFlow that the code was written for.",
    ),
    # -- CUDA
    Pattern(
        wording(r"libdevice not found|libdevice\.10\.bc|Can't find libdevice directory"),
        "XLA does not find the CUDA toolkit's `libdevice`. The installation is at fault, not the code.",
        rewrite="XLA_FLAGS=--xla_gpu_cuda_data_dir=/path/to/cuda  # the folder that holds nvvm/libdevice",
    ),
    Pattern(
        wording(
            r"ptxas not found|No PTX compilation provider is available|Couldn't find a suitable version of ptxas"
            r"|Couldn't (?:get ptxas version string|invoke ptxas)"
        ),
        "XLA does not find `ptxas`, the CUDA toolkit's assembler. The installation is at fault, not the code.",
        rewrite="pip install 'tensorflow[and-cuda]', or put the toolkit's bin folder, with ptxas, on PATH",
    ),
    Pattern(
        wording(r"\bJIT compilation failed\.(?: \[Op:|\s*(?:\n|$))"),
        "A kernel that TensorFlow compiles for the GPU when it is first used is not compiled: the CUDA toolkit is not"
        " found, or does not fit. The installation is at fault, not the code.",
        rewrite="XLA_FLAGS=--xla_gpu_cuda_data_dir=/path/to/cuda  # the folder that holds nvvm/libdevice",
    ),
    Pattern(
        wording(r"You are using ptxas [\d.]+, which is older than|ptxas before [\d.]+ is known to miscompile"),
        "The `ptxas` that XLA found is so old that it miscompiles. The installation is at fault, not the code.",
        rewrite="Install a newer CUDA toolkit. Its ptxas alone is enough, if it is first on PATH.",
    ),
    Pattern(
        wording(r"Invoking GPU asm compilation is supported on Cuda non-Windows platforms only"),
        "That version of XLA does not compile for GPUs on Windows, and TensorFlow after 2.10 has no GPU there at all.",
        rewrite="Run it in the Windows Subsystem for Linux (WSL 2).",
    ),
    Pattern(
        wording(
            r"CUDA_ERROR_NO_BINARY_FOR_GPU|no kernel image is available for execution on the device"
            r"|device CUDA:\d+ not supported by XLA service"
        ),
        "This TensorFlow was not built for this GPU: the GPU is newer than it, or too old for XLA.",
        rewrite="A TensorFlow that supports the GPU (https://www.tensorflow.org/install/source#gpu); one of CUDA 11 or"
        " later\nfor Ampere, of CUDA 12.8 or later for Blackwell.",
    ),
    Pattern(
        wording(r"[Cc]ould not find (?:registered )?compiler for platform (?P<name>\w+)[^\n]*"),
        "XLA has no compiler for this device ({name}) in this TensorFlow.",
        rewrite='model.compile(.., jit_compile=False), which is "auto" otherwise; no jit_compile=True on functions',
    ),
    Pattern(
        wording(r"Could not load (?:dynamic )?library `?libcud\w+"),
        "A CUDA or cuDNN library is missing, or its version is not TensorFlow's. The installation is at fault, not the"
        " code.",
        rewrite="pip install 'tensorflow[and-cuda]'  # brings the libraries it was built with",
    ),
    Pattern(
        wording(
            r"CUDA driver version is insufficient for CUDA runtime version|cudaErrorInsufficientDriver"
            r"|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|DNN library (?:initialization failed|is not found)"
            r"|CUDNN_STATUS_(?:INTERNAL_ERROR|NOT_INITIALIZED)"
        ),
        "The GPU driver or cuDNN does not match the CUDA that TensorFlow was built with. The installation is at fault,"
        " not the code.",
        rewrite="Install a newer driver. nvidia-smi shows the CUDA version that the driver supports.",
    ),
    # -- JAX and its devices
    Pattern(
        wording(r"operation cuInit\(0\) failed: CUDA_ERROR_NO_DEVICE[^\n]*"),
        "JAX's CUDA plugin sees no GPU, and JAX computes on the CPU instead.",
        rewrite="Look at CUDA_VISIBLE_DEVICES and nvidia-smi. JAX_PLATFORMS=cuda makes a missing GPU an error.",
    ),
    Pattern(
        wording(
            r"An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed[^\n]*"
            r"|Unable to initialize backend `(?:cuda|gpu)`[^\n]*"
        ),
        "JAX finds no GPU: its CUDA plugin is not installed, or sees none.",
        rewrite="pip install 'jax[cuda13]'  # or cuda12, by the driver that nvidia-smi names",
    ),
    Pattern(
        wording(r"(?:libtpu\.so|The TPU is) already in used? by[^\n]*"),
        "Another process holds the TPU, and one process at a time has it.",
        rewrite="sudo lsof -w /dev/accel* /dev/vfio/*  # shows which: end it, or let only one process ask for devices",
    ),
    Pattern(
        wording(r"Autotuner could not find any supported configs for HLO: [^\n]*"),
        "XLA finds no way to run this operation with the cuDNN or cuBLAS that is installed: their versions are not the"
        " ones that this XLA was built with. The installation is at fault, not the code.",
        rewrite="pip install 'tensorflow[and-cuda]' or 'jax[cuda13]', which bring the libraries they were built with.\n"
        "XLA_FLAGS=--xla_gpu_autotune_level=0 leaves the search out, and is slower.",
    ),
    Pattern(
        wording(r"Unable to initialize backend `tpu`[^\n]*|Failed to open libtpu\.so[^\n]*"),
        "JAX finds no TPU: libtpu is not installed, or the machine has none.",
        rewrite="pip install 'jax[tpu]', on the TPU's machine",
    ),
    Pattern(
        wording(r"Unknown flags? in XLA_FLAGS: (?P<flags>[^\n]*)"),
        "This version of XLA does not have the flags {flags}, and ends the process.",
        rewrite="Take them out of XLA_FLAGS: flags come and go with versions of jaxlib and TensorFlow.",
    ),
    Pattern(
        wording(r"MLIR translation rule for primitive `(?P<name>\w+)` not found for platform (?P<where>\w+)[^\n]*"),
        "JAX has no `{name}` for this device ({where}).",
        rewrite="Compute it on the CPU: jax.device_put(x, jax.devices('cpu')[0]) before, outside of jax.jit.",
    ),
    Pattern(
        wording(r"Can't lower one or more integer convolutions to idioms supported by CuDNN[^\n]*"),
        "A GPU convolves integers only as cuDNN does: 8-bit ones, into 32-bit sums. A CPU takes all.",
        rewrite="x = keras.ops.cast(x, 'float32') before the convolution",
    ),
)
