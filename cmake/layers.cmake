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
