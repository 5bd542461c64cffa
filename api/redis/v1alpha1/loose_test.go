// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// An object may contain a value that the schema refuses today, because it was stored under an earlier schema. The
// schema also accepts meaningless values. All such values must decode, and be written back unchanged.
func TestWhateverIsStoredDecodesAndIsWrittenAsItWas(t *testing.T) {
	for _, value := range []string{`true`, `"true"`, `"maybe"`, `7`, `{"a":[1,"b"]}`, `[1]`, `1e400`, `""`} {
		for _, field := range []string{
			`"persistentSpec":{"enabled":%}`, `"license":%`, `"redisEnterpriseNodeResources":{"claims":%}`,
			`"sideContainersSpec":[%]`, `"services":{"apiService":%}`,
		} {
			text := "{" + strings.ReplaceAll(field, "%", value) + "}"
			var spec RedisEnterpriseClusterSpec
			if err := json.Unmarshal([]byte(text), &spec); err != nil {
				t.Errorf("%s: expected the spec to decode, because otherwise no object of the kind could be listed, got %v", text, err)
				continue
			}
			if raw, err := json.Marshal(spec); err != nil || string(raw) != text {
				t.Errorf("expected %s, got %s (%v)", text, raw, err)
			}
		}
	}
}

func TestASwitchIsABoolOrItsText(t *testing.T) {
	for raw, want := range map[string]struct{ otherwiseTrue, otherwiseFalse bool }{
		`true`: {true, true}, `"true"`: {true, true}, `"True"`: {true, true},
		`false`: {false, false}, `"false"`: {false, false},
		`null`: {true, false}, `"maybe"`: {true, false}, `1`: {true, false},
	} {
		var got Switch
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatal(err)
		}
		if got.Or(true) != want.otherwiseTrue || got.Or(false) != want.otherwiseFalse {
			t.Errorf("%s: expected %+v, got %t and %t", raw, want, got.Or(true), got.Or(false))
		}
	}
}

func TestAnAmountIsReadWithBlanksAndAsANumber(t *testing.T) {
	for raw, want := range map[string]string{
		`"4 Gi"`: "4Gi", `"4Gi"`: "4Gi", `" 400m "`: "400m", `2`: "2", `5000000000`: "5G", `0.5`: "500m", `null`: "0", `"a lot"`: "0", `{}`: "0",
	} {
		var got Amount
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Errorf("%s: expected the amount to decode, got %v", raw, err)
			continue
		}
		if q := got.Quantity(); q.String() != want {
			t.Errorf("%s: expected %s, got %s", raw, want, q.String())
		}
	}
}

func TestFieldsThatAskForWhatIsNotServedAreNamedAndNotWhatTheyHold(t *testing.T) {
	const text = `{"nodes":3,"license":"secret words","activeActive":{"method":"ingress"},"enforceIPv4":false,"encryptPkeys":true,
		"sso":{"enabled":false},"userDefinedModules":[],"usageReportFields":"","slaveHA":null,
		"certificates":{"cmCertificateSecretName":"page","proxyCertificateSecretName":"proxy","apiCertificateSecretName":""},
		"redisEnterpriseNodeResources":{"claims":[{"name":"gpu"}]},"services":{"apiService":{"type":"LoadBalancer"}}}`
	var spec RedisEnterpriseClusterSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatal(err)
	}
	want := []string{"activeActive", "certificates.proxyCertificateSecretName", "encryptPkeys", "license", "redisEnterpriseNodeResources.claims", "services.apiService"}
	if got := spec.Ignored(); !slices.Equal(got, want) {
		t.Errorf("expected %v, got %v", want, got)
	}
	if got := (&RedisEnterpriseClusterSpec{}).Ignored(); len(got) > 0 {
		t.Errorf("expected no ignored fields in an empty spec, got %v", got)
	}
}
