# The layers: for each folder, the folders that it may use. The targets link exactly these, and
# cmake/check_layers.cmake holds the #include lines to the same table.

set(RELISH_FOLDERS support runtime ir stdlib frontend transform interp jit train shell)

set(RELISH_USES_support)
set(RELISH_USES_runtime support)
set(RELISH_USES_ir runtime support)
set(RELISH_USES_stdlib ir runtime support)
set(RELISH_USES_frontend stdlib ir runtime support)
set(RELISH_USES_transform stdlib ir runtime support)
set(RELISH_USES_interp stdlib ir runtime support)
set(RELISH_USES_jit transform stdlib ir runtime support)
set(RELISH_USES_train ir runtime support)
set(RELISH_USES_shell train jit interp transform frontend stdlib ir runtime support)
