// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

func variables(c *etcdv1beta2.EtcdCluster, w world) []string {
	d := w.decide(c)
	var out []string
	for _, env := range w.pod(c, d.members[0], d.members, wanted(c)).Spec.Containers[0].Env {
		out = append(out, *env.Name)
	}
	return out
}

// Regression: etcd ends with "conflicting environment variable is shadowed by corresponding command-line flag".
func TestAVariableThatSaysWhatAFlagSaysIsNamedAndNotPassedOn(t *testing.T) {
	const count, url, cert = "ETCD_SNAPSHOT_COUNT", "ETCD_LISTEN_METRICS_URLS", "ETCD_CERT_FILE"
	for name, test := range map[string]struct {
		options      []option
		passed, want string
	}{
		"none":                       {[]option{withEnv(count, "5000")}, count, "none"},
		"that of metrics":            {[]option{withEnv(url, "http://0.0.0.0:9090"), withEnv(count, "5000")}, count, url},
		"with an empty value":        {[]option{withEnv(url, "")}, "", url},
		"of a version without it":    {[]option{withEnv(url, "http://0.0.0.0:9090"), versioned("3.2.32"), formedLike("3.2.32")}, url, "none"},
		"a certificate with TLS":     {[]option{withAllTLS, withEnv(cert, "/tmp/c"), withEnv(url, "")}, "", cert + ", " + url},
		"a certificate, without TLS": {[]option{withEnv(cert, "/tmp/c")}, cert, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(test.options...)
			w := observed(c, 3)
			if got := strings.Join(variables(c, w), " "); got != test.passed {
				t.Errorf("expected etcd to get %q, got %q", test.passed, got)
			}
			if test.want == "none" {
				test.want = ": "
			} else {
				test.want = "VariablesShadowed: spec.pod.etcdEnv: " + test.want + ": not passed on, as the operator sets the flags of these names, and etcd does not start with both; leave them out"
			}
			reason, message := (&reconciler{}).Overridden(c, w.facts)
			if got := reason + ": " + message; got != test.want {
				t.Errorf("expected condition FieldsIgnored to say\n%s, got\n%s", test.want, got)
			}
			if got := conditionOf(report(w), "Ready"); !strings.HasPrefix(got, "True ") {
				t.Errorf("expected Ready to stay True, got %s", got)
			}
		})
	}
}

// A flag that is added later has to be refused as a variable too. Those of TLS are only left out and reported.
func TestTheCRDRefusesTheVariableOfEveryFlag(t *testing.T) {
	crd, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "crd", "bases", "etcd.database.coreos.com_etcdclusters.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	flags := (facts{}).flags(newCluster(), member{name: "m"}, nil, "3.6.16")
	for _, flag := range flags {
		if !strings.Contains(string(crd), "'"+variableOf(flag)+"'") {
			t.Errorf("expected the CRD to refuse %s, which etcd does not start with beside %s", variableOf(flag), flag)
		}
	}
}
