#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# embed.sh CLANG ROOT SOURCE HEADER NAME: compiles a BPF program and writes its object file as a C
# array, so that the daemon carries its programs and needs no file at run time.
set -eu
clang=$1 root=$2 source=$3 header=$4 name=$5
object=$header.o
# The target's own headers (asm/types.h) lie in the multiarch folder, which -target bpf leaves out.
"$clang" -target bpf -O2 -g -Wall -Werror -I"$root" -I"/usr/include/$(uname -m)-linux-gnu" \
	-c "$source" -o "$object"
{
	echo "static const unsigned char ${name}[] __attribute__((aligned(8))) = {"
	od -An -v -tx1 "$object" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
	echo "};"
} >"$header"
