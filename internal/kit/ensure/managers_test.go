// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	replicasField = `{"f:spec":{"f:replicas":{}}}`
	imageField    = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{"f:image":{}}}}}}}`
)

func entry(manager string, minute int, fields string) metav1.ManagedFieldsEntry {
	at := metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC))
	return metav1.ManagedFieldsEntry{Manager: manager, Time: &at, FieldsV1: metav1.NewFieldsV1(fields)}
}

func TestTheRivalIsTheManagerThatWroteTheFieldLast(t *testing.T) {
	timeless := entry("old-tool", 0, replicasField)
	timeless.Time = nil
	fieldless := entry("fieldless", 9, "")
	fieldless.FieldsV1 = nil
	replicas := fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas"))
	for name, test := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		paths   *fieldpath.Set
		want    string
	}{
		"no one wrote anything": {nil, replicas, ""},
		"only opcrew wrote":     {[]metav1.ManagedFieldsEntry{entry("opcrew", 1, replicasField)}, replicas, ""},
		"one owns the field, another wrote later": {[]metav1.ManagedFieldsEntry{
			entry("helm", 1, replicasField), entry("kubectl-edit", 5, imageField)}, replicas, "helm"},
		"two own the field": {[]metav1.ManagedFieldsEntry{
			entry("helm", 1, replicasField), entry("argocd", 2, replicasField)}, replicas, "argocd"},
		"two own the field, listed the other way": {[]metav1.ManagedFieldsEntry{
			entry("argocd", 2, replicasField), entry("helm", 1, replicasField)}, replicas, "argocd"},
		"opcrew owns it too, and later": {[]metav1.ManagedFieldsEntry{
			entry("helm", 1, replicasField), entry("opcrew", 2, replicasField)}, replicas, "helm"},
		"the field has no manager, it was removed": {[]metav1.ManagedFieldsEntry{
			entry("helm", 1, imageField), entry("kubectl-edit", 5, imageField)}, replicas, "kubectl-edit"},
		"no field is asked for": {[]metav1.ManagedFieldsEntry{
			entry("helm", 1, replicasField), entry("kubectl-edit", 5, imageField)}, nil, "kubectl-edit"},
		"an entry without a time": {[]metav1.ManagedFieldsEntry{
			timeless, entry("helm", 1, replicasField)}, replicas, "helm"},
		"an entry without fields": {[]metav1.ManagedFieldsEntry{
			fieldless, entry("helm", 1, replicasField)}, replicas, "helm"},
		"fields that cannot be read": {[]metav1.ManagedFieldsEntry{
			entry("odd", 9, "{"), entry("helm", 1, replicasField)}, replicas, "helm"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := otherManager(test.entries, test.paths); got != test.want {
				t.Errorf("the rival is %q, expected %q", got, test.want)
			}
		})
	}
}
