# The layers: for each folder, the folders that it may use. The targets link exactly these, and
# cmake/check_layers.cmake holds the #include lines to the same table.

set(RELISH_FOLDERS support runtime ir loops stdlib frontend transform schedule interp jit train shell)

set(RELISH_USES_support)
set(RELISH_USES_runtime support)
set(RELISH_USES_ir runtime support)
set(RELISH_USES_loops ir runtime support)
set(RELISH_USES_stdlib loops ir runtime support)
set(RELISH_USES_frontend stdlib loops ir runtime support)
set(RELISH_USES_transform stdlib loops ir runtime support)
set(RELISH_USES_schedule loops ir runtime support)
set(RELISH_USES_interp stdlib loops ir runtime support)
set(RELISH_USES_jit schedule transform stdlib loops ir runtime support)
set(RELISH_USES_train ir runtime support)
set(RELISH_USES_shell train jit interp schedule transform frontend stdlib loops ir runtime support)

# The same of the rooms of schedule/. All of them may use what stands beside them but schedule.h.
set(RELISH_ROOMS_schedule shapes blocks contraction nests remainders followers stages fusion)

set(RELISH_ROOM_USES_schedule_shapes)
set(RELISH_ROOM_USES_schedule_blocks shapes)
set(RELISH_ROOM_USES_schedule_contraction shapes blocks)
set(RELISH_ROOM_USES_schedule_nests)
set(RELISH_ROOM_USES_schedule_remainders)
set(RELISH_ROOM_USES_schedule_followers blocks contraction nests remainders)
set(RELISH_ROOM_USES_schedule_stages)
set(RELISH_ROOM_USES_schedule_fusion followers stages)
