module phi/shell

go 1.22

require mvdan.cc/sh/v3 v3.12.0
