// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// A proxy stands between a scheduler and the API, and fails on demand. The API takes what
// comes through it for the scheduler's service account.
type proxy struct {
	server *httptest.Server

	mu      sync.Mutex
	deletes map[string]int // that the API has answered with success, by pod
	tries   map[string]int // that came, by pod
	// fault answers a delete in the place of the API, and reports whether it did.
	fault func(w http.ResponseWriter, r *http.Request, pod string, try int) bool
	lost  int           // so many answers to deletes are lost: the caller is told 500
	lag   time.Duration // of each event of a pod
}

var podPath = regexp.MustCompile(`^/api/v1/namespaces/default/pods/([^/]+)$`)

// newProxy starts a proxy.
func newProxy(t *testing.T, w *world) *proxy {
	p := &proxy{deletes: map[string]int{}, tries: map[string]int{}}
	target, err := url.Parse(w.config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(serviceAccount(w.config))
	require.NoError(t, err)
	reverse := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ModifyResponse: p.answered,
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m := podPath.FindStringSubmatch(r.URL.Path); m != nil && r.Method == http.MethodDelete {
			p.mu.Lock()
			p.tries[m[1]]++
			fault, try := p.fault, p.tries[m[1]]
			p.mu.Unlock()
			if fault != nil && fault(w, r, m[1], try) {
				return
			}
		}
		reverse.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { p.server.CloseClientConnections(); go p.server.Close() })
	return p
}

// config is how a scheduler reaches the API through the proxy.
func (p *proxy) config() *rest.Config { return &rest.Config{Host: p.server.URL} }

// fail has deletes answered by a function from now on.
func (p *proxy) fail(fault func(w http.ResponseWriter, r *http.Request, pod string, try int) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

// delay has each event of a pod come so much later.
func (p *proxy) delay(lag time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lag = lag
}

// tried returns how often the delete of a pod came.
func (p *proxy) tried(pod string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tries[pod]
}

// most returns how often any one pod was deleted with success: once, if all is well.
func (p *proxy) most() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.deletes { // in any order
		n = max(n, k)
	}
	return n
}

// answered counts an answer of the API, or loses it.
func (p *proxy) answered(r *http.Response) error {
	if r.Request.URL.Path == "/api/v1/pods" && r.Request.URL.Query().Get("watch") != "" {
		r.Body = &slow{r.Body, p}
	}
	m := podPath.FindStringSubmatch(r.Request.URL.Path)
	if m == nil || r.Request.Method != http.MethodDelete || r.StatusCode >= 300 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deletes[m[1]]++
	if p.lost > 0 {
		p.lost--
		body := status(http.StatusInternalServerError)
		r.Body.Close()
		r.StatusCode, r.Status = http.StatusInternalServerError, "500 Internal Server Error"
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		r.Header.Set("Content-Type", "application/json")
	}
	return nil
}

// slow delays what a watch says.
type slow struct {
	io.ReadCloser
	p *proxy
}

func (s *slow) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	s.p.mu.Lock()
	lag := s.p.lag
	s.p.mu.Unlock()
	time.Sleep(lag)
	return n, err
}

// status is what the API says of a failure.
func status(code int) []byte {
	reasons := map[int]metav1.StatusReason{
		http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusConflict: metav1.StatusReasonConflict,
		http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests, http.StatusGatewayTimeout: metav1.StatusReasonTimeout,
		http.StatusInternalServerError: metav1.StatusReasonInternalError,
	}
	text, _ := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status: metav1.StatusFailure, Code: int32(code), Reason: reasons[code], Message: "fault of the test"})
	return text
}

// answer says a status.
func answer(w http.ResponseWriter, code int) bool {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(status(code))
	return true
}

// serviceAccount is the service account of config/second, in whose name an administrator speaks.
func serviceAccount(admin *rest.Config) *rest.Config {
	return as(admin, "system:serviceaccount:preempt-system:preempt-scheduler",
		"system:serviceaccounts", "system:serviceaccounts:preempt-system", "system:authenticated")
}

// as is a user in whose name an administrator speaks.
func as(admin *rest.Config, user string, groups ...string) *rest.Config {
	c := rest.CopyConfig(admin)
	c.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return c
}
