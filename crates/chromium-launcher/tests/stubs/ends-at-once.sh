#!/bin/sh
# A browser that cannot start.
echo no usable display >&2
exit 7
