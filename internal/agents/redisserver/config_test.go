// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/shared/redissecrets"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func guest() inputs {
	o := Defaults()
	o.Place, o.Port, o.AnnounceIP, o.AnnounceHostname, o.MemoryLimit = Guest, 6380, "10.0.0.7", "shop-1.shop.web.svc", 4<<30
	return inputs{Options: o, users: users{"demo@redislabs.com", []string{redispod.Hash("old"), redispod.Hash("new")}, `a "b\`}}
}

func TestAConfigurationIsMadeForItsPlace(t *testing.T) {
	in := guest()
	in.extra = []directive{{"maxmemory-policy", "allkeys-lru"}}
	golden.Check(t, "guest.yaml", in.config())
	in = guest()
	in.Place, in.Port, in.AnnounceHostname, in.MemoryLimit = Home, 6379, "", 0
	golden.Check(t, "home-without-limit.yaml", in.config())
}

func TestOnlyServersThatMoveSlotsGetSettingsForIt(t *testing.T) {
	for v, has := range map[version]bool{{"Redis", 9, 0}: false, {"Valkey", 8, 1}: false, {"Valkey", 9, 0}: true, {"Valkey", 10, 0}: true} {
		in := guest()
		in.version, in.MemoryLimit = v, 128<<20
		for _, directive := range []string{
			"slot-migration-max-failover-repl-bytes 16777216\n", "cluster-slot-migration-log-max-len 32\n",
			"client-output-buffer-limit replica 33554432 8388608 60\n", // the 32 MiB of memory that are not for data
		} {
			if text := in.config(); strings.Contains(text, directive) != has {
				t.Errorf("%s: expected %q in the configuration: %t, got\n%s", v, directive, has, text)
			}
		}
	}
}

func TestReservedDirectivesAreRefused(t *testing.T) {
	in := guest()
	extra, err := in.parseExtra("# a comment\n\n  Timeout 30 \nsave 900 1 300 10\nnotify-keyspace-events\n")
	if want := []directive{{"timeout", "30"}, {"save", "900 1 300 10"}, {"notify-keyspace-events", ""}}; err != nil || !slices.Equal(extra, want) {
		t.Errorf("got %v, error %v", extra, err)
	}
	for _, name := range []string{"port", "DIR", "appendonly", "cluster-enabled", "user", "requirepass", "include", "loadmodule", "rename-command", "masterauth", "cluster-databases"} {
		if _, err := in.parseExtra("timeout 30\n" + name + " x"); err == nil || !strings.Contains(err.Error(), strings.ToLower(name)) {
			t.Errorf("%s: expected a refusal with its name, got %v", name, err)
		}
	}
}

func TestValuesAreQuotedAsServersReadThem(t *testing.T) {
	for value, want := range map[string]string{"": `""`, "a b": `"a b"`, `a"\b`: `"a\"\\b"`, "\n\x00é": `"\x0a\x00\xc3\xa9"`} {
		if got := quote(value); got != want {
			t.Errorf("%q is written as %s, expected %s", value, got, want)
		}
	}
}

func TestNamesThatNoServerTakesAreRefused(t *testing.T) {
	for name, valid := range map[string]bool{
		"demo@redislabs.com": true, "default": true, "": false, "a b": false, "a\nuser b on nopass": false, "a\x00": false, redispod.System: false,
	} {
		if _, err := newUsers(redissecrets.Secrets{Username: name}); (err == nil) != valid {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

func TestAUserCalledDefaultIsDefinedOnce(t *testing.T) {
	u := users{"default", []string{redispod.Hash("a")}, "b"}
	if text := (inputs{users: u}).config(); strings.Count(text, "user \"default\"") != 1 {
		t.Errorf("expected one line for the user, got\n%s", text)
	}
}

func TestVersionsAreReadOfBothProducts(t *testing.T) {
	for text, want := range map[string]version{
		"Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0\n": {"Redis", 7, 0},
		"Redis server v=255.255.255 sha=00000000:1\n":                                                {"Redis", 255, 255},
		"Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1\n":               {"Valkey", 8, 1},
	} {
		if got, err := parseVersion(text); got != want || err != nil {
			t.Errorf("%q is read as %v, error %v", text, got, err)
		}
	}
	for _, text := range []string{"", "Redis server v=6.2.14 sha=00000000:0", "memcached 1.6.18", "Redis server v=seven"} {
		if got, err := parseVersion(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestACommandLineSaysWhereAndForWhom(t *testing.T) {
	good := []string{"--place=guest", "--port=6380", "--announce-ip=fd00::7", "--announce-hostname=shop-1.shop.web.svc"}
	o, err := ParseFlags(good, io.Discard)
	if err != nil || o.Folder() != "/data/guest" {
		t.Fatalf("got %+v, error %v", o, err)
	}
	for _, bad := range []string{
		"--place=hom", "--port=0", "--port=55536", "--announce-ip=", "--announce-ip=10.0.0", "--announce-hostname=a b", "--memory-limit=-1",
		"--data=data", "--secrets=", "--config=redis.conf", "more",
	} {
		if o, err := ParseFlags(append(slices.Clone(good), bad), io.Discard); err == nil {
			t.Errorf("%s: expected a refusal, got %+v", bad, o)
		}
	}
}
