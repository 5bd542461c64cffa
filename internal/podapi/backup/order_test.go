// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"reflect"
	"strings"
	"testing"
)

func saving() Order {
	return Order{ID: "1", Target: Target{Type: S3, Path: "b/shop"}, Save: &Save{Endpoints: []string{"http://a:2379"}, Time: noon}}
}

func restoring() Order {
	return Order{ID: "1", Target: Target{Type: Folder, Path: "shop", Dir: "/backups"}, Restore: &Restore{
		DataDir: "/var/etcd/data", Name: "a", InitialCluster: "a=http://a:2380", Token: "t", PeerURLs: []string{"http://a:2380"},
	}}
}

// takingOver returns a restore order that copies the data of a member instead of a backup.
func takingOver() Order {
	o := restoring()
	o.Target, o.Restore.From = Target{}, &Source{Endpoint: "http://a:2379", ClusterID: "c1", Index: 7}
	return o
}

func TestAnOrderToTakeOverAMemberNamesOnlyThatMember(t *testing.T) {
	for name, change := range map[string]func(*Order){
		"a backup too":     func(o *Order) { o.Restore.Object = "b/shop" },
		"a place too":      func(o *Order) { o.Target = saving().Target },
		"to save too":      func(o *Order) { o.Save = saving().Save },
		"no endpoint":      func(o *Order) { o.Restore.From.Endpoint = "" },
		"no cluster":       func(o *Order) { o.Restore.From.ClusterID = "" },
		"no name":          func(o *Order) { o.Restore.Name = "" },
		"no own directory": func(o *Order) { o.Restore.DataDir = "data" },
	} {
		o := takingOver()
		if change(&o); o.Check() == nil {
			t.Errorf("%s: expected it to be refused", name)
		}
	}
}

func TestAnOrderIsReadAsItWasWritten(t *testing.T) {
	for _, o := range []Order{saving(), restoring(), takingOver()} {
		text, err := EncodeOrder(o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseOrder(text); err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("expected %+v, got %+v, %v", o, got, err)
		}
	}
}

func TestAnUnreadableOrderIsRefused(t *testing.T) {
	text, err := EncodeOrder(saving())
	if err != nil {
		t.Fatal(err)
	}
	for broken, want := range map[string]string{
		"":                                "this version cannot read the order",
		"null":                            "no id",
		text + text:                       "text after the order",
		text[:len(text)-1]:                "this version cannot read the order",
		text[:len(text)-1] + `,"more":1}`: "unknown field",
		text[:len(text)-1] + `,"verify":{"scratchDir":"/tmp"}}`: "one of save, prune, verify and restore",
	} {
		if _, err := ParseOrder(broken); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: expected %q, got %v", broken, want, err)
		}
	}
}

func TestAWrongOrderIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Order)
		want   string
	}{
		"nothing to do":       {func(o *Order) { o.Save = nil }, "one of"},
		"no id":               {func(o *Order) { o.ID = "" }, "no id"},
		"timeout":             {func(o *Order) { o.TimeoutSeconds = -1 }, "negative"},
		"type":                {func(o *Order) { o.Target.Type = "s3" }, `"s3" is not a storage type`},
		"no bucket":           {func(o *Order) { o.Target.Path = "shop" }, "not bucket/key"},
		"no key":              {func(o *Order) { o.Target.Path = "shop/" }, "not bucket/key"},
		"empty part":          {func(o *Order) { o.Target.Path = "b//shop" }, "has a part that is empty"},
		"absolute":            {func(o *Order) { o.Target.Path = "/b/shop" }, "has a part that is empty"},
		"upwards":             {func(o *Order) { o.Target.Path = "b/../shop" }, "has a part that is empty"},
		"control character":   {func(o *Order) { o.Target.Path = "b/sh\nop" }, "not plain text"},
		"not UTF-8":           {func(o *Order) { o.Target.Path = "b/sh\xffop" }, "not plain text"},
		"too long":            {func(o *Order) { o.Target.Path = "b/" + strings.Repeat("x", 900) }, "902 bytes"},
		"like a record":       {func(o *Order) { o.Target.Path = "b/x.meta.json" }, "ends with the suffix of backup records"},
		"one shot, directory": {func(o *Order) { o.Target.Path, o.Save = "b/shop/", &Save{Endpoints: []string{"x"}} }, "names no object"},
		"relative folder":     {func(o *Order) { o.Target = Target{Type: Folder, Path: "x", Dir: "backups"} }, "not an absolute path"},
		"no endpoint":         {func(o *Order) { o.Save.Endpoints = nil }, "no etcd endpoint"},
		"keep":                {func(o *Order) { o.Save.Keep = -1 }, "negative"},
		"prune all":           {func(o *Order) { o.Save, o.Prune = nil, &Prune{} }, "at least one"},
		"foreign object":      {func(o *Order) { o.Save, o.Verify = nil, &Verify{Object: "b/other", ScratchDir: "/tmp"} }, "not a backup of the path"},
		"no scratch":          {func(o *Order) { o.Save, o.Verify = nil, &Verify{} }, "scratch directory"},
		"no member":           {func(o *Order) { *o = restoring(); o.Restore.Token = "" }, "lacks a name"},
		"negative bump":       {func(o *Order) { *o = restoring(); n := int64(-1); o.Restore.RevisionBump = &n }, "raised by -1"},
		"root as data dir":    {func(o *Order) { *o = restoring(); o.Restore.DataDir = "/" }, "cannot be a data directory"},
		"unclean data dir":    {func(o *Order) { *o = restoring(); o.Restore.DataDir = "/a/../b" }, "not an absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			o := saving()
			test.change(&o)
			if err := o.Check(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("expected %q, got %v", test.want, err)
			}
		})
	}
}

func TestARestoreRaisesTheRevisionByDefault(t *testing.T) {
	none := int64(0)
	if got := (Restore{}).Bump(); got != DefaultBump {
		t.Errorf("expected the default, got %d", got)
	}
	if got := (Restore{RevisionBump: &none}).Bump(); got != 0 {
		t.Errorf("expected none, got %d", got)
	}
}

// Regression: after the second restore of one backup, the cluster started at the same revision as after the first.
// Clients then saw the same revisions twice.
func TestARevisionIsRaisedAboveAllThatClientsMayHaveSeen(t *testing.T) {
	zero, huge := int64(0), int64(1)<<62
	for name, test := range map[string]struct {
		restore  Restore
		revision int64
		want     int64 // expected revision of the restored cluster; 0 if the order is refused
	}{
		"nothing is known":                 {Restore{}, 6, 6 + DefaultBump},
		"it has been restored before":      {Restore{Above: 6 + DefaultBump}, 6, 6 + 2*DefaultBump},
		"a newer one has been restored":    {Restore{Above: 90 + 2*DefaultBump}, 6, 90 + 3*DefaultBump},
		"it is above that already":         {Restore{Above: 5}, 6, 6 + DefaultBump},
		"the user wants its own revision":  {Restore{RevisionBump: &zero, Above: 99}, 6, 6},
		"it is more than etcd can count":   {Restore{RevisionBump: &huge}, huge, 0},
		"above that is more than etcd can": {Restore{RevisionBump: &huge, Above: huge + 9}, 6, 0},
	} {
		bump, err := test.restore.BumpFrom(test.revision)
		if got := test.revision + bump; (err != nil) != (test.want == 0) || err == nil && got != test.want {
			t.Errorf("%s: expected revision %d, got %d, %v", name, test.want, got, err)
		}
	}
}
