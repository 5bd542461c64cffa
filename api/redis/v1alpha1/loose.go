// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Switch is true or false, as a JSON boolean or as text: the tutorial article that this API comes from uses text, and
// Redis Enterprise uses a boolean. The JSON text is stored unchanged.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:Enum={true,false,"true","false"}
// +kubebuilder:pruning:PreserveUnknownFields
type Switch string

// UnmarshalJSON accepts any JSON value. If one stored object did not decode, no object of its kind could be listed.
func (s *Switch) UnmarshalJSON(raw []byte) error {
	*s = Switch(kept(raw))
	return nil
}

// MarshalJSON returns the JSON text that UnmarshalJSON kept.
func (s Switch) MarshalJSON() ([]byte, error) { return written(string(s)) }

// Or returns the value of the switch. If the switch is neither true nor false, Or returns its parameter.
func (s Switch) Or(otherwise bool) bool {
	switch strings.ToLower(strings.Trim(string(s), `"`)) {
	case "true":
		return true
	case "false":
		return false
	}
	return otherwise
}

// Unused is a field that accepts any value and has no effect.
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type Unused string

// UnmarshalJSON accepts and keeps any JSON value.
func (u *Unused) UnmarshalJSON(raw []byte) error {
	*u = Unused(kept(raw))
	return nil
}

// MarshalJSON returns the JSON text that UnmarshalJSON kept.
func (u Unused) MarshalJSON() ([]byte, error) { return written(string(u)) }

// Asks reports whether the field requests a feature. An empty value, or one that turns the feature off, does not.
func (u Unused) Asks() bool {
	switch u {
	case "", "null", "false", `""`, "{}", "[]", "0", `{"enabled":false}`:
		return false
	}
	return true
}

// Amount is a non-negative Kubernetes quantity without exponent, written as a number or as text. Blanks are ignored,
// because the tutorial article that this API comes from writes "4 Gi". common.Amount explains why exponents are not
// allowed.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:MaxLength=24
// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^ *[0-9]{1,15}([.][0-9]{1,3})? *(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)? *$')",message="an amount must be a number with at most 15 digits and a unit, such as 400m or 4Gi; it must not be negative"
type Amount string

// UnmarshalJSON accepts a JSON string or a JSON number, and keeps its text.
func (a *Amount) UnmarshalJSON(raw []byte) error {
	*a = Amount(textOf(raw))
	return nil
}

// Quantity returns the amount as a Kubernetes quantity; 0 if the text is not a valid quantity.
func (a Amount) Quantity() resource.Quantity {
	q, err := resource.ParseQuantity(a.Normal())
	if err != nil {
		return resource.Quantity{}
	}
	return q
}

// Normal returns the amount without blanks, as Kubernetes writes quantities.
func (a Amount) Normal() string { return strings.ReplaceAll(string(a), " ", "") }

// kept returns the source text of a JSON value; empty for null.
func kept(raw []byte) string {
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// textOf returns the content of a JSON string, or the source text of any other JSON value.
func textOf(raw []byte) string {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return kept(raw)
	}
	return text
}

// written returns the JSON text that a field kept; null if it kept none.
func written(text string) ([]byte, error) {
	if text == "" {
		text = "null"
	}
	return []byte(text), nil
}
