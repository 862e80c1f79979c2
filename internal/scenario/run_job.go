package scenario

import (
	"fmt"
	"strconv"
)

// job refuses the request by name: nothing places jobs yet.
func (r *runner) job(i int, q *Request) error {
	return r.doc.Fail(q.Job.At, strconv.Quote(q.Job.Name), fmt.Errorf("request kind %v is %w", q.Kind, ErrUnsupported))
}
