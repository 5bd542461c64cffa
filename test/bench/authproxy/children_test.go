// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package authproxy

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// role is the environment variable that makes this test binary run as a child process. Its value selects the process.
const role = "OPCREW_BENCH_ROLE"

const bodyBytes = 1024

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "application":
		serve(application())
	case "plain":
		serve(plain(os.Args[2]))
	default:
		os.Exit(m.Run())
	}
}

func serve(handler http.Handler) {
	server := &http.Server{Addr: os.Args[1], Handler: handler, ReadHeaderTimeout: time.Minute}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}

func application() http.Handler {
	body := make([]byte, bodyBytes)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(bodyBytes))
		_, _ = w.Write(body) // the client counts the bytes that it receives
	})
}

// plain is a reverse proxy that checks no passwords. Its connections and buffers are tuned like those of opcrew's
// proxy, because with the default settings it would be too slow for a fair comparison.
func plain(upstream string) http.Handler {
	target := &url.URL{Scheme: "http", Host: upstream}
	return &httputil.ReverseProxy{
		Rewrite:    func(r *httputil.ProxyRequest) { r.SetURL(target); r.SetXForwarded() },
		Transport:  &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true},
		BufferPool: &buffers{},
	}
}

type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if buffer, ok := b.pool.Get().(*[32 << 10]byte); ok {
		return buffer[:]
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(buffer []byte) { b.pool.Put((*[32 << 10]byte)(buffer)) }

// child is a child process that the test measures.
type child struct {
	name, address string
	cmd           *exec.Cmd
}

func startChild(t *testing.T, name, address, binary, as string, args ...string) *child {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	must(t, err)
	c := &child{name: name, address: address, cmd: exec.Command(binary, args...)}
	c.cmd.Env = append(os.Environ(), role+"="+as)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	ended := make(chan struct{})
	go func() {
		// The kernel kills the child when the thread that started it ends, so keep this thread alive.
		runtime.LockOSThread()
		_ = c.cmd.Run() // ends when the test kills the process
		close(ended)
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // fails only if the process has already ended
		<-ended
		log.Close()
	})
	eventually.True(t, 20*time.Second, name+" listens", func() error {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	return c
}

func startApplication(t *testing.T) *child {
	address := freeAddress(t)
	return startChild(t, "application", address, os.Args[0], "application", address)
}

func startPlain(t *testing.T, upstream string) *child {
	address := freeAddress(t)
	return startChild(t, "plain proxy", address, os.Args[0], "plain", address, upstream)
}

// startAuth starts opcrew's auth proxy. Its password hash has the default cost of htpasswd.
func startAuth(t *testing.T, upstream string) *child {
	t.Helper()
	binary, secret := filepath.Join(t.TempDir(), "opcrew-agent"), t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "github.com/opcrew/opcrew/cmd/opcrew-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the agent: %v\n%s", err, out)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(secret, "htpasswd"), []byte(user+":"+string(hash)), 0o600))
	address := freeAddress(t)
	return startChild(t, "auth proxy", address, binary, "", "auth-proxy", "--address", "127.0.0.1",
		"--route", port(t, address)+"="+port(t, upstream), "--health", port(t, freeAddress(t)), "--credentials", secret)
}

// resident returns the resident memory of the process in MiB: the current value and the maximum so far.
func (c *child) resident(t *testing.T) (now, peak float64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	must(t, err)
	for line := range strings.Lines(string(text)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kib); err == nil {
			now = kib / 1024
		}
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kib); err == nil {
			peak = kib / 1024
		}
	}
	return now, peak
}

// cpu returns the CPU time that the process has used.
func (c *child) cpu(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	must(t, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const tick = 10 * time.Millisecond // unit of CPU times in /proc on Linux
	var ticks int
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		must(t, err)
		ticks += n
	}
	return time.Duration(ticks) * tick
}

// freeAddress returns an address with a port that is unused at this moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

func port(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	return port
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
