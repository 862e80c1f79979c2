// SPDX-License-Identifier: Apache-2.0

//go:build solvers

package linear

/*
#cgo LDFLAGS: -lglpk -lCbc -lCbcSolver -lCgl -lOsiClp -lOsi -lClp -lCoinUtils -lm -lstdc++
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>
#include <fcntl.h>
#include <time.h>
#include <glpk.h>
#include <coin/Cbc_C_Interface.h>

// A programme: rows and columns of entries are counted from 1.
typedef struct {
	int cols, rows, entries;
	const double *cost, *upper, *low, *high, *value;
	const unsigned char *whole;
	const int *row, *col;
} programme;

enum { OPEN = 1, INFEASIBLE, FEASIBLE, OPTIMAL };

static double cpu(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9*t.tv_nsec;
}

static glp_prob *load(const programme *m) {
	glp_prob *p = glp_create_prob();
	if (m->rows > 0) glp_add_rows(p, m->rows);
	glp_add_cols(p, m->cols);
	for (int j = 0; j < m->cols; j++) {
		glp_set_obj_coef(p, j+1, m->cost[j]);
		glp_set_col_bnds(p, j+1, m->upper[j] > 1e29 ? GLP_LO : m->upper[j] > 0 ? GLP_DB : GLP_FX, 0, m->upper[j] > 1e29 ? 0 : m->upper[j]);
	}
	for (int i = 0; i < m->rows; i++) {
		int t = m->low[i] < -1e29 ? GLP_UP : m->high[i] > 1e29 ? GLP_LO : m->low[i] == m->high[i] ? GLP_FX : GLP_DB;
		glp_set_row_bnds(p, i+1, t, m->low[i], m->high[i]);
	}
	glp_load_matrix(p, m->entries, m->row-1, m->col-1, m->value-1);
	return p;
}

// relax solves without whole numbers. The answer says nothing of columns.
static int relax(const programme *m, double *value, double *secs) {
	glp_prob *p = load(m);
	glp_smcp o;
	glp_init_smcp(&o);
	o.msg_lev = GLP_MSG_OFF; o.tm_lim = 60000; o.meth = GLP_DUALP;
	double begin = cpu();
	int r = glp_simplex(p, &o), answer = OPEN;
	*secs = cpu() - begin;
	if (r == 0 && glp_get_status(p) == GLP_OPT) {
		answer = OPTIMAL;
		*value = glp_get_obj_val(p);
	} else if (r == GLP_ENOPFS || r == 0 && (glp_get_status(p) == GLP_NOFEAS || glp_get_prim_stat(p) == GLP_NOFEAS)) answer = INFEASIBLE;
	glp_delete_prob(p);
	return answer;
}

static int with_glpk(const programme *m, double limit, double *value, double *x, double *secs) {
	glp_prob *p = load(m);
	for (int j = 0; j < m->cols; j++) if (m->whole[j]) glp_set_col_kind(p, j+1, GLP_IV);
	glp_iocp o;
	glp_init_iocp(&o);
	o.msg_lev = GLP_MSG_OFF; o.presolve = GLP_ON; o.tm_lim = (int)(limit*1000);
	o.mir_cuts = GLP_ON; // GLPK 5.0 aborts with cover cuts on some of these
	double begin = cpu();
	int r = glp_intopt(p, &o), answer = OPEN;
	*secs = cpu() - begin;
	if (r == 0 && glp_mip_status(p) == GLP_OPT) {
		answer = OPTIMAL;
		*value = glp_mip_obj_val(p);
		for (int j = 0; j < m->cols; j++) x[j] = glp_mip_col_val(p, j+1);
	} else if (r == GLP_ENOPFS || r == 0 && glp_mip_status(p) == GLP_NOFEAS) answer = INFEASIBLE;
	glp_delete_prob(p);
	return answer;
}

// with_cbc takes entries by columns. CBC prints whatever it is told, so its output is led away.
static int with_cbc(const programme *m, const int *start, const int *index, const double *entry, double limit, double *value, double *x, double *secs) {
	double *lower = calloc(m->cols+1, sizeof(double));
	Cbc_Model *c = Cbc_newModel();
	Cbc_loadProblem(c, m->cols, m->rows, start, index, entry, lower, m->upper, m->cost, m->low, m->high);
	for (int j = 0; j < m->cols; j++) if (m->whole[j]) Cbc_setInteger(c, j);
	char text[32];
	snprintf(text, sizeof text, "%g", limit);
	Cbc_setParameter(c, "log", "0"); Cbc_setParameter(c, "sec", text); Cbc_setParameter(c, "timeMode", "elapsed");
	Cbc_setParameter(c, "ratioGap", "0"); Cbc_setParameter(c, "allowableGap", "0");
	Cbc_setLogLevel(c, 0);
	fflush(stdout);
	int keep = dup(1), null = open("/dev/null", O_WRONLY);
	dup2(null, 1);
	double begin = cpu();
	Cbc_solve(c);
	*secs = cpu() - begin;
	fflush(stdout);
	dup2(keep, 1);
	close(keep); close(null);
	int answer = OPEN;
	const double *best = Cbc_bestSolution(c);
	if (Cbc_isProvenInfeasible(c)) answer = INFEASIBLE;
	else if (Cbc_isProvenOptimal(c)) { answer = OPTIMAL; best = Cbc_getColSolution(c); }
	else if (best) answer = FEASIBLE;
	if (answer == OPTIMAL || answer == FEASIBLE) {
		*value = Cbc_getObjValue(c);
		for (int j = 0; j < m->cols; j++) x[j] = best[j];
	}
	Cbc_deleteModel(c);
	free(lower);
	return answer;
}
*/
import "C"

import (
	"runtime"
	"time"
)

// Present says whether there are solvers.
const Present = true

// An image is a programme as C has it. Each list has one element more, so that it has an
// address.
type image struct {
	c         C.programme
	cols, row []C.int
	value     []C.double
	pin       runtime.Pinner
}

func doubles(list []float64) []C.double {
	to := make([]C.double, len(list)+1)
	for i, v := range list {
		to[i] = C.double(v)
	}
	return to
}

// image writes a programme for C. Release it.
func (p *Programme) image() *image {
	m := &image{row: make([]C.int, len(p.entries)+1), cols: make([]C.int, len(p.entries)+1), value: make([]C.double, len(p.entries)+1)}
	for k, e := range p.entries {
		m.row[k], m.cols[k], m.value[k] = C.int(e.row+1), C.int(e.col+1), C.double(e.value)
	}
	cost, upper, low, high := doubles(p.cost), doubles(p.upper), doubles(p.low), doubles(p.high)
	whole := make([]C.uchar, len(p.whole)+1)
	for j, is := range p.whole {
		if is {
			whole[j] = 1
		}
	}
	m.c = C.programme{
		cols: C.int(len(p.cost)), rows: C.int(len(p.low)), entries: C.int(len(p.entries)),
		cost: &cost[0], upper: &upper[0], low: &low[0], high: &high[0], value: &m.value[0], whole: &whole[0], row: &m.row[0], col: &m.cols[0],
	}
	for _, list := range []*C.double{&cost[0], &upper[0], &low[0], &high[0], &m.value[0]} {
		m.pin.Pin(list)
	}
	m.pin.Pin(&whole[0])
	m.pin.Pin(&m.row[0])
	m.pin.Pin(&m.cols[0])
	return m
}

// solution reads what a solver answered.
func (p *Programme) solution(answer C.int, value, secs C.double, x []C.double) Solution {
	s := Solution{Answer: Answer(answer), Value: float64(value), Took: time.Duration(float64(secs) * float64(time.Second))}
	if x != nil && s.Answer >= Feasible {
		for j := range p.cost {
			s.X = append(s.X, float64(x[j]))
		}
	}
	return s
}

// Relax solves a programme as if no column had to be whole. It tells the value only.
func (p *Programme) Relax() Solution {
	m := p.image()
	defer m.pin.Unpin()
	var value, secs C.double
	answer := C.relax(&m.c, &value, &secs)
	return p.solution(answer, value, secs, nil)
}

// GLPK solves a programme.
func (p *Programme) GLPK(limit time.Duration) Solution {
	m := p.image()
	defer m.pin.Unpin()
	x := make([]C.double, len(p.cost)+1)
	var value, secs C.double
	answer := C.with_glpk(&m.c, C.double(limit.Seconds()), &value, &x[0], &secs)
	return p.solution(answer, value, secs, x)
}

// CBC solves a programme.
func (p *Programme) CBC(limit time.Duration) Solution {
	m := p.image()
	defer m.pin.Unpin()
	start := make([]C.int, len(p.cost)+1)
	for _, e := range p.entries {
		start[e.col+1]++
	}
	for j := range p.cost {
		start[j+1] += start[j]
	}
	next := append([]C.int(nil), start...)
	index, value := make([]C.int, len(p.entries)+1), make([]C.double, len(p.entries)+1)
	for _, e := range p.entries {
		index[next[e.col]], value[next[e.col]] = C.int(e.row), C.double(e.value)
		next[e.col]++
	}
	x := make([]C.double, len(p.cost)+1)
	var least, secs C.double
	answer := C.with_cbc(&m.c, &start[0], &index[0], &value[0], C.double(limit.Seconds()), &least, &x[0], &secs)
	return p.solution(answer, least, secs, x)
}
