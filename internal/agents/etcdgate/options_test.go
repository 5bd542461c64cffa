// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestFlagsBecomeOptions(t *testing.T) {
	got, err := ParseFlags(strings.Fields("--cluster 3e6b --member=main-0 --metrics-url= --listen :9 -- /usr/local/bin/etcd --data-dir /var/etcd/data"), io.Discard)
	must(t, err)
	want := Defaults()
	want.Cluster, want.Member, want.Metrics, want.Listen = "3e6b", "main-0", "", ":9"
	want.Command = []string{"/usr/local/bin/etcd", "--data-dir", "/var/etcd/data"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, expected %+v", got, want)
	}
}

func TestFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	const good = "--cluster 3e6b --member main-0 "
	for args, want := range map[string]string{
		"--member a -- etcd":             "--cluster must be set",
		"--cluster a -- etcd":            "--member must be set",
		good:                             "the command line of etcd must follow",
		good + "--data-dir data -- etcd": "must be absolute paths",
		good + "--marker /var/etcd/data/m -- etcd":    "--marker must be outside",
		good + "--marker /var/etcd/data -- etcd":      "--marker must be outside",
		good + "--latch part -- etcd":                 "--latch must be an absolute path",
		good + "--latch /var/etcd/part -- etcd":       "not on the volume of --marker",
		good + "--start-file= -- etcd":                "must be set",
		good + "--listen 2382 -- etcd":                "--listen: ",
		good + "--client-address 2379 -- etcd":        "--client-address: ",
		good + "--metrics-url 127.0.0.1:2381 -- etcd": "--metrics-url must be http://HOST:PORT",
		good + "--metrics-url http://a/b -- etcd":     "--metrics-url must be http://HOST:PORT",
		good + "--what -- etcd":                       "not defined",
	} {
		if _, err := ParseFlags(strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, expected %q", args, err, want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
