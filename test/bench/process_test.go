// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// process is a running process of a measured operator.
type process struct {
	driver
	kind       string
	namespaces []string
	user       string // user name of the process in the audit log
	kubeconfig string
	address    string // address of its metrics
	log        string
	cmd        *exec.Cmd
	ended      chan error
}

// start runs the measured operator for one kind until the test ends. The process has its own account.
func (d driver) start(t *testing.T, kind string, namespaces ...string) *process {
	t.Helper()
	return d.startAs(t, d.name, kind, namespaces...)
}

// startAs is like start, with the account that admission policies expect for a kind.
func (d driver) startAs(t *testing.T, as, kind string, namespaces ...string) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{
		driver: d, kind: kind, namespaces: namespaces, user: testenv.ServiceAccountUser(namespace, as),
		kubeconfig: filepath.Join(dir, "kubeconfig"), log: filepath.Join(dir, "log"),
	}
	writeKubeconfig(t, p.kubeconfig, account(t, as))
	p.run(t)
	t.Cleanup(func() {
		p.stop(t)
		if t.Failed() {
			text, _ := os.ReadFile(p.log)
			t.Logf("end of the log of %s:\n%s", d.name, text[max(0, len(text)-4000):])
		}
	})
	return p
}

// run starts the process and waits until its controllers have started.
func (p *process) run(t *testing.T) {
	t.Helper()
	log, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.address = freeAddress(t)
	p.cmd = exec.Command(p.binary(t), p.args(p.kind, p.namespaces, p.address)...)
	p.cmd.Env = []string{"KUBECONFIG=" + p.kubeconfig, "PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(p.log)}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.ended = make(chan error, 1)
	go func() {
		// The kernel kills the process when the thread that started it ends, so keep this thread alive.
		runtime.LockOSThread()
		p.ended <- p.cmd.Run()
	}()
	eventually.True(t, time.Minute, p.name+" begins to work", func() error {
		if text, err := os.ReadFile(p.log); err != nil || !bytes.Contains(text, []byte("Starting workers")) {
			return errors.Join(err, fmt.Errorf("the end of its log is %s", text))
		}
		return nil
	})
}

// stop ends the process as a kubelet does: with SIGTERM, and with SIGKILL if it does not end in time.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only if the process has already ended
	select {
	case err := <-p.ended:
		if err != nil {
			t.Errorf("%s ended with %v", p.name, err)
		}
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		t.Logf("%s did not end in time and was killed: %v", p.name, <-p.ended)
	}
	p.cmd = nil
}

// resident returns the resident memory of the process in MiB: the current value and the maximum so far.
func (p *process) resident(t *testing.T) (now, peak float64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
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

func writeKubeconfig(t *testing.T, file string, config *rest.Config) {
	t.Helper()
	out := clientcmdapi.NewConfig()
	out.Clusters["bench"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	out.AuthInfos["bench"] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	out.Contexts["bench"] = &clientcmdapi.Context{Cluster: "bench", AuthInfo: "bench"}
	out.CurrentContext = "bench"
	if err := clientcmd.WriteToFile(*out, file); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
}

// freeAddress returns an address with a port that is unused at this moment. No other program takes ports during the
// test.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
