// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdstart

import "testing"

func TestAStartIsAModeAndAnID(t *testing.T) {
	for text, valid := range map[string]bool{
		"bootstrap 8e9e05c52164694d":        true,
		"join 8e9e05c52164694d\n":           true,
		" established  8e9e05c52164694d ":   true,
		"":                                  false,
		"established":                       false,
		"8e9e05c52164694d":                  false,
		"what 8e9e05c52164694d":             false,
		"Established 8e9e05c52164694d":      false,
		"established 8e9e05c52164694":       false,
		"established 8e9e05c52164694dd":     false,
		"established 8E9E05C52164694D":      false,
		"established 8e9e05c52164694d more": false,
		"established 0x9e05c52164694d":      false,
	} {
		got, err := ParseStart(text)
		if (err == nil) != valid {
			t.Errorf("%q: got %+v and error %v", text, got, err)
		}
		if again, errAgain := ParseStart(got.String()); valid && (again != got || errAgain != nil) {
			t.Errorf("%q: its text %q is read as %+v, error %v", text, got, again, errAgain)
		}
	}
}
