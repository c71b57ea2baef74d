# Oracles of families of operators: each module has write(), which writes the files of its operators.
