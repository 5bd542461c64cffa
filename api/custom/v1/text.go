// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "encoding/json"

// Text is a text field that users may also write as a number.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:MaxLength=63
type Text string

// UnmarshalJSON accepts text, and stores any other JSON value as its JSON text.
func (t *Text) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	*t = Text(text)
	return nil
}
