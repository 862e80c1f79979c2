package quota

// spent counts the victims of each budget.
func (x *inspection) spent() map[string]int64 {
	count := make(map[string]int64)
	for _, id := range x.good {
		for _, name := range x.c.TaskView(id).Budgets {
			count[name]++
		}
	}
	return count
}

// judgeBudgets reports hard budgets that are overrun, and what the outcome says
// of soft ones.
func (x *inspection) judgeBudgets() {
	count, overrun := x.spent(), int64(0)
	for name, b := range x.c.Budgets() {
		have, want := count[name], max(b.Left, 0)
		switch {
		case have <= want:
		case b.Hard:
			x.report(Violation{Law: LawBudget, Budget: name, Have: have, Want: want})
		default:
			overrun += have - want
		}
	}
	if x.o.Overrun != overrun {
		x.report(Violation{Law: LawOverrun, Have: x.o.Overrun, Want: overrun})
	}
}

// affordable reports whether hard budgets can bear so many more.
func (x *inspection) affordable(more map[string]int64) bool {
	if len(more) == 0 {
		return true
	}
	count := x.spent()
	for name, b := range x.c.Budgets() {
		if b.Hard && more[name] > 0 && count[name]+more[name] > max(b.Left, 0) {
			return false
		}
	}
	return true
}
