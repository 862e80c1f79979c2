module github.com/go-preempt/preempt/bench/solvers

go 1.26.0

require github.com/go-preempt/preempt v0.0.0

replace github.com/go-preempt/preempt => ../..
