package scenario

import (
	"fmt"
	"strconv"
)

// enforceQuota refuses the request by name: nothing enforces quotas yet.
func (r *runner) enforceQuota(i int, q *Request) error {
	return r.doc.Fail(q.EnforceQuota.At, strconv.Quote(q.EnforceQuota.Queue), fmt.Errorf("request kind %v is %w", q.Kind, ErrUnsupported))
}
