// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package common

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestAnAmountIsReadAsNumberOrTextAndMeansTheSame(t *testing.T) {
	for raw, want := range map[string]struct{ text, quantity string }{
		`"250m"`:     {"250m", "250m"},
		`"120Mi"`:    {"120Mi", "120Mi"},
		`"1.5"`:      {"1.5", "1500m"},
		`1`:          {"1", "1"},
		`0`:          {"0", "0"},
		`5000000000`: {"5000000000", "5G"}, // Regression: numbers of more than 32 bits did not decode.
		`null`:       {"", "0"},
	} {
		var got Amount
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Errorf("%s: expected the value to decode, got %v", raw, err)
			continue
		}
		quantity := got.Quantity()
		if string(got) != want.text || quantity.String() != want.quantity {
			t.Errorf("%s: expected %q with the quantity %s, got %q with the quantity %s", raw, want.text, want.quantity, got, quantity.String())
		}
	}
}

// An object may contain an amount that the schema refuses today, because it was stored under an earlier schema. Such an
// object must still decode, with the amount 0.
func TestWhatIsNoAmountDecodesAndIsNothing(t *testing.T) {
	for _, raw := range []string{`"a lot"`, `""`, `"-"`, `1e3`, `123456789012345678901234567890`} {
		var got Resources
		if err := json.Unmarshal([]byte(`{"limits":{"cpu":`+raw+`}}`), &got); err != nil {
			t.Errorf("%s: expected the value to decode, because otherwise no object of the kind could be listed, got %v", raw, err)
		}
	}
	if q := Amount("a lot").Quantity(); !q.IsZero() {
		t.Errorf("expected the quantity of an invalid amount to be 0, got %s", q.String())
	}
	for _, raw := range []string{`{}`, `[1]`, `true`} {
		var amount Amount
		if err := json.Unmarshal([]byte(raw), &amount); err == nil {
			t.Errorf("%s: expected an error, because every schema refuses this value, got %q", raw, amount)
		}
	}
}

func TestResourcesAreWrittenAsTheyWereRead(t *testing.T) {
	const text = `{"limits":{"cpu":"1.5","memory":"120Mi"},"requests":{"cpu":"250m"}}`
	var got Resources
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Limits[corev1.ResourceMemory] != "120Mi" {
		t.Errorf("expected a limit of 120Mi, got %v", got.Limits)
	}
	if raw, err := json.Marshal(got); err != nil || string(raw) != text {
		t.Errorf("expected %s, got %s (%v)", text, raw, err)
	}
}

func TestATargetPortIsANumberOrANameAndIsWrittenAsItWasRead(t *testing.T) {
	for raw, want := range map[string]intstr.IntOrString{
		`80`:       intstr.FromInt32(80),
		`65535`:    intstr.FromInt32(65535),
		`"http"`:   intstr.FromString("http"),
		`"8-to-9"`: intstr.FromString("8-to-9"),
	} {
		var got TargetPort
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Errorf("%s: expected the value to decode, got %v", raw, err)
			continue
		}
		if got.IntOrString() != want {
			t.Errorf("%s: expected %v, got %v", raw, want, got.IntOrString())
		}
		if back, err := json.Marshal(got); err != nil || string(back) != raw {
			t.Errorf("%s: expected the port to be written unchanged, got %s (%v)", raw, back, err)
		}
	}
}

func TestAPortWithoutATargetPortIsWrittenWithoutOne(t *testing.T) {
	raw, err := json.Marshal(Port{Port: 80})
	if want := `{"port":80}`; err != nil || string(raw) != want {
		t.Errorf("expected %s, got %s (%v)", want, raw, err)
	}
	var huge Port
	if err := json.Unmarshal([]byte(`{"port":80,"targetPort":99999999999}`), &huge); err != nil {
		t.Errorf("expected a targetPort above 65535 to decode, got %v", err)
	}
}
