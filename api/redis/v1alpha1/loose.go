// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Switch is true or false, as JSON has them or as text: the article writes 'true', the vendor's later
// schema has a bool. It is kept as it was written.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:Enum={true,false,"true","false"}
// +kubebuilder:pruning:PreserveUnknownFields
type Switch string

// UnmarshalJSON takes whatever stands there: one stored value that does not decode would break every
// list of its kind.
func (s *Switch) UnmarshalJSON(raw []byte) error {
	*s = Switch(kept(raw))
	return nil
}

// MarshalJSON writes it as it was read.
func (s Switch) MarshalJSON() ([]byte, error) { return written(string(s)) }

// Or is what the switch says, or otherwise what is given.
func (s Switch) Or(otherwise bool) bool {
	switch strings.ToLower(strings.Trim(string(s), `"`)) {
	case "true":
		return true
	case "false":
		return false
	}
	return otherwise
}

// Unused is accepted whatever it holds, and not used.
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type Unused string

// UnmarshalJSON takes whatever stands there.
func (u *Unused) UnmarshalJSON(raw []byte) error {
	*u = Unused(kept(raw))
	return nil
}

// MarshalJSON writes it as it was read.
func (u Unused) MarshalJSON() ([]byte, error) { return written(string(u)) }

// Asks tells whether it asks for something: what is off or empty does not.
func (u Unused) Asks() bool {
	switch u {
	case "", "null", "false", `""`, "{}", "[]", "0", `{"enabled":false}`:
		return false
	}
	return true
}

// SideContainer is a container as in a pod. What it holds is not looked at before pods are made of it.
// +kubebuilder:validation:Type=object
// +kubebuilder:pruning:PreserveUnknownFields
type SideContainer string

// UnmarshalJSON takes whatever stands there.
func (c *SideContainer) UnmarshalJSON(raw []byte) error {
	*c = SideContainer(kept(raw))
	return nil
}

// MarshalJSON writes it as it was read.
func (c SideContainer) MarshalJSON() ([]byte, error) { return written(string(c)) }

// Amount is a quantity of Kubernetes without an exponent and not negative, as a number or as text; blanks
// in it do not count, as the article has them. See common.Amount for why there are no exponents.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:MaxLength=24
// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^ *[0-9]{1,15}([.][0-9]{1,3})? *(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)? *$')",message="an amount is a number with at most 15 digits and a unit, such as 400m or 4Gi, and not negative"
type Amount string

// UnmarshalJSON takes a number for its digits, however large.
func (a *Amount) UnmarshalJSON(raw []byte) error {
	*a = Amount(textOf(raw))
	return nil
}

// Quantity is the amount as Kubernetes has it; 0 for text that the schema does not admit.
func (a Amount) Quantity() resource.Quantity {
	q, err := resource.ParseQuantity(a.Normal())
	if err != nil {
		return resource.Quantity{}
	}
	return q
}

// Normal is the amount as Kubernetes writes it, without blanks.
func (a Amount) Normal() string { return strings.ReplaceAll(string(a), " ", "") }

// kept is the text of a JSON value; nothing for null, which asks for nothing.
func kept(raw []byte) string {
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// textOf is what stands in a text, and anything else as it is written.
func textOf(raw []byte) string {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return kept(raw)
	}
	return text
}

func written(text string) ([]byte, error) {
	if text == "" {
		text = "null"
	}
	return []byte(text), nil
}
