# Each target first installs what it needs (dev/setup.sh), unless that has been done.
.PHONY: demo research test litellm check bench soak scorecard
export Q DATA

demo:      ; @sh dev/task.sh demo
research:  ; @sh dev/task.sh research
test:      ; @sh dev/task.sh test
litellm:   ; @sh dev/task.sh litellm
check:     ; @sh dev/task.sh check
bench:     ; @sh dev/task.sh bench
soak:      ; @sh dev/task.sh soak
scorecard: ; @sh dev/task.sh scorecard
