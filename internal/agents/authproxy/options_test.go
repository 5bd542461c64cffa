// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestFlagsBecomeOptions(t *testing.T) {
	got, err := ParseFlags(strings.Fields("--route 8080=80 --route=8443=443/h2c --credentials /a --credentials /b --health 9000 --drain 1s --realm shop"+
		" --user-header X-User --exempt-path /live --exempt-path /ready"), io.Discard)
	must(t, err)
	want := Defaults()
	want.Routes, want.Credentials, want.Health = []Route{{8080, 80, false}, {8443, 443, true}}, []string{"/a", "/b"}, 9000
	want.Drain, want.Realm, want.UserHeader = time.Second, "shop", "X-User"
	want.Exempt = []string{"/live", "/ready"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, expected %+v", got, want)
	}
}

func TestFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	const good = "--route 8080=80 --credentials /a "
	for args, want := range map[string]string{
		"":                                   "--route must be set",
		"--route 8080=80":                    "--credentials must be set",
		good + "--route 80":                  "is not LISTENPORT=UPSTREAMPORT",
		good + "--route 0=80":                "is not LISTENPORT=UPSTREAMPORT",
		good + "--route 8080=81":             "two listeners use port 8080",
		good + "--route 8090=81":             "two listeners use port 8090",
		good + "--route 9999=8080":           "port 8080 is a port of the proxy",
		good + "--health 80":                 "port 80 is a port of the proxy",
		good + "--health 70000":              "value out of range",
		good + "--exempt-path live":          "--exempt-path must begin with /",
		good + `--realm a"b`:                 "--realm",
		good + "--user-header X:Y":           "--user-header",
		good + "--user-header authorization": "must not be a header that HTTP defines",
		good + "--route 81=80/http3":         "is not LISTENPORT=UPSTREAMPORT",
		good + "--drain -1s":                 "must be zero or more",
		good + "--idle-timeout 0s":           "above zero",
		good + "--what":                      "not defined",
		good + "more":                        `"more" is not a flag`,
	} {
		t.Run(args, func(t *testing.T) {
			if _, err := ParseFlags(strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, expected %q", err, want)
			}
		})
	}
}

func TestHelpListsTheFlags(t *testing.T) {
	var out bytes.Buffer
	if _, err := ParseFlags([]string{"--help"}, &out); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "-exempt-path path") {
		t.Errorf("the error is %v and the help:\n%s", err, out.String())
	}
}
