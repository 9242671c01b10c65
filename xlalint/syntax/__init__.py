"""Syntax trees as the analyser reads them: the vocabulary and the shapes of libcst, made of `ast` in a fraction of its
time, without white space. Comments and white space are looked up in the source, where a rewrite asks for them."""
