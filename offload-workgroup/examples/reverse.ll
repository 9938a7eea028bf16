; Reverses the numbers of a work-group: two parallel regions, with one value that is live across the barrier.
@__offload_state_local_id = internal global { i64, i64, i64 } zeroinitializer
@__offload_state_local_size = internal global { i64, i64, i64 } zeroinitializer

define void @__offload_work_item_reverse(ptr %args) {
  %cell = load ptr, ptr %args
  %data = load ptr, ptr %cell
  %id = load i64, ptr @__offload_state_local_id
  %from = getelementptr i32, ptr %data, i64 %id
  %value = load i32, ptr %from
  call void @__offload_wait()
  %size = load i64, ptr @__offload_state_local_size
  %end = getelementptr i32, ptr %data, i64 %size
  %back = xor i64 %id, -1
  %to = getelementptr i32, ptr %end, i64 %back
  store i32 %value, ptr %to
  ret void
}

declare void @__offload_wait()
