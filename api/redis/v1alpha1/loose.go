// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Switch is true or false, as a JSON value or as text: the article writes 'true', the vendor's later
// schema has a bool. It is stored as it was written.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:Enum={true,false,"true","false"}
// +kubebuilder:pruning:PreserveUnknownFields
type Switch string

// UnmarshalJSON accepts any JSON: a single stored value that does not decode would break every list
// of its kind.
func (s *Switch) UnmarshalJSON(raw []byte) error {
	*s = Switch(kept(raw))
	return nil
}

// MarshalJSON returns the JSON that was read.
func (s Switch) MarshalJSON() ([]byte, error) { return written(string(s)) }

// Or is the value of the switch, or the given default.
func (s Switch) Or(otherwise bool) bool {
	switch strings.ToLower(strings.Trim(string(s), `"`)) {
	case "true":
		return true
	case "false":
		return false
	}
	return otherwise
}

// Unused accepts any value and has no effect.
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type Unused string

// UnmarshalJSON accepts any JSON.
func (u *Unused) UnmarshalJSON(raw []byte) error {
	*u = Unused(kept(raw))
	return nil
}

// MarshalJSON returns the JSON that was read.
func (u Unused) MarshalJSON() ([]byte, error) { return written(string(u)) }

// Asks reports whether the field requests something: an empty or disabled one does not.
func (u Unused) Asks() bool {
	switch u {
	case "", "null", "false", `""`, "{}", "[]", "0", `{"enabled":false}`:
		return false
	}
	return true
}

// Amount is a Kubernetes quantity that is not negative and has no exponent, as a number or text. Blanks
// are ignored, because the article has them. See common.Amount for the reason against exponents.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:MaxLength=24
// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^ *[0-9]{1,15}([.][0-9]{1,3})? *(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)? *$')",message="an amount must be a number with at most 15 digits and a unit, such as 400m or 4Gi, and not negative"
type Amount string

// UnmarshalJSON accepts text, and a number as its digits, however large.
func (a *Amount) UnmarshalJSON(raw []byte) error {
	*a = Amount(textOf(raw))
	return nil
}

// Quantity is the amount as a Kubernetes quantity; 0 for text that the schema does not admit.
func (a Amount) Quantity() resource.Quantity {
	q, err := resource.ParseQuantity(a.Normal())
	if err != nil {
		return resource.Quantity{}
	}
	return q
}

// Normal is the amount without blanks, as Kubernetes writes it.
func (a Amount) Normal() string { return strings.ReplaceAll(string(a), " ", "") }

// kept is the source of a JSON value; empty for null.
func kept(raw []byte) string {
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// textOf is the content of a JSON string, or the source of any other value.
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
