// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
)

func variables(c *etcdv1beta2.EtcdCluster) []string {
	members := firstMembers(c)
	var out []string
	for _, env := range (Builder{Cluster: c}).Pod(members[0], members, versions.Desired(c)).Spec.Containers[0].Env {
		out = append(out, *env.Name)
	}
	return out
}

// Regression: etcd exited with "conflicting environment variable is shadowed by corresponding command-line flag".
func TestAVariableThatSaysWhatAFlagSaysIsNamedAndNotPassedOn(t *testing.T) {
	const count, url, cert = "ETCD_SNAPSHOT_COUNT", "ETCD_LISTEN_METRICS_URLS", "ETCD_CERT_FILE"
	for name, test := range map[string]struct {
		options      []clustertest.Option
		passed, want string
	}{
		"none":                       {[]clustertest.Option{clustertest.WithEnv(count, "5000")}, count, "none"},
		"that of metrics":            {[]clustertest.Option{clustertest.WithEnv(url, "http://0.0.0.0:9090"), clustertest.WithEnv(count, "5000")}, count, url},
		"with an empty value":        {[]clustertest.Option{clustertest.WithEnv(url, "")}, "", url},
		"of a version without it":    {[]clustertest.Option{clustertest.WithEnv(url, "http://0.0.0.0:9090"), clustertest.Versioned("3.2.32")}, url, "none"},
		"a certificate with TLS":     {[]clustertest.Option{clustertest.WithAllTLS, clustertest.WithEnv(cert, "/tmp/c"), clustertest.WithEnv(url, "")}, "", cert + ", " + url},
		"a certificate, without TLS": {[]clustertest.Option{clustertest.WithEnv(cert, "/tmp/c")}, cert, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.New(test.options...)
			if got := strings.Join(variables(c), " "); got != test.passed {
				t.Errorf("expected etcd to get %q, got %q", test.passed, got)
			}
			if test.want == "none" {
				test.want = ": "
			} else {
				test.want = "VariablesShadowed: spec.pod.etcdEnv: opcrew does not pass on " + test.want + ", as it sets the flags of the same names, and etcd does not start with both; remove these variables"
			}
			reason, message := Shadowed(c)
			if got := reason + ": " + message; got != test.want {
				t.Errorf("expected condition FieldsIgnored to say\n%s, got\n%s", test.want, got)
			}
		})
	}
}

// The CRD must refuse the variable of every flag that opcrew sets, except those of TLS flags. opcrew leaves out the
// variables of TLS flags and reports them.
func TestTheCRDRefusesTheVariableOfEveryFlag(t *testing.T) {
	crd, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "config", "crd", "bases", "etcd.database.coreos.com_etcdclusters.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	args := flags(clustertest.New(), model.Member{Name: "m"}, nil, "3.6.16")
	for _, flag := range args {
		if !strings.Contains(string(crd), "'"+variableOf(flag)+"'") {
			t.Errorf("expected the CRD to refuse %s, which etcd does not start with beside %s", variableOf(flag), flag)
		}
	}
}
