"""The programs that cannot be compiled yet, each with the operations that are missing."""

NOT_NATIVE: dict[str, str] = {
    "psum": "all_gather all_reduce partition_id",
    "all_gather": "all_gather partition_id",
    "ring": "all_gather collective_permute partition_id",
    "reduce_scatter": "all_gather partition_id reduce_scatter",
    "all_to_all": "all_gather all_to_all partition_id",
    "exchanges": "all_gather all_reduce all_to_all collective_permute partition_id reduce_scatter",
    "two_dimensional": "all_gather all_reduce partition_id",
    "data_parallel": "all_gather all_reduce partition_id",
    "tensor_parallel": "all_reduce partition_id",
    "pipeline": "all_gather collective_permute partition_id",
    "collective_gradient": "all_gather all_reduce partition_id",
}
