"""What is read out of the programs that the compiler leaves, as TensorFlow 2.21 and as 2.15 write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.probe.worker.compiling.hlo import Dump, bounded_ops, bounded_outputs, changed_ops, compiled_for

# %s stands before names. SIZE is the value that the program was compiled for.
SIZED = """\
HloModule a_inference_f_20, entry_computation_layout={(f32[4]{0})->f32[SIZE]{0}}

ENTRY %sa_inference_f_20.1 (arg0.1: f32[4]) -> f32[SIZE] {
  %sstack_1.3 = s32[] constant(SIZE), metadata={op_type="Pack" op_name="strided_slice/stack_1" source_line=1}
  %sarg0.1 = f32[4]{0} parameter(0), parameter_replication={false}, metadata={op_name="XLA_Args"}
  %sreshape.1 = f32[4]{0} reshape(%sarg0.1)
  %sstrided_slice.2 = f32[SIZE]{0} slice(%sreshape.1), slice={[0:SIZE]}, metadata={op_name="strided_slice"}
  %smul.3 = f32[] constant(2), metadata={op_type="Mul" op_name="mul"}
  %smul.4 = f32[SIZE]{0} broadcast(%smul.3), dimensions={}, metadata={op_type="Mul" op_name="mul"}
  ROOT %smul.5 = f32[SIZE]{0} multiply(%sstrided_slice.2, %smul.4), metadata={op_type="Mul" op_name="mul"}
}
"""
BOUNDED = """\
HloModule m, alias_passthrough_params=true, entry_computation_layout={(f32[4]{0}, s32[])->(f32[], f32[<=4]{0})}, x=1

ENTRY %sm.1 (arg0.1: f32[4]) -> (f32[], f32[<=4]) {
  %sarg0.1 = f32[4]{0} parameter(0), metadata={op_name="XLA_Args"}
  %sWhere.1 = s32[<=4,1]{1,0} set-dimension-size(%sarg0.1), dimensions={0}, metadata={op_name="boolean_mask/Where"}
  %sGather.2 = f32[<=4]{0} gather(%sarg0.1, %sWhere.1), metadata={op_name="boolean_mask/GatherV2"}
  %sUnique.3 = f32[<=4]{0} custom-call(%sarg0.1), metadata={op_name="Unique"}
  ROOT %sadd.4 = f32[<=4]{0} add(%sGather.2, %sUnique.3), metadata={op_name="add"}
}
"""


def text(program: str, mark: str, size: int = 2) -> str:
    return program.replace("%s", mark).replace("SIZE", str(size))


@pytest.mark.parametrize("mark", ["%", ""])
def test_programs_for_two_values_part_where_the_value_is_used(mark: str) -> None:
    assert changed_ops(text(SIZED, mark, 2), text(SIZED, mark, 3)) == ("strided_slice",)
    assert changed_ops(text(SIZED, mark), text(SIZED, mark)) == ()


@pytest.mark.parametrize("mark", ["%", ""])
def test_where_only_constants_differ_they_are_named(mark: str) -> None:
    one = text(SIZED, mark)
    assert changed_ops(one, one.replace("f32[] constant(2)", "f32[] constant(3)")) == ("mul",)


@pytest.mark.parametrize("mark", ["%", ""])
def test_a_bounded_shape_is_told_where_it_begins(mark: str) -> None:
    program = text(BOUNDED, mark)
    assert bounded_ops(program) == ("boolean_mask/Where", "Unique")
    assert bounded_outputs(program) == (1,)
    assert compiled_for([text(SIZED, mark), program]) == (2, True, (1,))
    assert compiled_for([text(SIZED, mark)]) == (1, False, ())


def test_a_dump_is_taken_once_and_in_order(tmp_path: Path) -> None:
    dump = Dump(tmp_path / "dump")
    assert dump.taken() == []
    (tmp_path / "dump").mkdir()
    for name in ("module_0002.b.before_optimizations.txt", "module_0001.a.before_optimizations.txt", "module_0001.ll"):
        (tmp_path / "dump" / name).write_text(name)
    assert [program[:11] for program in dump.taken()] == ["module_0001", "module_0002"]
    assert dump.taken() == []
    assert list((tmp_path / "dump").iterdir()) == []
