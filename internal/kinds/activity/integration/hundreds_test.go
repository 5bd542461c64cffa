// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// hundreds is the number of hosts of the large fleet. writesOfMany is the maximum number of writes for one of them: its
// Activity, its pod, the release of the pod, up to four statuses, and a share of the statuses of the fleet.
const hundreds, writesOfMany = 500, 7

// The operator stops several times in the middle of a run on 500 hosts. The observer expects that it never starts more
// hosts than the budget allows, and none twice. The user expects a result that fits on a screen.
func TestARunOnHundredsOfHostsKeepsItsBudgetAndFitsOnAScreen(t *testing.T) {
	s := newSite(t)
	hosts := env.Nodes(t, hundreds-1, testenv.NodeSpec{Prefix: "rack"})
	k := s.kubelet(200*time.Millisecond, func(host string) string {
		if host == "rack-17" || host == "rack-311" {
			return diskFull
		}
		return succeeds
	})
	mark := env.Audit.Mark(t)
	s.create("upgrade", "work", onHosts(append(hosts, "gone"), func(h *egov1.Hosts) {
		h.MaxUnavailable, h.MaxFailures = new(intstr.FromString("10%")), new(int32(3))
	}), func(a *egov1.Activity) { a.Spec.StartDeadlineSeconds = new(int64(30)) })
	begin := time.Now()
	for _, ended := range []int32{50, 150, 300} {
		s.awaitEnded("upgrade", ended)
		s.operator.Stop()
		s.operator.Start()
	}
	eventually.True(t, 5*time.Minute, "the run ends", func() error {
		if a := s.get("upgrade"); a.Status.Prosta != egov1.StateFailed {
			return fmt.Errorf("it is %s: %+v", a.Status.Prosta, a.Status.Fleet)
		}
		return nil
	})
	t.Logf("the run on %d hosts took %s", hundreds, time.Since(begin).Round(time.Second))
	if err := k.ran(hundreds-1, hundreds/10); err != nil {
		t.Error(err)
	}
	got := env.Settled(t, mark)
	t.Logf("calls: %v", got.Tally())
	if writes := len(got.Writes()); writes > writesOfMany*hundreds {
		t.Errorf("expected at most %d writes a host, got %d for %d", writesOfMany, writes, hundreds)
	}
	env.Rests(t)
	s.checkScreen(s.get("upgrade"))
}

// awaitEnded waits until so many hosts of a fleet have ended.
func (s *site) awaitEnded(name string, ended int32) {
	s.Helper()
	eventually.True(s.T, 5*time.Minute, fmt.Sprintf("%d hosts have ended", ended), func() error {
		if f := s.get(name).Status.Fleet; f == nil || f.Succeeded+f.Failed < ended {
			return fmt.Errorf("the status is %+v", f)
		}
		return nil
	})
}

// checkScreen compares the results of a fleet, as kubectl get -o yaml shows them, with a golden file.
func (s *site) checkScreen(a *egov1.Activity) {
	s.Helper()
	ready := meta.FindStatusCondition(a.Status.Conditions, egov1.ActivityReady)
	screen := map[string]any{"fleet": a.Status.Fleet, "prosta": a.Status.Prosta, "ready": ready.Reason + ": " + ready.Message}
	text, err := yaml.Marshal(screen)
	if err != nil {
		s.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 60 {
		s.Errorf("expected the results on one screen, got %d lines", lines)
	}
	golden.Check(s.T, "hundreds.yaml", screen)
}
