// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package naive

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Shop is a custom resource for tests. A shop owns a Secret, its "key", and a ConfigMap, its "sign", which contains its
// color. Open shops are listed in the "street", a ConfigMap that another owner created.
type Shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   ShopSpec   `json:"spec"`
	Status ShopStatus `json:"status,omitzero"`
}

// ShopSpec is the desired state of a shop.
type ShopSpec struct {
	Color string `json:"color,omitempty"`
	Open  bool   `json:"open,omitempty"`
}

// ShopStatus is the observed state of a shop.
type ShopStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (s *Shop) DeepCopyObject() runtime.Object { return s.copy() }

func (s *Shop) copy() *Shop {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), s.Status.Conditions...)
	return &out
}

// ShopList is a list of Shops.
type ShopList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []Shop `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *ShopList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].copy())
	}
	return &out
}

// AddToScheme registers Shop and ShopList.
func AddToScheme(scheme *runtime.Scheme) error {
	version := schema.GroupVersion{Group: "test.opcrew.io", Version: "v1"}
	scheme.AddKnownTypes(version, &Shop{}, &ShopList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}
