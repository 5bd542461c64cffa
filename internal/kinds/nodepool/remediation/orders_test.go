// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

func TestACommandHasTheFieldsOfItsSpec(t *testing.T) {
	w := newWorld(t)
	w.pool.Spec.Remediation.Fence = nodesv1.RemediationCommand{
		Args: []nodesv1.RemediationArg{"power", "off"}, ExecUser: "fence", Envs: []nodesv1.RemediationEnv{"A=b"},
		SecretEnvs: []nodesv1.RemediationSecretEnv{{Name: "PASSWORD", Secret: "bmc", Key: "password"}}, TimeoutSeconds: new(int64(7)),
	}
	fence, power := w.input().Spec(Run{Role: Fence, Host: "n2"}), w.input().Spec(Run{Role: Power2, Host: "n3"})
	pooltest.Same(t, "fence command", egov1.ActivitySpec{
		Host: "n2", Args: []egov1.Arg{"power", "off"}, ExecUser: "fence", Placement: egov1.PlacementRepair,
		Envs:       []egov1.Env{"A=b", "NODE_NAME=n1", "NODE_ADDRESS=10.0.0.1", "NODE_PROVIDER_ID="},
		SecretEnvs: []egov1.SecretEnv{{Name: "PASSWORD", Secret: "bmc", Key: "password"}},
		Requester:  &egov1.Requester{Username: "ada"}, TimeoutSeconds: new(int64(7)),
		StartDeadlineSeconds: new(int64(startSeconds)), TTLSecondsAfterFinished: new(int64(keepSeconds)),
	}, fence)
	if power.Command != "power status" || power.Host != "n3" || *power.TimeoutSeconds != 60 {
		t.Errorf("expected the powerStatus command with its default timeout, got %+v", power)
	}
}

func TestACommandRunsOnlyOnItsNodes(t *testing.T) {
	w := newWorld(t)
	pooltest.HasLabel("bmc", "a")(w.node("n3"))
	pooltest.HasLabel("bmc", "b")(w.node("n4"))
	w.pool.Spec.Remediation.Fence.OnNodes = map[string]nodesv1.LabelValue{"bmc": "a"}
	w.pool.Spec.Remediation.PowerStatus.OnNodes = map[string]nodesv1.LabelValue{"bmc": "b"}
	w.run(time.Minute)
	for name, a := range w.runs {
		for part, host := range map[string]string{"-fence": "n3", "-power-": "n4"} {
			if strings.Contains(name, part) && a.Spec.Host != host {
				t.Errorf("expected %s on %s, got %s", name, host, a.Spec.Host)
			}
		}
	}
}

func TestACommandKnowsTheMachine(t *testing.T) {
	w := newWorld(t)
	w.node("n1").Spec.ProviderID = "aws:///eu-west-1a/i-0123"
	w.pool.Spec.Remediation.Fence.Envs = []nodesv1.RemediationEnv{"BMC=10.9.0.1"}
	w.pool.Spec.Remediation.Fence.SecretEnvs = []nodesv1.RemediationSecretEnv{{Name: "PASSWORD", Secret: "bmc", Key: "password"}}
	spec := w.input().Spec(Run{Role: Fence, Host: "n2"})
	want := []egov1.Env{"BMC=10.9.0.1", "NODE_NAME=n1", "NODE_ADDRESS=10.0.0.1", "NODE_PROVIDER_ID=aws:///eu-west-1a/i-0123"}
	if !slices.Equal(spec.Envs, want) || spec.Host != "n2" || spec.SecretEnvs[0].Secret != "bmc" || *spec.TimeoutSeconds != 60 {
		t.Errorf("expected the variables %v, got %+v", want, spec)
	}
}

// A compromised kubelet sets the addresses and the provider ID of its node. They must not become commands on others.
func TestWhatAKubeletReportsIsNoCommand(t *testing.T) {
	w := newWorld(t)
	n := w.node("n1")
	n.Spec.ProviderID = "x; rm -rf /"
	n.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: "10.0.0.1; reboot"}, {Type: corev1.NodeInternalIP, Address: "fe80::1%eth0;reboot"},
		{Type: corev1.NodeHostName, Address: "$(reboot)"}, {Type: corev1.NodeInternalIP, Address: "fd00::1"},
	}
	for _, role := range []Role{Fence, Power1, Peer1} {
		for _, env := range w.input().Spec(Run{Role: role, Host: "n2"}).Envs {
			if strings.ContainsAny(string(env), ";$%") {
				t.Errorf("expected no shell characters in %s", env)
			}
		}
	}
	if got := addresses(n); !slices.Equal(got, []string{"fd00::1"}) {
		t.Errorf("expected only the valid address, got %v", got)
	}
}

// The probe runs with fake programs: ping and timeout answer as files say.
func TestTheProbeOfAPeer(t *testing.T) {
	const control, machine = "10.0.0.2", "10.0.0.1"
	for name, c := range map[string]struct {
		pings, connects, refuses []string
		want                     string
	}{
		"the machine is off":                       {pings: []string{control}, connects: []string{control}, want: noAnswer},
		"only ping is possible":                    {pings: []string{control}, want: noAnswer},
		"only connections are possible":            {connects: []string{control}, want: noAnswer},
		"the machine answers to ping":              {pings: []string{control, machine}, connects: []string{control}, want: "answer from " + machine},
		"the kubelet of the machine runs":          {pings: []string{control}, connects: []string{control, machine}, want: "answer from " + machine},
		"the machine runs without a kubelet":       {connects: []string{control}, refuses: []string{machine}, want: "answer from " + machine},
		"its own network is broken":                {want: "unknown: this host cannot reach " + control + " either"},
		"its network is broken in both directions": {pings: []string{machine}, want: "unknown: this host cannot reach " + control + " either"},
	} {
		dir := t.TempDir()
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		write("ping", "#!/bin/sh\nfor a; do :; done\ncase \" "+strings.Join(c.pings, " ")+" \" in *\" $a \"*) exit 0;; esac\nexit 1\n")
		write("timeout", "#!/bin/sh\nfor a; do :; done\ncase \" "+strings.Join(c.connects, " ")+" \" in *\" $a \"*) exit 0;; esac\n"+
			"case \" "+strings.Join(c.refuses, " ")+" \" in *\" $a \"*) echo Connection refused >&2;; esac\nexit 1\n")
		cmd := exec.Command("/bin/sh", "-c", probe)
		cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "CONTROL=" + control, "NODE_ADDRESSES=" + machine + " fd00::1"}
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%s: expected %q, got %q: %v", name, c.want, got, err)
		}
	}
}
