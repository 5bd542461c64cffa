// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)

func TestNamesAreThoseOfTheCoreOSOperator(t *testing.T) {
	east := time.FixedZone("east", 3*60*60)
	for want, got := range map[string]string{
		"b/shop":                                   ObjectName("b/shop", 42, time.Time{}),
		"b/shop_v42_2026-07-08-12:00:00":           ObjectName("b/shop", 42, noon),
		"b/shop_v7_2026-07-08-09:00:00":            ObjectName("b/shop", 7, time.Date(2026, 7, 8, 12, 0, 0, 5, east)),
		"b/dir/_v1_2026-07-08-12:00:00":            ObjectName("b/dir/", 1, noon),
		"b/shop_v42_2026-07-08-12:00:00.meta.json": MetaName(ObjectName("b/shop", 42, noon)),
	} {
		if got != want {
			t.Errorf("expected %q, got %q", want, got)
		}
	}
}

func TestANameIsReadBack(t *testing.T) {
	for _, revision := range []int64{0, 9, 10, 1 << 62} {
		got, ok := ParseName("b/shop", ObjectName("b/shop", revision, noon))
		if want := (Name{revision, noon}); !ok || got != want {
			t.Errorf("expected %v, got %v, %v", want, got, ok)
		}
	}
}

func TestOnlyExactNamesBelongToAPath(t *testing.T) {
	for _, object := range []string{
		"", "b/shop", "b/shop_v", "b/shop_v1", "b/shop_v1_", "b/shop_v1_2026-07-08",
		"b/shop_other_v1_2026-07-08-12:00:00",
		"b/shop2_v1_2026-07-08-12:00:00",
		"b/sho_v1_2026-07-08-12:00:00",
		"c/shop_v1_2026-07-08-12:00:00",
		"x/b/shop_v1_2026-07-08-12:00:00",
		"b/shop_v1_2026-07-08-12:00:00.meta.json",
		"b/shop_v1_2026-07-08-12:00:00/",
		"b/shop_v1_2026-07-08-12:00:00_v1_2026-07-08-12:00:00",
		"b/shop_v01_2026-07-08-12:00:00",
		"b/shop_v+1_2026-07-08-12:00:00",
		"b/shop_v-1_2026-07-08-12:00:00",
		"b/shop_v1e3_2026-07-08-12:00:00",
		"b/shop_v9223372036854775808_2026-07-08-12:00:00",
		"b/shop_v1_2026-7-8-12:00:00",
		"b/shop_v1_2026-07-08-25:00:00",
		"b/shop_v1_2026-02-30-12:00:00",
		"b/shop_v1_2026-07-08-12:00:00.5",
		"b/shop_v1_2026-07-08-12:00:00 ",
	} {
		if name, ok := ParseName("b/shop", object); ok {
			t.Errorf("expected %q not to be of the path, got %v", object, name)
		}
	}
}

func FuzzAParsedNameIsWrittenTheSame(f *testing.F) {
	f.Add("b/shop", "b/shop_v1_2026-07-08-12:00:00")
	f.Add("", "_v0_0001-01-01-00:00:01")
	f.Fuzz(func(t *testing.T, path, object string) {
		name, ok := ParseName(path, object)
		if ok && ObjectName(path, name.Revision, name.Time) != object {
			t.Errorf("%q of %q was read as %v", object, path, name)
		}
	})
}
