// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests internal/kit and internal/kit/ensure with a real API server and real controllers: which
// objects they write, with which API calls, and which objects they leave unchanged. The calls are counted exactly in
// the audit log of the server. Pure functions are tested next to their code.
package integration

import (
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/opcrew/opcrew/test/testenv"
)

var (
	env    *testenv.Env
	scheme = runtime.NewScheme()
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // tests check the errors that managers return
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		panic(err)
	}
	addWidgets(scheme)
	testenv.Run(m, &env, testenv.Options{
		Scheme: scheme,
		CRDs:   []string{"internal/kit/integration/testdata/widget.yaml"},
	})
}

func addWidgets(scheme *runtime.Scheme) {
	version := schema.GroupVersion{Group: "test.opcrew.io", Version: "v1"}
	scheme.AddKnownTypes(version, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, version)
}

// Widget is a custom resource that serves as the kind in these tests.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   WidgetSpec   `json:"spec"`
	Status WidgetStatus `json:"status"`
}

type WidgetSpec struct {
	Size int `json:"size,omitempty"`
}

type WidgetStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Seen               int                `json:"seen,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

func (w *Widget) StatusConditions() *[]metav1.Condition { return &w.Status.Conditions }
func (w *Widget) StatusObservedGeneration() *int64      { return &w.Status.ObservedGeneration }

func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), w.Status.Conditions...)
	return &out
}

type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []Widget `json:"items"`
}

func (l *WidgetList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Widget))
	}
	return &out
}
