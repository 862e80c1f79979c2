package victims

// budget yields the hard budgets that the victims overrun. A soft budget is
// part of the cost, and no law. See DESIGN.md, Budgets.
func (x *audit) budget(yield func(Violation) bool) {
	if len(x.drawn) == 0 {
		return
	}
	for name, b := range x.c.Budgets() {
		row, _ := x.c.findBudget(name)
		left := max(0, b.Left)
		if drawn := x.drawn[row]; b.Hard && drawn > left &&
			!yield(Violation{Law: LawBudget, Budget: name, Have: drawn, Want: left}) {
			return
		}
	}
}

// affordable reports whether no hard budget is overrun.
func (x *audit) affordable() bool {
	for range x.budget {
		return false
	}
	return true
}
