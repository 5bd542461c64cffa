// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package common

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Amount is a non-negative Kubernetes quantity, written as a number or as text. Exponents are not allowed: comparing an
// extreme value, such as 1e999999999, would keep an API server busy for hours.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^[0-9]{1,15}([.][0-9]{1,3})?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$')",message="an amount must be a number with at most 15 digits and a unit, such as 250m or 120Mi; it must not be negative"
type Amount string

// UnmarshalJSON accepts a JSON string or a JSON number, and keeps its text.
func (a *Amount) UnmarshalJSON(raw []byte) error {
	text, err := digits(raw)
	*a = Amount(text)
	return err
}

// Quantity returns the amount as a Kubernetes quantity; 0 if the text is not a valid quantity.
func (a Amount) Quantity() resource.Quantity {
	q, err := resource.ParseQuantity(string(a))
	if err != nil {
		return resource.Quantity{}
	}
	return q
}

// TargetPort is a port of a container, given by number or by name.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:MaxLength=15
// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 65535 : self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && self.matches('[a-z]') && !self.contains('--')",message="targetPort must be a number from 1 to 65535, or a name of at most 15 lower-case letters, digits and '-' with at least one letter"
type TargetPort string

// UnmarshalJSON accepts a JSON string or a JSON number, and keeps its text.
func (p *TargetPort) UnmarshalJSON(raw []byte) error {
	text, err := digits(raw)
	*p = TargetPort(text)
	return err
}

// MarshalJSON writes a port number as a JSON number, and a port name as a JSON string.
func (p TargetPort) MarshalJSON() ([]byte, error) { return json.Marshal(p.IntOrString()) }

// IntOrString returns the port as a Kubernetes IntOrString.
func (p TargetPort) IntOrString() intstr.IntOrString {
	if n, err := strconv.ParseInt(string(p), 10, 32); err == nil {
		return intstr.FromInt32(int32(n))
	}
	return intstr.FromString(string(p))
}

// digits returns the text of a JSON string or number of any size. A number that is too large must not be an error: if
// one stored object did not decode, no object of its kind could be listed.
func digits(raw []byte) (string, error) {
	var either any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&either); err != nil {
		return "", err
	}
	switch value := either.(type) {
	case string:
		return value, nil
	case json.Number:
		return value.String(), nil
	case nil:
		return "", nil
	}
	return "", fmt.Errorf("%s is neither a number nor text", raw)
}
