// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
)

func TestResourcesAreThoseOfThePodAndEachServerHasHalf(t *testing.T) {
	for name, test := range map[string]struct {
		spec                        string
		limit, request, cpu, volume string
		notes                       int
	}{
		"the vendor's defaults": {`{}`, "2Gi", "2Gi", "1", "20Gi", 0},
		"the article's": {
			`redisEnterpriseNodeResources: {limits: {cpu: 400m, memory: 4 Gi}, requests: {cpu: 400m, memory: 4 Gi}}`,
			"2Gi", "2Gi", "200m", "20Gi", 2,
		},
		"limits alone":               {`redisEnterpriseNodeResources: {limits: {cpu: 1, memory: 1Gi}}`, "512Mi", "0", "500m", "5Gi", 0},
		"requests alone":             {`redisEnterpriseNodeResources: {requests: {memory: 1Gi}}`, "0", "512Mi", "0", "5Gi", 0},
		"a volume of another size":   {`persistentSpec: {volumeSize: 7 Gi}`, "2Gi", "2Gi", "1", "7Gi", 1},
		"an empty list is none":      {`redisEnterpriseNodeResources: {}`, "2Gi", "2Gi", "1", "20Gi", 0},
		"thousandths are rounded up": {`redisEnterpriseNodeResources: {limits: {cpu: 3m, memory: 1Gi}}`, "512Mi", "0", "2m", "5Gi", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, clustertest.New(clustertest.With(test.spec)))
			limit, request, cpu := r.ServerResources.Limits[corev1.ResourceMemory], r.ServerResources.Requests[corev1.ResourceMemory], r.ServerResources.Limits[corev1.ResourceCPU]
			if limit.String() != test.limit || request.String() != test.request || cpu.String() != test.cpu || r.VolumeSize.String() != test.volume {
				t.Errorf("expected %s, %s, %s and a volume of %s, got %s, %s, %s and %s",
					test.limit, test.request, test.cpu, test.volume, &limit, &request, &cpu, &r.VolumeSize)
			}
			if len(r.Notes) != test.notes {
				t.Errorf("expected %d notes, got %q", test.notes, r.Notes)
			}
		})
	}
}

func TestWhatIsReadOtherwiseThanItIsWrittenIsReported(t *testing.T) {
	for spec, want := range map[string][]string{
		`redisEnterpriseNodeResources: {limits: {memory: 4Gi}}`:  nil,
		`redisEnterpriseNodeResources: {limits: {memory: 4 Gi}}`: {`spec.redisEnterpriseNodeResources.limits.memory: "4 Gi" is read as 4Gi`},
		`redisEnterpriseNodeResources: {requests: {cpu: 400 m}}`: {`spec.redisEnterpriseNodeResources.requests.cpu: "400 m" is read as 400m`},
		`{persistentSpec: {volumeSize: ' 7Gi'}}`:                 {`spec.persistentSpec.volumeSize: " 7Gi" is read as 7Gi`},
		`{persistentSpec: {volumeSize: 7Gi}}`:                    nil,
		`slotMigrationRate: 50 Mi`:                               {`spec.slotMigrationRate: "50 Mi" is read as 50Mi`},
		`{nodes: 3, persistentSpec: {enabled: true}}`:            nil,
	} {
		if got := mustRead(t, clustertest.New(clustertest.With(spec))).Notes; !slices.Equal(got, want) {
			t.Errorf("%s: expected %q, got %q", spec, want, got)
		}
	}
}

func TestASpecThatCannotBeSaysWhatToWriteInstead(t *testing.T) {
	for spec, want := range map[string]string{
		`redisEnterpriseNodeResources: {limits: {memory: a lot}}`:                    `limits.memory: "a lot" is not a quantity; use a quantity such as`,
		`redisEnterpriseNodeResources: {requests: {cpu: 1 Core}}`:                    `requests.cpu: "1 Core" is not a quantity`,
		`redisEnterpriseNodeResources: {limits: {memory: 400m}}`:                     "limits.memory: 400m is too little for a primary and a replica; set 128Mi or more",
		`redisEnterpriseImageSpec: {repository: Redis, versionTag: x}`:               `redisEnterpriseImageSpec: "Redis:x" is not a valid image`,
		`redisEnterpriseImageSpec: {repository: redis, digestHash: a}`:               `"redis@sha256:a" is not a valid image`,
		`sideContainersSpec: [{nam: a}]`:                                             `sideContainersSpec[0] is not a valid container: json: unknown field "nam"`,
		`sideContainersSpec: [{name: a, image: "` + strings.Repeat("x", 513) + `"}]`: "sideContainersSpec[0].image has 513 characters, but an image can have at most 512; use a shorter image",
		`sideContainersSpec: [{name: a}, {name: agent}]`:                             "sideContainersSpec[1].name: choose a name other than home, guest and agent",
		`{hibernate: true, persistentSpec: {enabled: "false"}}`:                      "create the cluster with persistentSpec: {enabled: true}",
		`clusterCredentialSecretName: example-system`:                                "clusterCredentialSecretName: example-system is the operator's own Secret; name another Secret, or remove this field to use Secret example",
		`redisConfig: {maxclients: "99"}`:                                            "redisConfig: maxclients: 99 is too low, because replicas, the agent and the operator are clients too; set 100 or more",
		`redisConfig: {port: "1", user: x, save: ""}`:                                "redisConfig: port, user: only the operator may set this; remove it from redisConfig",
	} {
		if _, err := Read(clustertest.New(clustertest.With(spec)), from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: expected an error with %q, got %v", spec, want, err)
		}
	}
	both := clustertest.New(clustertest.With(`{hibernate: true, redisEnterpriseNodeResources: {limits: {memory: a lot}}}`))
	if _, err := Read(both, from); err == nil || !strings.Contains(err.Error(), "a lot") || !strings.Contains(err.Error(), "hibernate") {
		t.Errorf("expected all that is wrong to be named, got %v", err)
	}
}

func TestAVersionBeforeThatWhichHasWrittenTheDataIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		runs, repository, tag string
		want                  string
	}{
		"an earlier one":               {"valkey 9.1.2", "opcrew/valkey", "8.1", "8.1 is older than valkey 9.1.2, which wrote the data, and an older version cannot read that data; set 9.1 or later"},
		"an earlier one of Redis":      {"8.0.2", "docker.io/library/redis", "7.4.1-alpine", "7.4.1-alpine is older than redis 8.0.2"},
		"an earlier minor one":         {"valkey 9.1.2", "opcrew/valkey", "9.0.7", "set 9.1 or later"},
		"the same":                     {"valkey 9.1.2", "opcrew/valkey", "9.1", ""},
		"an earlier patch":             {"valkey 9.1.2", "opcrew/valkey", "9.1.1", ""},
		"a later one":                  {"valkey 8.1.1", "opcrew/valkey", "9.1", ""},
		"the other product":            {"8.0.2", "opcrew/valkey", "7.2", ""},
		"a tag of a private image":     {"valkey 8.1.1", "acme/valkey", "1.4", ""},
		"a tag that is no number":      {"valkey 9.1.2", "opcrew/valkey", "latest", ""},
		"before anything runs":         {"", "opcrew/valkey", "8.1", ""},
		"a repository of another name": {"valkey 9.1.2", "registry.example.com/base/kv", "1.0", ""},
	} {
		c := clustertest.New(clustertest.With(`redisEnterpriseImageSpec: {repository: ` + test.repository + `, versionTag: "` + test.tag + `"}`))
		c.Status.Version = test.runs
		_, err := Read(c, Images{Redis: "redis", Agent: "agent"})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: expected %q, got %v", name, test.want, err)
		}
	}
}

func TestTheVendorsImageIsReplacedAndAnyOtherIsUsed(t *testing.T) {
	for spec, want := range map[string]struct {
		reference string
		replaced  string
	}{
		`{}`:                            {"docker.io/valkey/valkey:8.1", ""},
		`{imagePullPolicy: Always}`:     {"docker.io/valkey/valkey:8.1", ""},
		`{versionTag: 5.4.2-27}`:        {"docker.io/valkey/valkey:8.1", "redislabs/redis:5.4.2-27 is the vendor's image"},
		`{repository: redislabs/redis}`: {"docker.io/valkey/valkey:8.1", "redislabs/redis is the vendor's image"},
		`{repository: "mirror:5000/redislabs/redis", versionTag: a}`:                          {"docker.io/valkey/valkey:8.1", "mirror:5000/redislabs/redis:a is"},
		`{repository: registry.connect.redhat.com/redislabs/redis-enterprise, digestHash: a}`: {"docker.io/valkey/valkey:8.1", "redis-enterprise@sha256:a is"},
		`{repository: redis}`:                                     {"redis", ""},
		`{repository: redis, versionTag: "7.0"}`:                  {"redis:7.0", ""},
		`{repository: mirror/redislabs-redis, versionTag: "7.0"}`: {"mirror/redislabs-redis:7.0", ""},
		`{repository: valkey/valkey, versionTag: "8", digestHash: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}`: {
			"valkey/valkey@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "",
		},
	} {
		img := mustRead(t, clustertest.New(clustertest.With(`redisEnterpriseImageSpec: `+spec))).Image
		if img.Reference != want.reference || (img.Replaced == "") != (want.replaced == "") || !strings.Contains(img.Replaced, want.replaced) {
			t.Errorf("%s: expected %+v, got %+v", spec, want, img)
		}
		if img.IsDefault != (img.Reference == from.Redis) {
			t.Errorf("%s: expected a report of whether it is the default, got %+v", spec, img)
		}
	}
}

func TestPersistenceIsOnWhereItIsAskedForUnlessItIsTurnedOff(t *testing.T) {
	for spec, want := range map[string]bool{
		`{}`: false, `persistentSpec: {}`: true, `persistentSpec: {enabled: "true"}`: true, `persistentSpec: {enabled: true}`: true,
		`persistentSpec: {enabled: "false"}`: false, `persistentSpec: {enabled: false, volumeSize: 1Gi}`: false,
	} {
		if got := Persistent(clustertest.New(clustertest.With(spec))); got != want {
			t.Errorf("%s: expected %t", spec, want)
		}
	}
}

func TestPodsAreReplacedForWhatTheyAreMadeOfAndForNothingElse(t *testing.T) {
	key := func(spec string, from Images) string {
		c := clustertest.New(clustertest.With(spec))
		r, err := Read(c, from)
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		raw, err := json.Marshal(r.PodInputs(c))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	newer := Images{Agent: "opcrew/opcrew-agent:next", Redis: "docker.io/valkey/valkey:9.0"}
	before := key(`{}`, from)
	for _, spec := range []string{
		`nodes: 5`, `uiServiceType: LoadBalancer`, `uiAnnotations: {a: b}`,
		`username: ada`, `clusterRecovery: true`, `license: x`, `redisConfig: {maxmemory-policy: allkeys-lru}`, `services: {servicesAnnotations: {a: b}}`,
		`upgradeSpec: {}`, `persistentSpec: {enabled: false, volumeSize: 1Gi}`,
	} {
		if key(spec, from) != before {
			t.Errorf("%s: expected no pod to be replaced", spec)
		}
	}
	for _, spec := range []string{
		`redisConfig: {io-threads: "4"}`, `redisEnterpriseImageSpec: {repository: redis}`, `extraEnvVars: [{name: a, value: b}]`, `persistentSpec: {}`,
		`redisEnterpriseNodeResources: {limits: {memory: 1Gi}}`, `clusterCredentialSecretName: other`, `certificates: {cmCertificateSecretName: page}`, `sideContainersSpec: [{name: a}]`,
	} {
		if key(spec, from) == before {
			t.Errorf("%s: expected pods to be replaced", spec)
		}
	}
	const blank, article = `redisEnterpriseNodeResources: {limits: {memory: 4 Gi}}`, `redisEnterpriseImageSpec: {versionTag: 5.4.0-19}`
	if key(blank, from) != key(`redisEnterpriseNodeResources: {limits: {memory: 4096Mi}}`, from) {
		t.Error("expected the same amount in other words to replace no pod")
	}
	if key(article, from) != before {
		t.Error("expected another tag of the vendor's image, which is replaced anyway, to replace no pod")
	}
	if key(`{}`, newer) != before {
		t.Error("expected an upgrade of the operator to restart no pod")
	}
	const auto = `upgradeSpec: {autoUpgradeRedisEnterprise: true}`
	if key(auto, from) == key(auto, newer) {
		t.Error("expected an upgrade of the operator to bring another default image to a spec that asks for it")
	}
	const own = `{upgradeSpec: {autoUpgradeRedisEnterprise: true}, redisEnterpriseImageSpec: {repository: redis}}`
	if key(own, from) != key(own, newer) {
		t.Error("expected an image that the user has named to stay")
	}
}
