// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package orders

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func config(name, motd string) *Config {
	content := []byte(motd)
	out := &Config{Digest: "sha256-" + strings.Repeat("0", 64)}
	out.Name = name
	if motd != "" {
		out.Files = []hostconfig.File{{Entry: hostconfig.Entry{Path: "/etc/motd"}, Contents: &content}}
	}
	return out
}

func policy(kind mcfgv1.ActionType) *mcfgv1.NodeDisruptionPolicy {
	return &mcfgv1.NodeDisruptionPolicy{Files: []mcfgv1.FilePolicy{{Path: "/etc/motd", Actions: mcfgv1.PolicyActions{{Type: kind}}}}}
}

func TestAnOrderRequiresWhatTheDifferenceRequires(t *testing.T) {
	for name, c := range map[string]struct {
		from   []*Config
		to     *Config
		policy *mcfgv1.NodeDisruptionPolicy
		want   string
	}{
		"the same":                      {[]*Config{config("a", "x")}, config("b", "x"), nil, ""},
		"a file that is not listed":     {[]*Config{config("a", "x")}, config("b", "y"), nil, "Reboot"},
		"a file that needs a drain":     {[]*Config{config("a", "x")}, config("b", "y"), policy(mcfgv1.ActionDrain), "Drain"},
		"an unknown configuration":      {[]*Config{nil}, config("b", "y"), policy(mcfgv1.ActionNone), "Reboot"},
		"back from a change that broke": {[]*Config{config("a", "x"), config("b", "y")}, config("a", "x"), policy(mcfgv1.ActionDrain), "Drain"},
	} {
		if got := strings.Join(Required(c.from, c.to, c.policy).Strings(), ", "); got != c.want {
			t.Errorf("%s: expected %q, got %q", name, c.want, got)
		}
	}
}

func TestAnOrderCanBeEncoded(t *testing.T) {
	order := New(config("rendered-a-1", "x"), Required([]*Config{{}}, config("b", "y"), nil), true, mcfgv1.DriftRepair, nil)
	text, err := machineorder.EncodeOrder(order)
	if err != nil || !strings.Contains(text, `"skipDrain":true`) || !strings.Contains(text, `"drift":"Repair"`) {
		t.Errorf("expected an order that skips the drain and repairs drift, got %s (%v)", text, err)
	}
}

func TestThePeersAreTheNodesThatFollowByName(t *testing.T) {
	var all []*corev1.Node
	for _, name := range []string{"h", "a", "b", "c", "d", "e", "f", "g"} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}}
		all = append(all, n)
	}
	all[3].Status.Addresses = nil
	var got []string
	for _, p := range Peers("f", all) {
		got = append(got, p.Name)
	}
	if !slices.Equal(got, []string{"g", "h", "a", "b", "d"}) {
		t.Errorf("expected the next five nodes with an address, got %v", got)
	}
}
